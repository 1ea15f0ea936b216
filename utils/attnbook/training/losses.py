"""What a sequence model is trained to do: predict each word from the right words before it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.data.batching import Batch, shift_right
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import on_cpu
from attnbook.trees import map_tensors


class ChangingLoss(ABC):
    """A loss that is another one at each step: :func:`~attnbook.training.fit` asks it for the loss of every step."""

    @abstractmethod
    def at(self, step: int) -> Callable[[Any, Any], Tensor]:
        """The loss of a step from 0 on, ``loss(model, batch) -> scalar``; asked twice, the same one."""


def sequence_loss(logits: Tensor, target: Tensor, pad: int = PAD, smoothing: float = 0.0) -> Tensor:
    """Mean negative log-likelihood, in nats a word, over the real words of the whole batch.

    Args:
        logits: ``(B, T, V)`` unnormalised scores of each next word.
        target: ``(B, T)`` the right words; positions that hold ``pad`` do not count.
        smoothing: part of the probability that the target spreads evenly over all V words (label smoothing).

    Returns:
        a scalar.

    Raises:
        ValueError: if the shapes do not fit, ``smoothing`` lies outside 0..1, or, on the CPU, every position is
            padding; elsewhere the mean of nothing is NaN.

    Source: Szegedy et al. 2016, section 7, and Vaswani et al. 2017, section 5.4, for the smoothing.
    """
    _check_shapes(logits, target, pad)
    if not 0 <= smoothing <= 1:
        raise ValueError(f"smoothing is a part of the probability, from 0 to 1; got {smoothing}")
    # (B·T, V), (B·T,)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad, label_smoothing=smoothing)


def _check_shapes(logits: Tensor, target: Tensor, pad: int) -> None:
    if logits.ndim != 3 or logits.shape[:2] != target.shape:
        raise ValueError(f"logits (B, T, V) are {tuple(logits.shape)} but target (B, T) is {tuple(target.shape)}")
    if on_cpu(target) and not (target != pad).any():
        raise ValueError("target is padding throughout: there is no word to learn from")


def teacher_forcing_loss(model: nn.Module, batch: Batch, smoothing: float = 0.0) -> Tensor:
    """Loss of a seq2seq model on a batch when it sees the right word at each step."""
    logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))
    return sequence_loss(logits, batch.target, smoothing=smoothing)


def symmetric_divergence(first: Tensor, second: Tensor, target: Tensor, pad: int = PAD) -> Tensor:
    """½ KL(p₁‖p₂) + ½ KL(p₂‖p₁): how far two predictions of the same words are apart, in nats a word.

    The sum of the two divergences is Σ_v (p₁(v) − p₂(v)) · (log p₁(v) − log p₂(v)), where no term is negative.

    Args:
        first, second: ``(B, T, V)`` unnormalised scores of each next word.
        target: ``(B, T)`` the right words; positions that hold ``pad`` do not count.

    Returns:
        a scalar, the mean over the real words of the whole batch.

    Raises:
        ValueError: if the shapes do not fit, or, on the CPU, every position is padding.

    Source: Liang et al. 2021, section 2.
    """
    _check_shapes(first, target, pad)
    _check_shapes(second, target, pad)
    if first.shape != second.shape:
        raise ValueError(f"first and second must have one shape, got {tuple(first.shape)} and {tuple(second.shape)}")
    log_p, log_q = first.log_softmax(dim=-1), second.log_softmax(dim=-1)  # (B, T, V)
    divergence = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(dim=-1) / 2  # (B, T)
    return divergence[target != pad].mean()


def r_drop_loss(model: nn.Module, batch: Batch, weight: float, smoothing: float = 0.0) -> Tensor:
    """R-Drop: a batch goes through the model twice, and dropout should not change what the model predicts.

    Of a word y, predicted as p₁ in one pass and as p₂ in the other, the paper minimises
    −log p₁(y) − log p₂(y) + α · ½ (KL(p₁‖p₂) + KL(p₂‖p₁)). We take half of it, mean over the real words, which has the
    same minimum and remains in nats a word: without dropout it is :func:`teacher_forcing_loss`.

    Args:
        weight: α, from 0 on. The paper translates with 5.
        smoothing: as for :func:`sequence_loss`.

    Raises:
        ValueError: if ``weight`` is negative; and what :func:`sequence_loss` raises.

    Source: Liang et al. 2021, section 2; both passes are one pass of a batch with each row twice, as there.
    """
    if not weight >= 0:
        raise ValueError(f"weight is the α of R-Drop, at least 0; got {weight}")
    twice = map_tensors(lambda tensor: torch.cat([tensor, tensor]), batch)
    logits, _ = model(twice.source, twice.lengths, shift_right(twice.target))  # (2 B, T, V)
    first, second = logits.chunk(2)  # (B, T, V)
    loss = sequence_loss(logits, twice.target, smoothing=smoothing)
    return loss + weight / 2 * symmetric_divergence(first, second, batch.target)


def language_model_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Loss of a model that reads a sentence and guesses each next word, the end symbol too.

    Args:
        model: ``model(words (B, T)) -> (logits (B, T, V), weights)``.
        batch: only its ``target (B, T)`` is read.
    """
    logits, _ = model(shift_right(batch.target))
    return sequence_loss(logits, batch.target)


def masked_language_model_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Loss of a model that reads a sentence with hidden words, at the positions where it is asked.

    Args:
        model: ``model(words (B, T), lengths (B,)) -> (logits (B, T, V), weights)``.
        batch: ``source (B, T)`` with hidden words; ``target (B, T)``, the right word or, where nothing is asked,
            padding; see :func:`~attnbook.data.texts.masking.mask_for_bert`.

    Source: Devlin et al. 2019, section 3.1, task 1.
    """
    logits, _ = model(batch.source, batch.lengths)
    return sequence_loss(logits, batch.target)
