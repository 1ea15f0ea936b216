"""A wrong answer that nobody listed is explained: what its result has to do with the right one."""

import math
import random
import re
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from duration import at_most
from torch.nn import functional as F

from attnlabs import Draw, Exercise, Property, checks_of, evaluate
from misread import diagnosis
from misread.diagnosis import calls
from misread.diagnosis.claims import Budget, Case
from misread.judge import judge
from misread.sandbox import Run

torch.set_num_threads(1)


def dot(query, key):
    return query @ key.mT  # (B, Tq, Tk)


def soft(scores, mask, gain=1.0):
    weights = (gain * scores).masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.masked_fill(~mask, 0.0)


def both(query, key):
    return query @ key.mT, query.mean(1)


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def lower(x):
    return x.tril()


def apart(x):
    return (x - x.mean(-1, keepdim=True)).square()


def pairs(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim)


def masked(draw):
    batch, queries, keys = draw.sizes(3)
    yield draw.normal(batch, queries, keys), draw.mask(batch, queries, keys), draw.uniform(1, low=2.0, high=3.0).item()


DOT = Exercise(dot, pairs, [])
SOFT = Exercise(soft, masked, [])
BOTH = Exercise(both, pairs, [], returns=("scores", "mean"))
CAUSAL = Exercise(causal, lambda draw: [(draw.integer(3, 8),), (draw.integer(8, 12),)], [], gradients=False)
LOWER = Exercise(lower, lambda draw: [(draw.normal(size, size),) for size in (9, 12)], [])
APART = Exercise(apart, lambda draw: [(draw.normal(*draw.sizes(3)),)], [])


def restless(query, key):
    return dot(query, key) + random.random()


def restless_here_and_there(query, key):
    """Wrong everywhere, and with about one call in two another number: two calls may agree."""
    return dot(query, key) + 1 + torch.randint(2, ())


def one_position(index):
    def answer(query, key):
        scores = dot(query, key)
        scores[:, index] = scores[:, index] ** 2 + 1
        return scores

    return answer


@pytest.mark.parametrize(
    "kind, answer",
    [
        ("axes permuted", lambda q, k: dot(q, k).mT),
        ("reshaped, not transposed", lambda q, k: dot(q, k).mT.reshape(len(q), q.shape[1], -1)),
        ("an axis of size 1", lambda q, k: dot(q, k)[:, None]),
        ("axes folded", lambda q, k: dot(q, k).flatten(1)),
        ("axes of other lengths", lambda q, k: dot(q, k).reshape(len(q), -1, q.shape[1])),
        ("rolled", lambda q, k: dot(q, k).roll(1, 2)),
        ("flipped", lambda q, k: dot(q, k).flip(1)),
        ("sorted", lambda q, k: dot(q, k).sort(-1).values),
        ("summed up", lambda q, k: dot(q, k).cumsum(1)),
        ("one too few", lambda q, k: dot(q, k)[..., :-1]),
        ("one too many", lambda q, k: F.pad(dot(q, k), (1, 0))),
        ("summed over an axis", lambda q, k: dot(q, k).mean(0)),
        ("each with every other", lambda q, k: torch.einsum("bqd,ckd->bcqk", q, k)),
        ("wrong sign", lambda q, k: -dot(q, k)),
        ("off by a factor", lambda q, k: dot(q, k) / q.shape[-1] ** 0.5),
        ("off by a factor", lambda q, k: dot(q, k) * math.log(2)),
        ("off by a factor", lambda q, k: dot(q, k) * k.sum()),
        ("a constant added", lambda q, k: dot(q, k) + 3),
        ("a factor and a constant", lambda q, k: 1 - 2 * dot(q, k)),
        ("one function too many", lambda q, k: dot(q, k).exp()),
        ("one function too many", lambda q, k: dot(q, k).softmax(-1)),
        ("rounded", lambda q, k: dot(q, k).long()),
        ("few digits", lambda q, k: dot(q, k).half().double()),
        ("as if query were changed", lambda q, k: dot(F.normalize(q, dim=-1), k)),
        ("one row for all", lambda q, k: (dot(q, k) + dot(q, k).sin())[:, :1].expand_as(dot(q, k))),
        ("a factor for each row", lambda q, k: dot(q, k) * q.norm(dim=-1, keepdim=True)),
        ("a number added to each row", lambda q, k: dot(q, k) + q.norm(dim=-1, keepdim=True)),
        ("axis 0 mixed", lambda q, k: torch.einsum("bqd,ckd->bqk", q, k)),
        ("key has no effect", lambda q, k: torch.cdist(q, torch.arange(k.numel()).view(k.shape).double())),
        ("nothing but zeros", lambda q, k: 0 * dot(q, k)),
        ("the same number everywhere", lambda q, k: 0 * dot(q, k) + q.sum()),
        ("in another order", lambda q, k: dot(q, k).flatten().roll(3).view(dot(q, k).shape)),
        ("wrong only at the last position of axis 1", one_position(-1)),
        (
            "wrong only after the first position of axis 0",
            lambda q, k: torch.cat([dot(q, k)[:1], dot(q, k)[1:].exp() * 3]),
        ),
        ("random", restless),
        ("random", restless_here_and_there),
    ],
)
def test_a_wrong_result_is_explained_by_the_right_one(kind, answer):
    verdict = judge(DOT, answer)
    assert (verdict.passed, verdict.mistake, verdict.kind) == (False, None, kind)


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


