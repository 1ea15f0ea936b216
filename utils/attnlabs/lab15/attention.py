"""Lab 15: SNAIL's attention, causal and with one head, whose context is appended."""

import torch

from misread.exercise import About, Exercise

from ..families.attention_properties import closed_get_nothing, rows_sum_to_one


def causal_attention_block(x, W_q, W_k, W_v):
    """Append the context of causal attention.

    (B, T, D), (D, A), (D, A), (D, V) -> output (B, T, D + V), weights (B, T, T).
    """
    query, key, value = x @ W_q, x @ W_k, x @ W_v  # (B, T, A), (B, T, A), (B, T, V)
    scores = query @ key.mT / query.shape[-1] ** 0.5  # (B, T, T)
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, T, T)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)  # (B, T, T)
    return torch.cat([x, weights @ value], dim=-1), weights  # (B, T, D + V)


def _sequences(draw):
    batch, length, dim, keys, values = draw.sizes(5)
    if draw.compact:
        yield draw.normal(1, 2, 1), draw.normal(1, 2), draw.normal(1, 2), draw.normal(1, 1)
        yield draw.normal(1, 2, 1), torch.zeros_like(draw.normal(1, 1)), draw.normal(1, 1), draw.normal(1, 1)
        yield 100 * draw.normal(1, 2, 1), draw.normal(1, 1), draw.normal(1, 1), draw.normal(1, 1)
    tables = draw.normal(dim, keys), draw.normal(dim, keys), draw.normal(dim, values)
    yield draw.normal(batch, length, dim), *tables
    yield draw.normal(2, length + 3, dim), *tables
    yield draw.normal(3, 3, 3), *(draw.normal(3, 3) for _ in range(3))  # all sizes the same
    blank = draw.normal(2, 4, 3)
    blank[:, 1] = 0  # the scores of this position are 0, as a query and as a key
    yield blank, *(draw.normal(3, 2) for _ in range(2)), draw.normal(3, 3)  # V = D
    yield draw.normal(2, 1, 3), draw.normal(3, 2), draw.normal(3, 2), draw.normal(3, 4)  # one position
    yield 100 * draw.normal(2, 5, 3), draw.normal(3, 4), draw.normal(3, 4), draw.normal(3, 2)  # large scores


def _past(weights):
    return torch.ones_like(weights, dtype=torch.bool).tril()


CAUSAL_ATTENTION_BLOCK = Exercise(
    causal_attention_block,
    cases=_sequences,
    returns=("output", "weights"),
    tolerance=1e-6,  # √D as a tensor is float32
    about=About(points=3, minutes=18, difficulty=3, read_again="Two layers, written by hand"),
)

must = CAUSAL_ATTENTION_BLOCK.properties
must("nothing from the future", lambda result, *args: closed_get_nothing(result[1], _past(result[1]))).says("""
    Position t may attend to the positions 0 … t only, so all weights above the diagonal must be exactly 0.""")
must("each row sums to one", lambda result, *args: rows_sum_to_one(result[1], None)).says("""
    The weights of a position must sum to 1 over the positions that it may attend to, and there is always at least one,
    the position itself.""")
must("what came in is still there", lambda result, x, *others: torch.equal(result[0][..., : x.shape[-1]], x)).says("""
    The first D features of the output must be those of x, unchanged.""")
must(
    "the context is a weighted sum of the values",
    lambda result, x, W_q, W_k, W_v: torch.allclose(result[0][..., x.shape[-1] :], result[1] @ (x @ W_v)),
).says("""
    The last V features of the output must be weights @ value, where the values are x @ W_v.""")

_MASKED, _SCALE = "scores.masked_fill(later, -torch.inf).softmax(dim=-1)", " / query.shape[-1] ** 0.5"
_LATER, _JOIN = "torch.ones_like(scores, dtype=torch.bool).triu(1)", "torch.cat([x, weights @ value], dim=-1)"

wrong = CAUSAL_ATTENTION_BLOCK.mistakes
wrong("softmax over the queries", {".softmax(dim=-1)": ".softmax(dim=1)"}).says("""
    Your weights sum to 1 over the *queries* (axis 1), as in some public code of SNAIL. Each position must
    distribute one unit of weight over the positions that it attends to, the keys: softmax over the last axis.""")
