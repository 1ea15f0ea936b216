"""Hard attention: the same weights as soft attention, but the context is the value at one position, drawn from them.

A draw has no derivative. Two ways around that stand here: REINFORCE, which estimates the gradient from the reward of
what was drawn, and the straight-through estimator, which lends the draw the gradient of a softmax.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.arguments import check_attention
from attnbook.attention.core import attention_weights, masked_log_softmax
from attnbook.attention.precision import at_least_float32, sharpened
from attnbook.attention.scores import PreparedKeys, key_features, scaled_dot


def sample_location(weights: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw one position per query, each with the probability that its weight says.

    Args:
        weights: ``(B, Tq, Tk)``, each row sums to one.
        generator: of the random numbers, on the device of the weights.

    Returns:
        ``(B, Tq)`` long. No gradient flows through it.

    Raises:
        ValueError: if ``weights`` has another number of axes, or a row may attend to nothing.

    Source: Xu et al. 2015, equation 8.
    """
    _check_weights(weights)
    return weights.detach().flatten(0, 1).multinomial(1, generator=generator).view(weights.shape[:2])


def value_at(value: Tensor, location: Tensor) -> Tensor:
    """The values at ``location (B, Tq)``: ``value (B, Tk, Dv)`` -> ``(B, Tq, Dv)``. Nothing is multiplied."""
    return value.gather(1, location[..., None].expand(-1, -1, value.shape[-1]))


