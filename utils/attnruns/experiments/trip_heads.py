"""Chapter 14's network beside fixed output layers: the same encoder, training and mask, and another head.

A fixed output layer has one row per position of the list: row i names the i-th city. ``pooled`` gives it what the
pointer's query holds: the mean of the keys, the first and the last key. The encoder knows no positions, so such a layer
can't know where in the list a city stands; ``positions`` therefore adds a learned vector to each position's input.
``listed`` also gives it all keys, one after the other, as they are listed. ``eight_rows`` is ``listed`` with rows for
eight cities, where keys that are missing are 0. All are trained on lists of five cities. They are tested on the same
lists twice, as they are drawn and with all cities but the first in another order, and on longer lists.
"""

import time
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.data.points.geometry import random_points
from attnbook.data.points.tours import random_tours, tour_length
from attnbook.seeding import generator
from attnruns.experiments.trip_file import SETTINGS, TEST_SEED, TESTS, file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

FEATURES, TRAINED_ON = 64, 5  # of the file's network and training
SIZES = (5, 6, 8)  # cities of the tests


class Head(NamedTuple):
    """A fixed output layer.

    Fields:
        rows: one per position that it can name.
        listed: whether it also reads all keys in the order of the list.
        positions: whether a learned vector per position is added to the encoder's input.
    """

    rows: int = TRAINED_ON
    listed: bool = False
    positions: bool = False


HEADS = {
    "pointer": None,  # the file's own
    "pooled": Head(),
    "positions": Head(positions=True),
    "listed": Head(listed=True),
    "eight_rows": Head(rows=8, listed=True),
}
STEPS = dict.fromkeys(HEADS, 400)


class FixedHead(nn.Module):
    """A layer with one row per position of the list, in place of the file's ``Pointer``."""

    def __init__(self, features: int, head: Head) -> None:
        super().__init__()
        self.head = head
        self.hidden = nn.Linear((3 + (head.rows if head.listed else 0)) * features, features)
        self.rows = nn.Linear(features, head.rows)

    def forward(self, query: Tensor, keys: Tensor, free: Tensor) -> Tensor:
        """``(B, 3D), (B, N, D), (B, N)`` -> log-probabilities ``(B, N)``; N is at most the number of rows."""
        cities = keys.shape[1]
        if self.head.listed:
            missing = keys.new_zeros(len(keys), self.head.rows - cities, keys.shape[2])
            query = torch.cat([query, keys.flatten(1), missing.flatten(1)], dim=-1)
        scores = self.rows(self.hidden(query).tanh())[:, :cities]
        return scores.masked_fill(~free, -torch.inf).log_softmax(dim=-1)


class Positions(nn.Module):
    """Adds a learned vector to each position's features."""

    def __init__(self, rows: int, features: int) -> None:
        super().__init__()
        self.at = nn.Parameter(torch.randn(rows, features))

    def forward(self, x: Tensor) -> Tensor:
        """``(B, N, D)`` -> ``(B, N, D)``."""
        return x + self.at[: x.shape[1]]


def network_of(names: dict[str, Any], name: str) -> nn.Module:
    """A fresh network of the file with this head."""
    head, network = chosen(HEADS, name), names["TripNetwork"]()
    if head is not None:
        network.pointer = FixedHead(FEATURES, head)
        if head.positions:
            network.embed = nn.Sequential(network.embed, Positions(head.rows, FEATURES))
    return network


def shuffled(points: Tensor) -> tuple[Tensor, Tensor]:
    """The lists with all cities but the first in another order: orders ``(B, N)``, and the lists ``(B, N, 2)``."""
    sets, cities, _ = points.shape
    order = random_tours(cities - 1, sets, generator(TEST_SEED + 1)) + 1
    order = torch.cat([torch.zeros(sets, 1, dtype=torch.long), order], dim=1)
    return order, points.gather(1, order[..., None].expand(-1, -1, 2))


def rows_of(network: Any) -> float:
    """How many cities a network can name: as many as its fixed layer has rows, or any number."""
    return network.pointer.head.rows if isinstance(network.pointer, FixedHead) else torch.inf


def asked_twice(names: dict[str, Any], network: Any, cities: int) -> tuple[Tensor, Tensor, Tensor]:
    """The test's sets ``(TESTS, N, 2)``, the network's trips, and those after the lists are shuffled, ``(TESTS, N)``.

    Both trips hold positions in the lists as they were drawn.
    """
    points = random_points(cities, TESTS, generator(TEST_SEED))
    order, moved = shuffled(points)
    trips, again = (names["answer"](network, of)[0] for of in (points, moved))
    return points, trips, order.gather(1, again)


@torch.no_grad()
def tested(names: dict[str, Any], network: Any) -> dict[str, dict[str, float] | None]:
    """By the number of cities, the shares of answers that are shortest trips, before the list is shuffled and after it,
    and that are the same trip then; and the mean gap before. ``None`` where the network cannot answer.
    """
    figures: dict[str, dict[str, float] | None] = {}
    for cities in SIZES:
        if cities > rows_of(network):
            figures[str(cities)] = None
            continue
        points, trips, again = asked_twice(names, network, cities)
        ours, after, best = (tour_length(points, trip) for trip in (trips, again, names["shortest"](points)))
        same = (trips == again).all(dim=1)
        measured = {"shortest": ours < best + 1e-4, "shortest_shuffled": after < best + 1e-4, "same": same}
        shares = {name: round(of.float().mean().item(), 4) for name, of in measured.items()}
        figures[str(cities)] = {**shares, "gap": round((ours / best).mean().item() - 1, 4)}
    return figures


def run(job: Job) -> Outcome:
    """Train one network by the file's own function, and test it."""
    names = file(job.seed)
    network, started = network_of(names, job.model), time.process_time()
    names["train"](network, job.steps)
    seconds = round(time.process_time() - started, 1)  # of the processor
    parameters = sum(p.numel() for p in network.parameters())
    return Outcome({"tests": tested(names, network), "parameters": parameters, "seconds": seconds})


SETTINGS_OF = {**SETTINGS, "batch": "128 sets", "learning_rate": "up to 2e-3, one cycle"}
EXPERIMENT = Experiment("trip_heads", STEPS, run, SETTINGS_OF, on_cpu=True)
