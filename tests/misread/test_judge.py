"""The verdicts: right answers pass in any style, wrong ones are named or shown."""

import numpy as np
import pytest
import torch

from attnlabs import Exercise, Mistake
from misread import sandbox
from misread.judge import SHOWN_BY, judge


def by_einsum(weights, value):
    return torch.einsum("bqk,bkd->bqd", weights, value)


def by_loops(weights, value):
    rows = []
    for b in range(len(value)):
        print("row", b)
        for row in weights[b]:
            rows.append(sum(w * v for w, v in zip(row, value[b], strict=True)))
    return torch.stack(rows).view(*weights.shape[:2], -1)


def by_bmm(weights, value, *, fast=True):
    return torch.bmm(weights, value) if fast else None


@pytest.mark.parametrize("answer", [by_einsum, by_loops, by_bmm, torch.bmm])
def test_a_right_answer_passes_in_any_style(weigh_exercise, answer):
    for variant in range(3):
        verdict = judge(weigh_exercise, answer, variant)
        assert (bool(verdict), verdict.mistake) == (True, None), verdict.message
        assert verdict.message.startswith("✓ weigh")
        assert "within the values" in verdict.message


@pytest.mark.parametrize(
    "answer", [lambda x: [x.min(), x.max()], lambda x: (torch.tensor(np.min(x.numpy())), torch.tensor(x.numpy().max()))]
)
def test_a_list_is_as_good_as_a_tuple_and_numpy_passes_where_no_gradient_is_asked_for(extremes_exercise, answer):
    assert judge(extremes_exercise, answer)


@pytest.mark.parametrize("index", range(3))
def test_a_known_mistake_is_named(weigh_exercise, index):
    mistake = weigh_exercise.mistakes[index]
    verdict = judge(weigh_exercise, weigh_exercise.function(mistake))
    assert (verdict.passed, verdict.mistake) == (False, mistake.name)
    assert mistake.message in verdict.message


def test_the_message_shows_input_expected_and_got(weigh_exercise):
    text = judge(weigh_exercise, lambda w, v: (w @ v) * 10).message
    for words in ("weights = [[[", "value = [[[", "expected, tensor", "got, tensor"):
        assert words in text


def test_comparisons_put_into_torch_let_nothing_wrong_pass(weigh_exercise, monkeypatch):
    """As a cell of a notebook could do before its check is run."""
    for name in ("allclose", "equal"):
        monkeypatch.setattr(torch, name, lambda *args, **more: True)
    monkeypatch.setattr(torch, "isclose", lambda first, *args, **more: torch.ones_like(first, dtype=torch.bool))
    assert not judge(weigh_exercise, lambda weights, value: 0 * (weights @ value))
    assert judge(weigh_exercise, by_einsum)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.int16, torch.uint16])
@pytest.mark.parametrize("change", [lambda x: x, lambda x: 1.5 * x, lambda x: x.mT, lambda x: x.exp()])
def test_a_result_of_any_number_type_is_judged(weigh_exercise, dtype, change):
    verdict = judge(weigh_exercise, lambda weights, value: change(weights @ value).to(dtype))
    assert not verdict.passed
    assert "✗ weigh" in verdict.message


def tangled(weights, value):
    return (weights @ value).sin() * value.cumsum(1)[:, -1:] + weights.square().sum(-1, keepdim=True)


@pytest.mark.parametrize(
    "kind, answer",
    [
        ("a constant added", lambda w, v: w @ v + 100),  # unlisted, and explained
        ("property", lambda w, v: tangled(w, v) + 100),  # without explanation: the first property that fails
        ("values", lambda w, v: tangled(w, v) - 100),
        ("summed over an axis", lambda w, v: (w @ v).sum(-1)),
    ],
)
def test_what_nobody_listed_is_explained_or_shown(weigh_exercise, kind, answer):
    verdict = judge(weigh_exercise, answer)
    assert (verdict.mistake, verdict.kind) == (None, kind)


def test_a_property_that_fails_is_the_title(weigh_exercise):
    verdict = judge(weigh_exercise, lambda w, v: tangled(w, v) + 100)
    assert (verdict.kind, verdict.about) == ("property", ("within the values",))
    assert verdict.message.startswith('✗ weigh: "within the values"')
    assert weigh_exercise.properties[0].message in verdict.message


def raises(error):
    def answer(*args):
        raise error

    return answer


def forgets(weights, value):
    result = weights @ value  # noqa: F841


def empty(weights, value):
    """Weigh."""


def calls_another(weights, value):
    def earlier(weights):
        raise NotImplementedError

    return earlier(weights) @ value


