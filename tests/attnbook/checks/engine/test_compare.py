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
        ([1], [1, 2], "another shape: its length is 1, wanted is 2"),
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
        (ONE, TWO, "2 of 2 entries wrong", "Each of them is too large. The first is at [0]: 1 instead of 0."),
        (torch.eye(2), torch.ones(2, 2), "2 of 4 entries wrong", "Each of them is too small. The first is at [0, 1]"),
        (torch.eye(3)[:2], torch.eye(3)[[0, 2]], "2 of 6 entries wrong", "at position 1 of axis 0 and 1, 2 of axis 1."),
        (0.5, 0.25, "wrong number", "It is too large. It is 0.5 instead of 0.25."),
        (float("nan"), 1.0, "wrong number", "It is nan instead of 1."),
        (["a", "b"], ["a", "c"], "1 of 2 entries wrong", "The first is at 1: 'b' instead of 'c'."),
        ({1: 2}, {1: 3}, "1 of 1 entries wrong", "The first is at 1: 2 instead of 3."),
        ({1: 2}, {2: 2}, "2 of 2 entries wrong", "The first is at 2: 'nothing' instead of 2."),
        (frozenset({1}), frozenset({2}), "wrong result", "It is {1} instead of {2}."),
        (torch.ones(2, 2), torch.ones(2, 1), "wrong shape", "Your result has shape (2, 2), wanted (2, 1)."),
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
