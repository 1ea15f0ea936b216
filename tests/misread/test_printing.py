"""Small values, printed to be compared by eye."""

import pytest
import torch

from misread.exercise import Exercise
from misread.printing import beside, differing, float_names, inputs, lines_of, text, visible


def test_long_tensors_are_only_described():
    assert text(torch.zeros(9, 9)) == "tensor (9, 9) float32"
    assert text(torch.tensor([1.0, 0.25])) == "[1.  , 0.25]"


@pytest.mark.parametrize(
    "value, wanted",
    [
        ({2: 1 / 3}, "{2: 0.3333}"), ([1.0, "a"], "[1, 'a']"), ({(1, 2), (0, 1)}, "{(0, 1), (1, 2)}"),
        (len, "a function"), (set(), "set()"), (frozenset(), "set()"), (-0.0, "0"),
    ],
)  # fmt: skip
def test_other_values_print_as_they_are_written(value, wanted):
    assert text(value) == wanted


@pytest.mark.filterwarnings("error")
def test_half_precision_prints_without_a_warning():
    assert text(torch.tensor([2.0, 0.5], dtype=torch.float16)) == "[2. , 0.5]"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_what_numpy_has_no_type_for_is_printed_as_well(dtype):
    assert text(torch.tensor([2.0, 0.5]).to(dtype)) == "[2. , 0.5]"


def test_long_lists_get_a_line_for_each_entry():
    assert text([[1, 2], [3]]) == "[[1, 2], [3]]"
    assert text([list(range(20)), list(range(20, 40))]).splitlines() == [
        f"[{list(range(20))},",
        f" {list(range(20, 40))}]",
    ]


def test_the_entries_of_a_dictionary_stand_below_each_other_where_they_are_long_or_take_several_lines():
    assert text({"a": [1], "b": [2]}) == "{'a': [1], 'b': [2]}"
    assert text({"a": torch.zeros(2, 1), "b": 2}).splitlines() == ["{'a': [[0.],", " [0.]],", " 'b': 2}"]
    assert text({"a" * 40: 1, "b" * 40: 2}).splitlines() == [f"{{'{'a' * 40}': 1,", f" '{'b' * 40}': 2}}"]


def test_a_third_axis_leaves_no_empty_lines():
    assert len(text(torch.zeros(2, 2, 2)).splitlines()) == 4


def test_expected_stands_beside_got():
    first, *rest = beside(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [3, 5]])).splitlines()
    assert first.split("  ")[1:2] == ["expected, tensor (2, 2) int64"]
    assert "got" in first
    assert [line.split() for line in rest] == [["[[1,", "2],", "[[1,", "2],"], ["[3,", "4]]", "[3,", "5]]"]]


def test_wide_values_stand_one_under_the_other():
    lines = beside(torch.arange(30), torch.arange(30) + 1).splitlines()
    assert sum("expected" in line or "got" in line for line in lines) == 2
    assert not any("expected" in line and "got" in line for line in lines)


def test_what_looks_equal_gets_more_digits():
    shown = beside(torch.tensor([0.5], dtype=torch.float64), torch.tensor([0.5000004], dtype=torch.float64))
    assert "0.5000004" in shown


def test_a_float_that_is_almost_a_whole_number_gets_more_digits():
    assert "5440.00544" in beside(5440, 5440.00544)


def test_the_parts_of_a_tuple_stand_under_their_names():
    shown = beside((torch.ones(1), torch.ones(2)), (torch.ones(1), torch.zeros(2)), ("context", "weights"))
    assert shown.count("weights = ") == 2


def test_a_tuple_among_the_parts_of_a_tuple_is_opened():
    value = torch.ones(1), (torch.zeros(2), torch.ones(1))
    assert lines_of(value, ("logits", "state")) == ["logits = [1.]", "state[0] = [0., 0.]", "state[1] = [1.]"]


PARTS = {"state": ("memory", "last")}


def test_an_argument_that_comes_in_parts_is_opened_under_their_names():
    shown = inputs(["x", "state"], [torch.ones(1), (torch.zeros(2), torch.ones(1))], PARTS)
    assert shown.split() == ["x", "=", "[1.]", "memory", "=", "[0.,", "0.]", "last", "=", "[1.]"]
    assert "state[1] = [1.]" in inputs(["state"], [(torch.zeros(2), torch.ones(1))], {})


def test_a_long_input_in_parts_is_given_by_its_shapes():
    shown = inputs(["state", "step"], [(torch.zeros(9, 2), torch.ones(1)), len], PARTS)
    assert shown.split() == ["memory", "(9,", "2),", "last", "(1,),", "a", "function"]


def test_an_argument_left_to_its_default_hides_no_numbers():
    shown = inputs(["x", "mask", "least"], [torch.ones(4, 2), torch.ones(4, 2) > 0], {})
    assert "x = [[1., 1.],\n" in shown
    assert "least" not in shown


def test_lists_of_tensors_in_a_list_are_opened_down_to_the_tensors():
    assert inputs(["of", "words"], [[[torch.ones(2)], [torch.zeros(2), torch.tensor(3.0)]], [2, 6]], {}) == (
        "    of[0][0] = [1., 1.]\n    of[1][0] = [0., 0.]\n    of[1][1] = 3.\n    words = [2, 6]"
    )


def test_of_many_parts_the_last_are_shown_and_the_others_named():
    zeros, ones = torch.zeros(4, 1), torch.ones(4, 1)
    shown = differing([("output", zeros, ones), ("last", zeros[0], ones[0])], ["memory"])
    assert "output = " not in shown
    assert shown.count("last = ") == 2
    assert shown.splitlines()[-2:] == ["  also wrong: output", "  right: memory"]


def test_a_number_too_large_to_be_rounded_is_no_infinity():
    assert "e+308" in text(torch.tensor([-torch.inf, torch.finfo(torch.float64).min], dtype=torch.float64))


def test_zero_has_no_sign():
    assert text(torch.tensor([-0.0, 0.5, -1e-9])) == "[0. , 0.5, 0. ]"


def test_small_numbers_are_written_with_their_power_of_ten():
    assert text(torch.tensor([[1.5e-6, 0.0]], dtype=torch.float64)).split() == ["[[", "1.50e-06,", "0]]"]
    assert "e-" not in text(torch.tensor([1.0, 1e-9]))


def test_a_difference_in_late_digits_is_not_visible():
    assert visible(torch.tensor([0.5]), torch.tensor([0.6]))
    assert visible(torch.tensor([0.5]), torch.tensor([[0.5]]))
    assert not visible(torch.tensor([0.5]), torch.tensor([0.500001]))


def test_each_tensor_through_which_gradients_flow_has_the_name_of_its_entry():
    exercise = Exercise(
        lambda x: x, lambda draw: [], returns=("ids", "output", "state"), parts={"state": ("memory", "last_read")}
    )
    one = torch.ones(1)
    assert float_names(exercise, (one.long(), one, (one, one))) == ["output", "memory", "last_read"]
    assert float_names(exercise, (one, one, one)) == ["ids", "output", "state"]
    assert float_names(Exercise(lambda x: x, lambda draw: []), [one, one]) == ["the result", "the result"]
