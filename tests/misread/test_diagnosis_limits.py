"""What the explanations must not do: speak of chance, raise, take long, blame what is right."""

import re
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from diagnosed import CAUSAL, DOT, SOFT, causal, dot, pairs, soft
from duration import at_most
from torch.nn import functional as F

from attnlabs import Draw, Exercise, Property, checks_of, evaluate
from misread import diagnosis
from misread.diagnosis import calls
from misread.diagnosis.claims import Budget, Case
from misread.judge import judge
from misread.sandbox import Run


def test_a_number_that_changes_the_result_only_at_every_second_step_has_an_effect():
    def reach(dilation, kernel):
        return 1 + dilation * (kernel - 1)

    exercise = Exercise(reach, lambda draw: [(draw.integer(2, 9), kernel) for kernel in (2, 4, 6)], [])
    assert judge(exercise, lambda dilation, kernel: 1 + 3 * dilation * (kernel // 2)).kind != "kernel has no effect"
    assert judge(exercise, lambda dilation, kernel: 3 * dilation + 1.5).kind == "kernel has no effect"


def test_an_explanation_costs_the_same_on_every_machine():
    """The work of one is counted, and when it is used up only claims that need no run can be true."""
    case = Case(DOT, dot, next(iter(pairs(Draw(0, 0)))), 0, 0, budget=Budget(100))
    assert case.run(dot, case.args).dim() == 3
    with pytest.raises(ValueError, match="no work"):
        [case.run(dot, case.args) for _ in range(3)]


def turn(offset):
    angle = torch.tensor(offset, dtype=torch.float64)
    return torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).view(2, 2)


def cut(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def positive(x):
    return x.sum(-1) > 0


def without_the_last(x):
    found = positive(x)
    return found & (found.cumsum(0) < found.sum())


TURN = Exercise(turn, lambda draw: [(offset,) for offset in (-2, -1, 1, 2)], [], gradients=False)


CUT = Exercise(cut, lambda draw: [(draw.normal(2, 4, 6), heads) for heads in (2, 3, 6)], [])


POSITIVE = Exercise(positive, lambda draw: [(0.1 + draw.normal(9, 3),)], [], gradients=False)


@pytest.mark.parametrize(
    "exercise, answer, kind",
    [  # each with what must not be said of it
        (  # a factor for each row
            SOFT,
            lambda s, m, g: soft(s, m, g) * torch.arange(s.shape[1])[:, None],
            "the first entry has no effect",
        ),
        (CAUSAL, lambda n: causal(n) & (torch.arange(n) != 1), "too few True"),  # a factor for each row
        (TURN, lambda offset: turn(abs(offset)), "in another order"),  # axes permuted
        (CUT, lambda x, heads: cut(x, 2), "an axis of another length"),  # entries in other positions
        (POSITIVE, without_the_last, "too few True"),  # one position too few open
        (POSITIVE, lambda x: positive(x) & ~positive(-x.roll(1, 0)), "too few True"),  # an entry has no effect
        (POSITIVE, lambda x: x.sum(-1) > 99, "nothing but zeros"),  # one row for all
    ],
)
def test_what_holds_of_the_wrong_results_only_by_chance_is_not_said(exercise, answer, kind):
    """A cause or an advice that the inputs refute on which the result is right, or that fits another kind of result."""
    verdict = judge(exercise, answer)
    assert (verdict.passed, verdict.kind) == (False, kind), verdict.message


def test_a_row_of_infinities_is_no_mean_and_no_sum_of_the_others():
    def logs(x, mask):
        return x.masked_fill(~mask, -torch.inf).log_softmax(-1).masked_fill(~mask, -torch.inf)

    masks = lambda draw: (draw.mask(2, 4), torch.ones(2, 4, dtype=torch.bool))  # noqa: E731
    exercise = Exercise(logs, lambda draw: [(draw.normal(2, 4), mask) for mask in masks(draw)], gradients=False)
    verdict = judge(exercise, lambda x, mask: logs(x, mask & mask.any(-1).all()))
    assert (verdict.passed, verdict.kind in ("averaged", "summed up")) == (False, False), verdict.message


def test_of_a_random_result_nothing_else_is_said():
    draws = lambda x, W_1, b_1, W_2, b_2: F.dropout((x @ W_1 + b_1).relu(), 0.3) @ W_2 + b_2  # noqa: E731
    verdict = evaluate("lab09", "feed_forward", draws)
    assert verdict.kind == "random"
    said = " ".join(verdict.message.split())
    assert not any(prop.message in said for prop in checks_of("lab09").exercise("feed_forward").properties)


def test_what_the_exercise_says_of_such_a_result_follows():
    exercise = Exercise(dot, pairs, [], [Property("dot", "A dot product it is.", lambda result, *args: False)])
    assert "A dot product it is." in judge(exercise, lambda q, k: -dot(q, k)).message


def test_where_nan_stands_is_told():
    verdict = judge(SOFT, lambda s, m, g: (g * s).masked_fill(~m, float("-inf")).softmax(-1))
    assert (verdict.mistake, verdict.about) == ("not a number", ("mask",))
    assert "no True" in verdict.message


def test_an_error_on_some_inputs_only_is_told_with_these_inputs():
    def clip(x, low):
        return x if low is None else x.clamp(min=low)

    exercise = Exercise(clip, lambda draw: [(draw.normal(3), None), (draw.normal(4), 0.5)], [])
    verdict = judge(exercise, lambda x, low: x.clamp(min=low + 0))
    assert (verdict.kind, verdict.about) == ("error", ("low",))
    assert "None" in verdict.message
    verdict = judge(exercise, lambda x, low: x.sin() * x + x.flip(0) if low is None else clip(x, low))
    assert verdict.kind == "wrong for some inputs only"


def test_what_cannot_be_explained_is_counted():
    verdict = judge(DOT, lambda q, k: dot(q, k).sin() + dot(k, q).mT.square() + q.sum(-1, keepdim=True).cos())
    assert verdict.kind == "values"
    assert re.search(r"\d+ of \d+ entries", verdict.message.splitlines()[0])


@pytest.mark.parametrize(
    "value",
    [
        None, "no", {1: "a"}, [torch.ones(2), "b"], torch.ones(0), torch.ones(2, 2, 2, 2, 2), float("nan"), {1, 2},
        (), [[]],
    ],
)  # fmt: skip
def test_nothing_raises_and_it_is_quick(value):
    def same(x):
        return x

    inputs = [(torch.ones(2, 3),), (torch.eye(3),)]
    exercise = Exercise(same, lambda draw: inputs, [])
    got = [Run(args, value, value) for args in inputs]
    expected = [Run(args, args[0], args[0]) for args in inputs]
    explain = partial(diagnosis.explain, exercise, lambda x: value, got, expected, [0, 1])
    at_most(1, explain)
    found = explain()
    assert found is None or found.text


def test_the_right_answer_has_no_explanation():
    args = next(iter(pairs(Draw(0, 0))))
    run = DOT.run(dot, args)
    assert diagnosis.explain(DOT, dot, [run, run], [run, run], [0, 1]) is None


def test_a_cause_must_fit_the_inputs_on_which_all_is_right():
    """With `offset` doubled, the right function would give something else on all inputs."""

    def moved(x, offset):
        return (x + offset).square()

    exercise = Exercise(moved, lambda draw: [(draw.normal(3, 4), offset) for offset in (1, 2, 3)], [])
    verdict = judge(exercise, lambda x, offset: moved(x, 2 * offset if offset == 2 else offset))
    assert (verdict.kind, verdict.about) == ("wrong for some inputs only", ("offset", "2"))


def test_an_argument_has_no_effect_only_if_it_has_none_where_the_result_is_right():
    def scored(x, weight):
        return (x * weight).sum(-1)

    def cases(draw):
        yield draw.uniform(3, 4), draw.uniform(4)
        yield 50 + 9 * draw.uniform(3, 4), 50 + 9 * draw.uniform(4)

    def wild_where_large(x, weight):
        return torch.where(scored(x, weight) > 90, (x * x.roll(1, -1)).cumsum(-1)[:, -1].sin(), scored(x, weight))

    assert "has no effect" not in judge(Exercise(scored, cases), wild_where_large).kind
    ignoring = lambda x, weight: (x * x.roll(1, 0)).cumsum(-1)[:, -1] + x[:, 0].sin()  # noqa: E731
    assert judge(Exercise(scored, cases), ignoring).kind == "weight has no effect"


def test_a_right_result_that_becomes_nan_is_no_effect_of_an_entry():
    def linear(query, key, value, feature=lambda x: F.elu(x) + 1):
        scores = (feature(query) @ feature(key).mT).tril()  # the first query never changes anything
        return scores @ value / scores.sum(-1, keepdim=True)

    def cases(draw):  # four times as far below 0 all features are 0
        yield draw.normal(2, 3, 2) - 10, draw.normal(2, 3, 2) - 10, draw.normal(2, 3, 2)
        yield draw.normal(2, 4, 3) - 10, draw.normal(2, 4, 3) - 10, draw.normal(2, 4, 2)

    found = judge(Exercise(linear, cases, []), lambda *args: linear(*args, feature=lambda x: F.selu(x) + 2))
    assert not found.passed
    assert "has no effect" not in found.kind


@pytest.mark.parametrize("reverse", [False, True])
def test_a_call_whose_right_result_is_lost_shows_nothing_in_either_direction(reverse):
    x, other = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 0.0])
    right, answer = lambda x: x / x.sum(), lambda x: x.cumsum(0)
    case = SimpleNamespace(
        args=(x,), got=answer(x), expected=right(x), answer=answer, exercise=SimpleNamespace(reference=right),
        run=lambda function, args: function(*args),
    )  # fmt: skip
    assert not calls._no_effect(case, 0, [other], reverse)
