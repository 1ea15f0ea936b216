"""Lab 20: linear attention, at all positions at once."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise


def linear_attention(query, key, value):
    """Causal attention with scores φ(q)·φ(k): query, key (B, T, D), value (B, T, Dv) -> (B, T, Dv)."""
    query, key = F.elu(query) + 1, F.elu(key) + 1  # (B, T, D) each, above 0
    scores = (query @ key.mT).tril()  # (B, T, D) @ (B, D, T) -> (B, T, T); 0 for later keys
    total = scores.sum(dim=-1, keepdim=True)  # (B, T, 1)
    return scores @ value / total  # (B, T, T) @ (B, T, Dv) -> (B, T, Dv)


def _texts(draw):
    batch, length, features, of_value = draw.sizes(4)
    yield (
        draw.normal(batch, length, features),
        draw.normal(batch, length, features),
        draw.normal(batch, length, of_value),
    )
    if draw.compact:
        yield draw.normal(1, 2, 1), draw.normal(1, 2, 1), draw.normal(1, 2, 1)
        yield draw.normal(1, 2, 2), draw.normal(1, 2, 2), draw.normal(1, 2, 2)
    yield draw.normal(2, 4, 3), draw.normal(2, 4, 3), draw.normal(2, 4, 3)  # values as wide as keys
    yield draw.normal(3, 3, 3), draw.normal(3, 3, 3), draw.normal(3, 3, 3)  # axes of one size
    yield draw.normal(1, 1, 2), draw.normal(1, 1, 2), draw.normal(1, 1, 3)  # one position: its own value
    yield 3 * draw.normal(2, 6, 2), 3 * draw.normal(2, 6, 2), draw.normal(2, 6, 1)
    yield draw.normal(1, 40, 3), draw.normal(1, 40, 3), 1000 + draw.normal(1, 40, 2)  # all digits are needed
    yield draw.normal(2, 5, 4) - 4, draw.normal(2, 5, 4) - 4, draw.normal(2, 5, 2)  # small scores
    yield draw.normal(2, 3, 2) - 10, draw.normal(2, 3, 2) - 10, draw.normal(2, 3, 2)  # and very small ones


LINEAR_ATTENTION = Exercise(
    linear_attention, cases=_texts, about=About(points=3, minutes=16, difficulty=3, read_again="Add up in a state")
)


def _rounding(value):
    """How far single precision may be from the right numbers: whoever computes in it breaks no property."""
    return 1e-6 * (1 + value.abs().max())


def _in_single_precision(*texts):
    return linear_attention(*(text.float() for text in texts))


must = LINEAR_ATTENTION.properties
must(
    "the first position gets its own value", lambda result, query, key, value: torch.allclose(result[:, 0], value[:, 0])
).says("""
    The first position may attend to itself only, so its context must be its own value.""")
must(
    "a mean of the values so far",
    lambda result, query, key, value: (
        (result <= value.cummax(1).values + _rounding(value)) & (result >= value.cummin(1).values - _rounding(value))
    ).all(),
).says("""
    The scores are above 0 and are divided by their sum, so each context is a mean of the values up to its
    position and must lie between the smallest and the largest of them.""")

must(
    "the right weights after the first position",
    lambda result, query, key, value: (
        not torch.allclose(result[:, 0], value[:, 0])
        or torch.allclose(result, linear_attention(query, key, value), rtol=1e-5, atol=1e-6)
        or torch.allclose(result, _in_single_precision(query, key, value).to(result), rtol=1e-4, atol=1e-4)
    ),
).says("""
    The first position has one score only, which is divided by itself, so its context is right with any φ. Among the
    later positions your result is wrong, so look at what makes the scores, φ(x) = elu(x) + 1 of queries and keys and
    their product, and at the divisor, the sum of a query's own scores.""")

_TRIL, _SUM, _RETURN = "(query @ key.mT).tril()", "scores.sum(dim=-1, keepdim=True)", "scores @ value / total"
_FEATURES = "F.elu(query) + 1, F.elu(key) + 1"


def _with(feature, query="query", key="key"):
    """Another feature map in the place of elu + 1."""
    return {_FEATURES: f"{feature.format(query)}, {feature.format(key)}"}


