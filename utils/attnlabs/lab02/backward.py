"""Lab 2, the long exercise: the gradient of attention by hand."""

import torch

from misread.exercise import About, Exercise


def attention_backward(weights, value, grad_context):
    """Gradients of attention by hand: -> grad_scores (B, Tq, Tk), grad_value (B, Tk, Dv)."""
    grad_value = weights.mT @ grad_context  # (B, Tk, Dv)
    grad_weights = grad_context @ value.mT  # (B, Tq, Tk)
    mean = (weights * grad_weights).sum(-1, keepdim=True)  # (B, Tq, 1)
    grad_scores = weights * (grad_weights - mean)  # (B, Tq, Tk)
    return grad_scores, grad_value


def _one_step(draw):
    batch, queries, keys, dim = draw.sizes(4)
    mask = draw.mask(batch, queries, keys, empty_rows=False)
    weights = draw.normal(batch, queries, keys).masked_fill(~mask, float("-inf")).softmax(-1)
    yield weights, draw.normal(batch, keys, dim), draw.normal(batch, queries, dim)
    closed = torch.tensor([[1.0], [1.0], [0.0]], dtype=torch.float64)  # the last query may attend to nothing
    yield draw.normal(2, 3, 3).softmax(-1) * closed, draw.normal(2, 3, 3), draw.normal(2, 3, 3)
    if draw.compact:
        for features in (1, 2):
            yield draw.normal(1, 2, 2).softmax(-1), draw.normal(1, 2, features), draw.normal(1, 2, features)
    if draw.number == 1:  # one sentence, one query
        weights = draw.normal(1, 1, keys + 9).softmax(-1)
        yield weights, draw.normal(1, keys + 9, dim), draw.normal(1, 1, dim)


ATTENTION_BACKWARD = Exercise(
    attention_backward,
    cases=_one_step,
    returns=("grad_scores", "grad_value"),
    gradients=False,
    by_hand=True,
    about=About(points=4, minutes=40, difficulty=5, read_again="The attention layer, backward"),
)

must = ATTENTION_BACKWARD.properties
must(
    "rows of grad_scores sum to zero",
    lambda result, *args: torch.allclose(result[0].sum(-1), torch.zeros_like(result[0].sum(-1)), atol=1e-7),
).says("""
    Adding one number to all scores of a row changes no weight, so each row of grad_scores must sum to 0.""")
must(
    "masked positions get no gradient", lambda result, weights, value, grad: (result[0][weights == 0] == 0).all()
).says("""
    A position with weight 0 is masked, so its score must receive no gradient.""")

wrong = ATTENTION_BACKWARD.mistakes
wrong("softmax forgotten", {"weights * (grad_weights - mean)": "grad_weights"}).says("""
    Your grad_scores is the gradient of the *weights*. The weights are the softmax of the scores, so the second step
    of the text is still missing.""")
wrong("only the diagonal", {"weights * (grad_weights - mean)": "weights * (1 - weights) * grad_weights"}).says("""
    You used α(1 − α), which is only the diagonal of the Jacobian of the softmax. When one score rises, all *other*
    weights of the row become smaller, and these terms, −α_i α_j, are missing.""")
wrong("nothing subtracted", {"(grad_weights - mean)": "grad_weights"}).says("""
    You multiplied the gradients of the weights by the weights, but did not subtract anything. When one weight grows,
    the others of its row shrink, so each row of grad_scores must sum to 0: the term −α_i α_j is missing.""")
wrong("plain mean subtracted", {"(weights * grad_weights).sum(-1": "grad_weights.mean(-1"}).says("""
    You subtracted the plain mean of grad_weights. The simplified sum of the text contains a mean *weighted* by the
    attention weights.""")
_OPEN = "(grad_weights * (weights > 0) / (weights > 0).sum(-1, keepdim=True).clamp(min=1))"
wrong("plain mean of the open positions subtracted", {"(weights * grad_weights)": _OPEN}).says("""
    You subtracted the plain mean of grad_weights over the open positions. Leaving out the masked ones is not enough: in
    the sum of the text each term has its own weight α_j as a factor, so the mean is *weighted* by the weights.""")
wrong("plain sum subtracted", {"(weights * grad_weights).sum(-1": "grad_weights.sum(-1"}).says("""
    You subtracted the plain sum of grad_weights. In the sum of the text each term also has its own weight α_j as a
    factor, so the sum is *weighted* by the attention weights.""")
wrong("subtracted without its weight", {"weights * (grad_weights - mean)": "weights * grad_weights - mean"}).says("""
    You subtracted the whole weighted mean from every position. The factor α_i stands in front of *both* terms, so each
    position loses only its own share of the mean: put the difference in brackets.""")
wrong("weights in front missing", {"weights * (grad_weights - mean)": "grad_weights - mean"}).says("""
    You subtracted the weighted mean, but did not multiply by the weights. A position with weight 0 must receive no
    gradient, and one with little weight little.""")
wrong("sign turned", {"(grad_weights - mean)": "(mean - grad_weights)"}).says("""
    Your grad_scores has the wrong sign. It is weights · (grad_weights − mean), and not weights · (mean −
    grad_weights).""")
wrong("grad_weights transposed", {"grad_context @ value.mT": "value @ grad_context.mT"}).says("""
    You computed the gradients of the weights with the axes (B, Tk, Tq). The gradient of α_ij belongs in row i and
    column j, like the weight itself: (B, Tq, Dv) @ (B, Dv, Tk), which is `grad_context @ value.mT`.""")
_RESHAPED = {"weights.mT @": "weights.reshape(len(weights), value.shape[1], -1) @"}
wrong("weights reshaped, not transposed", _RESHAPED).says("""
    For grad_value you made (B, Tk, Tq) out of the weights with `reshape` or `view`, which keeps the order of the
    numbers and only divides them into rows anew. The rows must become columns, so transpose: `weights.mT`.""")
wrong(
    "grad_value from grad_scores",
    {"return grad_scores, grad_value": "return grad_scores, grad_scores.mT @ grad_context"},
).says("""
    In grad_value you multiplied by the gradients of the scores. In c_i = Σ α_ij v_j the factor of v_j is the
    *weight* α_ij, so value j collects α_ij · g_i from each query.""")
wrong("grad_value not transposed", {"weights.mT @": "weights @"}).says("""
    In grad_value you multiplied by the weights as they are. A value contributes to the context of every *query* and
    collects a gradient from each, so the sum runs over the queries: (B, Tk, Tq) @ (B, Tq, Dv).""")
