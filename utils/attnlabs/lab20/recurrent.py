"""Lab 20: linear attention for the next token alone, with a state of fixed size."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise


def linear_attention_step(query, key, value, memory, total):
    """query, key (B, D), value (B, Dv), the state (B, D, Dv) and (B, D) -> context (B, Dv), new memory, new total."""
    query, key = F.elu(query) + 1, F.elu(key) + 1  # (B, D) each, above 0
    memory = memory + key[:, :, None] * value[:, None, :]  # (B, D, 1) * (B, 1, Dv) -> (B, D, Dv)
    total = total + key  # (B, D)
    read = (query[:, None, :] @ memory)[:, 0]  # (B, 1, D) @ (B, D, Dv) -> (B, Dv)
    return read / (query * total).sum(dim=-1, keepdim=True), memory, total


def _state(draw, batch, features, of_value, written):
    """The state after some tokens: (B, D, Dv) and (B, D)."""
    keys = F.elu(draw.normal(batch, written, features)) + 1
    return keys.mT @ draw.normal(batch, written, of_value), keys.sum(dim=1)


def _steps(draw):
    batch, features, of_value = draw.sizes(3)
    for written in (3, 0):  # 0: nothing is in the memory yet
        token = draw.normal(batch, features), draw.normal(batch, features), draw.normal(batch, of_value)
        yield *token, *_state(draw, batch, features, of_value, written)
    if draw.compact:
        yield draw.normal(1, 1), draw.normal(1, 1), draw.normal(1, 1), *_state(draw, 1, 1, 1, 1)
        yield draw.normal(1, 2), draw.normal(1, 2), draw.normal(1, 1), *_state(draw, 1, 2, 1, 1)
    for size in (2, 3):  # axes of one size
        same = draw.normal(size, size), draw.normal(size, size), draw.normal(size, size)
        yield *same, *_state(draw, size, size, size, 2)
    yield draw.normal(2, 4), draw.normal(2, 4), draw.normal(2, 4), *_state(draw, 2, 4, 4, 5)
    yield draw.normal(1, 3), draw.normal(1, 3), 1000 + draw.normal(1, 2), *_state(draw, 1, 3, 2, 200)
    small = draw.normal(2, 3) - 10, draw.normal(2, 3) - 10, draw.normal(2, 2)
    yield *small, *_state(draw, 2, 3, 2, 0)  # a divisor that is far below 1, and yet not 0


LINEAR_ATTENTION_STEP = Exercise(
    linear_attention_step,
    cases=_steps,
    gradients=False,  # a step of writing: one may write into tensors of one's own
    returns=("context", "memory", "total"),
    about=About(points=3, minutes=14, difficulty=3, read_again="Add up in a state"),
)

must = LINEAR_ATTENTION_STEP.properties
must(
    "the present token is added to the state",
    lambda result, query, key, value, memory, total: (
        torch.allclose(result[1], memory + torch.einsum("bd,bv->bdv", F.elu(key) + 1, value), atol=1e-6)
        and torch.allclose(result[2], total + F.elu(key) + 1, atol=1e-6)
    ),
).says("""
    The new memory must be the old one plus φ(k) vᵀ, and the new total the old one plus φ(k), where φ(x) = elu(x) + 1.
    In your result at least one of the two is wrong.""")
must(
    "the context is read from the new state",
    lambda result, query, *rest: torch.allclose(
        result[0],
        torch.einsum("bd,bdv->bv", F.elu(query) + 1, result[1])
        / ((F.elu(query) + 1) * result[2]).sum(-1, keepdim=True),
    ),
).says("""
    The context must be Sᵀφ(q) divided by φ(q)·z, with the memory S and the total z that you return. The divisor is
    above 0, however small it is, so divide by it as it is.""")

_WRITE, _TOTAL = "memory = memory + key[:, :, None] * value[:, None, :]", "total = total + key"
_FEATURES = "F.elu(query) + 1, F.elu(key) + 1"
_READ, _DIVISOR = "(query[:, None, :] @ memory)[:, 0]", "(query * total).sum(dim=-1, keepdim=True)"
_RETURN = f"read / {_DIVISOR}, memory, total"
_OLD = "    old_memory, old_total = memory, total\n"


def _before(**names):
    """An answer that keeps the old state, and uses it where a name says so."""
    edits = {"    query, key = F.elu": f"{_OLD}    query, key = F.elu"}
    return edits | {text: text.replace(name, f"old_{name}") for name, text in names.items()}


wrong = LINEAR_ATTENTION_STEP.mistakes
wrong("read before the state is updated", _before(memory=_READ, total=_DIVISOR)).says("""
    You read from the old state. The present token attends to itself as well, so its key and value are written
    first, and the query reads from the new state.""")
wrong("read before the state is updated, 1e-6 in the divisor", _before(memory=_READ, total=_DIVISOR) | {
    _DIVISOR: "((query * old_total).sum(dim=-1, keepdim=True) + 1e-6)"
}).says("""
    You read from the old state, and added 1e-6 to the divisor. The present token attends to itself
    as well: write its key and value first, and the divisor of the new state is never 0.""")  # fmt: skip
wrong("read before the state is updated, unless it is empty", "\n".join([
    f"query, key = {_FEATURES}",
    "context = (query[:, None, :] @ memory)[:, 0] / (query * total).sum(dim=-1, keepdim=True)",
    "context = torch.where(total[:, :1] == 0, value, context)",
    "return context, memory + key[:, :, None] * value[:, None, :], total + key",
])).says("""
    You read from the old state, and gave the first token its own value. Every token attends to itself as
    well: write its key and value first, and then no token is an exception.""")  # fmt: skip
wrong("old memory, new total", _before(memory=_READ)).says("""
    You read from the memory before the present token was written, and divided by the new total. Write first, and
    use the new memory for the reading.""")
wrong("new memory, old total", _before(total=_DIVISOR)).says("""
    You divided by the total from before the present token, although the new memory contains it. Add φ(k) to the
    total first.""")
wrong("old state returned", {
    "    query, key = F.elu": f"{_OLD}    query, key = F.elu", _RETURN: f"read / {_DIVISOR}, old_memory, old_total"
}).says("""
    You returned the old state, so that the next token could not read this one. Return the new
    memory and the new total.""")  # fmt: skip
wrong("memory overwritten", {_WRITE: "memory = key[:, :, None] * value[:, None, :]"}).says("""
    You replaced the memory by what the present token writes. It is *added* to what was there.""")
wrong("total overwritten", {_TOTAL: "total = key"}).says("""
    You replaced the total by the present key's features. They are *added* to what was there.""")
