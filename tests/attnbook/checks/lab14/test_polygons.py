"""Inputs for exercises about hulls: the hull is the package's, and right and wrong answers are both among them."""

import pytest
import torch

from attnbook.checks.engine.exercise import Draw
from attnbook.checks.lab14.polygons import (
    around_a_circle,
    beside_an_edge,
    hull_of,
    in_general_position,
    on_an_edge,
    padded,
    polygons,
    scattered,
    turned,
)
from attnbook.data.geometry import convex_hull, is_convex_hull


def test_three_points_on_a_line_are_not_in_general_position():
    assert in_general_position(torch.tensor([[0.0, 0], [1, 0], [0, 1]]))
    assert not in_general_position(torch.tensor([[0.0, 0], [1, 1], [2, 2]]))
    assert not in_general_position(torch.tensor([[0.0, 0], [0, 0], [2, 1]]))


@pytest.mark.parametrize("variant", range(4))
def test_the_hull_is_that_of_the_package(variant):
    points = scattered(Draw(variant, 0), 8)
    hull = hull_of(points)
    assert convex_hull(points[None])[0].tolist()[: len(hull)] == hull


@pytest.mark.parametrize("variant", range(4))
def test_points_around_a_circle_are_corners_and_those_inside_are_not(variant):
    points, hull = around_a_circle(Draw(variant, 1), 5, inside=2)
    assert points.shape == (7, 2)
    assert len(hull) == 5
    assert hull == hull_of(points)


def test_a_turned_polygon_is_the_same_and_rows_are_filled_up():
    corners = turned(Draw(0, 0), [3, 1, 2])
    assert [corners[(corners.index(3) + i) % 3] for i in range(3)] == [3, 1, 2]
    assert padded([[1, 2], [0]], size=4, spare=1).tolist() == [[1, 2, 4], [0, 4, 4]]


def test_a_point_on_an_edge_may_be_named_or_left_out():
    assert is_convex_hull(*on_an_edge(Draw(0, 0))).tolist() == [True, False, False, True, False, False]


def test_a_point_just_outside_an_edge_belongs_to_the_hull():
    assert is_convex_hull(*beside_an_edge(Draw(0, 0))).tolist() == [False, True, True, False]


@pytest.mark.parametrize("variant", range(4))
def test_right_and_wrong_answers_are_both_drawn(variant):
    answers = [is_convex_hull(points, rows) for points, rows in polygons(Draw(variant, 0))]
    assert torch.cat(answers).any()
    assert not torch.cat(answers).all()
