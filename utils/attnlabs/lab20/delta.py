"""Lab 20: a memory of fixed size that corrects what it holds."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise


def delta_rule_step(query, key, value, rate, memory):
    """query, key (B, D), value (B, Dv), rate (B,), memory (B, D, Dv) -> context (B, Dv), new memory."""
    held = (key[:, None, :] @ memory)[:, 0]  # (B, Dv): Sᵀk, what the memory answers to this key
    change = rate[:, None] * (value - held)  # (B, 1) * (B, Dv) -> (B, Dv)
    memory = memory + key[:, :, None] * change[:, None, :]  # (B, D, Dv)
    return (query[:, None, :] @ memory)[:, 0], memory


def _steps(draw):
    batch, features, of_value = draw.sizes(3)
    yield _step(draw, batch, features, of_value)
    if draw.compact:
        yield _step(draw, 1, 1, 1)
        yield _step(draw, 1, 2, 1)
        yield _step(draw, 1, 2, 2)
    yield _step(draw, 2, 2, 2)  # axes of one size
    yield _step(draw, 3, 3, 3)
    yield _step(draw, 2, 4, 4)
    query, key, value, rate, memory = _step(draw, 3, 4, 2)
    yield query, F.normalize(key, dim=-1), value, rate, memory  # keys of length 1, as they usually are
    yield query, F.normalize(key, dim=-1), value, torch.ones_like(rate), memory  # the old value is replaced
    yield query, key, value, torch.zeros_like(rate), memory  # nothing is written
    mixed = rate.new_tensor([1.0, 0.0, 0.5])
    yield query, key, value, mixed, memory  # both in one batch
    yield query, key, value, torch.full_like(rate, 0.5), memory
    yield query, key, value, rate, torch.zeros_like(memory)  # nothing is in the memory yet
    yield key, key, value, rate, memory  # read where it was written
    yield query, key, 1000 + value, rate, 1000 + memory


def _step(draw, batch, features, of_value):
    query, key, value = draw.normal(batch, features), draw.normal(batch, features), draw.normal(batch, of_value)
    query = query.masked_fill(query == 0, 1.0)  # rounded to one decimal it can be 0, and would read nothing
    return query, key, value, draw.uniform(batch, low=0.2, high=0.9), draw.normal(batch, features, of_value)


DELTA_RULE_STEP = Exercise(
    delta_rule_step,
    cases=_steps,
    gradients=False,  # a step of writing: one may write into tensors of one's own
    returns=("context", "memory"),
    about=About(points=3, minutes=16, difficulty=3, read_again="Fade or correct"),
)

must = DELTA_RULE_STEP.properties
must(
    "the context is read from the new memory",
    lambda result, query, *rest: torch.allclose(result[0], torch.einsum("bd,bdv->bv", query, result[1])),
).says("""
    The context must be Sᵀq, with the memory S that you return.""")
must(
    "a rate of 0 writes nothing",
    lambda result, query, key, value, rate, memory: torch.equal(result[1][rate == 0], memory[rate == 0]),
).says("""
    With a rate of 0 the memory must stay as it is.""")

_HELD, _ERROR = "(key[:, None, :] @ memory)[:, 0]", "rate[:, None] * (value - held)"
_WRITE, _READ = "memory = memory + key[:, :, None] * change[:, None, :]", "(query[:, None, :] @ memory)[:, 0]"
_RETURN = f"return {_READ}, memory"
_LENGTH = "key.square().sum(dim=-1, keepdim=True)"

wrong = DELTA_RULE_STEP.mistakes
wrong("added, not replaced", {_ERROR: "rate[:, None] * value"}).says("""
    You only added the new value, as linear attention does. The delta rule first takes away what the memory
    answers to this key: write β (v − Sᵀk) and not β v.""")
wrong("added, not replaced, no rate", {_ERROR: "value"}).says("""
    You only added the new value, as linear attention does, and left β out. Write β (v − Sᵀk): the value less
    what the memory answers to this key.""")
wrong("no rate", {_ERROR: "value - held"}).says("""
    You left β out. It says for each text how much is written, from nothing (0) to a full replacement (1).""")
wrong("rate on the value only", {_ERROR: "rate[:, None] * value - held"}).says("""
    You multiplied only the new value by β. The whole difference is multiplied: β (v − Sᵀk). Otherwise a rate of
    0 would still erase.""")
wrong("rate on the old value only", {_ERROR: "value - rate[:, None] * held"}).says("""
    You multiplied only the old value by β. The whole difference is multiplied: β (v − Sᵀk). Otherwise a rate of
    0 would still write.""")
wrong("rate on the old memory", {
    _ERROR: "value - held", "memory = memory + key": "memory = rate[:, None, None] * memory + key"
}).says("""
    You multiplied the old memory by β. The rate belongs to what is written, β k (v − Sᵀk)ᵀ; the
    memory itself does not fade.""")  # fmt: skip
wrong("the whole memory fades", {
    _ERROR: "rate[:, None] * value", "memory = memory + key": "memory = (1 - rate[:, None, None]) * memory + key"
}).says("""
    You let the whole memory fade by 1 − β. The delta rule takes away only what is held under *this*
    key; what lies under other keys stays.""")  # fmt: skip
wrong("each row fades by itself", {
    _ERROR: "rate[:, None] * value",
    "memory = memory + key": "memory = (1 - rate[:, None] * key**2)[:, :, None] * memory + key",
}).says("""
    You multiplied row i of the memory by 1 − β kᵢ². What is taken away is β k kᵀ S, with the product of the matrix
    k kᵀ: first read Sᵀk, and then write β k (v − Sᵀk)ᵀ.""")  # fmt: skip
wrong("rate kept between 0.1 and 0.9", {"rate[:, None] *": "rate.clamp(0.1, 0.9)[:, None] *"}).says("""
    You kept the rate away from 0 and 1. Both are allowed: a rate of 0 writes nothing, and a rate of 1 replaces what
    was held under the key.""")
wrong("one minus the rate", {"rate[:, None] *": "(1 - rate[:, None]) *"}).says("""
    You used 1 − β. A rate of 1 replaces what was held under the key, and a rate of 0 writes nothing.""")
wrong("rate squared", {_ERROR: "rate[:, None] ** 2 * (value - held)"}).says("""
    You multiplied by β twice. The change of the memory is β k (v − Sᵀk)ᵀ, with a single β.""")
wrong("rate on the key", {
    "    held =": "    key = rate[:, None] * key\n    held =", _ERROR: "value - held"
}).says("""
    You multiplied the key by β and used it for reading as well as for writing, so that the old value
    is multiplied by β, too, and is then written with β². Read with the key as it comes: v̄ = Sᵀk.""")  # fmt: skip
wrong("sigmoid of the rate", {"rate[:, None] *": "rate[:, None].sigmoid() *"}).says("""
    You applied a sigmoid to the rate. It is a number from 0 to 1 already.""")
wrong("the first text's rate for all", {"rate[:, None] *": "rate[0] *"}).says("""
    You used the first text's rate for all texts. Each text of the batch has its own.""")