wrong("the whole state overwritten", {
    _WRITE: "memory = key[:, :, None] * value[:, None, :]", _TOTAL: "total = key"
}).says("""
    You replaced the whole state by what the present token writes. Both the outer product and φ(k)
    are *added* to what was there.""")  # fmt: skip
wrong("total not updated", {_TOTAL: "total = total"}).says("""
    You did not add φ(k) to the total, so that the divisor does not know of the present token.""")
wrong("memory not updated", {_WRITE: "memory = memory"}).says("""
    You did not write the present token into the memory. Add the outer product of φ(k) and v.""")
wrong("not divided", {_RETURN: "read, memory, total"}).says("""
    You left the divisor out. What is read, Sᵀφ(q), must be divided by φ(q)·z.""")
wrong("not divided, total not updated", {_RETURN: "read, memory, total", _TOTAL: "total = total"}).says("""
    You neither updated the total nor divided by it. Add φ(k) to the total, and divide what is read by φ(q)·z.""")
wrong("divided by the total alone", {_DIVISOR: "total.sum(dim=-1, keepdim=True)"}).says("""
    You divided by the sum of the total's entries. The divisor is the dot product of the total with φ(q), the sum
    of all scores of this query.""")
wrong("divided by the present score", {_DIVISOR: "(query * key).sum(dim=-1, keepdim=True)"}).says("""
    You divided by the score of the present token alone. The divisor is the sum of the scores of all tokens so
    far, φ(q)·z.""")
