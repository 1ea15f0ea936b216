"""Exact attention block by block: the context of :func:`~attnbook.attention.core.attend`, but never T × T numbers.

A softmax needs the sum over all scores of a row. That sum can be kept up to date while the scores arrive in blocks
(:class:`Running`), so only a few blocks of scores exist at a time. For the gradients the same blocks are computed a
second time, from one number per query that was kept: the logarithm of that sum.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.attention.arguments import (
    check_attention,
    check_block,
    check_mask,
    check_same_features,
    for_all_heads,
    like_scores,
)
from attnbook.attention.precision import at_least_float32


class Running(NamedTuple):
    """What is known of a row's softmax after some of its scores.

    Fields:
        largest: ``(..., Tq, 1)``, the largest score so far.
        total: ``(..., Tq, 1)``, Σ exp(score − largest) so far.
        summed: ``(..., Tq, Dv)``, Σ exp(score − largest) · value so far; the context, once divided by the total.
    """

    largest: Tensor
    total: Tensor
    summed: Tensor

    def add(self, scores: Tensor, values: Tensor) -> "Running":
        """The same after one more block: ``scores (..., Tq, K)``, ``values (..., K, Dv)``."""
        largest = torch.maximum(self.largest, scores.amax(dim=-1, keepdim=True))  # (..., Tq, 1)
        shrink = (self.largest - largest).exp()  # what was summed so far was measured from a smaller maximum
        parts = (scores - largest).exp()  # (..., Tq, K)
        total = self.total * shrink + parts.sum(dim=-1, keepdim=True)
        return Running(largest, total, self.summed * shrink + parts @ values)


def online_softmax_sum(score_blocks: Iterable[Tensor], value_blocks: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    """softmax(scores) @ values in one pass over blocks of keys, without ever holding all scores of a row.

    Args:
        score_blocks: tensors ``(..., Tq, K)``; K may differ from block to block. A generator will do.
            −inf (may not attend) may stand anywhere.
        value_blocks: as many, ``(..., K, Dv)``.

    Returns:
        context ``(..., Tq, Dv)``, and for each row log Σ exp(score), ``(..., Tq, 1)``: 0 and −inf for a row that may
        attend to nothing. Both in float32 for scores in half precision, in which a sum of many small numbers stands
        still.

    Raises:
        ValueError: if there is no block, or there are not as many blocks of values as of scores.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, section 3.1, for the weighted sum.
    """
    running = None
    for scores, values in zip(map(at_least_float32, score_blocks), map(at_least_float32, value_blocks), strict=True):
        if running is None:
            nothing = torch.zeros_like(scores[..., :1])  # (..., Tq, 1)
            lowest = torch.finfo(scores.dtype).min  # and not −inf: −inf − (−inf) is NaN, in a row that starts closed
            running = Running(nothing + lowest, nothing, nothing)
        running = running.add(scores, values)
    if running is None:
        raise ValueError("score_blocks is empty; a softmax needs at least one block of scores")
    empty = running.total == 0  # (..., Tq, 1)
    return running.summed / running.total.masked_fill(empty, 1.0), running.largest + running.total.log()


def blocks_of(length: int, block: int) -> list[slice]:
    """Cut positions 0 … length − 1 into runs of ``block``; the last one may be shorter."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


def block_scores(query: Tensor, key: Tensor, mask: Tensor | None, rows: slice, columns: slice, causal: bool) -> Tensor:
    """Scaled dot scores of some queries and some keys, ``(..., rows, columns)``; −inf where the mask is ``False``.

    Causal: where a key comes later, too. The queries are the last Tq of the Tk positions, as in
    :class:`~attnbook.attention.multihead.MultiHeadAttention`.
    """
    scores = query[..., rows, :] / query.shape[-1] ** 0.5 @ key[..., columns, :].mT
    if mask is not None:
        scores = scores.masked_fill(~mask[..., rows, columns], float("-inf"))
    first = rows.start + key.shape[-2] - query.shape[-2]  # position of the first of these queries
    if not causal or columns.stop - 1 <= first:
        return scores
    at = torch.arange(first, first + scores.shape[-2], device=scores.device)  # (rows,)
    keys_at = torch.arange(columns.start, columns.stop, device=scores.device)  # (columns,)
    return scores.masked_fill(keys_at > at[:, None], float("-inf"))


def visible_blocks(query: Tensor, key: Tensor, rows: slice, causal: bool, block: int) -> Iterator[slice]:
    """The blocks of keys that these queries may attend to; causal queries skip those that come later."""
    end = rows.stop + key.shape[-2] - query.shape[-2] if causal else key.shape[-2]
    return iter(blocks_of(end, block))


