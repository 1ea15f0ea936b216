"""The verdicts: right answers pass in any style, wrong ones are named or shown."""

import numpy as np
import pytest
import torch

from attnbook.checks import Exercise, Mistake
from attnbook.checks.engine import sandbox
from attnbook.checks.engine.judge import judge


def weigh_by_einsum(weights, value):
    return torch.einsum("bqk,bkd->bqd", weights, value)


def weigh_by_loops(weights, value):
    rows = []
    for b in range(len(value)):
        print("row", b)
        for row in weights[b]:
            rows.append(sum(w * v for w, v in zip(row, value[b], strict=True)))
    return torch.stack(rows).view(*weights.shape[:2], -1)


def weigh_by_bmm(weights, value, *, fast=True):
    return torch.bmm(weights, value) if fast else None


@pytest.mark.parametrize("answer", [weigh_by_einsum, weigh_by_loops, weigh_by_bmm, torch.bmm])
def test_a_right_answer_passes_in_any_style(weigh_exercise, answer):
    for variant in range(3):
        verdict = judge(weigh_exercise, answer, variant)
        assert verdict.passed, verdict.message
        assert verdict
        assert verdict.mistake is None
        assert verdict.message.startswith("✓ weigh is right")
        assert "within the values" in verdict.message


def test_numpy_passes_where_no_gradient_is_asked_for(extremes_exercise):
    def by_numpy(numbers):
        found = numbers.numpy()
        return torch.tensor(np.min(found)), torch.tensor(found.max())

    assert judge(extremes_exercise, by_numpy)


def test_numpy_loses_the_gradient_where_one_is_asked_for(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: torch.from_numpy(w.numpy() @ v.numpy()))
    assert verdict.mistake == "loses the gradient"


@pytest.mark.parametrize("index", range(3))
def test_a_known_mistake_is_named(weigh_exercise, index):
    mistake = weigh_exercise.mistakes[index]
    verdict = judge(weigh_exercise, weigh_exercise.function(mistake))
    assert not verdict
    assert verdict.mistake == mistake.name
    assert mistake.message in verdict.message


def test_a_known_mistake_is_named_in_another_style_though_it_fails_otherwise(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: torch.einsum("bkq,bkd->bqd", w, v))
    assert verdict.mistake == "transposed"


def test_the_message_shows_input_expected_and_got(weigh_exercise):
    text = judge(weigh_exercise, lambda w, v: (w @ v) * 10).message
    assert "smallest input" in text
    assert "weights = [[[" in text
    assert "expected, tensor" in text
    assert "got, tensor" in text


def test_an_unlisted_mistake_is_explained(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: w @ v + 100)
    assert (verdict.mistake, verdict.kind) == (None, "a constant added")


def tangled(weights, value):
    return (weights @ value).sin() * value.cumsum(1)[:, -1:] + weights.square().sum(-1, keepdim=True)


def test_what_cannot_be_explained_is_rejected_by_the_first_property_that_fails(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: tangled(w, v) + 100)
    assert (verdict.mistake, verdict.kind) == (None, "property")


def test_what_cannot_be_explained_and_has_all_properties_is_shown_its_values(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: tangled(w, v) - 100)
    assert (verdict.mistake, verdict.kind) == (None, "values")


def test_a_wrong_shape_is_said(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: (w @ v).sum(-1))
    assert (verdict.mistake, verdict.kind) == (None, "summed over an axis")


@pytest.mark.parametrize("number", [3, None, torch.ones(2), "weigh"])
def test_what_cannot_be_called_gets_told_so(weigh_exercise, number):
    verdict = judge(weigh_exercise, number)
    assert verdict.mistake == "not a function"
    assert "check.weigh(weigh)" in verdict.message


def test_other_parameters_get_told_so(weigh_exercise):
    verdict = judge(weigh_exercise, lambda weights: weights)
    assert verdict.mistake == "other parameters"
    assert "(weights, value)" in verdict.message


def test_an_unwritten_exercise_is_no_mistake(weigh_exercise):
    def unwritten(weights, value):
        raise NotImplementedError("your code here")

    def empty(weights, value):
        """Weigh."""

    for answer in (unwritten, empty):
        verdict = judge(weigh_exercise, answer)
        assert (verdict.passed, verdict.mistake) == (False, None)
        assert "not written yet" in verdict.message


def test_an_unwritten_function_that_is_called_is_named(weigh_exercise):
    def earlier(weights):
        raise NotImplementedError

    verdict = judge(weigh_exercise, lambda w, v: earlier(w) @ v)
    assert "`earlier` is not written yet" in verdict.message


def test_a_forgotten_return_is_told(weigh_exercise):
    def forgets(weights, value):
        result = weights @ value  # noqa: F841

    verdict = judge(weigh_exercise, forgets)
    assert verdict.mistake == "forgot return"
    assert "`return`" in verdict.message


def test_an_error_shows_the_students_own_line_and_the_shapes(weigh_exercise):
    def fails(weights, value):
        together = weights + value.sum()
        return together @ torch.ones(99, 1)

    verdict = judge(weigh_exercise, fails)
    assert verdict.mistake is None
    assert "stopped with RuntimeError" in verdict.message
    assert "in fails, line" in verdict.message
    assert "return together @ torch.ones(99, 1)" in verdict.message
    assert "weights: tensor (" in verdict.message
    assert "judge.py" not in verdict.message


