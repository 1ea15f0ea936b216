"""Lab 2, second part: the additive score, and the weighted sum of the values."""

import torch

from misread.exercise import About, Exercise

from ..families.additive_scores import BENT_OR_SUMMED_WRONGLY, TANH_OF_EACH_PART
from ..families.attention_properties import along_the_sum


def additive_score(query, key, W_q, W_k, v):
    """v . tanh(W_q q + W_k k) for each pair: (B, Tq, Dq), (B, Tk, Dk), (A, Dq), (A, Dk), (A,) -> (B, Tq, Tk)."""
    pairs = (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]  # (B, Tq, 1, A) + (B, 1, Tk, A)
    return pairs.tanh() @ v  # (B, Tq, Tk)


def _query_and_keys(draw):
    batch, queries, keys, query_dim, key_dim, hidden = draw.sizes(6)
    if draw.compact:  # two keys; one query, two queries, two sentences
        for b, places in ((1, 1), (1, 2), (2, 2)):
            vectors = draw.normal(b, places, 2), draw.normal(b, 2, 2)
            yield *vectors, draw.normal(2, 2), draw.normal(2, 2), draw.normal(2)
    sizes = [(batch, queries, keys, query_dim, key_dim, hidden), (3, 3, 3, 3, 3, 3)]
    if draw.number == 1:  # one sentence, one query
        sizes.append((1, 1, keys + 9, query_dim, key_dim, hidden))
    for b, q, k, dim, other, a in sizes:
        yield (
            draw.normal(b, q, dim),
            draw.normal(b, k, other),
            draw.normal(a, dim),
            draw.normal(a, other),
            draw.normal(a),
        )


ADDITIVE_SCORE = Exercise(
    additive_score,
    cases=_query_and_keys,
    about=About(points=3, minutes=20, difficulty=3, read_again="The additive score"),
)

must = ADDITIVE_SCORE.properties
must("bounded by v", lambda result, query, key, W_q, W_k, v: (result.abs() <= v.abs().sum() + 1e-9).all()).says("""
    The values of tanh lie between −1 and 1, so no score can be larger than the sum of |v|.""")
must(
    "v · tanh(sum) for each pair",
    lambda result, query, key, W_q, W_k, v: torch.allclose(
        result[:, -1:, -1:], additive_score(query[:, -1:], key[:, -1:], W_q, W_k, v)
    ),
).says("""
    The score of query i and key j must be v · tanh(W_q q_i + W_k k_j). The tanh is applied to the sum, and then the dot
    product with v is taken.""")

wrong = ADDITIVE_SCORE.mistakes
wrong += BENT_OR_SUMMED_WRONGLY
wrong("v inside the tanh", {"pairs.tanh() @ v": "(pairs * v).tanh().sum(-1)"}).says("""
    You multiplied by v before the tanh. The tanh is applied to the sum of the two products alone, and its values are
    then multiplied by v and added.""")
wrong(
    "tanh of the key's part only", {"(key @ W_k.T)[:, None]": "(key @ W_k.T)[:, None].tanh()", "pairs.tanh()": "pairs"}
).says("""
    You applied the tanh to the key's part only. `a + b.tanh()` means `a + (b.tanh())`, because a method is called
    before the sum is taken: put the sum in brackets, `(a + b).tanh()`.""")
EACH_PART = {"W_q.T)": "W_q.T).tanh()", "W_k.T)": "W_k.T).tanh()", "pairs.tanh()": "pairs"}
wrong("tanh of each part", EACH_PART).says(TANH_OF_EACH_PART)
wrong("W not transposed", {"W_q.T": "W_q", "W_k.T": "W_k"}).says("""
    You wrote `query @ W_q`. W_q has the shape (A, Dq), so it maps column vectors with Dq features to A features. Our
    vectors are rows, and for them the product is `query @ W_q.T`.""")
_RESHAPED = {f"{W}.T": f"{W}.reshape(-1, len(v))" for W in ("W_q", "W_k")}
wrong("W reshaped, not transposed", _RESHAPED).says("""
    You made (D, A) out of the matrices (A, D) with `reshape` or `view`, which keeps the order of the numbers and only
    divides them into rows anew. The rows must become columns, so transpose: `query @ W_q.T`.""")
wrong("paired off, not all pairs", "return (query @ W_q.T + key @ W_k.T).tanh() @ v").says("""
    You added query i only to key i. Every query must be added to *every* key. Give the queries an axis for the keys
    and the keys an axis for the queries (`None`), and broadcasting forms all pairs.""")


def weight_sum(weights, value):
    """Contexts: weights (B, Tq, Tk), value (B, Tk, Dv) -> (B, Tq, Dv)."""
    return weights @ value  # (B, Tq, Dv)


def _weights_and_values(draw):
    batch, queries, keys, dim = draw.sizes(4)
    if draw.compact:
        yield draw.normal(1, 2, 2).softmax(-1), draw.normal(1, 2, 1)
        yield draw.normal(1, 2, 2).softmax(-1), draw.normal(1, 2, 2)
    yield draw.normal(batch, queries, keys).softmax(-1), draw.normal(batch, keys, dim)
    yield draw.normal(2, 3, 3).softmax(-1), draw.normal(2, 3, 3)
    yield (3 * draw.normal(2, 3, 3)).softmax(-1) * torch.tensor([[1.0], [1.0], [0.0]]), draw.normal(2, 3, 3)
    if draw.number == 1:  # one sentence, one query
        yield draw.normal(1, 1, keys + 9).softmax(-1), draw.normal(1, keys + 9, dim)


def _along_the_rows(gradients, weights, value):
    """Who divides by the sum, which is 1, is as right; of a row of zeros the quotient has any gradient."""
    (grad_weights, grad_value) = along_the_sum(0)(gradients, weights, value)
    return [grad_weights * weights.any(-1, keepdim=True), grad_value]


WEIGHT_SUM = Exercise(
    weight_sum,
    cases=_weights_and_values,
    canonical_gradients=_along_the_rows,
    about=About(points=1, minutes=6, difficulty=1, read_again="The attention layer, forward"),
)

must = WEIGHT_SUM.properties
must(
    "within the values", lambda result, weights, value: (result.abs() <= value.abs().amax(1, keepdim=True) + 1e-9).all()
).says("""
    If the weights sum to 1, each feature of the context lies between its smallest and its largest value.""")

wrong = WEIGHT_SUM.mistakes
wrong("weights transposed", {"weights @": "weights.mT @"}).says("""
    You summed over the queries. The context of a query is a sum over the *keys*, so the axis Tk must disappear: (B,
    Tq, Tk) @ (B, Tk, Dv).""")
wrong("position by position", "return weights * value").says("""
    You multiplied weights and values entry by entry. The context of a query is a *sum* over all keys, which a matrix
    product computes.""")
wrong("mean of the values", "return value.mean(1, keepdim=True).expand(-1, weights.shape[1], -1)").says("""
    You took the mean of the values and did not use the weights. Then every query receives the same context, as from
    the single vector of Chapter 1.""")
wrong("only the best", "best = weights.argmax(-1)\nreturn torch.stack([v[b] for v, b in zip(value, best)])").says("""
    You returned the value with the largest weight. This is hard attention, through which no gradient reaches the
    weights. Soft attention sums all values, each multiplied by its weight.""")
wrong("normalised once more", {"weights @": "(weights / weights.sum(-1, keepdim=True)) @"}).says("""
    You divided the weights by their sum. They are normalised already, and a query that may attend to nothing has
    only zeros, so that your division is 0 / 0. Use the weights as they are.""")