wrong = LINEAR_ATTENTION.mistakes
wrong("not causal", {_TRIL: "query @ key.mT"}).says("""
    You did not close the later positions. A position may attend to itself and to earlier positions only, so all
    scores above the diagonal must be 0 before anything is summed.""")
wrong(
    "later positions closed in the divisor only", {_TRIL: "query @ key.mT", "scores.sum": "scores.tril().sum"}
).says("""
    You closed later positions in the divisor and not in the sum of the values. The same scores belong to both.""")
wrong(
    "later positions closed in the values only", {"scores @ value": "scores.tril() @ value", ".tril()  #": "  #"}
).says("""
    You closed later positions in the sum of the values and not in the divisor. The same scores belong to both.""")
wrong("past and future exchanged", {".tril()": ".triu()"}).says("""
    You kept the scores above the diagonal, which belong to *later* keys. Rows are queries and columns are keys,
    so the past lies on and below the diagonal: `tril`.""")
wrong("itself closed", {".tril()": ".tril(-1)"}).says("""
    You closed the diagonal, too. A position may attend to itself, so that the first one has something to read.""")
wrong("itself closed, 1e-6 in the divisor", {".tril()": ".tril(-1)", _SUM: f"{_SUM} + 1e-6"}).says("""
    A position does not attend to itself in your result, as if it were read before the present key and value are
    written. It attends to itself as well, and then nothing must be added to the divisor.""")
wrong("one later position open", {".tril()": ".tril(1)"}).says("""
    You left the first diagonal above the main one open, so that each position attends to the next one as well.""")
_LATER = "(query @ key.mT).masked_fill(torch.ones_like(query @ key.mT).triu(1) > 0, {})"
for closed, number in (("−∞", "-torch.inf"), ("−1e9", "-1e9")):
    wrong(f"{closed} for later scores", {_TRIL: _LATER.format(number)}).says(f"""
        You set the scores of later keys to {closed}, as one does before a softmax. Here is no softmax that makes 0 of
        it: the scores are summed as they are, so those of later keys must be 0.""")
wrong("a small number for later scores", {_TRIL: _LATER.format("1e-9")}).says("""
    You set the scores of later keys to 1e-9. They must be exactly 0, because the scores of earlier keys can be as
    small.""")
wrong("not divided by the sum", {_RETURN: "scores @ value"}).says("""
    You left the divisor out. Each position divides by the sum of its own scores, so that its context is a mean
    of the values and not a sum that grows with the text.""")
wrong("not divided by the sum, not causal", {_RETURN: "query @ key.mT @ value"}).says("""
    You left the divisor out, and you did not close the later positions. Set all scores above the diagonal to 0,
    and divide each row by its own sum.""")
wrong(
    "divided by the number of positions", {_SUM: "torch.arange(1, query.shape[1] + 1, device=query.device)[:, None]"}
).says("""
    You divided by the number of positions so far. Divide by the *sum of the scores* of the position, because
    scores do not sum to 1 by themselves.""")
wrong("summed over the queries", {_SUM: "scores.sum(dim=-2, keepdim=True).mT"}).says("""
    You divided each position by the sum over the *queries*. Each query divides by the sum of its own scores over
    the keys, which is the last axis.""")
wrong("columns divided instead of rows", {_RETURN: "(scores / scores.sum(dim=-2, keepdim=True)) @ value"}).says("""
    You divided each *column* of the scores by its sum. Each row, which is a query, must be divided by its sum
    over the keys.""")
wrong("one divisor for the whole text", {_SUM: "scores.sum(dim=(-2, -1), keepdim=True)"}).says("""
    You divided all positions by one sum. Each position divides by the sum of its own scores.""")
wrong(
    "softmax",
    {_TRIL: "(query @ key.mT).masked_fill(torch.ones_like(query @ key.mT).triu(1) > 0, -torch.inf).softmax(-1)"},
).says("""
    You applied a softmax to the products of the features. Linear attention has no exponential of the scores:
    they are only divided by their sum, which is why one matrix can replace all keys and values.""")
wrong("a softmax of the scores, scaled", {
    _TRIL: "(query @ key.mT / key.shape[-1] ** 0.5).masked_fill(torch.ones_like(query @ key.mT).triu(1) > 0, "
    "-torch.inf).softmax(-1)"
}).says("""
    You applied a softmax to the scaled products of the features, as PyTorch's own attention does.
    Linear attention has no exponential of the scores: they are only divided by their sum.""")  # fmt: skip
