"""Triangulations: by the definition, against an independent algorithm, and answers that are known to be half right."""

import math

import numpy
import pytest
import torch
from matplotlib.tri import Triangulation

from attnbook.data.points.geometry import convex_hull, polygon_area, random_points, turn
from attnbook.data.points.triangulation import (
    delaunay,
    delaunay_batch,
    in_circumcircle,
    incentre,
    triangles_named,
    triangulation_scores,
)
from attnbook.seeding import generator

SQUARE = torch.tensor([[[0.0, 0.0], [1.0, 0.1], [0.0, 0.8], [1.0, 1.0]]])


def listed(row, size):
    """The triangles of one row, as sets of positions."""
    row = [position for position in row.tolist() if position != size]
    return [frozenset(row[i : i + 3]) for i in range(0, len(row), 3)]


def circle(a, b, c):
    """Centre and radius of the circle through three points, from the equations of two bisectors."""
    matrix = 2 * numpy.array([b - a, c - a])
    centre = numpy.linalg.solve(matrix, [b @ b - a @ a, c @ c - a @ a])
    return centre, math.dist(centre, a)


@pytest.mark.parametrize("size", [3, 4, 5, 8, 10, 14])
def test_circumcircles_are_empty_and_the_triangles_fill_the_hull(size):
    points = random_points(size, 20, generator(size))
    hulls = convex_hull(points)
    for row, instance, hull in zip(delaunay(points), points, hulls, strict=True):
        triangles, places = listed(row, size), instance.double().numpy()
        assert len(triangles) == len(set(triangles)) == 2 * size - 2 - int((hull != size).sum())
        for triangle in triangles:
            centre, radius = circle(*(places[corner] for corner in triangle))
            assert all(math.dist(centre, places[i]) > radius for i in range(size) if i not in triangle)
        areas = [abs(turn(*(instance[corner] for corner in triangle)).item()) / 2 for triangle in triangles]
        assert sum(areas) == pytest.approx(polygon_area(instance[None], hull[None]).item())


def test_it_is_the_triangulation_of_an_independent_algorithm():
    points = random_points(9, 60, generator(1))
    for row, instance in zip(delaunay(points), points.double().numpy(), strict=True):
        wanted = {frozenset(map(int, triangle)) for triangle in Triangulation(*instance.T).triangles}
        assert set(listed(row, 9)) == wanted


def test_triangles_stand_from_left_to_right_and_their_corners_rise():
    points = random_points(7, 30, generator(2))
    for row, instance in zip(delaunay(points), points, strict=True):
        triples = row[row != 7].unflatten(0, (-1, 3))
        assert (triples.diff(dim=1) > 0).all()
        assert (incentre(*instance[triples].unbind(1))[:, 0].diff() > 0).all()
    assert (delaunay(points)[:, -1] == 7).all()


def test_the_incentre_has_the_same_distance_from_all_sides():
    a, b, c = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    assert incentre(a, b, c).tolist() == [1.0, 1.0]


def test_inside_is_inside_whichever_way_round():
    a, b, c = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])  # the circle around (1, 1) with radius √2
    for corners in ((a, b, c), (a, c, b)):
        assert in_circumcircle(*corners, torch.tensor([2.1, 2.1])).item() is False
        assert in_circumcircle(*corners, torch.tensor([1.9, 1.9])).item() is True
        assert in_circumcircle(*corners, torch.tensor([2.0, 2.0])).item() is False  # on the circle


def test_two_triangles_and_their_parts():
    target = delaunay(SQUARE)
    assert listed(target[0], 4) == [{0, 1, 2}, {1, 2, 3}]
    answers = torch.tensor([
        [0, 1, 2, 1, 2, 3, 4],
        [3, 2, 1, 2, 0, 1, 4],  # in another order
        [0, 1, 2, 4, 4, 4, 4],
        [0, 1, 2, 1, 2, 4, 3],  # ends too early
        [0, 1, 2, 0, 1, 3, 4],
        [0, 1, 1, 2, 2, 2, 4],
        [0, 1, 2, 1, 2, 3, 0],  # more positions than belong to whole triangles
    ])  # fmt: skip
    right, covered = triangulation_scores(answers, target.expand(len(answers), -1), 4)
    assert right.tolist() == [True, True, False, False, False, False, True]
    assert covered.tolist() == [1.0, 1.0, 0.5, 0.5, 0.5, 0.0, 1.0]


def test_a_triangle_that_is_not_right_makes_the_answer_wrong_though_all_right_ones_are_there():
    answer = torch.tensor([[0, 1, 2, 1, 2, 3, 0, 1, 3, 4]])
    right, covered = triangulation_scores(answer, delaunay(SQUARE), 4)
    assert (right.item(), covered.item()) == (False, 1.0)
    assert triangles_named(answer, 4).tolist() == [[True, True, False, True]]


def test_batches_are_fixed_by_their_seed_and_may_stand_from_left_to_right():
    one, same, other = delaunay_batch(6, 4, 1), delaunay_batch(6, 4, 1), delaunay_batch(6, 4, 2)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.source, other.source)
    assert torch.equal(one.target, delaunay(one.source))
    left = delaunay_batch(6, 4, 1, from_left=True)
    assert (left.source[..., 0].diff(dim=1) >= 0).all()
    assert torch.equal(left.target, delaunay(left.source))


def test_two_points_have_no_triangle():
    with pytest.raises(ValueError, match="points are 2 per instance; a triangle needs 3"):
        delaunay_batch(2, 4)


def test_positions_that_are_none_are_refused():
    with pytest.raises(ValueError, match="positions from 0 to 4"):
        triangulation_scores(torch.tensor([[0, 1, 5]]), delaunay(SQUARE), 4)


def test_a_target_without_a_triangle_is_refused():
    nothing = torch.full((1, 3), 4)  # ended before the first corner
    with pytest.raises(ValueError, match="target has a row without a triangle"):
        triangulation_scores(nothing, nothing, 4)


def test_on_each_device_the_triangles_are_the_same_and_stay_there(device):
    """Whether the device has float64 or not: the card of this test has none."""
    points = random_points(7, 20, generator(0))
    found = delaunay(points.to(device))
    assert found.device.type == device.type
    assert torch.equal(found.cpu(), delaunay(points))
    corners = points[:, :4].unbind(dim=1)
    inside = in_circumcircle(*(corner.to(device) for corner in corners))
    assert inside.device.type == device.type
    assert torch.equal(inside.cpu(), in_circumcircle(*corners))
