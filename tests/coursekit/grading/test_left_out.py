"""A stand-in for what a lab's notebook imports and its answers do not need."""

import copy

import pytest

from coursekit.grading.left_out import left_out

NOTHING = left_out("attnbook.training.fit")


def test_whatever_is_done_with_it_does_nothing():
    with NOTHING(1, seed=2) as found:
        assert found.losses[-1].item() is NOTHING
    assert list(NOTHING) == []


def test_a_class_may_be_derived_from_it():
    class Mine(NOTHING):
        """A student's."""

    assert Mine.__mro__ == (Mine, object)


def test_its_type_says_what_it_is():
    assert type(NOTHING).__name__ == repr(NOTHING) == "attnbook.training.fit, left out in grading"


def test_it_is_no_stand_in_for_pythons_own_protocols():
    with pytest.raises(AttributeError, match="__array__"):
        NOTHING.__array__  # noqa: B018
    assert type(copy.copy(NOTHING)) is type(NOTHING)