def forward_blocks(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, block: int
) -> tuple[Tensor, Tensor]:
    """Context ``(..., Tq, Dv)`` and log Σ exp(score) ``(..., Tq, 1)``, one block of queries after the other."""
    parts = []
    for rows in blocks_of(query.shape[-2], block):
        seen = list(visible_blocks(query, key, rows, causal, block))
        scores = (block_scores(query, key, mask, rows, columns, causal) for columns in seen)
        parts.append(online_softmax_sum(scores, (value[..., columns, :] for columns in seen)))
    contexts, logs = zip(*parts, strict=True)
    return torch.cat(contexts, dim=-2), torch.cat(logs, dim=-2)


class _BlockedAttention(torch.autograd.Function):
    """Forward and backward of :func:`blocked_attention`; beside input and output one number per query is kept.

    That number is an output too, and the backward pass is made of operations that torch can differentiate: so second
    derivatives are right, which depend on it.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, block: int
    ) -> tuple[Tensor, Tensor]:
        context, logs = forward_blocks(query, key, value, mask, causal, block)
        ctx.save_for_backward(query, key, value, mask, context, logs)
        ctx.causal, ctx.block = causal, block
        return context, logs

    @staticmethod
    def backward(ctx: Any, grad: Tensor, grad_logs: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, context, logs = ctx.saved_tensors
        with torch.autocast(grad.device.type, enabled=False):
            grads = backward_blocks(query, key, value, mask, context, logs, grad, grad_logs, ctx.causal, ctx.block)
        return *grads, None, None, None


def backward_blocks(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, context: Tensor, logs: Tensor,
    grad: Tensor, grad_logs: Tensor, causal: bool, block: int,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of query, key and value from ``grad``, that of the context: each block of weights made once more.

    ``grad_logs``, the gradient of the logarithms, is zero but for second derivatives.

    Source: Dao et al. 2022, appendix B.2 and algorithm 4.
    """
    grads = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    logs = logs.masked_fill(logs.isneginf(), 0.0)  # a row that may attend to nothing: exp(−inf − 0) are its weights
    mean = (grad * context).sum(dim=-1, keepdim=True) - grad_logs  # (..., Tq, 1): what each row subtracts
    for rows in blocks_of(query.shape[-2], block):
        for columns in visible_blocks(query, key, rows, causal, block):
            weights = (block_scores(query, key, mask, rows, columns, causal) - logs[..., rows, :]).exp()
            of_weights = grad[..., rows, :] @ value[..., columns, :].mT  # (..., rows, columns)
            of_scores = weights * (of_weights - mean[..., rows, :]) / query.shape[-1] ** 0.5
            grads[0][..., rows, :] += of_scores @ key[..., columns, :]
            grads[1][..., columns, :] += of_scores.mT @ query[..., rows, :]
            grads[2][..., columns, :] += weights.mT @ grad[..., rows, :]
    return grads


def blocked_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, causal: bool = False, block: int = 256
) -> tuple[Tensor, None]:
    """Scaled dot attention whose memory grows with T and not with T²: FlashAttention's idea in plain torch.

    The same context as ``attend(query, key, value, mask)``, and the same gradients; query, key and value in half
    precision are computed with in float32, under autocast too. Second derivatives are right, but hold all T² numbers.

    Args:
        query: ``(B, Tq, D)``, or ``(B, H, Tq, D)`` for H heads. key: the same with Tk. value: ``(B, Tk, Dv)``.
        mask: as :func:`~attnbook.attention.core.attend` takes it. One of padding, ``(B, 1, Tk)``, costs no T²; what
            ``causal`` says needs no mask.
        causal: each query attends to its own position and to earlier ones; the queries are the last Tq positions.
        block: so many queries and so many keys are compared at once.

    Returns:
        context ``(B, Tq, Dv)``, or ``(B, H, Tq, Dv)``, and no weights (``None``): they never exist all at once.

    Raises:
        ValueError: if the shapes do not fit together, ``block`` is below 1, or ``causal`` is asked for with more
            queries than keys. TypeError: if the mask is not boolean.

    Source: Dao et al. 2022, algorithms 1 and 4 (for a GPU, whose fast memory holds one block).
    """
    check_attention(query, key, value)
    check_same_features("dot", query, key)
    check_block(block)
    if causal and query.shape[-2] > key.shape[-2]:
        raise ValueError(
            f"causal attention has a key for each query, got {query.shape[-2]} queries, {key.shape[-2]} keys"
        )
    allowed = for_all_heads(mask, query)
    if allowed is not None:
        scores = like_scores(query, key)
        check_mask(allowed, scores)
        allowed = allowed.expand_as(scores)  # a view, which takes no memory
    with torch.autocast(query.device.type, enabled=False):
        wide = (at_least_float32(x) for x in (query, key, value))
        return _BlockedAttention.apply(*wide, allowed, causal, block)[0].to(value.dtype), None