def test_a_loop_without_end_is_stopped(weigh_exercise, monkeypatch):
    def hangs(weights, value):
        while True:
            try:
                value = value + 1
            except Exception:
                value = weights

    monkeypatch.setattr(sandbox, "SECONDS", 0.2)
    verdict = judge(weigh_exercise, hangs)
    assert verdict.mistake == "runs without end"
    assert "0.2 seconds" in verdict.message
    assert "in hangs, line" in verdict.message


@pytest.mark.parametrize(
    "result, words",
    [
        ([1.0, 2.0], "list of 2"),
        (np.ones(2), "torch.from_numpy"),
        ("no", "str"),
        ((torch.ones(2),), "tuple of 1"),
        ({1: 2}, "dict"),
        ((x for x in "ab"), "yield"),
        (object(), "object"),
        (10**30, "int"),
        (torch.ones(2, dtype=torch.complex64), "Tensor"),
    ],
)
def test_a_wrong_type_gets_told(weigh_exercise, result, words):
    verdict = judge(weigh_exercise, lambda w, v: result)
    assert verdict.mistake == "wrong type"
    assert words in verdict.message


@pytest.mark.parametrize(
    "answer, name",
    [
        (lambda x: x.min(), "too few results"),
        (lambda x: (x.min(),), "too few results"),
        (lambda x: (x.min(), x.max(), x.mean()), "too many results"),
    ],
)
def test_a_tuple_of_another_length_gets_told(extremes_exercise, answer, name):
    verdict = judge(extremes_exercise, answer)
    assert verdict.mistake == name
    assert "smallest, largest" in verdict.message


def test_a_list_is_as_good_as_a_tuple(extremes_exercise):
    assert judge(extremes_exercise, lambda x: [x.min(), x.max()])


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_nan_and_infinity_get_told(weigh_exercise, spoilt):
    verdict = judge(weigh_exercise, lambda w, v: torch.where(w @ v > 0, spoilt, w @ v))
    assert verdict.mistake == "not a number"


def test_a_result_elsewhere_gets_told(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: (w @ v).to("meta"))
    assert verdict.mistake == "another device"
    assert "meta" in verdict.message


def test_what_an_answer_prints_is_shown_with_its_mistake(weigh_exercise, capsys):
    def prints(weights, value):
        print("the shape is", tuple(value.shape))
        return weights

    assert "the shape is" in judge(weigh_exercise, prints).message
    assert capsys.readouterr().out == ""


class Agreeable(torch.Tensor):
    """A tensor that says it is equal to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return (
            True
            if function in (torch.allclose, torch.equal)
            else super().__torch_function__(function, types, args, kwargs or {})
        )


class Same:
    shape, dtype = torch.Size([2, 3]), torch.float64

    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


def writes_zeros(weights, value):
    weights.zero_()
    value.zero_()
    return weights @ value


def test_the_check_is_not_fooled(weigh_exercise):
    for answer in (
        lambda w, v: (w @ v * 2).as_subclass(Agreeable),
        lambda w, v: Same(),
        writes_zeros,
        lambda w, v: torch.zeros_like(w @ v),
        lambda w, v: (w @ v).mean() + 0 * (w @ v),
    ):
        assert not judge(weigh_exercise, answer)


def test_answers_that_misbehave_raise_nothing(weigh_exercise):
    inside_itself = []
    inside_itself.append(inside_itself)

    class UnspeakableError(Exception):
        def __str__(self):
            raise ValueError

    def recurse(weights, value):
        return recurse(weights, value)

    def leaves(weights, value):
        raise SystemExit

    def speechless(weights, value):
        raise UnspeakableError

    for answer in (
        recurse,
        leaves,
        speechless,
        int,
        lambda w, v: inside_itself,
        lambda w, v: torch.ones(2).to_sparse(),
        lambda w, v: {Same(): 1},
        lambda w, v: {(2, 3)},
    ):
        assert not judge(weigh_exercise, answer)


def test_two_mistakes_alike_in_one_place_are_told_apart_by_the_others():
    def double(number):
        return number * 2

    exercise = Exercise(
        double,
        lambda draw: [(2,), (3,)],
        [
            Mistake("squared", "You squared.", "return number ** 2"),
            Mistake("two more", "You added.", "return number + 2"),
        ],
    )
    assert judge(exercise, lambda n: n + 2).mistake == "two more"
    assert judge(exercise, lambda n: n * n).mistake == "squared"
    assert judge(exercise, lambda n: n * 3).mistake is None


def test_errors_on_some_inputs_are_matched_by_the_wrong_values_on_others():
    def first(items):
        return items[0] if items else None

    last = Mistake("last", "You took the last.", "return items[-1]")
    exercise = Exercise(first, lambda draw: [([],), ([1, 2],)], [last])
    assert judge(exercise, lambda items: items.pop()).mistake == "last"
    assert judge(exercise, lambda items: items[0]).mistake is None


def test_of_several_results_the_wrong_one_is_named(extremes_exercise):
    verdict = judge(extremes_exercise, lambda x: (x.min(), x.max() + 1))
    assert verdict.kind == "a constant added"
    said = " ".join(verdict.message.split())
    assert "Your `largest`" in said
    assert "`smallest` is right" in said