def stops(weights, value):
    together = weights + value.sum()
    return together @ torch.ones(99, 1)


def prints(weights, value):
    print("the shape is", tuple(value.shape))
    return weights


@pytest.mark.parametrize(
    "name, kind, words, answer",
    [
        *(("not a function", "", "check.weigh(weigh)", value) for value in (3, None, torch.ones(2), "weigh")),
        ("other parameters", "", "(weights, value)", lambda weights: weights),
        (None, "unwritten", "`answer`", raises(NotImplementedError("your code here"))),
        (None, "unwritten", "`weigh`", empty),
        (None, "unwritten", "`earlier`", calls_another),
        ("forgot return", "", "`return`", forgets),
        (None, "error", "RuntimeError", stops),
        (None, "error", "in stops", stops),
        (None, "error", "return together @ torch.ones(99, 1)", stops),
        (None, "error", "weights: tensor (", stops),
        ("not a number", "", "NaN", lambda w, v: torch.where(w @ v > 0, float("nan"), w @ v)),
        ("not a number", "", "infinity", lambda w, v: torch.where(w @ v > 0, float("inf"), w @ v)),
        ("another device", "", "meta", lambda w, v: (w @ v).to("meta")),
        ("transposed", "", "queries", lambda w, v: torch.einsum("bkq,bkd->bqd", w, v)),  # another error
        (None, "an argument given back", "the shape is", prints),  # what it printed itself
    ],
)
def test_what_is_wrong_at_once_is_told(weigh_exercise, capsys, name, kind, words, answer):
    verdict = judge(weigh_exercise, answer)
    assert (verdict.passed, verdict.mistake, verdict.kind) == (False, name, kind)
    assert words in verdict.message
    assert "judge.py" not in verdict.message
    assert capsys.readouterr().out == ""


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
    assert "0.2" in verdict.message
    assert "in hangs" in verdict.message
    assert "weights = [" in verdict.message  # few numbers are shown


@pytest.mark.parametrize(
    "result, words",
    [
        ([1.0, 2.0], "list of 2"), (np.ones(2), "torch.from_numpy"), ("no", "str"), ((torch.ones(2),), "tuple of 1"),
        ({1: 2}, "dict"), ((x for x in "ab"), "yield"), (object(), "object"), (10**30, "int"),
        (torch.ones(2, dtype=torch.complex64), "tensor of complex numbers"),
        (torch.ones(2).to_sparse(), "sparse tensor"),
    ],
)  # fmt: skip
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
    assert all(part in verdict.message for part in extremes_exercise.returns)


def test_as_many_results_in_a_dictionary_are_of_another_type_and_not_too_few(extremes_exercise):
    verdict = judge(extremes_exercise, lambda x: {"low": x.min(), "high": x.max()})
    assert verdict.mistake == "wrong type"
    assert "dict of 2" in verdict.message
    assert "tuple" in verdict.message


