"""Words hidden on purpose: what a masked language model reads, and what it is asked."""

import torch
from torch import Tensor

from attnbook.data.texts.vocabulary import PAD, SPECIAL

SHARE = 0.15  # of the words that are asked for, as in the paper


def choose_positions(tokens: Tensor, share: float = SHARE, generator: torch.Generator | None = None) -> Tensor:
    """Draw the positions at which a masked language model is asked: each word with the same probability.

    Args:
        tokens: ``(B, T)`` whole numbers; padding and the other special symbols are never chosen.
        share: the probability of being chosen.
        generator: of the random numbers, on the device of the tokens.

    Returns:
        ``(B, T)`` bool.

    Raises:
        ValueError: if ``share`` does not lie between 0 and 1.

    Source: Devlin et al. 2019, section 3.1, task 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is a probability, from 0 to 1; got {share}")
    thrown = torch.rand(tokens.shape, generator=generator, device=tokens.device)  # (B, T)
    return (thrown < share) & (tokens >= len(SPECIAL))


def mask_for_bert(
    tokens: Tensor, chosen: Tensor, mask_id: int, vocabulary: int, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Hide the chosen words: 80 % become the mask, 10 % a random word, and 10 % stay as they are.

    Args:
        tokens: ``(B, T)`` whole numbers.
        chosen: ``(B, T)`` bool, the positions at which the model is asked; see :func:`choose_positions`.
        mask_id: the number of the mask.
        vocabulary: V, the number of words with the special symbols; random words are drawn from 3 … V − 1.
        generator: of the random numbers, on the device of the tokens.

    Returns:
        inputs ``(B, T)``, and targets ``(B, T)``: the right word where the model is asked, padding everywhere else.

    Raises:
        TypeError: if ``chosen`` is not boolean.
        ValueError: if its shape is not that of ``tokens``, or ``mask_id`` is one of the words that may be drawn.

    Source: Devlin et al. 2019, section 3.1 and appendix A.1.
    """
    _check(tokens, chosen, mask_id, vocabulary)
    thrown = torch.rand(tokens.shape, generator=generator, device=tokens.device)  # (B, T)
    drawn = torch.randint(len(SPECIAL), vocabulary, tokens.shape, generator=generator, device=tokens.device)
    hidden = chosen & (thrown < 0.8)
    replaced = chosen & (thrown >= 0.9)
    inputs = torch.where(replaced, drawn, tokens.masked_fill(hidden, mask_id))  # (B, T)
    return inputs, tokens.masked_fill(~chosen, PAD)


def _check(tokens: Tensor, chosen: Tensor, mask_id: int, vocabulary: int) -> None:
    if chosen.dtype != torch.bool:
        raise TypeError(f"chosen must be boolean (True = asked for), got {chosen.dtype}; use chosen.bool()")
    if chosen.shape != tokens.shape:
        raise ValueError(f"chosen must have the shape of tokens {tuple(tokens.shape)}, got {tuple(chosen.shape)}")
    if len(SPECIAL) <= mask_id < vocabulary:
        raise ValueError(
            f"mask_id is {mask_id}, which may be drawn as a random word ({len(SPECIAL)} to {vocabulary - 1}); "
            f"give the mask a number of its own, such as {vocabulary}"
        )
