"""Hulls against their slow definition, areas against what one knows, symmetries against what they keep."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data.points.geometry import (
    SYMMETRIES,
    convex_hull,
    corners,
    hull_area_covered,
    is_convex_hull,
    is_simple,
    polygon_area,
    random_points,
    turn,
    turn_square,
)
from attnbook.seeding import generator

# The corners of a square, 0 to 3 counter-clockwise from the left bottom, and a point inside.
SQUARE = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.25]]])
END = 5

grid_points = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)
instances = st.builds(
    lambda size, seed: random_points(size, 1, generator(seed)), st.integers(3, 9), st.integers(0, 10_000)
)


def slow_edges(points):
    """All (i, j) with every other point strictly to the left of the way from i to j, one product at a time."""
    found = set()
    for i, (ax, ay) in enumerate(points):
        for j, (bx, by) in enumerate(points):
            others = [p for k, p in enumerate(points) if k not in (i, j)]
            if i != j and all((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0 for cx, cy in others):
                found.add((i, j))
    return found


def walk(hull, size):
    """The places of one hull before its end."""
    return [place for place in hull.tolist() if place < size]


@given(instances)
def test_the_edges_of_a_hull_are_those_with_all_points_on_one_side(points):
    places = walk(convex_hull(points)[0], points.shape[1])
    edges = set(zip(places, [*places[1:], places[0]], strict=True))
    assert edges == slow_edges(points[0].double().tolist())


@given(instances)
def test_a_hull_starts_at_the_leftmost_point_and_runs_counter_clockwise(points):
    hull = convex_hull(points)
    assert hull[0, 0] == points[0, :, 0].argmin()
    assert polygon_area(points, hull) > 0
    assert is_convex_hull(points, hull)
    assert hull[0, -1] == points.shape[1]


@given(grid_points)
def test_points_on_a_grid_have_each_corner_once_and_none_within_an_edge(drawn):
    points = torch.tensor([drawn], dtype=torch.float32)
    places = walk(convex_hull(points)[0], len(drawn))
    found = [drawn[place] for place in places]
    assert len(set(found)) == len(found)
    assert found[0] == min(drawn)  # the leftmost, and of these the lowest
    for point in drawn:  # nobody is outside, those on a line included
        ends = zip(found, [*found[1:], found[0]], strict=True)
        assert all(turn(*(torch.tensor(p) for p in (a, b, point))) >= 0 for a, b in ends)
    if len(found) > 2:
        bends = zip(found, [*found[1:], found[0]], [*found[2:], *found[:2]], strict=True)
        assert all(turn(*(torch.tensor(p) for p in three)) > 0 for three in bends)


def test_many_hulls_at_once_are_the_hulls_one_by_one():
    points = random_points(9, 50, generator(1))
    together = convex_hull(points)
    for row, hull in zip(points, together, strict=True):
        assert walk(convex_hull(row[None])[0], 9) == walk(hull, 9)


def test_a_hull_knows_nothing_of_the_order_of_the_points():
    points, order = random_points(8, 1, generator(2)), torch.randperm(8, generator=generator(3))
    moved = convex_hull(points[:, order])
    assert [order[place].item() for place in walk(moved[0], 8)] == walk(convex_hull(points)[0], 8)


def test_points_on_a_line_and_equal_points_have_a_hull_without_an_area():
    line = torch.tensor([[[0.5, 0.5], [0.0, 0.0], [1.0, 1.0]], [[0.2, 0.2]] * 3])
    assert convex_hull(line).tolist() == [[1, 2, 3], [0, 3, 3]]


@pytest.mark.parametrize(
    ("polygon", "right"),
    [
        ([0, 1, 2, 3, END], True),
        ([2, 3, 0, 1, END], True),  # any corner may be first
        ([0, 1, 2, 3, 4], False),  # goes inside
        ([3, 2, 1, 0, END], False),  # clockwise
        ([0, 1, 2, END, 3], False),  # a corner is left out; what stands after the end does not count
        ([0, 2, 1, 3, END], False),  # crosses itself
        ([0, 1, END, END, END], False),
        ([END, 0, 1, 2, 3], False),
    ],
)
def test_a_polygon_is_the_hull_or_not(polygon, right):
    assert is_convex_hull(SQUARE, torch.tensor([polygon])).tolist() == [right]


def test_a_hull_walked_twice_is_no_hull_and_no_simple_polygon():
    twice = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3]])
    assert not is_convex_hull(SQUARE, twice)
    assert not is_simple(SQUARE, twice)


def test_the_square_has_area_one_and_the_direction_is_its_sign():
    assert polygon_area(SQUARE, torch.tensor([[0, 1, 2, 3, END]])).tolist() == [1.0]
    assert polygon_area(SQUARE, torch.tensor([[3, 2, 1, 0, END]])).tolist() == [-1.0]
    assert polygon_area(SQUARE, torch.tensor([[0, 1, 2, END, END]])).tolist() == [0.5]


@pytest.mark.parametrize(
    ("polygon", "share"),
    [
        ([0, 1, 2, 3, END], 1.0),
        ([3, 2, 1, 0, END], 1.0),  # the same area, walked the other way round
        ([1, 2, 3, END, END], 0.5),
        ([0, 4, 1, 2, 3], 0.875),
        ([0, 2, 1, 3, END], 0.0),  # two of its edges cross
        ([0, 1, END, END, END], 0.0),
    ],
)
def test_the_area_covered_is_a_share_of_the_hull(polygon, share):
    covered = hull_area_covered(SQUARE, torch.tensor([polygon]))
    assert covered.tolist() == [share]
    assert is_simple(SQUARE, torch.tensor([polygon])).item() == (share > 0)


@given(instances, st.randoms(use_true_random=False))
def test_no_polygon_covers_more_than_the_hull(points, random):
    polygon = list(range(points.shape[1]))
    random.shuffle(polygon)
    assert 0 <= hull_area_covered(points, torch.tensor([polygon])).item() <= 1


def test_points_on_a_line_have_no_area_to_cover():
    line = torch.tensor([[[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]])
    with pytest.raises(ValueError, match="lie on a line"):
        hull_area_covered(line, torch.tensor([[0, 1, 2]]))


def test_a_turn_is_exact_for_numbers_that_torch_draws():
    """Integers of Python never round: 2²⁴ times each coordinate is one."""
    points = random_points(3, 300, generator(4))
    points[:100, 2] = (points[:100, 0] + points[:100, 1]) / 2  # nearly or wholly on a line
    points = (points * 2**24).floor() / 2**24
    for (a, b, c), bend in zip((points * 2**24).long().tolist(), turn(*points.unbind(1)), strict=True):
        exact = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        assert bend.item() * 2**48 == exact


def test_the_eight_symmetries_are_different_and_keep_all_distances():
    points = random_points(4, 1, generator(5)).expand(SYMMETRIES, -1, -1)
    turned = turn_square(points, torch.arange(SYMMETRIES))
    assert torch.equal(turned[0], points[0])
    assert len({tuple(row.flatten().tolist()) for row in turned}) == SYMMETRIES
    torch.testing.assert_close(torch.cdist(turned, turned), torch.cdist(points, points))
    assert turned.min() >= 0
    assert turned.max() <= 1


def test_half_of_the_symmetries_turn_left_into_right():
    turned = turn_square(SQUARE.expand(SYMMETRIES, -1, -1), torch.arange(SYMMETRIES))
    areas = polygon_area(turned, torch.tensor([[0, 1, 2, 3]]).expand(SYMMETRIES, -1))
    assert sorted(areas.tolist()) == [-1.0] * 4 + [1.0] * 4


def test_points_are_drawn_evenly_and_anew_for_each_seed():
    points = random_points(5, 1000, generator(0))
    assert points.shape == (1000, 5, 2)
    assert points.mean().item() == pytest.approx(0.5, abs=0.01)
    assert points.var().item() == pytest.approx(1 / 12, abs=0.005)
    assert torch.equal(points, random_points(5, 1000, generator(0)))
    assert not torch.equal(points, random_points(5, 1000, generator(1)))


def test_corners_are_looked_up_in_their_order():
    assert corners(SQUARE, torch.tensor([[2, 0]])).tolist() == [[[1.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize(("count", "size"), [(0, 3), (3, 0)])
def test_an_empty_draw_is_refused(count, size):
    with pytest.raises(ValueError, match="count and size must be at least 1"):
        random_points(size, count, generator(0))


@pytest.mark.parametrize("shape", [(3, 2), (1, 3, 3), (0, 3, 2), (1, 0, 2)])
def test_points_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"points must have shape \(B, N, 2\)"):
        convex_hull(torch.zeros(shape))


def test_points_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="finite"):
        convex_hull(SQUARE / 0)


@pytest.mark.parametrize(
    ("polygon", "message"),
    [
        (torch.tensor([[0, 6]]), "from 0 to 5, got 0 to 6"),
        (torch.tensor([[-1, 2]]), "from 0 to 5, got -1 to 2"),
        (torch.tensor([[0.0, 1.0]]), "whole numbers"),
        (torch.tensor([0, 1]), r"whole numbers \(1, T\)"),
        (torch.zeros(1, 0, dtype=torch.long), r"whole numbers \(1, T\)"),
    ],
)
def test_places_that_are_none_are_refused(polygon, message):
    with pytest.raises(ValueError, match=message):
        is_convex_hull(SQUARE, polygon)


@pytest.mark.parametrize("symmetry", [[8], [-1], [0, 1]])
def test_there_are_eight_symmetries_and_one_is_needed_for_each_instance(symmetry):
    with pytest.raises(ValueError, match="symmetry must be"):
        turn_square(SQUARE, torch.tensor(symmetry))


@pytest.mark.parametrize(
    "find",
    [
        convex_hull,
        lambda points: is_convex_hull(points, convex_hull(points)),
        lambda points: is_simple(points, convex_hull(points)),
    ],
)
def test_on_each_device_the_answer_is_the_same_and_stays_there(find, device):
    """Whether the device has float64 or not: the card of this test has none."""
    points = random_points(9, 20, generator(0))
    found = find(points.to(device))
    assert found.device.type == device.type
    assert torch.equal(found.cpu(), find(points))


@pytest.mark.parametrize("measure", [polygon_area, hull_area_covered])
def test_areas_are_those_of_the_cpu_wherever_the_points_are(measure, device):
    points = random_points(9, 20, generator(0))
    polygon = convex_hull(points)
    assert torch.equal(measure(points.to(device), polygon.to(device)), measure(points, polygon))
