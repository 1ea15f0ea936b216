"""How a result differs from what is expected, in words."""

import pytest
import torch

from attnbook.checks.engine.compare import in_words, misbuilt, structure


@pytest.mark.parametrize(
    "got, expected, words",
    [
        (torch.ones(2), torch.ones(2), None),
        (torch.ones(2), torch.ones(3), "shape (2,), wanted (3,)"),
        (0.5, torch.tensor(1.0), None),
        (1, 0.5, None),
        ([1], [1, 2], "shape: 1 entries, wanted 2"),
        ((1, "a"), (1, 2), "str; the exercise wants int"),
        ({1: 2}, {3: 4}, None),
        ([1], {1: 2}, "list of 1"),
        (None, torch.ones(2), "None; the exercise wants a tensor (2,) float32"),
    ],
)
def test_a_structure_is_told_in_words(got, expected, words):
    found = structure(got, expected)
    assert found is None if words is None else words in found


ONE, TWO = torch.ones(2), torch.zeros(2)


@pytest.mark.parametrize(
    "got, expected, title, words",
    [
        (ONE, TWO, "wrong values", "The shape is right, the values are not."),
        (0.5, 0.25, "wrong number", "Your number"),
        (torch.tensor(1.0), torch.tensor(2.0), "wrong number", "number"),
        ([1], [2], "wrong entries", "number of entries is right"),
        ({1: 2}, {1: 3}, "wrong values", "keys are right"),
        ({1: 2}, {2: 2}, "wrong values", "keys are not"),
        (frozenset({1}), frozenset({2}), "wrong result", "result"),
        (torch.ones(3), TWO, "wrong shape", "Your result has shape (3,), wanted (2,)."),
    ],
)
def test_each_kind_of_result_has_its_words(got, expected, title, words):
    said = in_words(got, expected, (), 1e-6)
    assert said[0] == title
    assert words in said[1]


@pytest.mark.parametrize(
    "got, words",
    [
        ((ONE, TWO), "`context` is wrong; `weights` is right."),
        ((TWO, ONE), "`weights` is wrong; `context` is right."),
        ((ONE, ONE), "`context` and `weights` are wrong."),
        ((ONE, torch.ones(2, 1)), "Your `weights` has shape (2, 1)"),
    ],
)
def test_of_several_results_the_wrong_one_is_named(got, words):
    assert words in in_words(got, (TWO, TWO), ("context", "weights"), 1e-6)[1]


def test_a_part_of_another_type_is_named():
    assert misbuilt((ONE, [1.0]), (ONE, TWO), ("context", "weights"))[0] == "`weights`"
    assert misbuilt(ONE, TWO) is None
