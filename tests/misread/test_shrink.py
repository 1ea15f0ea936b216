"""A wrong answer is shown on an input as small as can be found."""

import torch

from attnlabs import Draw, Exercise, Mistake, Property
from misread import shrink
from misread.judge import judge
from misread.values import size


def total(table):
    return table.sum(-1)


def tables(draw):
    rows, columns = draw.sizes(2, low=2)
    yield (draw.uniform(rows + 4 * (draw.number > 0), columns + 5 * (not draw.compact)),)


TOTAL = Exercise(
    total,
    tables,
    mistakes=[Mistake("mean", "You averaged.", {".sum(-1)": ".mean(-1)"})],
    properties=[Property("not negative", "It cannot be.", lambda result, table: (result >= 0).all())],
)


def numbers_shown(verdict):
    """How many rows the shown input has."""
    text = verdict.message.split("table = ")[1].split("expected")[0]
    return text.count("[") - 1


def seen_by(answer):
    seen = []

    def noting(table):
        seen.append(table.numel())
        return answer(table)

    return judge(TOTAL, noting), seen


def test_a_compact_draw_has_small_sizes_and_other_numbers_with_one_decimal():
    for number in range(20):
        assert set(Draw(3, number, compact=True).sizes(5, low=3)) <= {3, 4}
    numbers = 10 * Draw(0, 0, compact=True).normal(20)
    assert torch.allclose(numbers, numbers.round())
    assert not torch.equal(Draw(3, 1, compact=True).normal(4), Draw(3, 1).normal(4))


def test_compact_inputs_are_smaller_than_asked_and_in_order(weigh_exercise):
    sizes = [size(args) for args in weigh_exercise.compact_inputs(1, below=40)]
    assert sizes == sorted(sizes)
    assert max(sizes) < 40


def test_cases_that_cannot_be_compact_are_left_out():
    def picky(draw):
        rows, columns = draw.sizes(2)
        assert rows != columns
        yield (draw.normal(rows, columns),)

    exercise = Exercise(total, picky, [])
    assert all(table.shape[0] != table.shape[1] for (table,) in exercise.compact_inputs(0, 99))
    assert not judge(exercise, lambda table: table.mean(-1))


def test_a_known_mistake_is_shown_on_a_smaller_input_that_was_not_drawn():
    verdict, seen = seen_by(lambda table: table.mean(-1))
    judged = min(seen[: len(TOTAL.inputs())])
    assert verdict.mistake == "mean"
    assert min(seen) < judged
    assert numbers_shown(verdict) <= 3


def test_an_unlisted_mistake_too():
    answers = {"wrong sign": -1, "off by a factor": 3, "not a number": float("nan")}
    for name, factor in answers.items():
        answer = lambda table, factor=factor: factor * table.sum(-1)  # noqa: E731
        verdict = judge(TOTAL, answer)
        assert name in (verdict.kind, verdict.mistake)
        assert numbers_shown(verdict) <= 3


def test_what_shows_only_in_larger_inputs_is_shown_there():
    verdict = judge(TOTAL, lambda table: table[:, :4].sum(-1))
    assert verdict.kind
    assert "expected" in verdict.message


def test_a_wrong_shape_is_shown_as_one_though_a_square_would_be_smaller():
    verdict = judge(TOTAL, lambda table: table.sum(0))
    assert "(2,)" in verdict.message
    assert "(3,)" in verdict.message


def test_a_slow_answer_is_not_run_for_long(monkeypatch):
    monkeypatch.setattr(shrink, "SECONDS", -1.0)
    _, seen = seen_by(lambda table: table.mean(-1))
    assert len(seen) == len(TOTAL.inputs())


def test_an_exercise_can_be_judged_in_any_variant_twice_alike():
    for variant in range(3):
        said = [judge(TOTAL, lambda table: table.mean(-1), variant).message for _ in range(2)]
        assert said[0] == said[1]


def test_numbers_of_three_digits_are_shown_only_where_they_must_be():
    def far_and_near(draw):
        yield (500 + draw.uniform(2, 2),)
        yield (draw.uniform(2, 3),)

    assert "[[50" not in judge(Exercise(total, far_and_near, []), lambda table: -table.sum(-1)).message
    assert "[[50" in judge(Exercise(total, far_and_near, []), lambda table: table.sum(-1).clamp(max=9)).message


def test_a_difference_that_can_be_seen_is_shown_rather_than_a_small_one():
    def small_and_large(draw):
        yield (1 + draw.uniform(1, 2),)
        yield (1e-6 * (1 + draw.uniform(2, 2)),)

    shown = judge(Exercise(total, small_and_large, [], tolerance=1e-9), lambda table: table.sum(-1) + 1e-6).message
    assert "e-06" in shown


def test_an_input_that_tells_nothing_is_shown_only_where_no_other_shows_the_mistake():
    def columns_from(least):
        return lambda table: table.shape[1] >= least

    doubled = lambda table: 2 * table.sum(-1)  # noqa: E731
    plain = Exercise(total, lambda draw: [(draw.uniform(1, 1),), (draw.uniform(2, 3),)])
    assert "tensor (1,)" in judge(plain, doubled).message
    for least, shape in ((2, "tensor (2,)"), (9, "tensor (1,)")):
        exercise = Exercise(plain.reference, plain.cases, telling=columns_from(least))
        assert shape in judge(exercise, doubled).message