wrong("a softmax over closed positions", {_RETURN: "scores.softmax(dim=-1) @ value"}).says("""
    You applied a softmax to the scores, which gives later positions a weight, too, since exp(0) is 1. Linear attention
    has no softmax: the scores are only divided by their sum.""")
wrong("ordinary attention", "\n".join([
    "later = torch.ones_like(query @ key.mT).triu(1) > 0",
    "return (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(later, -torch.inf).softmax(dim=-1) @ value",
])).says("""
    You computed ordinary attention, the softmax of q·k / √D. Here the score is φ(q)·φ(k), and there
    is no softmax.""")  # fmt: skip
wrong("ordinary attention, not scaled", "\n".join([
    "later = torch.ones_like(query @ key.mT).triu(1) > 0",
    "return (query @ key.mT).masked_fill(later, -torch.inf).softmax(dim=-1) @ value",
])).says("""
    You computed the softmax of q·k, which is ordinary attention without its scale. Here the score
    is φ(q)·φ(k), and there is no softmax.""")  # fmt: skip
wrong("φ of the queries only", {_FEATURES: "F.elu(query) + 1, key"}).says("""
    You applied φ to the queries and not to the keys. Both need it, because otherwise a score can be negative.""")
wrong("φ of the keys only", {_FEATURES: "query, F.elu(key) + 1"}).says("""
    You applied φ to the keys and not to the queries. Both need it, because otherwise a score can be negative.""")
wrong("no φ", {_FEATURES: "query, key"}).says("""
    You left φ out. Without it scores can be negative, and their sum can be 0. Replace queries and keys by φ(x) =
    elu(x) + 1 first.""")
wrong("elu without the 1", _with("F.elu({})")).says("""
    Your φ is elu(x) without the 1, which can be negative. It is elu(x) + 1.""")
wrong("the 1 inside of elu", _with("F.elu({} + 1)")).says("""
    You added the 1 before elu. It is φ(x) = elu(x) + 1.""")
wrong("relu", _with("F.relu({})")).says("""
    Your φ is a ReLU, with which all scores of a position can be 0. Here φ(x) = elu(x) + 1.""")
wrong("relu plus 1", _with("(F.relu({}) + 1)")).says("""
    Your φ is relu(x) + 1. It is elu(x) + 1, which goes on falling where x is negative.""")
wrong("softplus", _with("F.softplus({})")).says("""
    Your φ is softplus, log(1 + e^x). Here φ(x) = elu(x) + 1, which is e^x for negative x and x + 1 above.""")
wrong("elu with another α", _with("(F.elu({}, alpha=2.0) + 1)")).says("""
    Your elu has an α of 2, so that φ can be negative. Leave its α at 1, as in `F.elu(x)`: φ(x) = elu(x) + 1.""")
wrong("x + 1 as φ", _with("({} + 1)")).says("""
    Your φ is x + 1 for every x, which can be negative. For x below 0 it is e^x: φ(x) = elu(x) + 1.""")
wrong("x where x is positive", _with("torch.where({0} > 0, {0}, {0}.exp())")).says("""
    Your φ is x where x is positive. It is x + 1 there: φ(x) = elu(x) + 1.""")
wrong("e^(−x) where x is negative", _with("torch.where({0} > 0, {0} + 1, (-{0}).exp())")).says("""
    Your φ is e^(−x) where x is negative, so that it is larger the more negative x is. It is e^x there, which falls
    towards 0: φ(x) = elu(x) + 1.""")
wrong("e^x − 1 where x is negative", _with("torch.where({0} > 0, {0} + 1, {0}.exp() - 1)")).says("""
    Your φ is e^x − 1 where x is negative, so that it can be negative. That is elu(x) itself; with the 1 added it is e^x
    there: φ(x) = elu(x) + 1.""")
wrong("1 added to the scores", {
    _FEATURES: "F.elu(query), F.elu(key)", _TRIL: "(query @ key.mT + 1).tril()"
}).says("""
    You added the 1 to the score. It is added to each feature of query and key, before their product: φ(x) = elu(x) +
    1.""")  # fmt: skip
wrong("a sigmoid as φ", _with("{}.sigmoid()")).says("""
    Your φ is a sigmoid. Here φ(x) = elu(x) + 1, which is e^x for negative x and x + 1 above.""")
