"""The one interface of the book: ``(query, key, value, mask) -> (context, weights)``."""

from collections.abc import Callable
from typing import Literal, overload

from torch import Tensor, nn

from attnbook.attention.arguments import check_attention, check_bias, check_mask, for_all_heads
from attnbook.attention.fused import attend_fused
from attnbook.attention.scores import PreparedKeys, key_features, scaled_dot


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights: each row is positive and sums to one over the positions that the mask allows.

    Args:
        scores: ``(..., Tk)`` real numbers, any leading axes.
        mask: bool, broadcastable to ``scores``; ``True`` = may attend. ``None`` allows everything.

    Returns:
        ``(..., Tk)`` weights; exactly 0 where the mask is ``False``. A row that may attend to nothing is all zeros,
        and so is one whose scores are all −inf.

    Raises:
        TypeError: if the mask is not boolean.
        ValueError: if the mask does not fit the scores, or there are no positions to attend to.

    Source: Bahdanau et al. 2015, equation 6 (without the mask).
    """
    scores, empty = _closed_and_empty(scores, mask)
    scores = scores.softmax(dim=-1)  # under the old name: another one would keep one more Tq × Tk matrix
    return scores.masked_fill(empty, 0.0)


def masked_log_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`masked_softmax`: log-probabilities in nats, −inf where the mask is ``False``.

    Arguments and errors as there. Not its ``log()``: that has the gradient 0 / 0 at a masked position, and −inf at an
    allowed one whose weight is too small for its number type.
    """
    scores, empty = _closed_and_empty(scores, mask)
    scores = scores.log_softmax(dim=-1)
    return scores.masked_fill(empty, float("-inf"))


def _closed_and_empty(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scores with −inf where the mask is ``False``, and which rows have nothing else, ``(..., 1)``; these get zeros.

    A softmax of −inf alone is 0 / 0. The NaN would pass into the gradients, and anomaly detection would stop there.
    """
    check_mask(mask, scores)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    empty = scores.amax(dim=-1, keepdim=True).isneginf()  # (..., 1)
    return scores.masked_fill(empty, 0.0), empty


def attention_weights(
    query: Tensor, key: Tensor | PreparedKeys, mask: Tensor | None = None, *, score: Callable[..., Tensor] = scaled_dot,
    bias: Tensor | None = None, normalise: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
) -> Tensor:  # fmt: skip
    """The first half of attention: score the query against the keys, and normalise.

    Args:
        query: ``(B, Tq, Dq)``, or ``(B, H, Tq, Dq)`` for H heads side by side; then so are all the others.
        key: ``(B, Tk, Dk)``, or what a score has prepared of them once; see :class:`PreparedKeys`.
        mask: bool, broadcastable to ``(B, Tq, Tk)``, ``True`` = may attend. With heads, such a mask is one for all
            heads; ``(B, H, Tq, Tk)`` has one per head.
        score: any callable ``(query, key) -> (B, Tq, Tk)``; see :mod:`attnbook.attention.scores`.
        bias: broadcastable to the scores, ``(B, Tq, Tk)`` or with heads ``(B, H, Tq, Tk)``, and added to them;
            positions may speak through it, ``(H, Tq, Tk)``. −inf closes a position as a mask does.
        normalise: :func:`masked_softmax`, or :func:`masked_log_softmax` for its logarithm.

    Returns:
        ``(B, Tq, Tk)``; each row of weights sums to one, or is zero where nothing may be attended to.

    Raises:
        ValueError: if the shapes do not fit together. TypeError: if the mask is not boolean.

    Source: Bahdanau et al. 2015, equation 6.
    """
    check_attention(query, key_features(key))
    if bias is None:  # scores without a name here are freed there
        return normalise(score(query, key), for_all_heads(mask, query))  # (B, Tq, Tk)
    scores = score(query, key)  # (B, Tq, Tk)
    check_bias(bias, scores)
    return normalise(scores + bias, for_all_heads(mask, query)).to(scores.dtype)  # scores may be half, a bias float32


@overload
def attend(
    query: Tensor, key: Tensor | PreparedKeys, value: Tensor, mask: Tensor | None = ..., *,
    score: Callable[..., Tensor] = ..., bias: Tensor | None = ..., fused: Literal[False] = ...,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def attend(
    query: Tensor, key: Tensor | PreparedKeys, value: Tensor, mask: Tensor | None = ..., *,
    score: Callable[..., Tensor] = ..., bias: Tensor | None = ..., fused: bool = ...,
) -> tuple[Tensor, Tensor | None]: ...  # fmt: skip
def attend(
    query: Tensor, key: Tensor | PreparedKeys, value: Tensor, mask: Tensor | None = None, *,
    score: Callable[..., Tensor] = scaled_dot, bias: Tensor | None = None, fused: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Score the query against the keys, normalise, take the weighted sum of the values.

    Args:
        query, key, mask, score, bias: as :func:`attention_weights` takes them.
        value: ``(B, Tk, Dv)``, one value per key.
        fused: use torch's fused kernel. Same context, less memory, but no weights to look at (``None``).

    Returns:
        context ``(B, Tq, Dv)`` and weights ``(B, Tq, Tk)``.

    Raises:
        ValueError: if the shapes do not fit together, or ``fused`` is asked for with another score than scaled dot.
        TypeError: if the mask is not boolean.

    Source: Bahdanau et al. 2015, equations 5 and 6; Vaswani et al. 2017, equation 1, for the scaled dot score.
    """
    keys = key_features(key)
    check_attention(query, keys, value)
    if fused:
        return attend_fused(query, keys, value, mask, score=score, bias=bias)
    weights = attention_weights(query, key, mask, score=score, bias=bias)  # (B, Tq, Tk)
    return weights @ value, weights  # (B, Tq, Tk) @ (B, Tk, Dv) -> (B, Tq, Dv)


class Attention(nn.Module):
    """An attention layer: :func:`attend` with a score that is kept, and trained, as a part of the layer.

    Args:
        score: one of the modules of :mod:`attnbook.attention.scores`.
        fused: see :func:`attend`.
    """

    def __init__(self, score: nn.Module, fused: bool = False) -> None:
        super().__init__()
        self.score = score
        self.fused = fused

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Return context ``(B, Tq, Dv)`` and weights ``(B, Tq, Tk)``; arguments as in :func:`attend`."""
        return attend(query, key, value, mask, score=self.score, fused=self.fused)
