"""What a captioner is trained to do: likely captions, with soft attention or with positions that were drawn."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.hard import location_log_probs
from attnbook.data import shift_right
from attnbook.data.pictures.captions import Canvases
from attnbook.data.texts.vocabulary import PAD
from attnbook.decoding import select
from attnbook.models.captioning import Captioner
from attnbook.training.losses import sequence_loss
from attnbook.training.reinforce import MovingBaseline, leave_one_out_baseline, reinforce_loss, reward_to_go


def doubly_stochastic_penalty(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Σ_i (1 − Σ_t α_ti)², mean over captions: each position should get one unit of attention in all.

    Args:
        weights: ``(B, T, Tk)``, each row sums to one.
        mask: ``(B, T)`` bool, ``True`` at real words; weights at padding don't count.

    Raises:
        ValueError: if the shapes do not fit, or there is no caption.

    Source: Xu et al. 2015, equation 14.
    """
    if weights.ndim != 3 or (mask is not None and mask.shape != weights.shape[:2]):
        got = None if mask is None else tuple(mask.shape)
        raise ValueError(f"weights must be (B, T, Tk) and mask (B, T), got {tuple(weights.shape)} and {got}")
    if not len(weights):
        raise ValueError("weights holds no caption; a mean needs at least one")
    if mask is not None:
        weights = weights * mask[..., None]  # (B, T, Tk) * (B, T, 1)
    received = weights.sum(dim=1)  # (B, Tk)
    return ((1 - received) ** 2).sum(dim=-1).mean()


def attention_entropy(weights: Tensor) -> Tensor:
    """Entropy of each row in nats: ``(..., Tk)`` -> ``(...)``; 0 · log 0 counts as 0."""
    return torch.special.entr(weights).sum(dim=-1)


def word_log_probs(logits: Tensor, target: Tensor) -> Tensor:
    """log p of each right word in nats, 0 at padding: ``(B, T, V)`` and ``(B, T)`` -> ``(B, T)``."""
    return -F.cross_entropy(logits.transpose(1, 2), target, ignore_index=PAD, reduction="none")


@dataclass
class CaptionLoss:
    """−log p(caption) per word, plus λ · :func:`doubly_stochastic_penalty`.

    The penalty counts per caption in the paper; as we divide by the number of words, we divide both by it.

    Source: Xu et al. 2015, equation 14.
    """

    penalty: float = 0.0

    def __call__(self, model: Captioner, batch: Canvases) -> Tensor:
        """The loss of a batch, a scalar."""
        out, real = model(batch.image, shift_right(batch.target)), batch.target != PAD  # (B, T)
        loss = sequence_loss(out.logits, batch.target)
        if self.penalty and out.weights is not None:
            loss = loss + self.penalty * doubly_stochastic_penalty(out.weights, real) * len(real) / real.sum()
        return loss


class Draws(NamedTuple):
    """What was drawn for N captions per canvas, in one forward pass.

    Fields:
        words: ``(B, N, T)``, log p of each right word, given the positions drawn; 0 at padding.
        locations: ``(B, N, T)``, log α of the positions drawn; 0 at padding.
        entropy: ``(B, N, T)``, of the weights they were drawn from; 0 at padding.
        real: number of words in the batch, all draws counted.
    """

    words: Tensor
    locations: Tensor
    entropy: Tensor
    real: int


def draw_locations(model: Captioner, batch: Canvases, samples: int = 1) -> Draws:
    """Read each caption ``samples`` times with positions drawn anew; the image is encoded once.

    Raises:
        ValueError: if the model has no attention.
    """
    rows = torch.arange(len(batch.image), device=batch.image.device).repeat_interleave(samples)  # (B · N,)
    target, state = batch.target[rows], select(model.start(batch.image), rows)
    out, real = model.follow(state, shift_right(target)), target != PAD  # (B · N, T)
    if out.weights is None or out.locations is None:
        raise ValueError("model must draw positions, but it attends to none; build it with attention='hard'")
    words = word_log_probs(out.logits, target)  # (B · N, T)
    locations = location_log_probs(out.weights, out.locations) * real
    spread = attention_entropy(out.weights) * real
    words, locations, spread = (part.unflatten(0, (-1, samples)) for part in (words, locations, spread))
    return Draws(words, locations, spread, int(real.sum()))


def advantage_parts(draws: Draws, to_go: bool, baseline: MovingBaseline | None) -> tuple[Tensor, Tensor | float]:
    """Rewards and baseline of :func:`~attnbook.attention.hard.reinforce_loss`, ``(B, N, T)`` or ``(B, N, 1)``.

    The baseline is the moving one; where there are several draws per caption, the mean of the others.
    """
    rewards = draws.words.detach()  # (B, N, T)
    rewards = reward_to_go(rewards) if to_go else rewards.sum(dim=-1, keepdim=True)
    if rewards.shape[1] > 1:
        return rewards, leave_one_out_baseline(rewards)
    return rewards, 0.0 if baseline is None else baseline.update(rewards)


@dataclass
class HardCaptionLoss:
    """The bound of hard attention: −log p(caption | positions drawn), REINFORCE for the draws, and entropy.

    Fields:
        samples: draws per caption. One: the baseline moves; several: each draw's baseline is the mean of the others.
        to_go: reward each draw with the log-probability of the words from it on, not of the whole caption.
        weight: λ_r of the REINFORCE term. entropy: λ_e, of the bonus for spread-out weights.
        baseline: the moving mean, kept from batch to batch; ``None`` = none.

    Source: Xu et al. 2015, section 4.1: equations 11 and 12, and the learning rule after them.
    """

    samples: int = 1
    to_go: bool = False
    weight: float = 1.0
    entropy: float = 0.0
    baseline: MovingBaseline | None = field(default_factory=MovingBaseline)

    def __call__(self, model: Captioner, batch: Canvases) -> Tensor:
        """The loss of a batch, per word; only its gradient means something."""
        draws = draw_locations(model, batch, self.samples)
        rewards, baseline = advantage_parts(draws, self.to_go, self.baseline)
        captions, per_word = draws.words.shape[0] * draws.words.shape[1], 1 / draws.real
        advantage = (rewards - baseline).expand_as(draws.locations).flatten(0, 1)  # (B · N, T)
        reinforce = captions * per_word * reinforce_loss(draws.locations.flatten(0, 1), advantage)
        return per_word * (-draws.words.sum() - self.entropy * draws.entropy.sum()) + self.weight * reinforce

    def state_dict(self) -> dict[str, Any]:
        """What is remembered from batch to batch, for a checkpoint of :func:`~attnbook.training.fit`."""
        return {} if self.baseline is None else {"baseline": self.baseline.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` has given."""
        if self.baseline is not None:
            self.baseline.load_state_dict(state["baseline"])