@pytest.mark.parametrize("size", [1e-8, -1e-8, 1e-7])
def test_a_change_that_leaves_a_result_as_it_is_explains_no_small_error(size):
    """No weight is below 0, so that its absolute value is the weight itself; a single weight of a row is 1."""

    def noisy(scores):
        noise = torch.randn(scores.shape, generator=torch.Generator().manual_seed(0)).abs()
        return scores.softmax(-1) + size * noise

    verdict = judge(Exercise(lambda scores: scores.softmax(-1), lambda draw: [(draw.normal(*draw.sizes(2)),)]), noisy)
    assert (verdict.passed, verdict.kind) == (False, "few digits")


def test_a_default_that_is_missing_or_the_same_is_no_fault():
    assert judge(SOFT, lambda scores, mask, gain: soft(scores, mask, gain))
    assert judge(SOFT, lambda scores, mask, gain=1: soft(scores, mask, gain))


@pytest.mark.parametrize(
    "kind, answer, about",
    [
        ("results swapped", lambda q, k: both(q, k)[::-1], ("scores", "mean")),
        ("off by a factor", lambda q, k: (dot(q, k), 2 * q.mean(1)), ("mean", "2")),
        ("axes permuted", lambda q, k: (dot(q, k).mT, q.mean(1)), ("scores", "1", "2")),
    ],
)
def test_of_several_results_the_wrong_one_is_explained(kind, answer, about):
    verdict = judge(BOTH, answer)
    assert (verdict.kind, verdict.about[:3]) == (kind, about)
    assert all(part in verdict.message for part in about)


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


@pytest.mark.parametrize(
    "wrong_up_to, kind, word",
    [(0, "wrong for some inputs only", "`text` is ''"), (3, "one function too many", "exponential")],
)
def test_a_relation_between_numbers_needs_three_of_them(wrong_up_to, kind, word):
    def rate(text):
        return len(text) / 4

    exercise = Exercise(rate, lambda draw: [("",), ("a",), ("bc",), ("def",), ("ghij",)], [])
    verdict = judge(exercise, lambda text: math.exp(rate(text)) if len(text) <= wrong_up_to else rate(text))
    assert verdict.kind == kind
    assert word in verdict.message


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