wrong("softmax over the batch", {".softmax(dim=-1)": ".softmax(dim=0)"}).says("""
    Your softmax runs over the batch, so that the sequences depend on each other. Each position distributes one unit
    of weight over the keys of its own sequence: softmax over the last axis.""")
wrong("not causal", {_MASKED: "scores.softmax(dim=-1)"}).says("""
    Each of your positions attends to all positions, later ones too. At position t nothing after t has been seen
    yet, so the scores of later keys must be −∞ before the softmax.""")
OWN = "weights = scores.exp().tril()\n    weights = weights / weights.sum(-1, keepdim=True)"
wrong("an exp without the maximum subtracted", {f"weights = {_MASKED}": OWN}).says("""
    Your softmax overflows where scores are large: exp(710) is infinite, and ∞ / ∞ is NaN. torch's `softmax` subtracts
    the largest score of each row first.""")
wrong("only the future", {".triu(1)": ".tril(-1)"}).says("""
    You masked the *earlier* positions and not the later ones. Row t of the scores belongs to query t, whose keys
    0 … t must keep their scores: mask the part above the diagonal, triu(1).""")
wrong("the past and the position itself masked", {".triu(1)": ".tril()"}).says("""
    You masked the positions 0 … t and not the later ones, so that the last position may attend to nothing and
    becomes NaN. The keys 0 … t must keep their scores: −∞ belongs *above* the diagonal, triu(1).""")
wrong("the past masked with a large number", {_MASKED: "scores.masked_fill(~later, -1e9).softmax(dim=-1)"}).says("""
    You masked the positions 0 … t and not the later ones. The last position, of whose keys none is left, then attends
    to all of them evenly, because your masked score is a large number and not −∞. The keys 0 … t must keep their
    scores: mask the part *above* the diagonal, triu(1).""")
ALONE = {".triu(1)": ".triu()", _MASKED: "scores.masked_fill(later, -torch.inf).softmax(dim=-1).masked_fill(later, 0)"}
wrong("not to itself", ALONE).says("""
    Your positions do not attend to themselves. Here they do: position t attends to 0 … t, so mask only the part
    *above* the diagonal, triu(diagonal=1); then no row is empty.""")
wrong("not to itself, and nothing at the first", {".triu(1)": ".triu()"}).says("""
    You masked the diagonal as well, so that the first position may attend to nothing and becomes NaN. A position
    attends to itself: mask only the part above the diagonal, triu(diagonal=1).""")
wrong("not to itself, masked with a large number", {".triu(1)": ".triu()", "-torch.inf": "-1e9"}).says("""
    You masked the diagonal as well. The first position then has no key left, and it attends to all positions evenly,
    later ones too, because your masked score is a large number and not −∞. A position attends to itself: mask only
    the part above the diagonal, triu(diagonal=1).""")
wrong("zeroed after the softmax", {_MASKED: "scores.softmax(dim=-1).tril()"}).says("""
    You took the softmax over all positions and set the later ones to 0 afterwards, so that the rest sums to less
    than 1. Mask them before the softmax, with the score −∞.""")
wrong("score 0 is not masked", {_MASKED: "scores.tril().softmax(dim=-1)"}).says("""
    You set the scores of later positions to 0. exp(0) is 1, so that they still receive weight: their score must be
    −∞.""")
AFTERWARDS = "scores.softmax(dim=-1).tril()\n    weights = weights / weights.sum(dim=-1, keepdim=True)"
wrong("later keys taken out after the softmax", {_MASKED: AFTERWARDS}).says("""
    You took the later keys out after the exponential, and then divided by the sum of what remained. Where a later key
    has a much larger score, all that remains is rounded to 0, and 0 / 0 is NaN. Set the later scores to −∞ first, and
    then take the softmax.""")
wrong("every score of 0 masked", {_LATER: "scores.tril() == 0"}).says("""
    You set the later scores to 0, and then masked each score that is 0. But the score of an earlier position may be 0
    as well, for example if a query is a vector of zeros. Make the mask from the positions: torch.ones_like(scores,
    dtype=torch.bool).triu(1).""")
