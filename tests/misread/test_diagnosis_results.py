"""What is wrong about numbers and tensors, told from the right result."""

import math
import random

import pytest
import torch
from diagnosed import DOT, apart, dot, pairs
from torch.nn import functional as F

from attnlabs import Exercise
from misread.judge import judge


def both(query, key):
    return query @ key.mT, query.mean(1)


BOTH = Exercise(both, pairs, [], returns=("scores", "mean"))


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


@pytest.mark.parametrize("size", [1e-8, -1e-8, 1e-7])
def test_a_change_that_leaves_a_result_as_it_is_explains_no_small_error(size):
    """No weight is below 0, so that its absolute value is the weight itself; a single weight of a row is 1."""

    def noisy(scores):
        noise = torch.randn(scores.shape, generator=torch.Generator().manual_seed(0)).abs()
        return scores.softmax(-1) + size * noise

    verdict = judge(Exercise(lambda scores: scores.softmax(-1), lambda draw: [(draw.normal(*draw.sizes(2)),)]), noisy)
    assert (verdict.passed, verdict.kind) == (False, "few digits")


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


def test_zeros_are_not_the_right_numbers_times_an_argument_that_is_0():
    def warmed(x, heat):
        return x.abs() + 1 if heat == 0 else x * heat

    exercise = Exercise(warmed, lambda draw: [(draw.normal(5), heat) for heat in (0.0, 1.5)], [])
    verdict = judge(exercise, lambda x, heat: torch.zeros_like(x) if heat == 0 else x * heat)
    assert verdict.kind == "0 where a number is wanted"
    verdict = judge(exercise, lambda x, heat: warmed(x, heat) * heat)
    assert (verdict.kind, verdict.about) == ("an argument too many", ("heat",))


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


def test_one_number_that_is_almost_right_is_no_sum_of_several():
    exercise = Exercise(lambda n: 10 * n, lambda draw: [(draw.integer(100, 999),)], [], gradients=False)
    verdict = judge(exercise, lambda n: 10 * n * (1 + 1e-6))
    assert not verdict
    assert verdict.kind != "one number is wanted"


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


def test_nan_beside_a_right_infinity_is_no_constant_that_was_added():
    def keep(x):
        return x.masked_fill(x.abs() < 0.5, float("-inf"))

    exercise = Exercise(keep, lambda draw: [(draw.normal(3, 4),)], [])
    verdict = judge(exercise, lambda x: x + (x.abs() < 0.5) * float("-inf"))  # 0 · ∞
    assert not verdict.passed
    assert "raised or lowered" not in " ".join(verdict.message.split())


def test_how_many_digits_agree_is_told():
    for factor, words in ((1 + 1e-8, "about eight digits"), (1 + 1e-6, "about six digits"), (1.01, "two or three")):
        verdict = judge(Exercise(dot, pairs_of_sets), lambda q, k, factor=factor: dot(q, k) * factor)
        assert verdict.kind == "few digits"
        assert words in " ".join(verdict.message.split())


def test_a_number_near_0_beside_large_ones_does_not_hide_how_many_digits_agree():
    def cases(draw):
        for _ in range(3):
            yield torch.cat([5 * draw.normal(20), torch.tensor([3e-4])]), draw.normal(21)

    def summed(a, b):
        return torch.cat([(a + b)[:-1], a[-1:]])

    verdict = judge(Exercise(summed, cases), lambda a, b: (summed(a, b) + 1).float().double() - 1)
    assert verdict.kind == "few digits"
    assert "about six digits" in " ".join(verdict.message.split())


def test_a_result_that_is_wrong_elsewhere_is_not_wrong_only_there():
    """Nor is it where only one number stands elsewhere, which tells nothing as long as it is right."""

    def cases(draw):
        for open_rows in ([True, True, False, False], [False, True, True, False], [True, True, False, True]):
            yield draw.normal(4, 3), torch.tensor(open_rows)[:, None] | torch.tensor([True, False])

    def sums(x, mask):
        return x.sum(1)

    def doubled(x, mask):
        return sums(x, mask) * (1 + mask.all(1)) + (mask.sum() == 7)

    verdict = judge(Exercise(sums, cases), doubled)
    assert not verdict.passed
    assert "everywhere else it is right" not in " ".join(verdict.message.split())


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
