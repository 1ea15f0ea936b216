"""Chapter 14's network with a query that knows which cities remain: does it find shorter trips, and better ends?

What is trained is the file as it stands in the chapter, with one more part in its query. Its own query knows the map,
the first and the last city. ``remaining`` adds the mean of the keys of the cities that remain, the one to be chosen
next among them; ``twice`` adds the mean of all keys a second time, which tells nothing new and has as many weights. All
are trained from labels, where each city before the choice is right, and from the lengths of drawn trips, where it may
be wrong. They are tested on whole trips, and on the rest of trips whose first two choices are drawn at random.
"""

import time
from itertools import permutations, product
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import tour_length
from attnbook.seeding import generator
from attnruns.experiments.trip_file import CHAPTER, SETTINGS, TEST_SEED, TESTS, TRAINED_HERE, TRAININGS
from attnruns.experiments.trip_file import STEPS as STEPS_OF
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

ADDED = {
    "plain": None,
    "twice": "keys.mean(dim=1)",
    "remaining": "(keys * free[..., None]).sum(dim=1) / free.sum(dim=1, keepdim=True)",
}
STEPS = {f"{how}_{query}": STEPS_OF[how] for how, query in product(TRAININGS, ADDED)}
SIZES = (5, 6, 7, 8)  # cities of the tests
PARTS = "keys.mean(dim=1), keys[:, 0], keys[rows, begun[:, -1]]"  # of the file's query
LED = {"if target is not None:": "if target is not None and step < target.shape[1]:"}  # a target may be short


def file(query: str, seed: int) -> dict[str, Any]:
    """The names that the chapter's file defines, with this query, without a training."""
    added = chosen(ADDED, query)
    wider = {} if added is None else {"Linear(3 * D, D": "Linear(4 * D, D", PARTS: f"{PARTS}, {added}"}
    replaced = {"torch.manual_seed(0)": "torch.manual_seed({seed})", **LED, **wider}
    return run_file(file_of(CHAPTER, replaced, seed, 0, TRAINED_HERE))[0]


def build(name: str) -> nn.Module:
    """A fresh network."""
    chosen(STEPS, name)
    network: nn.Module = file(name.split("_")[1], 0)["TripNetwork"]()
    return network


def misled(points: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Trips that begin at city 0 and with two random choices (B, 3), and the best whole trips that begin so (B, N)."""
    sets, cities, _ = points.shape
    order = torch.rand(sets, cities - 1, generator=generator(seed)).argsort(dim=1) + 1  # (B, N - 1)
    begun = torch.cat([torch.zeros(sets, 1, dtype=torch.long), order[:, :2]], dim=1)  # (B, 3)
    ways = [torch.cat([begun, order[:, list(rest)]], dim=1) for rest in permutations(range(2, cities - 1))]  # of (B, N)
    best = torch.stack([tour_length(points, way) for way in ways]).argmin(dim=0)  # (B,)
    return begun, torch.stack(ways)[best, torch.arange(sets)]


@torch.no_grad()
def tested(names: dict[str, Any], network: nn.Module) -> dict[str, dict[str, dict[str, float]]]:
    """By the number of cities, of whole trips and of led ones: the share of the best, and the mean gap to it."""
    figures: dict[str, dict[str, dict[str, float]]] = {"whole": {}, "led": {}}
    for cities in SIZES:
        points = random_points(cities, TESTS, generator(TEST_SEED))
        begun, finished = misled(points, TEST_SEED + 1)
        for test, begin, best in (("whole", begun[:, :1], names["shortest"](points)), ("led", begun, finished)):
            ours, least = (tour_length(points, trip) for trip in (names["answer"](network, points, begin)[0], best))
            share, gap = (ours < least + 1e-4).float().mean().item(), (ours / least).mean().item() - 1
            figures[test][str(cities)] = {"best": round(share, 4), "gap": round(gap, 4)}
    return figures


def run(job: Job) -> Outcome:
    """Train one network, and test it."""
    chosen(STEPS, job.model)
    how, query = job.model.split("_")
    names = file(query, job.seed)
    network, started = names["TripNetwork"](), time.process_time()
    TRAININGS[how](names, network, job.steps)
    seconds = round(time.process_time() - started, 1)  # of the processor
    return Outcome(
        {**tested(names, network), "seconds": seconds}, network if job.seed == 0 and query == "remaining" else None
    )


EXPERIMENT = Experiment("trip_query", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
