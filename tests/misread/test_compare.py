"""How a result differs from what is expected: in which structure, which entries, on which side."""

import pytest
import torch

from misread.compare import in_words, misbuilt, structure, telling
from misread.sandbox import Failure, Run


@pytest.mark.parametrize(
    "got, expected",
    [(torch.ones(2), torch.ones(2)), (0.5, torch.tensor(1.0)), (1, 0.5), ({1: 2}, {3: 4}), ({1: [2]}, {1: (3, 4)})],
)
def test_numbers_of_any_type_and_other_keys_are_of_one_structure(got, expected):
    assert structure(got, expected) is None


@pytest.mark.parametrize(
    "got, expected, kind, named",
    [
        (torch.ones(2), torch.ones(3), "shape", ("(2,)", "(3,)")),
        ([1], [1, 2], "shape", ("length", "1", "2")),
        ((1, "a"), (1, 2), "type", ("str", "a whole number")),
        ("a", 1.5, "type", ("str", "a number")),
        ([1], {1: 2}, "type", ("list", "dict")),
        (None, torch.ones(2), "type", ("None", "tensor (2,)")),
        ({1: "a", 2: "b"}, {1: "a", 2: ["b"]}, "type", ("under the key 2", "str", "list of 1")),
    ],
)
def test_another_structure_is_told_the_wrong_one_first(got, expected, kind, named):
    found = structure(got, expected)
    assert found.kind == kind
    places = [found.text.find(name) for name in named]
    assert -1 not in places
    assert places == sorted(places)


ONE, TWO = torch.ones(2), torch.zeros(2)


@pytest.mark.parametrize(
    "got, expected, title, first, side, shown",
    [
        (ONE, TWO, "2 of 2 entries wrong", (0,), "large", ("1", "0")),
        (torch.eye(2), torch.ones(2, 2), "2 of 4 entries wrong", (0, 1), "small", ("0", "1")),
        (0.5, 0.25, "wrong number", (), "large", ("0.5", "0.25")),
        (1.320664, 1.320636, "wrong number", (), "large", ("1.320664", "1.320636")),
        (0.33334, 0.333335, "wrong number", (), "large", ("0.33334", "0.333335")),
        (float("nan"), 1.0, "wrong number", (), "", ("nan", "1")),
        (["a", "b"], ["a", "c"], "1 of 2 entries wrong", 1, "", ("'b'", "'c'")),
        ({1: 2}, {1: 3}, "1 of 1 entries wrong", 1, "small", ("2", "3")),
        (frozenset({1}), frozenset({2}), "wrong result", (), "", ("{1}", "{2}")),
    ],
)
def test_of_each_kind_of_result_it_is_told_what_stands_where(got, expected, title, first, side, shown):
    wrong = in_words(got, expected, (), 1e-6)
    assert (wrong.title, wrong.first, wrong.side) == (title, first, side)
    assert "{} instead of {}.".format(*shown) in wrong.text
    assert f"too {side}" in wrong.text or not side


@pytest.mark.parametrize(
    "got, title, said",
    [
        ({1: "a"}, "2 of 3 entries missing", "The entry for 2 is missing; wanted is 'b'."),
        ({1: "a", 2: "b", 3: "c", 4: "d"}, "1 of 4 entries wrong", "There should be no entry for 4."),
        ({2: "b", 4: "d"}, "3 of 4 entries wrong", "The entry for 1 is missing; wanted is 'a'."),
    ],
)
def test_an_entry_that_a_dictionary_lacks_or_has_too_many_is_named(got, title, said):
    wrong = in_words(got, {1: "a", 2: "b", 3: "c"}, (), 1e-6)
    assert (wrong.title, wrong.text) == (title, said)


def _stopped(error):
    return Run((), failure=Failure(error, str(error), "", None, ""))


@pytest.mark.parametrize(
    "first, second, tells",
    [
        (Run((), 1), Run((), 1), True),
        (_stopped(ValueError("a")), _stopped(ValueError("a")), True),
        (_stopped(ValueError("a")), _stopped(ValueError("b")), False),
        (_stopped(KeyError("a")), _stopped(KeyError("b")), True),
        (_stopped(KeyError("a")), _stopped(ValueError("b")), False),
    ],
)
def test_two_runs_do_the_same_by_a_value_by_an_error_of_one_text_or_by_a_key_that_is_missing(first, second, tells):
    assert telling(first, second) is tells


def test_the_positions_to_which_wrong_numbers_keep_are_told_by_axis():
    wrong = in_words(torch.eye(3)[:2], torch.eye(3)[[0, 2]], (), 1e-6)
    assert wrong.along == {0: [1], 1: [1, 2]}
    assert "1 of axis 0 and 1, 2 of axis 1" in wrong.text
    assert in_words(ONE, TWO, (), 1e-6).along == {}


@pytest.mark.parametrize(
    "got, title, parts",
    [
        ((ONE, TWO), "2 of 2 entries wrong", ("context",)),
        ((TWO, ONE), "2 of 2 entries wrong", ("weights",)),
        ((ONE, ONE), "2 of 2 entries wrong", ("context", "weights")),
        ((ONE, torch.ones(2, 1)), "wrong shape", ("weights",)),
    ],
)
def test_of_several_results_the_wrong_one_is_named(got, title, parts):
    wrong = in_words(got, (TWO, TWO), ("context", "weights"), 1e-6)
    assert (wrong.title, wrong.parts) == (title, parts)
    assert all(f"`{part}`" in wrong.text for part in parts)


def test_the_right_one_of_several_results_is_named_too():
    assert "`weights` is right" in in_words((ONE, TWO), (TWO, TWO), ("context", "weights"), 1e-6).text


def test_of_a_wrong_shape_both_are_shown():
    wrong = in_words(torch.ones(2, 2), torch.ones(2, 1), (), 1e-6)
    assert (wrong.title, wrong.parts) == ("wrong shape", ())
    assert wrong.text.index("(2, 2)") < wrong.text.index("(2, 1)")


def test_a_part_of_another_type_is_named():
    found = misbuilt((ONE, [1.0]), (ONE, TWO), ("context", "weights"))
    assert (found.kind, found.part) == ("type", "weights")
    assert misbuilt(ONE, TWO) is None
