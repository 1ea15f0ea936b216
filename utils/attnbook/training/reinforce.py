"""REINFORCE: the gradient of an expected reward, estimated from what was drawn, and baselines that make it quieter."""

import torch
from torch import Tensor


def reward_to_go(rewards: Tensor) -> Tensor:
    """The sum of each step's reward and all later ones: ``(..., T)`` -> ``(..., T)``.

    What was drawn at step t cannot have changed earlier rewards; leaving them out removes noise and no bias.

    Source: Sutton et al. 2000; not used by Xu et al. 2015, whose reward is that of the whole caption.
    """
    return rewards.flip(-1).cumsum(-1).flip(-1)


def leave_one_out_baseline(rewards: Tensor) -> Tensor:
    """For each of N draws the mean reward of the other N − 1: ``(B, N)`` or ``(B, N, T)``, and returned so.

    Costs will do as well, and their mean is then one of costs.

    Raises:
        ValueError: if ``rewards`` has fewer than two axes, or N < 2.

    Source: Kool et al. 2019 ("Buy 4 REINFORCE samples, get a baseline for free").
    """
    if rewards.ndim < 2 or rewards.shape[1] < 2:
        raise ValueError(f"rewards must have shape (B, N, …) with N of at least 2, got {tuple(rewards.shape)}")
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


def _check_rewards(log_probs: Tensor, rewards: Tensor, baseline: Tensor | float) -> None:
    if not len(log_probs):
        raise ValueError("log_probs holds no caption; a mean needs at least one")
    for name, given in (("rewards", rewards), ("baseline", torch.as_tensor(baseline))):
        fits = given.ndim <= 2 and all(
            a in (1, b) for a, b in zip(given.shape[::-1], log_probs.shape[::-1], strict=False)
        )
        if log_probs.ndim != 2 or not fits:
            raise ValueError(f"{name} {tuple(given.shape)} must fit log_probs (B, T), got {tuple(log_probs.shape)}")
