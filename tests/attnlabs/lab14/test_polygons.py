"""Inputs for exercises about hulls: the hull is the package's, and right and wrong answers are both among them."""

import pytest
import torch

from attnbook.data.points.geometry import convex_hull, is_convex_hull
from attnlabs.lab14.polygons import (
    beside_an_edge,
    ever_smaller,
    hull_of,
    on_an_edge,
    on_one_line,
    polygons,
    scattered,
    several_on_an_edge,
    twins_on_one_line,
)
from misread.draw import Draw


@pytest.mark.parametrize("variant", range(4))
def test_the_hull_of_points_in_general_position_is_that_of_the_package(variant):
    points = scattered(Draw(variant, 0), 8)
    hull = hull_of(points)
    assert convex_hull(points[None])[0].tolist()[: len(hull)] == hull


def test_a_point_on_an_edge_may_be_named_or_left_out_and_one_just_outside_belongs_to_the_hull():
    assert is_convex_hull(*on_an_edge(Draw(0, 0))).tolist() == [True, False, False, True, False, False, True]
    assert is_convex_hull(*beside_an_edge(Draw(0, 0))).tolist() == [False, True, True, False]
    assert is_convex_hull(*several_on_an_edge(Draw(0, 0))).tolist() == [True, True, False, False]


def test_of_points_on_one_line_any_three_positions_are_a_hull():
    for number in range(4):
        assert is_convex_hull(*on_one_line(Draw(0, number))).tolist() == [True, True, True, False, False, False]


def test_on_one_line_two_corners_at_one_spot_are_two_corners():
    one_spot_twice = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]])
    assert is_convex_hull(one_spot_twice, torch.tensor([[0, 1, 2]])).tolist() == [True]
    for number in range(4):
        assert is_convex_hull(*twins_on_one_line(Draw(0, number))).tolist() == [True, True, False, False, True]


def test_a_square_however_small_is_a_hull_counter_clockwise_only():
    points, polygon = ever_smaller(Draw(0, 0))
    assert is_convex_hull(points, polygon).tolist() == [i >= len(points) // 2 for i in range(len(points))]
    assert points[-1].max() < 1e-9 < 3e-7 < points[0].max()


@pytest.mark.parametrize("variant", range(4))
def test_no_list_has_all_its_corners_at_one_spot_or_goes_round_twice_by_twins(variant):
    """The text promises it: by the rules such lists would be hulls."""
    draws = [Draw(variant, number, compact=compact) for number in range(4) for compact in (False, True)]
    for points, polygon in (case for draw in draws for case in polygons(draw)):
        for row, positions in zip(points, polygon.tolist(), strict=True):
            corners = [position for position in positions if position < len(row)]
            on_a_line = torch.linalg.matrix_rank(row - row[0]) < 2
            if not on_a_line and len(set(corners)) == len(corners) > 2:
                assert len({*map(tuple, row[corners].tolist())}) > len(corners) / 2