class Agreeable(torch.Tensor):
    """A tensor that says it is equal to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        agrees = function in (torch.allclose, torch.equal)
        return True if agrees else super().__torch_function__(function, types, args, kwargs or {})


class Same:
    shape, dtype = torch.Size([2, 3]), torch.float64

    def __eq__(self, other):
        return True

    __hash__ = object.__hash__


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


def recurses(weights, value):
    return recurses(weights, value)


def writes_zeros(weights, value):
    weights.zero_()
    value.zero_()
    return weights @ value


INSIDE_ITSELF = []
INSIDE_ITSELF.append(INSIDE_ITSELF)


@pytest.mark.parametrize(
    "answer",
    [
        lambda w, v: (w @ v * 2).as_subclass(Agreeable), lambda w, v: Same(), writes_zeros,
        lambda w, v: torch.zeros_like(w @ v), lambda w, v: (w @ v).mean() + 0 * (w @ v), recurses,
        raises(SystemExit()), raises(UnspeakableError()), int, lambda w, v: INSIDE_ITSELF,
        lambda w, v: torch.ones(2).to_sparse(), lambda w, v: {Same(): 1}, lambda w, v: {(2, 3)},
    ],
)  # fmt: skip
def test_the_check_is_not_fooled_and_never_raises(weigh_exercise, answer):
    assert not judge(weigh_exercise, answer)


def test_two_mistakes_alike_in_one_position_are_told_apart_by_the_others():
    def double(number):
        return number * 2

    known = [
        Mistake("squared", "You squared.", "return number ** 2"),
        Mistake("two more", "You added.", "return number + 2"),
    ]
    exercise = Exercise(double, lambda draw: [(2,), (3,)], known)
    answers = (lambda n: n + 2, lambda n: n * n, lambda n: n * 3)
    assert [judge(exercise, answer).mistake for answer in answers] == ["two more", "squared", None]


def scale(x, factor):
    return x * factor


SCALE = Exercise(
    scale,
    lambda draw: [(draw.normal(5), draw.number + 2.0), (draw.normal(5), draw.number + 6.0)],  # factors from 2 to 9
    [Mistake("added", "You added the factor.", "return x + factor")],
)


@pytest.mark.parametrize(
    "instead, wrong, words", [(lambda x, factor: x.sin() * factor + x.cos(), "8", "7 of the 8"), (scale, "7", "all 7")]
)
def test_a_known_mistake_on_most_inputs_is_told_with_how_often_it_is_so(instead, wrong, words):
    verdict = judge(SCALE, lambda x, factor: instead(x, factor) if factor == 4 else x + factor)
    assert (verdict.passed, verdict.mistake, verdict.kind) == (False, None, "known in part")
    assert verdict.about == ("added", "7", wrong)
    assert SCALE.mistakes[0].message in verdict.message
    assert words in verdict.message


def test_a_known_mistake_on_half_of_the_inputs_is_not_spoken_of():
    verdict = judge(SCALE, lambda x, factor: x + factor if factor > 5 else x.sin() * factor + x.cos())
    assert verdict.kind == "values"
    assert SCALE.mistakes[0].message not in verdict.message


def test_zeros_that_a_known_mistake_gives_as_well_are_no_evidence_for_it():
    """Above the diagonal of causal weights everything is 0, so that all mistakes that read there look alike."""

    def sums(x):
        return x.sum(-1)

    known = Mistake("above the diagonal", "You read above the diagonal.", "return x.triu(1).sum(-1)")
    exercise = Exercise(sums, lambda draw: [(draw.normal(4, 4).tril() if draw.number else draw.normal(3, 3),)], [known])
    other = lambda x: x.triu(1).square().sum(-1)  # noqa: E731
    assert len([args for args in exercise.inputs() if not args[0].triu(1).any()]) >= SHOWN_BY
    assert judge(exercise, lambda x: x.triu(1).sum(-1)).mistake == known.name
    assert known.message not in judge(exercise, other).message


def test_a_missing_key_is_matched_whatever_its_text():
    def lengths(names):
        known = {"a": 1, "b": 2}
        return {name: known[name] for name in names if name in known}

    edit = {" if name in known": ""}
    unknown = Mistake("unknown names", "You look up unknown names.", edit)
    exercise = Exercise(lengths, lambda draw: [(["a"],), (["b", "c"],), (["a", "b"],)], [unknown], gradients=False)
    assert (
        judge(exercise, lambda names: {name: {"a_": 1, "b_": 2}[f"{name}_"] for name in names}).mistake
        == "unknown names"
    )
    assert judge(exercise, lambda names: {name: {"a": 1}[name] for name in names}).mistake is None  # on other inputs


@pytest.mark.parametrize("rows, shown", [(2, "x = [["), (90, "x: tensor (90, 3) float64")])
def test_where_a_known_mistake_stops_a_large_input_is_told_by_its_type(rows, shown):
    def first(x):
        return x[:, 0]

    fourth = Mistake("the fourth", "You took the fourth column.", "return x[:, 3]")
    exercise = Exercise(first, lambda draw: [(draw.normal(rows, 3),)], [fourth])
    verdict = judge(exercise, lambda x: x[:, 3])
    assert verdict.mistake == "the fourth"
    assert shown in verdict.message
    assert "IndexError: index 3 is out of bounds" in verdict.message


def test_errors_on_some_inputs_are_matched_by_the_wrong_values_on_others():
    def first(items):
        return items[0] if items else None

    last = Mistake("last", "You took the last.", "return items[-1]")
    exercise = Exercise(first, lambda draw: [([],), ([1, 2],), ([3, 4],)], [last])
    assert judge(exercise, lambda items: items.pop()).mistake == "last"
    assert judge(exercise, lambda items: items[0]).mistake is None
    assert judge(exercise, lambda items: items[-1] if items else 0).mistake == "last"  # a value in place of the error
    assert judge(exercise, lambda items: items[-1] if items == [1, 2] else 0).mistake != "last"


def test_of_several_results_the_wrong_one_is_named(extremes_exercise):
    verdict = judge(extremes_exercise, lambda x: (x.min(), x.max() + 1))
    assert (verdict.kind, verdict.about) == ("a constant added", ("largest", "1"))
    assert "`smallest` is right" in " ".join(verdict.message.split())