wrong("the wrong sign", {"(value - held)": "(held - value)"}).says("""
    You computed Sᵀk − v, so that the error grows. Written is the value less what the memory answers: v − Sᵀk.""")
wrong("old and new added", {"(value - held)": "(value + held)"}).says("""
    You added the old value to the new one. What the memory held under this key is taken away: v − Sᵀk.""")
wrong("mean of old and new added", {_ERROR: "rate[:, None] * value + (1 - rate[:, None]) * held"}).says("""
    You mixed old and new value with the shares 1 − β and β, which is what the memory should answer *afterwards*,
    and added all of it. What is held already must not be added again: write β (v − Sᵀk).""")
wrong("only taken away", {"(value - held)": "(-held)"}).says("""
    You took away the old value and did not write the new one. What is written is v − Sᵀk.""")
wrong("old value looked up with the query", {_HELD: "(query[:, None, :] @ memory)[:, 0]"}).says("""
    You looked up the old value with the query. What is replaced is what lies under the *key*: Sᵀk. The query
    only reads at the end.""")
wrong("written under the query", {"key[:, :, None] *": "query[:, :, None] *"}).says("""
    You wrote under the query. The value is written under the key: k (v − Sᵀk)ᵀ.""")
wrong("read with the key", {_RETURN: "return (key[:, None, :] @ memory)[:, 0], memory"}).says("""
    You read the context with the key. The query reads: Sᵀq.""")
wrong("query and key exchanged", "\n".join([
    "held = (query[:, None, :] @ memory)[:, 0]",
    "memory = memory + query[:, :, None] * (rate[:, None] * (value - held))[:, None, :]",
    "return (key[:, None, :] @ memory)[:, 0], memory",
])).says("""
    You exchanged query and key. The key says where something is written, and the query reads.""")  # fmt: skip
wrong("read before writing", {_WRITE: "old, memory = memory, memory + key[:, :, None] * change[:, None, :]",
                              _RETURN: "return (query[:, None, :] @ old)[:, 0], memory"}).says("""
    You read the context from the old memory. The present token attends to itself as well, so write
    first, and read from the new memory.""")  # fmt: skip
wrong("old value looked up after adding", {
    "held = (key": "added = memory + key[:, :, None] * (rate[:, None] * value)[:, None, :]\n    held = (key",
    "@ memory)[:, 0]  # (B, Dv)": "@ added)[:, 0]  # (B, Dv)",
}).says("""
    You looked up the old value after you had added the new one, so that part of the new value is
    taken away again. Look up Sᵀk in the old memory, before anything is written.""")  # fmt: skip
wrong("old memory returned", {_RETURN: f"return {_READ}, memory - key[:, :, None] * change[:, None, :]"}).says("""
    You returned the old memory, so that the next token could not read this one. Return the new memory.""")
wrong("memory overwritten", {"memory = memory + key": "memory = key"}).says("""
    You replaced the memory by what is written now. The change is *added* to the old memory.""")
