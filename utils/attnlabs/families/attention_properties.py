"""What every attention's weights must be, whatever they are made of: shares of one, and none for closed positions."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from misread.exercise import Properties


def closed_get_nothing(weights: Tensor, mask: Tensor | None) -> bool:
    """Whether `weights (..., Tk)` are exactly 0 where `mask`, which broadcasts to them, is False."""
    return mask is None or bool((weights[~mask.expand(weights.shape)] == 0).all())


def rows_sum_to_one(weights: Tensor, mask: Tensor | None) -> bool:
    """Whether each row of `weights (..., Tk)` sums to 1, or to 0 where everything is closed."""
    open_places = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand(weights.shape)
    return torch.allclose(weights.sum(-1), open_places.any(-1).to(weights.dtype))


def lies_between(mixture: Tensor, one: Tensor, other: Tensor) -> bool:
    """Whether each number of a mixture lies between the two that are mixed, up to rounding."""
    low, high = torch.minimum(one, other), torch.maximum(one, other)
    return bool(((mixture <= high + 1e-9) & (mixture >= low - 1e-9)).all())


def along_the_sum(*distributions: int) -> Callable[..., list[Tensor | None]]:
    """For `canonical_gradients`, where the arguments number `distributions` sum to 1 over their last axis.

    A gradient's mean over this axis says what a change of the sum would do, and the sum never changes. So an answer
    that divides its result by the sum, which is 1, has another mean and is as right.
    """

    def canonical(gradients: Sequence[Tensor | None], *args: object) -> list[Tensor | None]:
        return [
            gradient - gradient.mean(-1, keepdim=True) if i in distributions and gradient is not None else gradient
            for i, gradient in enumerate(gradients)
        ]

    return canonical


def weights_of_a_step(mask: int) -> Properties:
    """What holds of a decoder step whose third result is the weights `(B, Tk)`; its mask is argument number `mask`."""
    must = Properties()
    must("weights sum to one", lambda result, *args: rows_sum_to_one(result[2], args[mask])).says("""
        The weights of each sentence must sum to 1 over its source words. If all of them are masked, every weight is
        0.""")
    must("padding gets nothing", lambda result, *args: closed_get_nothing(result[2], args[mask])).says("""
        Padding must receive weight 0, and the mask says where it is.""")
    return must


def weights_of_heads() -> Properties:
    """What holds of the second result, each head's weights `(B, H, Tq, Tk)`; the mask `(B, Tq, Tk)` comes last."""
    must = Properties()
    must(
        "closed positions get nothing", lambda result, *args: closed_get_nothing(result[1], _for_all_heads(args[-1]))
    ).says("""
        Where the mask is False, the weight must be exactly 0 in every head, because the score there is −∞. In your
        result some weight there is not 0.""")
    must(
        "each head's rows sum to one", lambda result, *args: rows_sum_to_one(result[1], _for_all_heads(args[-1]))
    ).says("""
        The weights of a query that may attend to something must sum to 1 in each head. Close positions before the
        softmax, with a score of −∞, and let the softmax run over the last axis, the keys.""")
    return must


def _for_all_heads(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else mask[:, None]  # (B, 1, Tq, Tk)
