"""Induction heads: attention heads that find where the present word stood before, and copy what came after it.

``… Mira Lund … Mira`` is likely to go on with ``Lund``. Two heads in two layers can do this together: the first writes
into each position which word stood before it; the second looks for positions in which the present word is written so.
Source: Elhage et al. 2021; Olsson et al. 2022.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attnbook.attention import MultiHeadAttention
from attnbook.modes import evaluation_mode


def after_earlier_occurrences(words: Tensor) -> Tensor:
    """The positions that an induction head attends to: those right after an earlier occurrence of the present word.

    Args:
        words: ``(B, T)`` whole numbers.

    Returns:
        ``(B, T, T)`` bool, row = query t, column = key s, ``True`` where s <= t and word s − 1 equals word t.
    """
    before = nn.functional.pad(words[:, :-1], (1, 0), value=-1)  # (B, T): at position s, word s − 1
    return (words[:, :, None] == before[:, None]).tril()  # (B, T, T)


def prefix_matching_score(weights: Tensor, words: Tensor) -> Tensor:
    """How much of its attention a head gives to what came after the present word earlier on; 1 is an induction head.

    Args:
        weights: ``(B, H, T, T)``.
        words: ``(B, T)``, what the model read.

    Returns:
        ``(H,)``, between 0 and 1: the mean over the words that occurred before.

    Raises:
        ValueError: if the shapes don't fit, or no word occurs twice.

    Source: Olsson et al. 2022, appendix ("prefix matching").
    """
    _check(weights, words)
    wanted = after_earlier_occurrences(words)  # (B, T, T)
    again = wanted.any(dim=-1)  # (B, T)
    if not again.any():
        raise ValueError("words holds no word twice in a sentence: there is nothing to match")
    attended = (weights * wanted[:, None]).sum(dim=-1)  # (B, H, T)
    return attended.transpose(0, 1)[:, again].mean(dim=-1)  # (H,)


def previous_word_score(weights: Tensor) -> Tensor:
    """How much of its attention a head gives to the position before: ``(B, H, T, T)`` -> ``(H,)``, from 0 to 1.

    Raises:
        ValueError: if no position has another before it.
    """
    if not len(weights) or weights.shape[-1] < 2:
        raise ValueError(f"weights must be (B, H, T, T) with B > 0 and T > 1, got {tuple(weights.shape)}")
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


@contextmanager
def without_head(attention: MultiHeadAttention, head: int, instead: Tensor | float = 0.0) -> Iterator[None]:
    """Inside this block, what a head found is replaced, before the heads are joined; its weights stay as they are.

    Args:
        attention: the layer. head: which of its heads, from 0 on.
        instead: 0, or a vector ``(D/H,)`` such as the head's mean context (:func:`mean_contexts`).

    Raises:
        ValueError: if the layer has no such head.

    Source: Olsson et al. 2022 (zero); Wang et al. 2023, section 2.1, for the mean.
    """
    if not 0 <= head < attention.heads:
        raise ValueError(f"head must be from 0 to {attention.heads - 1}, got {head}")

    def replace(_, inputs: tuple[Tensor]) -> tuple[Tensor]:
        contexts = inputs[0].unflatten(-1, (attention.heads, -1)).clone()  # (B, T, D) -> (B, T, H, D/H)
        contexts[:, :, head] = instead
        return (contexts.flatten(2),)

    handle = attention.project_output.register_forward_pre_hook(replace)
    try:
        yield
    finally:
        handle.remove()


def mean_contexts(attention: MultiHeadAttention, model: nn.Module, words: Tensor) -> Tensor:
    """What each head of a layer finds on average while ``model(words)`` runs: ``(H, D/H)``, the mean over positions."""
    seen: list[Tensor] = []
    handle = attention.project_output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        with evaluation_mode(model), torch.no_grad():
            model(words)
    finally:
        handle.remove()
    return seen[0].unflatten(-1, (attention.heads, -1)).mean(dim=(0, 1))  # (B, T, H, D/H) -> (H, D/H)


def _check(weights: Tensor, words: Tensor) -> None:
    wanted = (len(words), words.shape[-1], words.shape[-1])
    if weights.ndim != 4 or (weights.shape[0], *weights.shape[2:]) != wanted:
        raise ValueError(
            f"weights must have shape ({wanted[0]}, H, {wanted[1]}, {wanted[1]}) for words {tuple(words.shape)}, "
            f"got {tuple(weights.shape)}"
        )