def test_a_number_that_changes_the_result_only_at_every_second_step_has_an_effect():
    def reach(dilation, kernel):
        return 1 + dilation * (kernel - 1)

    exercise = Exercise(reach, lambda draw: [(draw.integer(2, 9), kernel) for kernel in (2, 4, 6)], [])
    assert judge(exercise, lambda dilation, kernel: 1 + 3 * dilation * (kernel // 2)).kind != "kernel has no effect"
    assert judge(exercise, lambda dilation, kernel: 3 * dilation + 1.5).kind == "kernel has no effect"


def test_nothing_but_ones_is_no_function_of_the_right_numbers():
    def sharpened(x):
        return 1 + x.abs()

    exercise = Exercise(sharpened, lambda draw: [(draw.normal(5),), (draw.normal(7),)], [])
    verdict = judge(exercise, lambda x: torch.ones_like(x))
    assert verdict.kind == "the same number everywhere"
    verdict = judge(exercise, lambda x: torch.ones_like(x) if len(x) == 5 else 1 + x.abs())
    assert verdict.kind not in ("rounded", "raised to a power")


def test_a_batch_or_a_head_of_one_that_squeeze_takes_away_is_told():
    exercise = Exercise(apart, lambda draw: [(draw.normal(1, 3, 4),), (draw.normal(1, 5, 2),)], [])
    verdict = judge(exercise, lambda x: apart(x).squeeze())
    assert verdict.kind == "an axis of size 1"
    assert "squeeze()" in verdict.about
    assert "too few" in " ".join(verdict.message.split())


def test_an_explanation_costs_the_same_on_every_machine():
    """The work of one is counted, and when it is used up only claims that need no run can be true."""
    case = Case(DOT, dot, next(iter(pairs(Draw(0, 0)))), 0, 0, budget=Budget(100))
    assert case.run(dot, case.args).dim() == 3
    with pytest.raises(ValueError, match="no work"):
        [case.run(dot, case.args) for _ in range(3)]


def real_words(tokens, bos, pad):
    return ((tokens != bos) & (tokens != pad)).sum(-1).double()


def ends_are_padding(tokens, pad):
    targets = F.pad(tokens[:, 1:], (0, 1), value=pad)
    return targets.masked_fill(targets == 2, pad)


def by_distances_of_all(points, tour):
    """By a² + b² − 2ab, as ``torch.cdist`` does, but with the same rounding on every processor."""
    squares = points.square().sum(dim=-1)  # (B, N)
    products = (points[:, :, None] * points[:, None]).sum(dim=-1)  # (B, N, N)
    distances = (squares[:, :, None] + squares[:, None] - 2 * products).clamp(min=0).sqrt()
    return distances[torch.arange(len(points))[:, None], tour, tour.roll(-1, 1)].sum(1)


def over_all(x):
    return x / x.sum()


def doubled_again(dilations, kernel):
    field, step = 1, 1
    for dilation in dilations:
        step *= dilation
        field += (kernel - 1) * step
    return field


@pytest.mark.parametrize(
    "lab, exercise, kind, answer",
    [
        (
            "lab01",
            "shift_right",
            "wrong only at the first position of axis 1",
            lambda target, bos: (
                target.roll(1, 1) * (torch.arange(target.shape[1]) > 0)
                + bos * (torch.arange(len(target)) == 0)[:, None] * (torch.arange(target.shape[1]) == 0)
            ),
        ),
        ("lab02", "weight_sum", "axes permuted", lambda weights, value: value.mT @ weights.mT),
        (
            "lab03",
            "attention_entropy",
            "off by a factor",
            lambda weights: -(weights * weights.where(weights > 0, 1.0).log10()).sum(-1),
        ),
        (
            "lab05",
            "length_penalty",
            "two steps exchanged",
            lambda t, bos, pad, a: (5 + real_words(t, bos, pad) ** a) / 6,
        ),
        ("lab05", "length_penalty", "one step changed", lambda t, bos, pad, a: (5 + real_words(t, bos, pad)) ** a),
        ("lab11", "language_model_targets", "one number for another", ends_are_padding),
        (
            "lab12",
            "mix_probabilities",
            "normalised once more",
            lambda model, memory, weight: over_all(weight * memory + (1 - weight) * model),
        ),
        ("lab15", "receptive_field", "as if dilations were changed", doubled_again),
        ("lab16", "gated_residual", "as if gamma were changed", lambda x, found, gamma: x + gamma.clamp(0, 1) * found),
        ("lab16", "gated_residual", "as if attended were changed", lambda x, found, gamma: x * (1 + gamma * found)),
        ("lab07", "permute_rows", "flipped", lambda x, order: x[:, order.flip(0)]),
        (
            "lab09",
            "feed_forward",
            "one step changed",
            lambda x, W_1, b_1, W_2, b_2: (x @ W_1 + b_1).clamp(max=0) @ W_2 + b_2,
        ),
        ("lab14", "tour_length", "digits lost", by_distances_of_all),
        ("lab13", "interpolate", "an argument given back", lambda content, previous, gate: previous),
        ("lab14", "optimality_gap", "off by a factor", lambda length, optimal: (length / optimal - 1).mean() * 3),
    ],
)
def test_answers_to_the_labs_are_explained(lab, exercise, kind, answer):
    verdict = evaluate(lab, exercise, answer)
    assert verdict.kind == kind or verdict.mistake, verdict.message


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


def halves(parts):
    return [part / 2 for part in parts]


def test_a_list_of_results_may_be_longer_on_another_input():
    """Then its parts have no common names, and nothing is said about one of them."""
    exercise = Exercise(halves, lambda draw: [([draw.normal(2)],), ([draw.normal(3), draw.normal(2)],)], [])
    verdict = judge(exercise, lambda parts: [parts[0] / 2, *(part.square() for part in parts[1:])])
    assert not verdict.passed


def both_ways(x, lengths):
    real = torch.arange(x.shape[1]) < lengths[:, None]
    return torch.cat([x.cumsum(1), x.exp()], -1) * real[..., None]


def sentences(draw):
    batch, length, dim = draw.sizes(3)
    yield draw.normal(batch, length, dim), draw.lengths(batch, length)


BOTH_WAYS = Exercise(both_ways, sentences, [])


def last_doubled(x, lengths):
    return both_ways(x, lengths) * (1 + (torch.arange(x.shape[1]) == lengths[:, None] - 1))[..., None]


def each_third_cleared(x, lengths):
    result = both_ways(x, lengths)
    return result * (torch.arange(result.numel()) % 3 > 0).view(result.shape)


@pytest.mark.parametrize(
    "kind, answer",
    [
        ("halves joined otherwise", lambda x, lengths: both_ways(x, lengths).roll(x.shape[2], 2)),
        ("halves joined otherwise", lambda x, lengths: sum(both_ways(x, lengths).tensor_split(2, 2))),
        ("halves joined otherwise", lambda x, lengths: torch.cat(both_ways(x, lengths).tensor_split(2, 2), 1)),
        ("wrong only in the second half of axis 2", lambda x, n: both_ways(x, n) * torch.cat([x * 0 + 1, x], -1)),
        ("wrong only at the last real position of each row", last_doubled),
        ("entries in other positions", lambda x, lengths: both_ways(x, lengths)[lengths.argsort()]),
        ("entries missing", lambda x, lengths: both_ways(x, lengths)[::2]),
        ("too many entries", lambda x, lengths: both_ways(x, lengths)[[*range(len(x)), 0, 1]]),
        ("0 where a number is wanted", each_third_cleared),
        ("divided by the length", lambda x, n: both_ways(x, n) / both_ways(x, n).norm(dim=1, keepdim=True)),
    ],
)
def test_what_is_laid_side_by_side_and_in_rows_is_looked_at_in_parts(kind, answer):
    verdict = judge(BOTH_WAYS, answer)
    assert verdict.kind == kind, verdict.message


def scored(query, key, value):
    return (query @ key.mT).softmax(-1) @ value + key.mean(1, keepdim=True)


def to_score(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, dim), draw.normal(batch, keys, dim), draw.normal(batch, keys, dim)


@pytest.mark.parametrize(
    "answer, about, word",
    [
        (lambda q, k, v: scored(q / q.shape[1] ** 0.5, k, v), ("query", "1", "query"), "divided by √n"),
        (lambda q, k, v: scored(q, k, v + k), ("value", "key"), "sum"),
        (lambda q, k, v: scored(q, k, k), ("value", "key"), "by `key`"),
        (lambda q, k, v: scored(q, k, torch.cat([v[:, 1:], v[:, -1:]], 1)), ("value", "1"), "last entry kept"),
    ],
)
def test_an_argument_joined_with_another_or_scaled_by_a_size_is_told(answer, about, word):
    verdict = judge(Exercise(scored, to_score, []), answer)
    assert (verdict.kind, verdict.about) == (f"as if {about[0]} were changed", about), verdict.message
    assert word in " ".join(verdict.message.split())


def test_two_axes_cut_with_each_others_sizes_are_told():
    def grid(x, height):
        return x.mT.unflatten(-1, (height, -1))

    exercise = Exercise(grid, lambda draw: [(draw.normal(2, 6, 3), 2), (draw.normal(3, 12, 2), 3)], [])
    verdict = judge(exercise, lambda x, height: x.mT.unflatten(-1, (-1, height)).mT)
    assert verdict.kind == "axes cut in the wrong order", verdict.message


def test_an_argument_that_was_reshaped_is_recognised():
    def rows(x):
        return x.flatten(2).mT

    exercise = Exercise(rows, lambda draw: [(draw.normal(*draw.sizes(4)),)], [])
    verdict = judge(exercise, lambda x: x.permute(0, 2, 1, 3).reshape(len(x), -1, x.shape[1]))
    assert (verdict.kind, verdict.about[:5]) == ("an argument reshaped", ("x", "0", "2", "1", "3"))


def shared(parts, words):
    return [
        sum(n / sum(words) * part for n, part in zip(words, of_one, strict=True)) for of_one in zip(*parts, strict=True)
    ]


def workers(draw):
    one, two = draw.sizes(2)
    for words in ([2, 6], [5, 2, 3]):
        yield [[draw.normal(one, 3), draw.normal(two)] for _ in words], words


SHARED = Exercise(shared, workers, [], gradients=False)


@pytest.mark.parametrize(
    "kind, answer, about, word",
    [
        (
            "other weights",
            lambda parts, words: shared(parts, [1] * len(words)),
            ("parts", "words", "2", "6", "0.5", "0.5", "0.25", "0.75"),
            "right",
        ),
        (
            "off by a factor",
            lambda parts, words: [sum(words) * x for x in shared(parts, words)],
            ("result 0", "words"),
            "sum",
        ),
        ("as if parts were changed", lambda parts, words: shared(parts, words[::-1]), ("parts",), "reverse"),
        ("another number of entries", lambda parts, words: [x[0] for x in parts], ("parts", "parts[0]"), "length"),
    ],
)
def test_lists_are_looked_at_entry_by_entry(kind, answer, about, word):
    verdict = judge(SHARED, answer)
    assert (verdict.kind, verdict.about) == (kind, about), verdict.message
    assert word in verdict.message


def test_a_cause_must_fit_the_inputs_on_which_all_is_right():
    """With `offset` doubled, the right function would give something else on all inputs."""

    def moved(x, offset):
        return (x + offset).square()

    exercise = Exercise(moved, lambda draw: [(draw.normal(3, 4), offset) for offset in (1, 2, 3)], [])
    verdict = judge(exercise, lambda x, offset: moved(x, 2 * offset if offset == 2 else offset))
    assert (verdict.kind, verdict.about) == ("wrong for some inputs only", ("offset", "2"))


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


def test_an_entry_without_effect_and_a_number_that_is_missing_are_told():
    def loss(x):
        return x.sin().sum((1, 2)).square().mean()

    exercise = Exercise(loss, lambda draw: [(draw.normal(*draw.sizes(3)),)], [])
    assert judge(exercise, lambda x: loss(x[:, 1:])).kind == "the first entry has no effect"
    assert judge(exercise, lambda x: x.sin().sum((1, 2)).square()).kind == "one number is wanted"


def test_one_number_that_is_almost_right_is_no_sum_of_several():
    exercise = Exercise(lambda n: 10 * n, lambda draw: [(draw.integer(100, 999),)], [], gradients=False)
    verdict = judge(exercise, lambda n: 10 * n * (1 + 1e-6))
    assert not verdict
    assert verdict.kind != "one number is wanted"


def test_an_optional_argument_that_is_none_on_some_inputs_may_be_the_cause_on_the_others():
    def soften(scores, mask=None):
        return soft(scores, torch.ones_like(scores, dtype=torch.bool) if mask is None else mask)

    def inputs(draw):
        scores, mask, _ = next(iter(masked(draw)))
        yield from ((scores, None), (scores, mask))

    verdict = judge(Exercise(soften, inputs, []), lambda s, mask=None: soften(s, None if mask is None else ~mask))
    assert (verdict.kind, verdict.about) == ("as if mask were changed", ("mask",))
    assert "opposite" in verdict.message


@pytest.mark.parametrize(
    "power, about, word", [(1 / math.log(2), ("1", "2", "2"), "base"), (3.0, ("3",), "wherever it is wrong")]
)
def test_a_power_of_the_right_number_is_told(power, about, word):
    def whole(losses):
        return losses.square().sum().exp().item()

    exercise = Exercise(whole, lambda draw: [(draw.normal(3),)], [], gradients=False)
    verdict = judge(exercise, lambda losses: whole(losses) ** power)
    assert (verdict.kind, verdict.about) == ("raised to a power", about)
    assert word in verdict.message


def test_a_number_in_place_of_infinity_is_no_constant_that_was_added():
    def keep(x):
        return x.masked_fill(x.abs() < 0.5, float("-inf"))

    exercise = Exercise(keep, lambda draw: [(draw.normal(3, 4),)], [])
    verdict = judge(exercise, lambda x: x.masked_fill(x.abs() < 0.5, 0.0))
    assert verdict.kind == "wrong only where the right result is infinite"


def test_numbers_under_other_keys_are_not_compared():
    def count(word):
        return {word: len(word)}

    exercise = Exercise(count, lambda draw: [("ab",), ("cde",), ("fghi",), ("jklmn",)], [], gradients=False)
    assert judge(exercise, lambda word: {word[::-1]: len(word)}).kind == "values"


def test_a_mask_with_one_open_position_in_each_row_is_no_row_of_weights():
    def diagonal(x):
        return torch.eye(x.shape[-1], dtype=torch.bool)

    exercise = Exercise(diagonal, lambda draw: [(draw.normal(2, size),) for size in (3, 4, 5)], [])
    verdict = judge(exercise, lambda x: torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool))
    assert (verdict.passed, verdict.kind) == (False, "the same number everywhere")


def test_how_many_digits_agree_is_told():
    for factor, words in ((1 + 1e-8, "about eight digits"), (1 + 1e-6, "about six digits"), (1.01, "two or three")):
        verdict = judge(Exercise(dot, pairs_of_sets), lambda q, k, factor=factor: dot(q, k) * factor)
        assert verdict.kind == "few digits"
        assert words in " ".join(verdict.message.split())


def pairs_of_sets(draw):
    for _ in range(3):
        yield draw.normal(2, 3, 4), draw.normal(2, 5, 4)


def test_probabilities_in_place_of_their_logarithms_are_called_so_and_other_exponentials_are_not():
    def log_weights(q, k):
        return dot(q, k).log_softmax(-1)

    found = judge(Exercise(log_weights, pairs_of_sets), lambda q, k: log_weights(q, k).exp())
    other = judge(Exercise(dot, pairs_of_sets), lambda q, k: dot(q, k).exp())
    assert (found.kind, other.kind) == ("one function too many", "one function too many")
    assert "probabilities, where their logarithms are wanted" in " ".join(found.message.split())
    assert "probabilities" not in other.message


def test_a_large_input_alone_makes_no_lost_digits():
    """Where the error is as large as the result, something else is wrong: here the fill is too high."""

    def open_weights(scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(-1)

    def cases(draw):
        for scale in (1.0, 1e12):
            mask = torch.tensor([[True, False, True]] * 2)
            yield scale * (draw.normal(2, 3) - 3), mask

    found = judge(Exercise(open_weights, cases), lambda s, m: s.masked_fill(~m, -1e9).softmax(-1))
    assert not found.passed
    assert found.kind != "digits lost"


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
