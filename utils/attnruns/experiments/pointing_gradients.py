"""How much the gradient of a training without labels scatters, by its baseline (evidence for chapter 14).

Nothing is trained. Two networks are measured: one as it is drawn, and one as its training with the mean of the others
left it. ``steps`` says how many estimates of the gradient are compared.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.models.pointer import answer_log_probs, greedy_pointer_decode
from attnbook.seeding import generator, seed_everything
from attnbook.training.reinforce import leave_one_out_baseline
from attnbook.training.rollout import sample_tours
from attnruns.experiments import pointing_reinforce
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

CITIES = 20
BASELINES = ("none", "one number", "greedy trip", "mean of the others")
TRIPS = ((128, 1, BASELINES[1:3]), (16, 8, BASELINES[2:]))  # sets, draws of each, and the baselines that are compared
FIXED, DRAWS = 16, 8  # sets that stay the same, and trips of each


@contextmanager
def reading_once(network, sets: Tensor, copies: int = 1) -> Iterator[None]:
    """Inside this block the encoder's states of ``sets (S, T, 2)`` are at hand, each ``copies`` times."""
    with torch.no_grad():
        keys, first = network.encoder(network.embed(sets), torch.ones(sets.shape[:2], dtype=torch.bool))  # (S, T, D), …
    kept = keys.repeat_interleave(copies, dim=0), tuple(part.repeat_interleave(copies, dim=0) for part in first)
    network.encoder.forward = lambda points, mask: kept
    try:
        yield
    finally:
        del network.encoder.forward


def lengths_of(network, sets: Tensor, draws: int, source: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Of ``draws`` trips per set: their log-probabilities with a graph, their lengths, and those of greedy trips."""
    points = sets.repeat_interleave(draws, dim=0)  # (S · draws, T, 2)
    with reading_once(network, sets, draws):
        with torch.no_grad():
            trips = sample_tours(network, points, source)
            greedy = tour_length(points, greedy_pointer_decode(network, points).tokens)
        log_probs = answer_log_probs(network, points, torch.full((len(points),), sets.shape[1]), trips).sum(dim=1)
    return log_probs, tour_length(points, trips), greedy


def estimates(
    network, sets_at: Callable[[int], Tensor], draws: int, names: tuple[str, ...], rounds: int
) -> dict[str, tuple[Tensor, Tensor]]:
    """By baseline: gradients of the score's parameters ``(rounds, P)``, and the share of trips longer than it."""
    parameters, source = list(network.score.parameters()), generator(0)
    gradients: dict[str, list[Tensor]] = {name: [] for name in names}
    above: dict[str, list[Tensor]] = {name: [] for name in names}
    for number in range(rounds):
        log_probs, length, greedy = lengths_of(network, sets_at(number), draws, source)
        baselines = {"none": torch.zeros_like(length), "one number": length.mean().expand_as(length)}
        baselines["greedy trip"] = greedy
        if draws > 1:
            baselines["mean of the others"] = leave_one_out_baseline(length.view(-1, draws)).flatten()
        for name in names:
            loss = ((length - baselines[name]) * log_probs).mean()
            parts = torch.autograd.grad(loss, parameters, retain_graph=True)
            gradients[name].append(torch.cat([part.flatten() for part in parts]))
            above[name].append((length > baselines[name]).float().mean())
    return {name: (torch.stack(gradients[name]), torch.stack(above[name])) for name in names}


def scatter_of(gradients: Tensor) -> float:
    """The standard deviation of estimates ``(rounds, P)``, over all parameters together."""
    return round(gradients.var(dim=0).sum().sqrt().item(), 4)


def network_at(stage: str) -> torch.nn.Module:
    """The network "untrained" or "trained", the same at each call."""
    if stage == "trained":
        return pointing_reinforce.trained("reinforce_draws_free")
    seed_everything(0)
    return pointing_reinforce.build("reinforce_draws_free")


def new_sets(network, sets: int, draws: int, names: tuple[str, ...], rounds: int) -> dict[str, float]:
    """The scatter of each baseline when every estimate has new sets."""
    found = estimates(
        network, lambda number: random_points(CITIES, sets, generator(100 + number)), draws, names, rounds
    )
    return {name: scatter_of(gradients) for name, (gradients, _) in found.items()}


def run(job: Job) -> Outcome:
    """Measure one network, on fixed sets and on new ones."""
    start = time.process_time()
    network, fixed = network_at(job.model), random_points(CITIES, FIXED, generator(5))
    found = estimates(network, lambda number: fixed, DRAWS, BASELINES, job.steps)
    figures = {
        "fixed": {name: [scatter_of(of), rounded_mean(above)] for name, (of, above) in found.items()},
        "new": {str(sets): new_sets(network, sets, draws, names, job.steps) for sets, draws, names in TRIPS},
    }
    return Outcome({"device": "cpu", "seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "pointing_gradients",
    {"untrained": 10, "trained": 10},
    run,
    {"weights": "reinforce_draws_free of pointing_reinforce, seed 0", "cities": CITIES, "fixed": FIXED, "draws": DRAWS},
    on_cpu=True,
)
