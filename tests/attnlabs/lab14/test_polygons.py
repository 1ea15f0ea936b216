"""Inputs for exercises about hulls: the hull is the package's, and right and wrong answers are both among them."""

import pytest

from attnbook.data.points.geometry import convex_hull, is_convex_hull
from attnlabs.lab14.polygons import beside_an_edge, hull_of, on_an_edge, on_one_line, scattered, several_on_an_edge
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
