"""A stand-in for what cells import and answers do not need."""

import copy
import importlib
import sys

import pytest

from coursekit import ROOMS
from coursekit.grading.left_out import LeftOut, fill_gaps, left_out

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


@pytest.fixture
def filled(monkeypatch):
    """Modules of ours with stand-ins in their gaps, until the test ends."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = dict(sys.modules)
    ours = {*ROOMS} - {"coursekit"}
    had = {name: vars(m).get("__getattr__") for name, m in before.items() if name.split(".")[0] in ours}
    fill_gaps()
    yield
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]
    for name, attribute in had.items():
        if attribute is None:
            del before[name].__getattr__
        else:
            before[name].__getattr__ = attribute


def test_whatever_is_asked_of_the_package_is_found_and_does_nothing(filled):
    import attnbook

    deep = importlib.import_module("attnbook.nothing.deep")
    assert repr(deep.fit(1)) == "attnbook.nothing.deep.fit, left out in grading"
    assert repr(attnbook.thing) == "attnbook.thing, left out in grading"
    with pytest.raises(AttributeError, match="no attribute '__thing__'"):
        attnbook.__thing__  # noqa: B018


def test_other_modules_are_somebody_elses():
    assert LeftOut().find_spec("numpy.nothing") is None
