"""From logits to the next word: the likeliest, or one that is drawn, and with which probabilities."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnbook.attention.precision import sharpened


def sampling_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Turn logits into the probabilities to draw from: sharpened, then cut to the likeliest words, then renormalised.

    Args:
        logits: ``(B, V)``.
        temperature: τ; scores are divided by it. Below 1 the likely words gain, above 1 the unlikely ones.
        top_k: keep the k likeliest words (ties with the last one stay too).
        top_p: keep the smallest set of likeliest words whose probabilities reach p, the "nucleus".

    Returns:
        ``(B, V)``, each row sums to 1.

    Raises:
        ValueError: if ``temperature`` is not above 0, ``top_k`` not from 1 to V, or ``top_p`` not above 0 and up to 1.

    Source: Fan et al. 2018, section 5.4 (top-k); Holtzman et al. 2020, section 3.1 (nucleus).
    """
    check_temperature(temperature)
    scores = sharpened(logits, temperature)  # (B, V)
    if top_k is not None:
        if not 1 <= top_k <= logits.shape[-1]:
            raise ValueError(f"top_k must lie in 1..{logits.shape[-1]}, the words there are; got {top_k}")
        least = logits.topk(top_k, dim=-1).values[..., -1:]  # (B, 1)
        scores = scores.masked_fill(logits < least, float("-inf"))
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
        ordered, positions = scores.softmax(dim=-1).sort(dim=-1, descending=True)  # (B, V) each
        before = ordered.cumsum(dim=-1) - ordered  # what likelier words hold already: the first word always stays
        drop = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, positions, before >= top_p)
        scores = scores.masked_fill(drop, float("-inf"))
    return scores.softmax(dim=-1).to(logits.dtype)


def check_temperature(temperature: float) -> None:
    """Raise a ValueError unless one can divide by ``temperature``."""
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}; for 0 use greedy")


def chooser(
    temperature: float, top_k: int | None = None, top_p: float | None = None, generator: torch.Generator | None = None
) -> Callable[[Tensor], Tensor]:
    """What turns logits ``(B, V)`` into words ``(B,)``: the likeliest at temperature 0, else a draw.

    Args:
        temperature, top_k, top_p: see :func:`sampling_probabilities`; at temperature 0 nothing is cut.
        generator: of the random numbers, on the device of the logits.
    """
    if temperature == 0:
        return lambda logits: logits.argmax(dim=-1)

    def draw(logits: Tensor) -> Tensor:
        return sampling_probabilities(logits, temperature, top_k, top_p).multinomial(1, generator=generator)[:, 0]

    return draw
