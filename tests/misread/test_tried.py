"""A general property is listed for an exercise exactly where its check would notice that it does not hold."""

import pytest
import torch

from attnlabs import Exercise, catalogue
from misread.judge import judge
from misread.messages import GENERAL
from misread.tried import NEEDS, ORDER, general_mistakes, general_properties


def scaled(x):
    return 2 * x


def padding(lengths, size):
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def triangle(size):
    return torch.arange(size) <= torch.arange(size)[:, None]


def mean(x):
    return x.mean().item()


def count(size):
    return size * size


def both(x):
    return x, x.argmax(-1)


def vectors(draw):
    yield (draw.normal(*draw.sizes(2)),)


def lengths_and_size(draw):
    batch, size = draw.sizes(2)
    yield draw.lengths(batch, size), size


def sizes(draw):
    yield tuple(draw.sizes(1))


SCALED = Exercise(scaled, vectors)
FLAT = Exercise(scaled, vectors, gradients=False)
HERE = Exercise(scaled, vectors, device=False)
PADDING = Exercise(padding, lengths_and_size)
TRIANGLE = Exercise(triangle, sizes)
MEAN = Exercise(mean, vectors)
COUNT = Exercise(count, sizes)
BOTH = Exercise(both, vectors, by_hand=True)

ALWAYS = {"type and shape", "values", "same twice"}


@pytest.mark.parametrize(
    "exercise, tried",
    [
        (SCALED, {"inputs left alone", "dtype", "gradients", "device"}),
        (FLAT, {"inputs left alone", "dtype", "device"}),
        (HERE, {"inputs left alone", "dtype", "gradients"}),
        (PADDING, {"inputs left alone", "dtype", "device"}),  # a mask has a dtype, bool, and no gradient
        (TRIANGLE, {"dtype"}),  # nobody can write into a number, and it is on no device
        (MEAN, {"inputs left alone", "dtype"}),  # it must work in single precision, too
        (COUNT, set()),
        (BOTH, {"inputs left alone", "dtype", "gradients", "device"}),
    ],
)
def test_a_property_is_listed_where_the_check_tries_it(exercise, tried):
    found = general_properties(exercise)
    assert set(found) == ALWAYS | tried
    assert list(found) == [name for name in ORDER if name in found]


def writes(x):
    x.mul_(2)
    return x.clone()


def cuts(x):
    return 2 * x.detach()


def widens(x):
    return 2 * x.double()


def stays(x):
    return 2 * x + torch.zeros(1, dtype=x.dtype)


@pytest.mark.parametrize("exercise", [SCALED, FLAT, HERE])
@pytest.mark.parametrize(
    "answer, name", [(writes, "inputs left alone"), (cuts, "gradients"), (widens, "dtype"), (stays, "device")]
)
def test_a_fault_is_noticed_exactly_where_its_property_is_listed(exercise, answer, name):
    verdict = judge(exercise, answer)
    noticed = not verdict or "Remark" in verdict.message  # the device only adds a remark to a right answer
    assert noticed == (name in general_properties(exercise))


def test_numbers_in_place_of_a_mask_are_noticed_although_no_float_is_asked_for():
    assert "another dtype" in general_mistakes(PADDING)
    assert judge(PADDING, lambda lengths, size: padding(lengths, size).long()).mistake == "another dtype"


def test_general_mistakes_are_listed_where_they_can_be_made():
    everywhere = {name for name in GENERAL if name not in NEEDS} - {
        "not by hand", "number instead of tensor", "too few results", "too many results",
    }  # fmt: skip
    assert set(general_mistakes(COUNT)) == everywhere
    assert set(general_mistakes(SCALED)) == everywhere | set(NEEDS) | {"number instead of tensor"}
    assert set(general_mistakes(BOTH)) == set(GENERAL)
    assert "loses the gradient" not in general_mistakes(FLAT)


def test_the_catalogue_lists_what_is_tried_and_then_the_exercises_own_properties():
    listed = catalogue()["lab01"]
    general = [name for name in ORDER if name != "gradients"]  # words are integers
    assert listed["shift_right"].properties[:6] == tuple(general)
    assert "starts with bos" in listed["shift_right"].properties[6:]
    assert "loses the gradient" not in listed["shift_right"].general
    assert "loses the gradient" in listed["sequence_loss"].general