wrong("elu + 1 of the opposite", _with("(F.elu(-{}) + 1)")).says("""
    Your φ falls where x grows, because you applied elu to −x. It is φ(x) = elu(x) + 1.""")
wrong("a leaky ReLU plus 1", _with("(F.leaky_relu({}) + 1)")).says("""
    Your φ is a leaky ReLU plus 1, a straight line where x is negative. It is e^x there: φ(x) = elu(x) + 1.""")
wrong("elu plus 2", _with("(F.elu({}) + 2)")).says("""
    Your φ is elu(x) + 2. It is φ(x) = elu(x) + 1, which is e^x for negative x and x + 1 above.""")
wrong("exp as φ", _with("{}.exp()")).says("""
    Your φ is the exponential of each feature. Here φ(x) = elu(x) + 1, which is e^x for negative x and x + 1
    above.""")
wrong("a softmax as φ", _with("{}.softmax(-1)")).says("""
    Your φ is a softmax over the features. Here φ(x) = elu(x) + 1, for each feature by itself.""")
wrong("φ of the scores", {
    _FEATURES: "query, key", _TRIL: "(F.elu(query @ key.mT) + 1).tril()"
}).says("""
    You applied φ to the score q·k. It belongs to queries and keys, before their product: φ(q)·φ(k).
    Otherwise the sum over the keys could not be taken out.""")  # fmt: skip
wrong("φ of the values, too", {"scores @ value": "scores @ (F.elu(value) + 1)"}).says("""
    You applied φ to the values as well. Values are averaged as they are.""")
wrong("keys and values exchanged", "\n".join([
    "query, value = F.elu(query) + 1, F.elu(value) + 1",
    "scores = (query @ value.mT).tril()",
    "return scores @ key / scores.sum(dim=-1, keepdim=True)",
])).says("""
    You exchanged keys and values. Scores are made of queries and keys, and what is averaged are the
    values.""")  # fmt: skip
wrong("queries and keys exchanged", {"query @ key.mT": "key @ query.mT"}).says("""
    You exchanged queries and keys. Row t of the scores belongs to query t, and its columns to the keys.""")
wrong("averaged keys", {"scores @ value": "scores @ key"}).says("""
    You averaged the keys. What is averaged are the values.""")
wrong(
    "features made length 1", {_FEATURES: "F.normalize(F.elu(query) + 1, dim=-1), F.normalize(F.elu(key) + 1, dim=-1)"}
).says("""
    You made the features of queries and keys length 1. Use φ(q) and φ(k) as they are, and divide by the sum of
    the scores.""")
for small in ("1e-6", "1e-5", "1e-8", "1e-9"):
    wrong(f"{small} in the divisor", {_SUM: f"{_SUM} + {small}"}).says(f"""
        You added {small} to the divisor, as some programs do. The features are above 0, so the sum is never 0,
        and what is added only makes the means wrong.""")
for small in ("1e-6", "1e-8", "1e-3"):
    wrong(f"the divisor kept above {small}", {_SUM: f"{_SUM}.clamp(min={small})"}).says(f"""
        You kept the divisor above {small}. The features are above 0, so the sum is never 0, however small it is, and
        dividing by anything else makes the mean wrong.""")
wrong("the divisor kept above 1", {_SUM: f"{_SUM}.clamp(min=1)"}).says("""
    You divided by 1 where the sum of the scores is smaller. The features are above 0, so the sum is never 0: divide
    by it as it is.""")
wrong("summed over the batch", {"@ value / total": "@ value.mean(dim=0, keepdim=True) / total"}).says("""
    You averaged the values of different texts of the batch. Each text has its own keys and values.""")
wrong("computed in float32", {
    _FEATURES: "F.elu(query.float()) + 1, F.elu(key.float()) + 1",
    _RETURN: "(scores @ value.float() / total).to(value.dtype)",
}).says("""
    You computed in single precision on the way, so that digits of the input are lost. Leave the
    dtype as it comes.""")  # fmt: skip
wrong(
    "scores of features added up", {_TRIL: "(query.sum(-1, keepdim=True) @ key.sum(-1, keepdim=True).mT).tril()"}
).says("""
    You added up the features of each vector before you multiplied. The score is a dot product: multiply feature
    by feature, and then sum.""")