def hard_attend(
    query: Tensor,
    key: Tensor | PreparedKeys,
    value: Tensor,
    score: Callable[..., Tensor] = scaled_dot,
    sample: bool = True,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend to one position: :func:`~attnbook.attention.attend`, whose sum over positions is replaced by a draw.

    The context has no gradient for query, key and score; :func:`reinforce_loss` gives them theirs.

    Args:
        query, key, value, score: as :func:`~attnbook.attention.attend`; three axes each.
        sample: draw the position; ``False`` takes that of the largest weight.
        generator: of the random numbers.

    Returns:
        context ``(B, Tq, Dv)``, weights ``(B, Tq, Tk)`` and the positions ``(B, Tq)`` attended to.

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Xu et al. 2015, equations 8 and 9.
    """
    check_attention(query, key_features(key), value)
    weights = attention_weights(query, key, score)  # (B, Tq, Tk)
    location = sample_location(weights, generator) if sample else weights.argmax(dim=-1)  # (B, Tq)
    return value_at(value, location), weights, location


def straight_through_attend(
    query: Tensor,
    key: Tensor | PreparedKeys,
    value: Tensor,
    score: Callable[..., Tensor] = scaled_dot,
    sample: bool = True,
    generator: torch.Generator | None = None,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`hard_attend`, but the one-hot choice passes on the gradient of a softmax with the same noise.

    The gradient is biased: it is that of a mixture of values, while the context is one of them.

    Args:
        query, key, value, score, sample, generator: as :func:`hard_attend`.
        temperature: of that softmax; the lower, the closer to one-hot, and the larger the gradient's variance.

    Raises:
        ValueError: if the shapes do not fit together, or ``temperature`` is not positive.

    Source: Jang et al. 2017, section 2.2 (straight-through Gumbel-softmax); Maddison et al. 2017.
    """
    check_attention(query, key_features(key), value)
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    log_weights = attention_weights(query, key, score, normalise=masked_log_softmax)  # (B, Tq, Tk)
    noisy = log_weights + gumbel_noise(log_weights, generator) if sample else log_weights
    location = noisy.argmax(dim=-1)  # (B, Tq): a draw from the weights, by the Gumbel-max trick
    soft = sharpened(noisy, temperature).softmax(dim=-1).to(noisy.dtype)  # (B, Tq, Tk)
    one_hot = F.one_hot(location, soft.shape[-1]).to(soft.dtype)
    choice = one_hot + soft - soft.detach()  # the value of one_hot, the gradient of soft
    return choice @ value, log_weights.exp(), location


def gumbel_noise(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Independent draws of −log E, E exponential with mean 1, in the shape, number type and device of ``like``."""
    return -torch.empty_like(like).exponential_(generator=generator).log()


def location_log_probs(weights: Tensor, location: Tensor) -> Tensor:
    """log α at the positions that were drawn: ``(B, Tq, Tk)`` and ``(B, Tq)`` -> ``(B, Tq)``, nats."""
    drawn = at_least_float32(weights.gather(-1, location[..., None])[..., 0])  # (B, Tq)
    return drawn.clamp_min(torch.finfo(drawn.dtype).tiny).log()


def reward_to_go(rewards: Tensor) -> Tensor:
    """The sum of each step's reward and all later ones: ``(..., T)`` -> ``(..., T)``.

    What was drawn at step t cannot have changed earlier rewards; leaving them out removes noise and no bias.

    Source: Sutton et al. 2000; not used by Xu et al. 2015, whose reward is that of the whole caption.
    """
    return rewards.flip(-1).cumsum(-1).flip(-1)


def leave_one_out_baseline(rewards: Tensor) -> Tensor:
    """For each of N draws the mean reward of the other N − 1: ``(B, N, T)`` -> ``(B, N, T)``.

    Raises:
        ValueError: if ``rewards`` has another number of axes, or N < 2.

    Source: Kool et al. 2019 ("Buy 4 REINFORCE samples, get a baseline for free").
    """
    if rewards.ndim != 3 or rewards.shape[1] < 2:
        raise ValueError(f"rewards must have shape (B, N, T) with N of at least 2, got {tuple(rewards.shape)}")
    return (rewards.sum(dim=1, keepdim=True) - rewards) / (rewards.shape[1] - 1)


class MovingBaseline:
    """b ← 0.9 b + 0.1 · mean reward: what to expect of a caption, from the batches so far.

    Args:
        keep: the part of the old mean that stays.

    Source: Xu et al. 2015, section 4.1 (the formula has no number).
    """

    def __init__(self, keep: float = 0.9) -> None:
        self.keep = keep
        self.mean: Tensor | None = None

    def update(self, rewards: Tensor) -> Tensor:
        """The baseline before these ``rewards (..., T)``, ``(T,)``; zeros at first. Then they are taken in.

        Raises:
            ValueError: if there are no rewards.
        """
        if not rewards.numel():
            raise ValueError(f"rewards must hold one at least, got shape {tuple(rewards.shape)}")
        now = rewards.detach().flatten(0, -2).mean(dim=0)  # (T,)
        before = torch.zeros_like(now) if self.mean is None else self.mean
        self.mean = now if self.mean is None else self.keep * before + (1 - self.keep) * now
        return before

    def state_dict(self) -> dict[str, Tensor | None]:
        """The mean so far, for a checkpoint."""
        return {"mean": self.mean}

    def load_state_dict(self, state: dict[str, Tensor | None]) -> None:
        """Go on from a mean that :meth:`state_dict` has given."""
        self.mean = state["mean"]


def reinforce_loss(log_probs: Tensor, rewards: Tensor, baseline: Tensor | float = 0.0) -> Tensor:
    """A number whose gradient is the REINFORCE estimate: −Σ_t (R_t − b_t) ∇ log p(s_t), mean over captions.

    Args:
        log_probs: ``(B, T)``, log-probability of what was drawn at each step; 0 at steps that do not count.
        rewards: broadcastable to ``(B, T)``; constants here: no gradient flows through them.
        baseline: broadcastable to ``(B, T)``; must not depend on the caption's own draws, or the estimate is biased.

    Raises:
        ValueError: if rewards or baseline do not fit ``log_probs``, or there is no caption.

    Source: Williams 1992; Xu et al. 2015, equation 12, with the baseline of the equation after it.
    """
    _check_rewards(log_probs, rewards, baseline)
    advantage = (rewards - baseline).detach()  # (B, T)
    return -(advantage * log_probs).sum(dim=-1).mean()


def _check_weights(weights: Tensor) -> None:
    if weights.ndim != 3:
        raise ValueError(f"weights must have shape (B, Tq, Tk), got {tuple(weights.shape)}")
    if not (weights.sum(dim=-1) > 0).all():
        raise ValueError("weights has a row of zeros: a query that may attend to nothing has no position to draw")


def _check_rewards(log_probs: Tensor, rewards: Tensor, baseline: Tensor | float) -> None:
    if not len(log_probs):
        raise ValueError("log_probs holds no caption; a mean needs at least one")
    for name, given in (("rewards", rewards), ("baseline", torch.as_tensor(baseline))):
        fits = given.ndim <= 2 and all(
            a in (1, b) for a, b in zip(given.shape[::-1], log_probs.shape[::-1], strict=False)
        )
        if log_probs.ndim != 2 or not fits:
            raise ValueError(f"{name} {tuple(given.shape)} must fit log_probs (B, T), got {tuple(log_probs.shape)}")
