"""Mazes: all cells are connected, shortest ways are those of a slow search, and the mazes of the test are others."""

from collections import deque

import pytest
import torch

from attnbook.data.worlds import mazes
from attnbook.data.worlds.mazes import Mazes, distances, enter, maze_pool, move, random_mazes, steps_per_round, view
from attnbook.seeding import generator

NORTH, EAST, SOUTH, WEST = range(4)


def neighbour(cell, action):
    """The next cell in a direction, or None at the border."""
    down, right = {NORTH: (-1, 0), EAST: (0, 1), SOUTH: (1, 0), WEST: (0, -1)}[action]
    row, column = cell // 3 + down, cell % 3 + right
    return row * 3 + column if 0 <= row < 3 and 0 <= column < 3 else None


def search(open_, start):
    """Breadth first, cell by cell."""
    found, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        for action in range(4):
            other = neighbour(cell, action)
            if open_[cell][action] and other not in found:
                found[other] = found[cell] + 1
                queue.append(other)
    return found


@pytest.fixture
def corridor():
    """One maze whose only openings are 0–1–2–5; start 0, goal 5."""
    open_ = torch.zeros(1, 9, 4, dtype=torch.bool)
    for cell in range(2):
        open_[0, cell, EAST] = open_[0, cell + 1, WEST] = True
    open_[0, 2, SOUTH] = open_[0, 5, NORTH] = True
    return Mazes(open_, torch.tensor([0]), torch.tensor([5]))


# ---- the pool


def test_a_wall_has_two_sides_and_no_way_leaves_the_grid():
    open_ = maze_pool()[::3].tolist()
    for maze in open_:
        for cell in range(9):
            for action in range(4):
                other = neighbour(cell, action)
                if other is None:
                    assert not maze[cell][action]
                else:
                    assert maze[cell][action] == maze[other][mazes.BACK[action]]


def test_all_cells_are_connected_by_one_opening_more_than_is_needed():
    pool = maze_pool()
    assert (pool.sum(dim=(1, 2)) == 2 * (8 + mazes.EXTRA)).all()
    assert distances(pool, torch.zeros(len(pool), dtype=torch.long)).max() < 9


def test_each_wall_pattern_is_there_once_and_enough_are_left_to_train_on():
    pool = maze_pool()
    assert len(pool.flatten(1).unique(dim=0)) == len(pool)
    assert len(pool) - mazes.TESTS > 100


def test_mazes_of_the_test_are_never_trained_on():
    train, test = random_mazes(3000).open, random_mazes(500, held_out=True).open
    patterns = [{tuple(maze) for maze in batch.flatten(1).tolist()} for batch in (train, test)]
    assert not patterns[0] & patterns[1]
    assert len(patterns[0]) > 100


# ---- random mazes


def test_start_and_goal_are_at_least_two_moves_apart():
    batch = random_mazes(300, seed=1)
    away = distances(batch.open, batch.start).gather(1, batch.goal[:, None])
    assert away.min() == 2
    assert away.max() > 4
    assert len(batch.start.unique()) == len(batch.goal.unique()) == 9


def test_a_seed_fixes_the_mazes():
    one, same, other = (random_mazes(5, seed) for seed in (5, 5, 6))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.open, other.open)


def test_no_mazes_are_refused():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        random_mazes(0)


def test_distances_are_those_of_a_search_breadth_first():
    batch = random_mazes(40, seed=2)
    found = distances(batch.open, batch.start)
    for i, maze in enumerate(batch.open.tolist()):
        wanted = search(maze, batch.start[i].item())
        assert found[i].tolist() == [wanted[cell] for cell in range(9)]


def test_cells_behind_walls_are_not_reached(corridor, device):
    corridor = corridor.to(device)
    found = distances(corridor.open, corridor.start)[0]
    assert found[[0, 1, 2, 5]].tolist() == [0, 1, 2, 3]
    assert (found[[3, 4, 6, 7, 8]] >= mazes.UNREACHED).all()


# ---- walking


def test_a_walk_along_the_corridor(corridor, device):
    corridor = corridor.to(device)
    walk, cells, found = enter(corridor), [], []
    for action in (NORTH, EAST, WEST, EAST, EAST, SOUTH, EAST):
        walk = move(corridor, walk, torch.tensor([action], device=device))
        cells.append(walk.cell.item())
        found.append(walk.found.item())
    assert cells == [0, 1, 0, 1, 2, 0, 1]  # a wall in the north; at the goal back to the start
    assert found == [False] * 5 + [True, False]
    assert walk.goals.tolist() == [1]
    assert walk.moved.tolist() == [EAST]


def test_moves_are_those_of_the_open_ways():
    batch = random_mazes(60, seed=3)
    walk, draw = enter(batch), generator(0)
    for _ in range(25):
        action = torch.randint(4, (60,), generator=draw)
        after = move(batch, walk, action)
        for i in range(60):
            cell, way = walk.cell[i].item(), action[i].item()
            wanted = neighbour(cell, way) if batch.open[i, cell, way] else cell
            assert after.found[i] == (wanted == batch.goal[i])
            assert after.cell[i] == (batch.start[i] if after.found[i] else wanted)
            assert after.goals[i] == walk.goals[i] + after.found[i]
        walk = after


def parts(seen):
    """Open ways, last move and goal of one walker's view."""
    assert seen.shape == (1, 9)
    return seen[0, :4].nonzero()[:, 0].tolist(), seen[0, 4:8].nonzero()[:, 0].tolist(), bool(seen[0, 8])


def test_the_view_is_the_walls_the_last_move_and_the_goal(corridor, device):
    corridor = corridor.to(device)
    walk = enter(corridor)
    assert parts(view(corridor, walk)) == ([EAST], [], False)
    walk = move(corridor, walk, torch.tensor([EAST], device=device))
    assert parts(view(corridor, walk)) == ([EAST, WEST], [EAST], False)
    for action in (EAST, SOUTH):
        walk = move(corridor, walk, torch.tensor([action], device=device))
    assert parts(view(corridor, walk)) == ([EAST], [SOUTH], True)  # the goal was found, so it is at the start again


def test_walking_changes_no_walk_that_was_before(corridor):
    walk = enter(corridor)
    move(corridor, walk, torch.tensor([EAST]))
    assert (walk.cell.item(), walk.moved.item(), walk.goals.item()) == (0, -1, 0)


# ---- what is measured


def test_steps_of_both_rounds_by_hand():
    goals = torch.tensor([[0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 3, 4], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]])
    first, second = steps_per_round(goals)
    assert first[:3].tolist() == [3, 2, 6]
    assert second[:2].tolist() == [2, 1]
    assert first[3:].isnan().all()
    assert second[2:].isnan().all()


def test_steps_are_counted_for_walks_on_each_device(device):
    goals = torch.tensor([[0, 1, 1, 2], [0, 0, 0, 0]])
    first, second = steps_per_round(goals.to(device))
    torch.testing.assert_close((first, second), steps_per_round(goals), equal_nan=True)
