"""Masks, positions that must not know each other, and arguments that may be left out."""

import pytest
import torch
from diagnosed import CAUSAL, SOFT, apart, causal, masked, soft

from attnlabs import Exercise
from misread.judge import judge


def lower(x):
    return x.tril()


LOWER = Exercise(lower, lambda draw: [(draw.normal(size, size),) for size in (9, 12)], [])


APART = Exercise(apart, lambda draw: [(draw.normal(*draw.sizes(3)),)], [])


@pytest.mark.parametrize(
    "kind, answer",
    [
        (
            "wrong only in the rows in which `mask` has no True at all",
            lambda s, m, g: soft(s, m, g) + ~m.any(-1, keepdim=True),
        ),
        ("as if mask were changed", lambda s, m, g: soft(s, ~m, g)),
        ("as if gain were changed", lambda s, m, g: soft(s, m, 1.0)),
        ("as if gain were changed", lambda s, m, g: soft(s, m, 1 / g)),
        ("not normalised", lambda s, m, g: (g * s).sigmoid().masked_fill(~m, 0.0)),
        ("another default", lambda s, m, g=2.0: soft(s, m, g)),
    ],
)
def test_masks_and_optional_arguments_are_spoken_of(kind, answer):
    verdict = judge(SOFT, answer)
    assert (verdict.passed, verdict.kind) == (False, kind)


def test_a_default_that_is_missing_or_the_same_is_no_fault():
    assert judge(SOFT, lambda scores, mask, gain: soft(scores, mask, gain))
    assert judge(SOFT, lambda scores, mask, gain=1: soft(scores, mask, gain))


@pytest.mark.parametrize(
    "kind, answer",
    [
        ("True and False exchanged", lambda n: ~causal(n)),
        ("axes permuted", lambda n: causal(n).T),
        ("wrong only on the diagonal of axes 0 and 1", lambda n: causal(n).tril(-1)),
        ("one position too many open", lambda n: torch.ones(n, n, dtype=torch.bool).tril(1)),
        ("too many True", lambda n: causal(n) | (torch.arange(n) == 2)),
        ("wrong only at the first position of axis 1", lambda n: causal(n) & (torch.arange(n) > 0)),
        ("the same number everywhere", lambda n: causal(n) | True),
    ],
)
def test_masks_are_explained_in_words_for_masks(kind, answer):
    assert judge(CAUSAL, answer).kind == kind


def test_shares_in_a_mask_are_no_true_at_other_positions():
    verdict = judge(CAUSAL, lambda n: causal(n) / (1 + torch.arange(n))[:, None])
    assert verdict.kind not in ("too many True", "too few True")


@pytest.mark.parametrize(
    "diagonal, said", [(0, True), (1, False)], ids=["the diagonal is wrong as well", "the diagonal is right"]
)
def test_the_diagonal_is_called_wrong_only_where_it_is(diagonal, said):
    def answer(x):
        return x.tril() + x.square().triu(diagonal).tril(1)

    verdict = judge(LOWER, answer)
    assert ("on the diagonal" in verdict.kind) == said


def test_positions_that_should_not_know_each_other_are_found_out():
    assert judge(APART, lambda x: apart(x + x.roll(1, 1).sin())).kind == "axis 1 mixed"


def test_where_the_right_function_mixes_positions_nobody_is_blamed_for_it():
    def attend(x, mask):
        return (x @ x.mT).masked_fill(~mask, -1e9).softmax(-1) @ x

    def inputs(draw):
        batch, length, dim = draw.sizes(3)
        for mask in (torch.ones(length, length, dtype=torch.bool).tril(), torch.eye(length, dtype=torch.bool)):
            yield draw.normal(batch, length, dim), mask

    verdict = judge(Exercise(attend, inputs, []), lambda x, mask: attend(x, mask).cumsum(1).sin() * x.sum(1)[:, None])
    assert "mixed" not in verdict.kind
    assert "later" not in verdict.kind


def test_a_mask_whose_open_entries_are_only_counted_has_an_effect():
    def inputs(draw):
        batch, length = draw.sizes(2)
        yield draw.normal(batch, length), torch.arange(length) < draw.lengths(batch, length)[:, None]

    def kept(x, mask):
        return (x * mask).sum(-1)

    verdict = judge(Exercise(kept, inputs, []), lambda x, mask: x.sin().sum(-1) * mask.sum(-1))
    assert "has no effect" not in verdict.kind
    verdict = judge(Exercise(kept, inputs, []), lambda x, mask: x.sin().sum(-1))
    assert verdict.kind == "mask has no effect"


def test_what_a_mask_closes_and_which_words_stand_there_must_not_matter():
    def total(x, mask):
        return (x * mask).sum(-1) ** 2

    def inputs(draw):
        yield draw.normal(3, 5), torch.arange(5) < torch.tensor([[3], [5], [2]])

    verdict = judge(Exercise(total, inputs, []), lambda x, mask: total(x, mask) + x.cos().sum(-1) * mask.sum(-1))
    assert verdict.kind == "x where mask is False", verdict.message

    def count(tokens, pad):
        return (tokens != pad).sum(-1) ** 2

    exercise = Exercise(count, lambda draw: [(draw.integers(0, 9, 4, 6), 0)], [], gradients=False)
    verdict = judge(exercise, lambda tokens, pad: ((tokens != pad) * tokens).sum(-1) ** 2)
    assert verdict.kind == "which words", verdict.message


def test_an_optional_argument_that_is_none_on_some_inputs_may_be_the_cause_on_the_others():
    def soften(scores, mask=None):
        return soft(scores, torch.ones_like(scores, dtype=torch.bool) if mask is None else mask)

    def inputs(draw):
        scores, mask, _ = next(iter(masked(draw)))
        yield from ((scores, None), (scores, mask))

    verdict = judge(Exercise(soften, inputs, []), lambda s, mask=None: soften(s, None if mask is None else ~mask))
    assert (verdict.kind, verdict.about) == ("as if mask were changed", ("mask",))
    assert "opposite" in verdict.message


def test_a_mask_with_one_open_position_in_each_row_is_no_row_of_weights():
    def diagonal(x):
        return torch.eye(x.shape[-1], dtype=torch.bool)

    exercise = Exercise(diagonal, lambda draw: [(draw.normal(2, size),) for size in (3, 4, 5)], [])
    verdict = judge(exercise, lambda x: torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool))
    assert (verdict.passed, verdict.kind) == (False, "the same number everywhere")
