"""Chapter 14's pointer and a fixed output layer, both trained on lists of five to eight cities.

The encoder, the batches, the labels and the mask are the same; only the head differs. The fixed layer has eight rows
and reads the query and all keys in the order of the list, where keys that are missing are 0 (``trip_heads``). Both are
tested on the sizes of the training and on nine and ten cities, for which the fixed layer has no rows. ``five`` is the
chapter's own network, trained by the file on five cities alone; its weights are those of the live figure. Two controls
are trained for as many steps as the networks of several sizes: ``five_longer`` on five cities alone, and ``ten`` on ten
alone, which shows how hard ten cities are for a network that has seen this length.
"""

import time
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import held_karp, nearest_neighbour, tour_length
from attnbook.seeding import generator
from attnruns.experiments.trip_file import TEST_SEED, TESTS, file
from attnruns.experiments.trip_heads import asked_twice, network_of, rows_of
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

HEADS = {  # the names of trip_heads
    "five": "pointer",
    "pointer": "pointer",
    "fixed": "eight_rows",
    "five_longer": "pointer",
    "ten": "pointer",
}
STEPS = {"five": 400, "pointer": 600, "fixed": 600, "five_longer": 600, "ten": 600}
SIZES, TESTED = (5, 6, 7, 8), (5, 6, 8, 9, 10)  # cities in training, and in the tests
ONE_SIZE = {"five_longer": (5,), "ten": (10,)}  # the cities in training of the controls


def build(name: str) -> nn.Module:
    """A fresh network with this head."""
    return network_of(file(0), chosen(HEADS, name))


def train_on_sizes(
    names: dict[str, Any], network: nn.Module, steps: int, seed: int, sizes: tuple[int, ...] = SIZES
) -> None:
    """The file's training, but each step has the next of ``sizes``; with one seed and one tuple the same batches."""
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=steps, pct_start=0.1)
    source = generator(seed)
    for step in range(steps):
        points = torch.rand(128, sizes[step % len(sizes)], 2, generator=source)
        target = held_karp(points)  # (B, N)
        _, log_probs = names["answer"](network, points, target)  # (B, N - 1, N)
        loss = -log_probs.gather(2, target[:, 1:, None]).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def measured(points: Tensor, trips: Tensor, again: Tensor) -> dict[str, float]:
    """The share of shortest trips and the mean gap, and the share of sets whose trip is the same with another order.

    ``points (B, N, 2)``; ``trips (B, N)``, and those after the lists are shuffled, ``again (B, N)``.
    """
    ours, best = (tour_length(points, of) for of in (trips, held_karp(points)))
    shares = {"shortest": ours < best + 1e-4, "same": (trips == again).all(dim=1)}
    figures = {name: round(of.float().mean().item(), 4) for name, of in shares.items()}
    return {**figures, "gap": round((ours / best).mean().item() - 1, 4)}


@torch.no_grad()
def tested(names: dict[str, Any], network: Any) -> dict[str, dict[str, float] | None]:
    """By the number of cities, what :func:`measured` finds; ``None`` where the network has no row for a city."""
    figures: dict[str, dict[str, float] | None] = {}
    for cities in TESTED:
        can = cities <= rows_of(network)
        figures[str(cities)] = measured(*asked_twice(names, network, cities)) if can else None
    return figures


def nearest_first() -> dict[str, float]:
    """By the number of cities, the mean gap of the rule on the same sets."""
    found = {}
    for cities in TESTED:
        points = random_points(cities, TESTS, generator(TEST_SEED))
        ours, best = (tour_length(points, of(points)) for of in (nearest_neighbour, held_karp))
        found[str(cities)] = round((ours / best).mean().item() - 1, 4)
    return found


def run(job: Job) -> Outcome:
    """Train one network, and test it."""
    names = file(job.seed)
    network, started = network_of(names, chosen(HEADS, job.model)), time.process_time()
    if job.model == "five":
        names["train"](network, job.steps)
    else:
        train_on_sizes(names, network, job.steps, job.seed, ONE_SIZE.get(job.model, SIZES))
    seconds = round(time.process_time() - started, 1)  # of the processor
    parameters = sum(p.numel() for p in network.parameters())
    figures = {
        "tests": tested(names, network),
        "nearest": nearest_first(),
        "parameters": parameters,
        "seconds": seconds,
    }
    kept = job.seed == 0 and job.model not in ONE_SIZE
    return Outcome(figures, network if kept else None)


SETTINGS = {
    "task": "round trips of which the first city is given",
    "batch": "128 sets of one size",
    "sizes": {"five": (5,), "pointer": SIZES, "fixed": SIZES, **ONE_SIZE},
    "test_sets": TESTS,
    "test_seed": TEST_SEED,
    "learning_rate": "up to 2e-3, one cycle",
    "max_grad_norm": 1.0,
}
EXPERIMENT = Experiment("trip_sizes", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