wrong("divided by the key's product with the total", {_DIVISOR: "(key * total).sum(dim=-1, keepdim=True)"}).says("""
    You divided by φ(k)·z. The divisor belongs to the query: φ(q)·z.""")
wrong("read with the key", {_READ: "(key[:, None, :] @ memory)[:, 0]"}).says("""
    You read with the key. The key says where something is written, and the query reads: Sᵀφ(q).""")
wrong("read and divided with the key", {
    _READ: "(key[:, None, :] @ memory)[:, 0]", _DIVISOR: "(key * total).sum(dim=-1, keepdim=True)"
}).says("""
    You read with the key, and divided by φ(k)·z. The query reads, and the divisor belongs to it,
    too: Sᵀφ(q) divided by φ(q)·z.""")  # fmt: skip
wrong("written with the query", {_WRITE: "memory = memory + query[:, :, None] * value[:, None, :]"}).says("""
    You wrote the value under the query. It is written under the key: φ(k) vᵀ.""")
wrong("outer product transposed", {_WRITE: "memory = memory + value[:, :, None] * key[:, None, :]"}).says("""
    You added v φ(k)ᵀ. The memory has one row per feature of the key and one column per feature of the value:
    φ(k) vᵀ.""")
wrong("memory read along its columns", {_READ: "(memory @ query[:, :, None])[:, :, 0]"}).says("""
    You computed S φ(q), a sum over the features of the *value*. The query is compared with keys, so sum over the
    first axis of the memory: Sᵀφ(q).""")
wrong("transposed in writing and reading", {
    _WRITE: "memory = memory + value[:, :, None] * key[:, None, :]", _READ: "(memory @ query[:, :, None])[:, :, 0]"
}).says("""
    Your memory is v φ(k)ᵀ, read as S φ(q). This fits together, but the state that you are given has
    one row per feature of the key: φ(k) vᵀ, read as Sᵀφ(q).""")  # fmt: skip
wrong("product entry by entry", {_WRITE: "memory = memory + (key * value)[:, :, None]"}).says("""
    You multiplied key and value entry by entry. What is added is their outer product: every feature of the key
    times every feature of the value.""")
wrong("φ of the query only", {_FEATURES: "F.elu(query) + 1, key"}).says("""
    You applied φ to the query and not to the key. What is written must be φ(k), because the score is φ(q)·φ(k).""")
wrong("φ of the key only", {_FEATURES: "query, F.elu(key) + 1"}).says("""
    You applied φ to the key and not to the query. What reads must be φ(q), because the score is φ(q)·φ(k).""")
wrong("no φ", {_FEATURES: "query, key"}).says("""
    You left φ out. Replace query and key by φ(x) = elu(x) + 1 first, because otherwise the divisor can be 0.""")
wrong("exp as φ", {_FEATURES: "query.exp(), key.exp()"}).says("""
    Your φ is the exponential of each feature. Here φ(x) = elu(x) + 1, which is e^x for negative x and x + 1 above.""")
wrong("relu plus 1", {_FEATURES: "F.relu(query) + 1, F.relu(key) + 1"}).says("""
    Your φ is relu(x) + 1. It is elu(x) + 1, which goes on falling where x is negative.""")
wrong("no φ in the total", {
    f"query, key = {_FEATURES}": f"raw, query, key = key, {_FEATURES}", _TOTAL: "total = total + raw"
}).says("""
    You added the key itself to the total. It is φ(k) that must be added, as in the memory.""")  # fmt: skip
wrong("no φ in the memory", {
    f"query, key = {_FEATURES}": f"raw, query, key = key, {_FEATURES}",
    _WRITE: "memory = memory + raw[:, :, None] * value[:, None, :]",
}).says("""
    You wrote the value under the key itself. It is written under φ(k), as it is φ(k) that is added to
    the total.""")  # fmt: skip
