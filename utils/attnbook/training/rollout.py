"""Round trips without labels: draw trips from the network, and make those more probable that are shorter than expected.

The expected length of an instance is that of the greedy trip of a frozen copy of the network, its *baseline*. When the
network has become significantly better than its copy, it is copied anew. At the beginning, when greedy trips say little
about drawn ones, the mean length of the trips drawn so far may stand in for it (Kool et al. 2019, in the first epoch).
"""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnbook import decoding
from attnbook.data.batching import Batch
from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.models.pointer import PointerNetwork, answer_log_probs, greedy_pointer_decode
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_of_step
from attnbook.training import parallel
from attnbook.training.losses import ChangingLoss
from attnbook.training.reinforce import leave_one_out_baseline, reinforce_loss


def sample_tours(policy: PointerNetwork, points: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one round trip per instance, each city with the network's probability: ``(B, N, 2)`` -> ``(B, N)``.

    The first city is drawn, too, unless the network is given it.

    Raises:
        ValueError: if the network may stop before the last city.
    """
    if policy.may_stop:
        raise ValueError("a round trip needs a network that may not stop before the last city: may_stop=False")
    size = points.shape[1]
    begin, known = (size, 0) if policy.first is None else (policy.first, 1)  # what is read first; cities that are given
    given = torch.full((len(points), known), begin, device=points.device)  # (B, 0) or (B, 1)
    if size == known:
        return given
    lengths = torch.full((len(points),), size, device=points.device)
    drawn = decoding.sample(
        policy, points, lengths, max_length=size - known, generator=generator, bos=begin, eos=size
    ).tokens  # (B, N) or (B, N − 1)
    return torch.cat([given, drawn], dim=1)


@evaluating
def sample_several_tours(policy: PointerNetwork, points: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Draw ``count`` round trips per instance as :func:`sample_tours` does, ``(B, N, 2)`` -> ``(B, count, N)``.

    Each instance is encoded once, and trips that have begun with the same cities share the decoder's steps.

    Raises:
        ValueError: if the first city is not given, the network may stop before the last one, or count is not positive.
    """
    if policy.may_stop or policy.first is None or count < 1:
        found = f"first={policy.first}, may_stop={policy.may_stop}, count={count}"
        raise ValueError(f"needs a given first city, may_stop=False and count of at least 1, got {found}")
    rows, size = points.shape[:2]
    token = torch.full((rows,), policy.first, device=points.device)  # one per different beginning of a trip
    state = policy.start(points, torch.full_like(token, size))
    at = torch.arange(rows, device=points.device).repeat_interleave(count)  # (B · count,): each trip's beginning
    trips = [token[at]]
    for _ in range(size - 1):
        log_p, state, _ = policy.step(token, state)
        trips.append(log_p.exp()[at].multinomial(1, generator=generator)[:, 0])
        begun, at = (at * size + trips[-1]).unique(return_inverse=True)
        state, token = policy.select(state, begun // size), begun % size
    return torch.stack(trips, dim=1).reshape(rows, count, size)


def greedy_lengths(policy: PointerNetwork, points: Tensor) -> Tensor:
    """Lengths of the greedy round trips: ``(B, N, 2)`` -> ``(B,)``, without a gradient."""
    return tour_length(points, greedy_pointer_decode(policy, points).tokens)


def significantly_lower(new: Tensor, old: Tensor, level: float = 0.05) -> bool:
    """Whether costs ``new (B,)`` are lower than ``old (B,)`` of the same instances, by a one-sided paired t-test.

    t = mean(d) / (std(d) / √B) with d = new − old. B should be some hundreds, because Student's distribution is
    replaced by the normal one.

    Raises:
        ValueError: if the shapes differ or there are fewer than 2 instances.

    Source: Kool et al. 2019, section 4 (there with 10,000 instances and the same level).
    """
    if new.shape != old.shape or new.ndim != 1 or len(new) < 2:
        shapes = f"{tuple(new.shape)} and {tuple(old.shape)}"
        raise ValueError(f"new and old must both have shape (B,) with B > 1, got {shapes}")
    difference = (new - old).cpu().double()
    error = difference.std() / len(new) ** 0.5
    if error == 0:  # all differences are equal
        return bool(difference[0] < 0)
    return bool(torch.special.ndtr(difference.mean() / error) < level)


class RolloutPolicy(nn.Module):
    """A network in training, its policy, and the frozen copy whose greedy trips are the baseline.

    Both are in the state, and so are the number of challenges and the running mean of drawn lengths: a resumed training
    goes on with the same baseline.

    Args:
        policy: a pointer network that may not stop before the last city.
    """

    challenges: Tensor
    running: Tensor
    leaves_unused = True  # a network that may not stop early has no use for the score of its end

    def __init__(self, policy: PointerNetwork) -> None:
        super().__init__()
        self.policy, self.baseline = policy, copy.deepcopy(policy).requires_grad_(False)
        self.register_buffer("challenges", torch.zeros((), dtype=torch.long))
        self.register_buffer("running", torch.zeros(()))  # 0: no trip was drawn yet

    def train(self, mode: bool = True) -> "RolloutPolicy":
        """The policy trains, the baseline never."""
        super().train(mode)
        self.baseline.eval()
        return self

    def running_mean(self, length: Tensor, keep: float = 0.8) -> Tensor:
        """The mean length of the trips drawn in earlier steps, as ``length (B,)``; ``length`` counts from now on.

        Each step multiplies the weight of all earlier ones by ``keep``. At the first step it is the mean of ``length``.

        Source: Kool et al. 2019, the baseline of the first epoch, with the same 0.8. There the present trips count
        already; here they do not yet, so that the baseline does not depend on them.
        """
        mean = parallel.mean_over_processes(length.detach().mean())
        expected = torch.where(self.running == 0, mean, self.running)
        self.running.copy_(keep * expected + (1 - keep) * mean)
        return expected.expand_as(length)

    def challenge(self, points: Tensor) -> float:
        """Copy the policy to the baseline if its greedy trips are :func:`significantly_lower` in length.

        Returns:
            the mean length of the policy's greedy trips through ``points (B, N, 2)``.
        """
        found, expected = greedy_lengths(self.policy, points), greedy_lengths(self.baseline, points)
        if significantly_lower(found, expected):
            self.baseline.load_state_dict(self.policy.state_dict())
        self.challenges += 1
        return found.mean().item()


class RolloutLoss(ChangingLoss):
    """REINFORCE with the greedy rollout of a frozen copy as its baseline.

    The expected length J = E[L(π)] of trips π that are drawn from p_θ(π | s) for an instance s has the gradient

        ∇J = E[(L(π) − b(s)) ∇ log p_θ(π | s)],    b(s) = L(greedy trip of the baseline),

    for any b(s) that does not depend on π. This loss has the gradient of one drawn trip per instance, which is a mean
    over the batch.

    With several draws per set the baseline is instead the mean length of the other draws, unless the greedy trip is
    asked for (:func:`~attnbook.training.reinforce.leave_one_out_baseline`).

    Args:
        seed: of the draws.
        draws: trips per set; with more than one, only the first B / draws sets of a batch are read.
        greedy: whether the baseline is the greedy trip; by default it is for one draw per set.
        warmup: steps at the beginning in which :meth:`RolloutPolicy.running_mean` is the baseline instead.

    Raises:
        ValueError: if ``draws`` is not positive, ``warmup`` is negative, or one draw is to be compared with others.

    Source: Williams 1992; Kool et al. 2019a, equation 9 and algorithm 1; of several draws Kool et al. 2019b. Bello et
    al. 2017, equation 4, has a critic instead.
    """

    def __init__(self, seed: int = 0, draws: int = 1, greedy: bool | None = None, warmup: int = 0) -> None:
        if draws < 1:
            raise ValueError(f"draws must be at least 1, got {draws}")
        if warmup < 0:
            raise ValueError(f"warmup is a number of steps and cannot be negative, got {warmup}")
        if draws == 1 and greedy is False:
            raise ValueError(
                "one draw per set has no others to be compared with: give draws of at least 2, or greedy=True"
            )
        self.seed, self.draws, self.warmup = seed, draws, warmup
        self.greedy = draws == 1 if greedy is None else greedy

    def at(self, step: int) -> Callable[[RolloutPolicy, Batch], Tensor]:
        """The loss of one step; its draws depend on seed and step alone, so a resumed training repeats them.

        The loss raises a ValueError for a batch of fewer sets than ``draws``.
        """

        def loss(model: RolloutPolicy, batch: Batch) -> Tensor:
            sets = len(batch.source) // self.draws
            if not sets:
                raise ValueError(f"draws is {self.draws}, more than the batch has sets: {len(batch.source)}")
            points = batch.source[:sets].repeat_interleave(self.draws, dim=0)  # (B, N, 2)
            draw = generator(seed_of_step(self.seed, step), points.device)
            tours = sample_tours(model.policy, points, draw)  # (B, N)
            length = tour_length(points, tours)  # (B,)
            if step < self.warmup:
                expected = model.running_mean(length)  # (B,)
            elif self.greedy:  # one greedy trip per set, for all its draws
                expected = greedy_lengths(model.baseline, batch.source[:sets]).repeat_interleave(self.draws)
            else:
                expected = leave_one_out_baseline(length.view(sets, self.draws)).flatten()
            log_probs = answer_log_probs(model.policy, points, batch.lengths[: len(points)], tours)  # (B, N)
            return reinforce_loss(log_probs, -length[:, None], -expected[:, None])  # a reward is minus a length

        return loss


class Challenge:
    """A validation for :func:`~attnbook.training.fit`: challenge the baseline on instances that are new each time.

    Args:
        size: cities. count: instances. seed: of the instances.
    """

    def __init__(self, size: int, count: int, seed: int) -> None:
        self.size, self.count, self.seed = size, count, seed

    def __call__(self, model: RolloutPolicy) -> float:
        """Minus the mean greedy length, because a validation is better when it is higher."""
        source = generator(seed_of_step(self.seed, 500_000 + int(model.challenges)))
        return -model.challenge(random_points(self.size, self.count, source).to(model.running.device))
