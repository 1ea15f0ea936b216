"""Chapter 14's network in one file, trained on ten cities: how short are the best of its drawn trips, and of a beam?

What is trained and draws is the file itself, as it stands in the chapter; only its labels come from Held and Karp,
because trying all trips of ten cities would take too long. The beam and the best of many draws stand here. It stays on
the CPU, as the file does.
"""

import time
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import held_karp, nearest_neighbour, random_tours, tour_length, two_opt
from attnbook.seeding import generator
from attnruns.experiments.trip_file import file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"ten": 400}
CITIES, TESTS, TEST_SEED = 10, 500, 10_000  # all networks have the same test sets
DRAWS, WIDTH = (1, 4, 16, 64), 4


def build(name: str) -> nn.Module:
    """A fresh network of the file."""
    chosen(STEPS, name)
    network: nn.Module = file(0)["TripNetwork"]()
    return network


@torch.no_grad()
def beam(names: dict[str, Any], model: Any, points: Tensor, width: int = WIDTH) -> Tensor:
    """The most probable trips that a beam finds, the most probable one first: ``(B, N, 2)`` -> ``(B, width, N)``."""
    B, N, _ = points.shape
    keys = model.encoder(model.embed(points))  # (B, N, D)
    trips, scores = torch.zeros(B, 1, 1, dtype=torch.long), torch.zeros(B, 1)  # (B, K, t), (B, K): K beginnings
    for _ in range(1, N):
        K = trips.shape[1]
        log_p = names["next_city"](model, keys.repeat_interleave(K, dim=0), trips.flatten(0, 1)).reshape(B, K, N)
        scores, kept = (scores[..., None] + log_p).flatten(1).topk(min(width, K * N), dim=1)  # (B, width) each
        begun = trips.gather(1, (kept // N)[..., None].expand(-1, -1, trips.shape[2]))  # (B, width, t)
        trips = torch.cat([begun, (kept % N)[..., None]], dim=2)  # kept % N is the city that is appended
    return trips


def drawn_by_distance(points: Tensor) -> Tensor:
    """Trips that the chapter's pointer by hand draws, one per set: its score is minus ten times the distance.

    ``(B, N, 2)`` -> ``(B, N)``, all beginning at city 0, with torch's own random numbers.
    """
    scores = -10 * torch.cdist(points, points)  # (B, N, N)
    rows = torch.arange(len(points))
    free = torch.ones(points.shape[:2], dtype=torch.bool)  # (B, N)
    trip = [torch.zeros(len(points), dtype=torch.long)]
    for _ in range(points.shape[1] - 1):
        free = free.scatter(1, trip[-1][:, None], False)
        p = scores[rows, trip[-1]].masked_fill(~free, -torch.inf).softmax(dim=1)  # (B, N)
        trip.append(p.multinomial(1)[:, 0])
    return torch.stack(trip, dim=1)


@torch.no_grad()
def best_of(names: dict[str, Any], model: nn.Module, points: Tensor, count: int) -> Tensor:
    """The shortest of so many trips that the network draws for each set: ``(B, N, 2)`` -> ``(B, N)``."""
    trips = torch.stack([names["answer"](model, points, draw=True)[0] for _ in range(count)], dim=1)  # (B, count, N)
    return trips[torch.arange(len(points)), names["trip_length"](points, trips).argmin(dim=1)]


def gaps(points: Tensor, trips: Tensor) -> Tensor:
    """How much longer each trip is than the shortest, as a share: ``(B, N, 2), (B, M, N)`` -> ``(B, M)``."""
    fewest = tour_length(points, held_karp(points))  # (B,)
    lengths = [tour_length(points, trip) for trip in trips.unbind(dim=1)]  # M of (B,)
    return (torch.stack(lengths, dim=1) / fewest[:, None] - 1).clamp(min=0)


def of_best(gap: Tensor) -> dict[str, float]:
    """Of the shortest of each row of ``gap (B, M)``: the mean gap, and the share that are the shortest of all."""
    least = gap.amin(dim=1)  # (B,)
    return {"gap": round(least.mean().item(), 6), "shortest": round((least < 1e-4).float().mean().item(), 4)}


@torch.no_grad()
def tested(names: dict[str, Any], network: nn.Module, seed: int) -> dict[str, dict[str, float]]:
    """By the way to find a trip, with and without the network: see :func:`of_best`."""
    points = random_points(CITIES, TESTS, generator(TEST_SEED))
    nearest, by_beam = nearest_neighbour(points), beam(names, network, points)  # (B, N), (B, WIDTH, N)
    trips = {"nearest": nearest[:, None], "two_opt": two_opt(points, nearest)[:, None]}
    trips["random_64"] = random_tours(CITIES, 64 * TESTS, generator(seed)).reshape(TESTS, 64, CITIES)
    trips |= {"greedy": names["answer"](network, points)[0][:, None], "beam": by_beam, "beam_probable": by_beam[:, :1]}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        trips |= {f"drawn_{count}": best_of(names, network, points, count)[:, None] for count in DRAWS}
    return {name: of_best(gaps(points, of)) for name, of in trips.items()}


def run(job: Job) -> Outcome:
    """Train one network by the file's own function, and search with it."""
    chosen(STEPS, job.model)
    names = file(job.seed)
    network, started = names["TripNetwork"](), time.process_time()
    names["train"](network, job.steps, CITIES, held_karp)
    seconds = round(time.process_time() - started, 1)  # of the processor
    figures = {"ways": tested(names, network, job.seed), "seconds": seconds}
    return Outcome(figures, network if job.seed == 0 else None)


SETTINGS = {
    "task": f"round trips of {CITIES} cities, of which the first is given",
    "batch": "128 sets",
    "test_sets": TESTS,
    "test_seed": TEST_SEED,
    "learning_rate": "up to 2e-3, one cycle",
    "max_grad_norm": 1.0,
    "warmup": 0,
}
EXPERIMENT = Experiment("trip_search", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
