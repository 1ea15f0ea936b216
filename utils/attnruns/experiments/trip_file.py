"""Chapter 14's network in one file, from labels and from the lengths of its own trips alone, with several seeds.

What is trained is the file itself, as it stands in the chapter, with another seed. Its training from labels is the
file's, too; the one from lengths stands here. Both stay on the CPU, as the file does.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.seeding import generator
from attnbook.training.reinforce import leave_one_out_baseline, reinforce_loss
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "14_pointer_networks"
STEPS = {"labels": 400, "lengths": 1200}
DRAWS = 8  # of trips for the same cities, in the training from lengths
TRAINED_HERE = ("test", "ask")  # cells of the file that train or need a trained network
SIZES, TESTS, TEST_SEED = (5, 8), 500, 10_000  # cities and sets of the tests; all networks have the same sets


def file(seed: int) -> dict[str, Any]:
    """The names that the chapter's file defines, without a training; torch's random numbers begin at ``seed``."""
    names, _ = run_file(file_of(CHAPTER, {"torch.manual_seed(0)": "torch.manual_seed({seed})"}, seed, 0, TRAINED_HERE))
    return names


def loss_of_lengths(log_probs: Tensor, trips: Tensor, lengths: Tensor) -> Tensor:
    """REINFORCE, whose reward is minus the length, with the mean of the other draws for the same cities as baseline.

    ``log_probs (B, N - 1, N)`` of the choices, ``trips (B, N)`` and their ``lengths (B,)``, DRAWS beside each other.
    """
    rewards = -lengths.reshape(-1, DRAWS)  # (B / DRAWS, DRAWS)
    of_choices = log_probs.gather(2, trips[:, 1:, None])[..., 0]  # (B, N - 1)
    return reinforce_loss(of_choices, rewards.reshape(-1, 1), leave_one_out_baseline(rewards).reshape(-1, 1))


def train_by_length(names: dict[str, Any], model: nn.Module, steps: int) -> None:
    """Make trips through five cities more probable that are shorter than the others drawn for the same cities."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    for _ in range(steps):
        points = torch.rand(16, 5, 2).repeat_interleave(DRAWS, dim=0)  # (128, 5, 2): each set eight times
        trips, log_probs = names["answer"](model, points, draw=True)  # (128, 5), (128, 4, 5)
        loss = loss_of_lengths(log_probs, trips, names["trip_length"](points, trips[:, None])[:, 0])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def train_by_labels(names: dict[str, Any], model: nn.Module, steps: int) -> None:
    """The file's own training."""
    names["train"](model, steps)


TRAININGS: dict[str, Callable[..., None]] = {"labels": train_by_labels, "lengths": train_by_length}


def build(name: str) -> nn.Module:
    """A fresh network of the file."""
    chosen(STEPS, name)
    network: nn.Module = file(0)["TripNetwork"]()
    return network


@torch.no_grad()
def tested(names: dict[str, Any], network: nn.Module) -> dict[str, dict[str, float]]:
    """By the number of cities: the share of greedy trips that are the shortest, and the mean gap."""
    figures = {}
    for cities in SIZES:
        points = random_points(cities, TESTS, generator(TEST_SEED))
        trips = names["answer"](network, points)[0], names["shortest"](points)
        ours, best = (tour_length(points, trip) for trip in trips)  # (TESTS,) each
        share, gap = (ours < best + 1e-4).float().mean().item(), (ours / best).mean().item() - 1
        figures[str(cities)] = {"shortest": round(share, 4), "gap": round(gap, 4)}
    return figures


def run(job: Job) -> Outcome:
    """Train one network, and test it before and after."""
    training = chosen(TRAININGS, job.model)
    names = file(job.seed)
    network = names["TripNetwork"]()
    before, started = tested(names, network), time.process_time()
    training(names, network, job.steps)
    seconds = round(time.process_time() - started, 1)  # of the processor
    figures = {"before": before, "after": tested(names, network), "seconds": seconds}
    return Outcome(figures, network if job.seed == 0 and job.model == "lengths" else None)


SETTINGS = {
    "task": "round trips of five cities, of which the first is given",
    "batch": {"labels": "128 sets", "lengths": "8 draws for each of 16 sets"},
    "test_sets": TESTS,
    "test_seed": TEST_SEED,
    "learning_rate": {"labels": "up to 2e-3, one cycle", "lengths": 5e-4},
    "max_grad_norm": 1.0,
    "warmup": 0,
}
EXPERIMENT = Experiment("trip_file", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