wrong("elu without the 1", {_FEATURES: "F.elu(query), F.elu(key)"}).says("""
    Your φ is elu(x) without the 1, which can be negative. It is elu(x) + 1.""")
wrong("φ of the value, too", {"value[:, None, :]": "(F.elu(value) + 1)[:, None, :]"}).says("""
    You applied φ to the value as well. The value is written as it is.""")
wrong("φ of the total, too", {_DIVISOR: "(query * (F.elu(total) + 1)).sum(dim=-1, keepdim=True)"}).says("""
    You applied φ to the total. It is a sum of features φ(k) already.""")
wrong("total of the scores", {_TOTAL: "total = total + (query * key)"}).says("""
    You added the products φ(q) φ(k) to the total. The next query is another one, so the total must not depend on
    this one: add φ(k), and multiply by φ(q) when you divide.""")
wrong("total of the queries", {_TOTAL: "total = total + query"}).says("""
    You added φ(q) to the total. The total is the sum of the keys' features: add φ(k).""")
wrong("the delta rule", {
    _WRITE: "memory = memory + key[:, :, None] * (value - (key[:, None, :] @ memory)[:, 0])[:, None, :]"
}).says("""
    You subtracted what the memory answers to this key before you wrote. This is the delta rule, the
    next exercise. Linear attention only adds: S + φ(k) vᵀ.""")  # fmt: skip
wrong("total of the values", {_TOTAL: "total = total + value"}).says("""
    You added the value to the total. The total is the sum of the keys' features φ(k).""")
wrong("each row divided by its total", {
    _RETURN: "(query[:, None, :] @ (memory / total[:, :, None]))[:, 0], memory, total"
}).says("""
    You divided each row of the memory by its entry of the total, and read from the quotients. There is one divisor per
    text, the number φ(q)·z: read Sᵀφ(q) first, and divide then.""")  # fmt: skip
wrong("mean kept in the memory", {_RETURN: f"read / {_DIVISOR}, memory / total[:, :, None], total"}).says("""
    You divided the memory that you return. It stays a plain sum; only what is read from it is divided.""")
wrong(
    "one memory for the batch", {_WRITE: "memory = memory + (key[:, :, None] * value[:, None, :]).sum(0, keepdim=True)"}
).says("""
    You wrote the keys and values of all texts of the batch into every memory. Each text has its own memory.""")
for small in ("1e-6", "1e-8", "1e-12"):
    wrong(f"{small} in the divisor", {_DIVISOR: f"({_DIVISOR} + {small})"}).says(f"""
        You added {small} to the divisor, as some programs do. The features are above 0, so the divisor is never 0,
        and what is added only makes the means wrong.""")
for small in ("1e-6", "1e-2"):
    wrong(f"the divisor kept above {small}", {_DIVISOR: f"{_DIVISOR}.clamp(min={small})"}).says(f"""
        You kept the divisor above {small}. The features are above 0, so the divisor is never 0, however small it is,
        and dividing by anything else makes the mean wrong.""")
wrong("a count as the total", {_TOTAL: "total = total + 1"}).says("""
    You counted the tokens in the total. It is the sum of the keys' features φ(k).""")
wrong("context last", {_RETURN: f"memory, total, read / {_DIVISOR}"}).says("""
    You returned the state first. The order is context, memory, total.""")
wrong("memory and total exchanged", {_RETURN: f"read / {_DIVISOR}, total, memory"}).says("""
    You returned the total before the memory. The order is context, memory, total.""")
wrong("softmax of the query", {_FEATURES: "query.softmax(dim=-1), F.elu(key) + 1"}).says("""
    You applied a softmax to the query. Linear attention has none: φ(x) = elu(x) + 1 for query and key.""")
wrong("softmax of query and key", {_FEATURES: "query.softmax(dim=-1), key.softmax(dim=-1)"}).says("""
    You applied a softmax to query and key. Linear attention has none: φ(x) = elu(x) + 1 for each feature.""")
