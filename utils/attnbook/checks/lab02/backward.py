"""Lab 2, the long exercise: the gradient of attention by hand."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def attention_backward(weights, value, grad_context):
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
        yield draw.normal(1, 2, 2).softmax(-1), draw.normal(1, 2, 1), draw.normal(1, 2, 1)
    if draw.number == 1:  # one sentence, one query
        weights = draw.normal(1, 1, keys + 9).softmax(-1)
        yield weights, draw.normal(1, keys + 9, dim), draw.normal(1, 1, dim)


ATTENTION_BACKWARD = Exercise(
    attention_backward,
    cases=_one_step,
    returns=("grad_scores", "grad_value"),
    tolerance=1e-9,
    gradients=False,
    by_hand=True,
    properties=[
        Property(
            "rows of grad_scores sum to zero",
            "Adding one number to all scores of a row changes no weight. So each row of grad_scores must sum to 0.",
            lambda result, *args: torch.allclose(result[0].sum(-1), torch.zeros_like(result[0].sum(-1)), atol=1e-7),
        ),
        Property(
            "closed places get no gradient",
            "A place with weight 0 is closed: its score gets no gradient.",
            lambda result, weights, value, grad: (result[0][weights == 0] == 0).all(),
        ),
    ],
)

wrong = ATTENTION_BACKWARD.mistakes
wrong("softmax forgotten", {"weights * (grad_weights - mean)": "grad_weights"}).says("""
    Your grad_scores is the gradient of the *weights*. From weights back to scores there is still the softmax: the
    second of the two steps.""")
wrong("only the diagonal", {"weights * (grad_weights - mean)": "weights * (1 - weights) * grad_weights"}).says("""
    You used α(1 − α), which is only the diagonal of the softmax's Jacobian. Raising one score also lowers all *other*
    weights: those terms, −α_i α_j, are missing.""")
wrong("nothing subtracted", {"(grad_weights - mean)": "grad_weights"}).says("""
    You multiplied by the weights and left it at that. What one weight gains the others lose, so a row of grad_scores
    sums to 0: a term with a minus sign is missing (δ − α has two parts).""")
wrong("plain mean subtracted", {"(weights * grad_weights).sum(-1": "grad_weights.mean(-1"}).says("""
    You subtracted the plain mean of grad_weights. It is a mean *weighted* with α.""")
wrong("weights in front missing", {"weights * (grad_weights - mean)": "grad_weights - mean"}).says("""
    You subtracted the weighted mean but forgot to multiply by the weights: a place that gets no attention must get no
    gradient either.""")
wrong("sign turned", {"(grad_weights - mean)": "(mean - grad_weights)"}).says("""
    Your grad_scores has the wrong sign: it is grad_weights − mean, not mean − grad_weights.""")
wrong("grad_value not transposed", {"weights.mT @": "weights @"}).says("""
    In grad_value you multiplied by the weights as they are. A value collects from every *query* that looked at it:
    weights transposed, (B, Tk, Tq) @ (B, Tq, Dv).""")
ASKED = (
    "v = value.detach().clone().requires_grad_()\n    grad_value = torch.autograd.grad(weights @ v, v, grad_context)[0]"
)
wrong("asked autograd.grad", {"grad_value = weights.mT @ grad_context": ASKED}).says("""
    You let torch.autograd.grad (or a Jacobian of torch's) find the gradients. By hand means that you do what autograd
    does: derive it with pencil and paper, in the two steps of the text.""")
wrong(
    "asked torch.func", {"weights.mT @ grad_context": "torch.func.vjp(weights.matmul, value)[1](grad_context)[0]"}
).says("""
    You let torch.func (vjp, jacrev, jvp …) find the gradients. By hand means the formula itself, as in the two steps
    of the text: first through the sum, then through the softmax.""")