EVERY = {_LATER: "scores.tril() == 0", "-torch.inf": "-1e9"}
wrong("every score of 0 masked with a large number", EVERY).says("""
    You set the later scores to 0, and then masked each score that is 0. The score of an earlier position may be 0 as
    well: where the query is a vector of zeros, all keys are masked, and it attends to all of them evenly, later ones
    too. Make the mask from the positions: torch.ones_like(scores, dtype=torch.bool).triu(1).""")
wrong("the scores returned", {"dim=-1), weights": "dim=-1), scores.masked_fill(later, -torch.inf)"}).says("""
    Your output is right, but what you return beside it are the masked scores. The weights are the softmax of these
    scores: the numbers by which you multiplied the values.""")
wrong("not scaled", {_SCALE: ""}).says("""
    You did not divide the scores. The standard deviation of a dot product grows with the root of the number of
    features that it adds up, so divide by √A, where A is the number of features of a query.""")
wrong("root forgotten", {" ** 0.5": ""}).says("""
    You divided the scores by A. The standard deviation of a dot product grows with the root of A, so divide by √A.""")
wrong("multiplied by the root", {_SCALE: " * query.shape[-1] ** 0.5"}).says("""
    You multiplied the scores by √A. The standard deviation of a dot product grows with √A already, so *divide* the
    scores by it.""")
wrong("scaled after the softmax", {_SCALE: "", _MASKED: _MASKED + _SCALE}).says("""
    You divided the *weights* by √A, after the softmax, so that they no longer sum to 1. Divide the scores, before the
    softmax.""")
wrong("scaled by the features of x", {"query.shape[-1]": "x.shape[-1]"}).says("""
    You divided by √D, the root of the number of features of x. The dot product adds up the features of a *query*,
    after its projection: divide by √A.""")
wrong("scaled by the values", {"query.shape[-1]": "value.shape[-1]"}).says("""
    You divided by √V. Values take no part in the scores; the dot product adds up the features of a query, so divide
    by √A.""")
wrong("scaled by the length", {"query.shape[-1]": "x.shape[1]"}).says("""
    You divided by √T, the root of the number of positions. The dot product adds up *features*, so divide by √A.""")
wrong("queries and keys swapped", {"query @ key.mT": "key @ query.mT"}).says("""
    You exchanged queries and keys in the scores. Row t belongs to query t, so the scores are query @ key.mT.""")
wrong("only the context", {_JOIN: "weights @ value"}).says("""
    You returned the context alone. SNAIL's block appends it to x, so that what came in is still there for the next
    block: (B, T, D + V).""")
wrong("context first", {_JOIN: "torch.cat([weights @ value, x], dim=-1)"}).says("""
    You put the context before the features of x. The order is fixed here: first the D features that came in, then
    the V of the context.""")
wrong("added, not appended", {_JOIN: "x + weights @ value"}).says("""
    You added the context to x, as a residual connection does. SNAIL's block *appends* it along the last axis.""")
wrong("appended along the time", {_JOIN: "torch.cat([x, weights @ value], dim=1)"}).says("""
    You joined x and the context along axis 1, so that the sequence becomes longer. Each position receives V more
    features: join along the last axis.""")
wrong("values averaged with the columns", {"weights @ value": "weights.mT @ value"}).says("""
    Your weights are right, but you averaged the values with their *columns*, which do not sum to 1 and hold the weights
    of later queries. What position t receives is made with row t of the weights: weights @ value.""")
wrong("the inputs for the values", {"weights @ value": "weights @ x"}).says("""
    You took the weighted sum of x itself. The values are x @ W_v, with V features, and W_v had no effect.""")
wrong("matrices transposed", {"x @ W_q, x @ W_k, x @ W_v": "x @ W_q.mT, x @ W_k.mT, x @ W_v.mT"}).says("""
    You multiplied by the transposed matrices, as nn.Linear does internally. Here the rows of a matrix belong to the
    features of x, so it is used as it is: x @ W_q.""")
