"""Small mazes that are walked twice: who remembers the first walk finds the goal sooner on the second (chapter 15).

A maze is a grid of 4 × 4 cells. Whoever stands in one sees its four walls and nothing else. Positions of cells are
counted row by row from 0 to 15, moves are north, east, south, west.
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.seeding import generator

SIDE, MOVES = 4, 4
CELLS = SIDE * SIDE
STEP = (-SIDE, 1, SIDE, -1)  # how a move changes the number of the cell
BACK = (2, 3, 0, 1)  # the move that undoes a move
EXTRA = 2  # openings beside those that connect all cells
POOL = 3000  # mazes that are drawn once; those to train on and those for the test have no wall pattern in common
TESTS = 300
UNREACHED = 10**6


class Mazes(NamedTuple):
    """A batch of mazes.

    Fields:
        open: ``(B, 16, 4)`` bool, whether one can leave a cell by a move. start, goal: ``(B,)`` long, cells.
    """

    open: Tensor
    start: Tensor
    goal: Tensor

    def to(self, device: torch.device | str) -> "Mazes":
        """The same batch on another device."""
        return Mazes(*(tensor.to(device) for tensor in self))


@cache
def maze_pool() -> Tensor:
    """Different wall patterns, ``(P, 16, 4)`` bool, the first ``TESTS`` of which are for the test alone."""
    draw = generator(2018)
    pool = torch.stack([_carve(draw) for _ in range(POOL)]).unique(dim=0)
    return pool[torch.randperm(len(pool), generator=draw)]


def random_mazes(count: int, seed: int = 0, held_out: bool = False) -> Mazes:
    """``count`` mazes of the pool, with a start and a goal that are at least three moves apart.

    Raises:
        ValueError: if ``count`` is not positive.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    draw, pool = generator(seed), maze_pool()
    pool = pool[:TESTS] if held_out else pool[TESTS:]
    open_ = pool[torch.randint(len(pool), (count,), generator=draw)]  # (B, 16, 4)
    start = torch.randint(CELLS, (count,), generator=draw)
    away = distances(open_, start) >= 3  # (B, 16)
    return Mazes(open_, start, away.double().multinomial(1, generator=draw)[:, 0])


def distances(open_: Tensor, start: Tensor) -> Tensor:
    """Moves from ``start (B,)`` to each cell, along the shortest way: ``(B, 16)`` long."""
    found = torch.full((len(open_), CELLS), UNREACHED)
    found.scatter_(1, start[:, None], 0)
    for _ in range(CELLS):
        for move, change in enumerate(STEP):
            ways = open_[..., move].nonzero(as_tuple=True)  # (batch, cell) from which the move leads on
            there = (ways[0], ways[1] + change)
            found[there] = torch.minimum(found[there], found[ways] + 1)
    return found


def _carve(draw: torch.Generator) -> Tensor:
    """One maze ``(16, 4)``: walls fall in random order where they part what is not yet connected, and a few more."""
    open_, region = torch.zeros(CELLS, MOVES, dtype=torch.bool), list(range(CELLS))
    walls = [(cell, 1) for cell in range(CELLS) if cell % SIDE < SIDE - 1]
    walls += [(cell, 2) for cell in range(CELLS - SIDE)]
    spare = EXTRA
    for index in torch.randperm(len(walls), generator=draw).tolist():
        cell, move = walls[index]
        other = cell + STEP[move]
        joins = region[cell] != region[other]
        if joins or spare:
            open_[cell, move] = open_[other, BACK[move]] = True
            spare -= not joins
            region = [region[cell] if r == region[other] else r for r in region]
    return open_


class Walk(NamedTuple):
    """Where the walkers of a batch of mazes are.

    Fields:
        cell: ``(B,)`` long. moved: ``(B,)`` long, the last move, −1 before the first. found: ``(B,)`` bool, whether it
        led to the goal, after which one stands at the start again. goals: ``(B,)`` long, goals found so far.
    """

    cell: Tensor
    moved: Tensor
    found: Tensor
    goals: Tensor


def enter(mazes: Mazes) -> Walk:
    """Stand at the start."""
    count = len(mazes.start)
    return Walk(
        mazes.start,
        torch.full((count,), -1),
        torch.zeros(count, dtype=torch.bool),
        torch.zeros(count, dtype=torch.long),
    )


def move(mazes: Mazes, walk: Walk, action: Tensor) -> Walk:
    """Go north, east, south or west, ``action (B,)``; into a wall one stays where one is."""
    rows = torch.arange(len(action))
    change = torch.tensor(STEP)[action] * mazes.open[rows, walk.cell, action]
    cell = walk.cell + change
    found = cell == mazes.goal
    return Walk(torch.where(found, mazes.start, cell), action, found, walk.goals + found)


def view(mazes: Mazes, walk: Walk) -> Tensor:
    """What a walker knows at a step, ``(B, 9)``: four open ways, its last move one-hot, whether that found the goal."""
    rows = torch.arange(len(walk.cell))
    ways = mazes.open[rows, walk.cell].float()  # (B, 4)
    moved = (walk.moved[:, None] == torch.arange(MOVES)).float()  # (B, 4)
    return torch.cat([ways, moved, walk.found[:, None].float()], dim=1)


def steps_per_round(goals: Tensor) -> tuple[Tensor, Tensor]:
    """From the goals found after each step, ``(B, T)``: steps of the first and of the second round, ``(B,)`` each.

    A round that was not finished has no number: NaN.
    """
    reached = torch.stack([(goals < wanted).sum(dim=1) + 1 for wanted in (1, 2)]).double()  # (2, B)
    reached = reached.masked_fill(reached > goals.shape[1], torch.nan)
    return reached[0], reached[1] - reached[0]
