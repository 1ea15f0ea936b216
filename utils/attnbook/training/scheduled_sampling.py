"""Scheduled sampling: while it trains, a decoder reads more and more of its own words in place of the right ones.

Two losses for :func:`~attnbook.training.fit`. Which words are right and which are drawn depends on seed and step
alone, so that a training that goes on after an interruption ends where it would have ended.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnbook.decoding import DecoderModule
from attnbook.training.losses import ChangingLoss, sequence_loss


def _check_step(step: int) -> None:
    if step < 0:
        raise ValueError(f"step is {step}; the first step is 0")


def linear_decay(step: int, slope: float, start: float = 1.0, least: float = 0.0) -> float:
    """The probability of a right word falls in a straight line: max(least, start − slope · step).

    Args:
        step: from 0.
        slope: how much it loses at each step, at least 0.
        start: where it begins, in 0..1.
        least: it never falls below; in 0..start.

    Raises:
        ValueError: if an argument lies outside its range.

    Source: Bengio et al. 2015, section 2.4 (start is their k, slope their c, least their ε).
    """
    _check_step(step)
    if slope < 0 or not 0 <= least <= start <= 1:
        raise ValueError(f"wanted slope >= 0 and 0 <= least <= start <= 1; got {slope = }, {least = }, {start = }")
    return max(least, start - slope * step)


def exponential_decay(step: int, k: float) -> float:
    """The probability of a right word is multiplied by k at each step: k^step.

    Raises:
        ValueError: if ``step`` is negative or ``k`` lies outside 0 < k <= 1.

    Source: Bengio et al. 2015, section 2.4.
    """
    _check_step(step)
    if not 0 < k <= 1:
        raise ValueError(f"k must lie in 0 < k <= 1, got {k}; the probability is k^step")
    return k**step


def inverse_sigmoid_decay(step: int, k: float) -> float:
    """The probability of a right word stays near 1, then falls: k / (k + exp(step / k)).

    It passes one half at step k · ln k.

    Raises:
        ValueError: if ``step`` is negative or ``k`` is below 1.

    Source: Bengio et al. 2015, section 2.4.
    """
    _check_step(step)
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}; the larger, the later the fall")
    return 1 / (1 + math.exp(min(step / k - math.log(k), 700.0)))  # exp(710) is too large for a float


def keep_mask(shape: Sequence[int], keep: float, generator: torch.Generator) -> Tensor:
    """Where the right word is read: each position with probability ``keep``, position 0 (the start symbol) always.

    Returns:
        ``shape`` = ``(B, T)`` bool, on the generator's device.

    Raises:
        ValueError: if ``keep`` lies outside 0..1.
    """
    if not 0 <= keep <= 1:
        raise ValueError(f"keep is the probability of a right word, from 0 to 1; got {keep}")
    kept = torch.rand(shape, generator=generator, device=generator.device) < keep  # rand is never 1, may be 0
    kept[:, 0] = True
    return kept


def mix_with_own_output(target_input: Tensor, own: Tensor, keep: float, generator: torch.Generator) -> Tensor:
    """Put the model's own words in the place of right ones, by chance, position by position.

    Args:
        target_input: ``(B, T)``, the right words as a decoder reads them: start symbol first.
        own: ``(B, T)``, what the model would read if it were alone, at the same positions.
        keep: probability that a right word stays. The start symbol always stays.
        generator: of the random numbers, on the device of the words.

    Returns:
        ``(B, T)``; neither argument is changed.

    Raises:
        ValueError: if the shapes differ or have no words, or ``keep`` lies outside 0..1.

    Source: Bengio et al. 2015, section 2.4.
    """
    if target_input.shape != own.shape or target_input.ndim != 2 or target_input.shape[1] == 0:
        shapes = f"target_input {tuple(target_input.shape)} and own {tuple(own.shape)}"
        raise ValueError(f"target_input and own must both be (B, T) with T > 0, got {shapes}")
    return torch.where(keep_mask(target_input.shape, keep, generator), target_input, own)


@torch.no_grad()
def own_words(logits: Tensor, generator: torch.Generator | None) -> Tensor:
    """The words that a model would write: drawn from its distribution, or the likeliest without a generator.

    Args:
        logits: ``(..., V)``.

    Returns:
        ``(...)`` whole numbers; no gradient goes through the choice.
    """
    if generator is None:
        return logits.argmax(dim=-1)
    drawn = logits.softmax(dim=-1).flatten(0, -2).multinomial(1, generator=generator)  # (…, V) -> (N, 1)
    return drawn.view(logits.shape[:-1])


@dataclass(frozen=True)
class _SamplingLoss(ChangingLoss):
    """What both versions share.

    Fields:
        schedule: the probability of a right word at each step, ``schedule(step) -> 0..1``.
        seed: of the choices.
        draw: draw the own words, as the paper does; else take the likeliest.
        smoothing: see :func:`~attnbook.training.sequence_loss`.
    """

    schedule: Callable[[int], float]
    seed: int = 0
    draw: bool = True
    smoothing: float = 0.0

    def at(self, step: int) -> Callable[[nn.Module, Batch], Tensor]:
        """The loss of this step, ``loss(model, batch) -> scalar``. Asked twice, it makes the same choices."""
        return partial(self._loss, step)

    def _loss(self, step: int, model: nn.Module, batch: Batch) -> Tensor:
        generator = torch.Generator(batch.target.device).manual_seed(1_000_003 * self.seed + step)
        logits = self.read(model, batch, self.schedule(step), generator)  # (B, T, V)
        return sequence_loss(logits, batch.target, smoothing=self.smoothing)

    def read(self, model: nn.Module, batch: Batch, keep: float, generator: torch.Generator) -> Tensor:
        """Read the target with part of the words its own: logits ``(B, T, V)``."""
        raise NotImplementedError(f"{type(self).__name__} must say how it reads")


class ScheduledSampling(_SamplingLoss):
    """Scheduled sampling for recurrent decoders: at each step the right word, or the one just written.

    Own words follow from own words, as when the model is alone. The price: steps wait for each other. That costs a
    recurrent model nothing, since it takes its steps one by one anyway, but a Transformer its parallel training.

    Source: Bengio et al. 2015, section 2.4.
    """

    def read(self, model: DecoderModule, batch: Batch, keep: float, generator: torch.Generator) -> Tensor:
        """Take a ``model`` with ``start`` and ``step`` through the target: logits ``(B, T, V)``."""
        right = shift_right(batch.target)  # (B, T)
        kept = keep_mask(right.shape, keep, generator)  # (B, T)
        state, own, logits = model.start(batch.source, batch.lengths), right[:, 0], []
        for t in range(right.shape[1]):
            token = torch.where(kept[:, t], right[:, t], own)  # (B,)
            step_logits, state, _ = model.step(token, state)
            own = own_words(step_logits, generator if self.draw else None)
            logits.append(step_logits)
        return torch.stack(logits, dim=1)  # T times (B, V) -> (B, T, V)


class TwoPass(_SamplingLoss):
    """Scheduled sampling for Transformers: pass one under teacher forcing gives own words, pass two reads the mixture.

    Both passes are parallel. The price: two passes, and own words that follow from *right* words, so that the model
    is shown its first mistakes but not what they lead to. No gradient goes through pass one.

    Source: Mihaylova and Martins 2019 (with sampled or likeliest words, not mixtures of embeddings).
    """

    def read(self, model: nn.Module, batch: Batch, keep: float, generator: torch.Generator) -> Tensor:
        """Take a ``model(source, lengths, decoder_input) -> (logits, weights)`` twice: logits ``(B, T, V)``."""
        right = shift_right(batch.target)  # (B, T)
        if keep >= 1:  # nothing of pass one would be read
            return model(batch.source, batch.lengths, right)[0]
        with torch.no_grad():
            first, _ = model(batch.source, batch.lengths, right)  # (B, T, V)
        # (B, T): what pass one wrote at t − 1 is read at t
        own = shift_right(own_words(first, generator if self.draw else None))
        return model(batch.source, batch.lengths, mix_with_own_output(right, own, keep, generator))[0]