wrong("outer product transposed", {_WRITE: "memory = memory + change[:, :, None] * key[:, None, :]"}).says("""
    You added the transposed outer product. The memory has one row per feature of the key and one column per
    feature of the value: k (v − Sᵀk)ᵀ.""")
wrong("memory read along its columns", {
    _HELD: "(memory @ key[:, :, None])[:, :, 0]", _RETURN: "return (memory @ query[:, :, None])[:, :, 0], memory"
}).says("""
    You computed S k and S q, sums over the features of the *value*. Key and query are compared with
    keys, so sum over the first axis of the memory: Sᵀk and Sᵀq.""")  # fmt: skip
wrong("context read along the columns", {_RETURN: "return (memory @ query[:, :, None])[:, :, 0], memory"}).says("""
    You read the context as S q, a sum over the features of the *value*. Sum over the first axis of the memory:
    Sᵀq.""")
wrong("old value read along the columns", {_HELD: "(memory @ key[:, :, None])[:, :, 0]"}).says("""
    You looked up the old value as S k, a sum over the features of the *value*. Sum over the first axis of the
    memory: Sᵀk.""")
wrong("all transposed", "\n".join([
    "held = (memory @ key[:, :, None])[:, :, 0]",
    "memory = memory + (rate[:, None] * (value - held))[:, :, None] * key[:, None, :]",
    "return (memory @ query[:, :, None])[:, :, 0], memory",
])).says("""
    Your memory is transposed, as in some papers. The one that you are given has one row per feature
    of the key: written is k (v − Sᵀk)ᵀ, and read are Sᵀk and Sᵀq.""")  # fmt: skip
wrong("divided by k·k", {_ERROR: f"{_ERROR} / {_LENGTH}"}).says("""
    You divided by k·k. The rule uses the key as it comes; whoever calls this function makes keys of length 1,
    for which k·k is 1.""")
wrong("divided by the key's length", {_ERROR: f"{_ERROR} / {_LENGTH}.sqrt()"}).says("""
    You divided by the length of the key. The rule uses the key as it comes; whoever calls this function has made
    it length 1 where that is wanted.""")
wrong("old value divided by the sum of the key", {
    "(value - held)": "(value - held / key.sum(dim=-1, keepdim=True))"
}).says("""
    You divided what the memory answers by the sum of the key. The delta rule has no divisor: v − Sᵀk.""")  # fmt: skip
wrong("old value divided by k·k", {"(value - held)": f"(value - held / {_LENGTH})"}).says("""
    You divided what the memory answers by k·k. The rule uses the key as it comes: v − Sᵀk.""")
wrong("multiplied by k·k", {_ERROR: f"{_ERROR} * {_LENGTH}"}).says("""
    You multiplied by k·k. The change of the memory is β k (v − Sᵀk)ᵀ, and there is no further factor.""")
wrong("key made length 1", {"    held =": "    key = F.normalize(key, dim=-1)\n    held ="}).says("""
    You made the key length 1 inside of the function. The rule uses the key as it comes; whoever calls this
    function has made it length 1 where that is wanted.""")
wrong("key and query made length 1", {
    "    held =": "    key, query = F.normalize(key, dim=-1), F.normalize(query, dim=-1)\n    held ="
}).says("""
    You made key and query length 1 inside of the function. The rule uses both as they come.""")  # fmt: skip
wrong("φ of query and key", {"    held =": "    query, key = F.elu(query) + 1, F.elu(key) + 1\n    held ="}).says("""
    You applied φ to query and key, as in linear attention. The delta rule of this exercise uses both as they
    come.""")
wrong("φ of the key", {"    held =": "    key = F.elu(key) + 1\n    held ="}).says("""
    You applied φ to the key, as in linear attention. The delta rule of this exercise uses the key as it comes.""")
wrong("φ of the query", {_READ: "((F.elu(query) + 1)[:, None, :] @ memory)[:, 0]"}).says("""
    You applied φ to the query, as in linear attention. The delta rule of this exercise uses the query as it comes.""")
wrong("divided by a sum", {_RETURN: f"return {_READ} / (query * key).sum(-1, keepdim=True), memory"}).says("""
    You divided the context by q·k. The delta rule has no divisor: what is read is Sᵀq.""")
wrong("product entry by entry", {"key[:, :, None] * change[:, None, :]": "(key * change)[:, :, None]"}).says("""
    You multiplied entry by entry. What is added is an outer product: every feature of the key times every
    feature of the change.""")
wrong("one memory for the batch", {
    _WRITE: "memory = memory + (key[:, :, None] * change[:, None, :]).sum(0, keepdim=True)"
}).says("""
    You wrote the changes of all texts of the batch into every memory. Each text has its own memory.""")  # fmt: skip
wrong("memory first", {_RETURN: f"return memory, {_READ}"}).says("""
    You returned the memory first. The order is context, memory.""")
wrong("the old value as the context", {_RETURN: "return held, memory"}).says("""
    You returned what the memory answered to the key as the context. The context is what the *query* reads from
    the new memory.""")
