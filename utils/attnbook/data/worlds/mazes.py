"""Small mazes that are walked twice: a walker that remembers the first round finds the goal sooner in the second.

A maze is a grid of 3 × 3 cells, numbered row by row from 0 to 8. A walker sees the walls of its own cell and nothing
else; its moves are north, east, south, west (chapter 15). A small version of the navigation of Duan et al. 2016 and of
Mishra et al. 2018, section 5.2.4.
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.seeding import generator
from attnbook.trees import moved

SIDE, MOVES = 3, 4
CELLS = SIDE * SIDE
STEP = (-SIDE, 1, SIDE, -1)  # how a move changes the number of the cell
BACK = (2, 3, 0, 1)  # the move that undoes a move
EXTRA = 1  # openings besides those that connect all cells, so that there is more than one way to some of them
POOL = 1500  # mazes that are drawn once; mazes to train on and mazes of the test have no wall pattern in common
TESTS = 40
UNREACHED = 10**6


class Mazes(NamedTuple):
    """A batch of mazes.

    Fields:
        open: ``(B, 9, 4)`` bool, whether there is no wall between a cell and the next one in each direction.
        start: ``(B,)`` long, the cell where each round begins.
        goal: ``(B,)`` long, the cell to be found.
    """

    open: Tensor
    start: Tensor
    goal: Tensor

    def to(self, device: torch.device | str) -> "Mazes":
        """The same batch on another device."""
        return moved(self, device)


@cache
def maze_pool() -> Tensor:
    """All wall patterns, ``(P, 9, 4)`` bool, each once; the first ``TESTS`` of them are for the test alone."""
    draw = generator(2018)
    pool = torch.stack([_carve(draw) for _ in range(POOL)]).unique(dim=0)
    return pool[torch.randperm(len(pool), generator=draw)]


def random_mazes(count: int, seed: int = 0, held_out: bool = False) -> Mazes:
    """``count`` mazes of the pool, each with a start and a goal that are at least two moves apart.

    Raises:
        ValueError: if ``count`` is not positive.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    draw, pool = generator(seed), maze_pool()
    pool = pool[:TESTS] if held_out else pool[TESTS:]
    open_ = pool[torch.randint(len(pool), (count,), generator=draw)]  # (B, 9, 4)
    start = torch.randint(CELLS, (count,), generator=draw)
    away = distances(open_, start) >= 2  # (B, 9)
    return Mazes(open_, start, away.double().multinomial(1, generator=draw)[:, 0])


def distances(open_: Tensor, start: Tensor) -> Tensor:
    """How many moves the shortest way from ``start (B,)`` to each cell of ``open_ (B, 9, 4)`` takes: ``(B, 9)`` long.

    All cells but the start begin as unreached; each pass lowers the distances of the neighbours of reached cells.
    """
    found = torch.full((len(open_), CELLS), UNREACHED, device=open_.device)
    found.scatter_(1, start[:, None], 0)
    for _ in range(CELLS):
        for move, change in enumerate(STEP):
            ways = open_[..., move].nonzero(as_tuple=True)  # (maze, cell) from which the move is open
            there = (ways[0], ways[1] + change)
            found[there] = torch.minimum(found[there], found[ways] + 1)
    return found


def _carve(generator: torch.Generator) -> Tensor:
    """One maze ``(9, 4)``: in random order, walls between unconnected regions are removed, and ``EXTRA`` others."""
    open_, region = torch.zeros(CELLS, MOVES, dtype=torch.bool), list(range(CELLS))
    walls = [(cell, 1) for cell in range(CELLS) if cell % SIDE < SIDE - 1]
    walls += [(cell, 2) for cell in range(CELLS - SIDE)]
    spare = EXTRA
    for index in torch.randperm(len(walls), generator=generator).tolist():
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
        cell: ``(B,)`` long.
        moved: ``(B,)`` long, the last move, −1 before the first.
        found: ``(B,)`` bool, whether that move led to the goal; the walker is then back at the start.
        goals: ``(B,)`` long, how often the goal was found so far.
    """

    cell: Tensor
    moved: Tensor
    found: Tensor
    goals: Tensor


def enter(mazes: Mazes) -> Walk:
    """The walk before its first move: at the start."""
    none = torch.zeros_like(mazes.start)
    return Walk(mazes.start, none - 1, none.bool(), none)


def move(mazes: Mazes, walk: Walk, action: Tensor) -> Walk:
    """Go north, east, south or west, ``action (B,)``; a walker that meets a wall stays in its cell."""
    rows = torch.arange(len(action), device=action.device)
    change = torch.tensor(STEP, device=action.device)[action] * mazes.open[rows, walk.cell, action]
    cell = walk.cell + change
    found = cell == mazes.goal
    return Walk(torch.where(found, mazes.start, cell), action, found, walk.goals + found)


def view(mazes: Mazes, walk: Walk) -> Tensor:
    """The observation ``(B, 9)``: which four moves are open, the last move one-hot, and whether it found the goal."""
    rows = torch.arange(len(walk.cell), device=walk.cell.device)
    ways = mazes.open[rows, walk.cell].float()  # (B, 4)
    moved = (walk.moved[:, None] == torch.arange(MOVES, device=walk.cell.device)).float()  # (B, 4)
    return torch.cat([ways, moved, walk.found[:, None].float()], dim=1)


def steps_per_round(goals: Tensor) -> tuple[Tensor, Tensor]:
    """Steps of the first and of the second round, ``(B,)`` each, from the goals found after each step, ``(B, T)``.

    A round that was not finished is NaN.
    """
    goals = goals.cpu()  # mps has no float64
    reached = torch.stack([(goals < wanted).sum(dim=1) + 1 for wanted in (1, 2)]).double()  # (2, B)
    reached = reached.masked_fill(reached > goals.shape[1], torch.nan)
    return reached[0], reached[1] - reached[0]
