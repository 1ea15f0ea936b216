"""Lab 13: its mistakes are caught under their own names, its right answers pass, in any variant."""

import pytest
import torch
from catalogue import ChecksOfALab
from torch.nn import functional as F

from attnlabs import evaluate


class TestLab13(ChecksOfALab):
    lab = "lab13"


def without_a_circle(weights, shift):
    return F.conv1d(F.pad(weights[:, None], (1, 1)), shift.mean(0).flip(0)[None, None])[:, 0]


def moved(weights, shift):
    return shift[:, :1] * weights.roll(-1, 1) + shift[:, 1:2] * weights + shift[:, 2:] * weights.roll(1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        without_a_circle,  # and one shift for the whole batch
        lambda weights, shift: moved(weights, shift) ** 2,
        lambda weights, shift: moved(weights, shift.roll(1, 1)),
        lambda weights, shift: (3 * moved(weights, shift)).softmax(-1),
    ],
)
def test_answers_that_are_wrong_everywhere_are_not_called_wrong_at_the_ends(answer):
    verdict = evaluate("lab13", "circular_shift", answer)
    assert not verdict.passed
    assert "Only the two ends" not in verdict.message


def test_answers_that_are_wrong_at_one_end_are_called_so():
    def falls_off(weights, shift):
        back, stay, forward = shift.split(1, dim=-1)
        return back * F.pad(weights[:, 1:], (0, 1)) + stay * weights + forward * weights.roll(1, dims=-1)

    assert "Only the two ends" in evaluate("lab13", "circular_shift", falls_off).message


def test_a_guard_is_not_blamed_where_there_is_none():
    def cubed(key, beta, memory):
        return (beta * F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-12) ** 3).softmax(-1)

    message = evaluate("lab13", "content_weights", cubed).message
    assert "depend only on the *direction*" in " ".join(message.split())
    assert "(If you add" in message


def test_an_exponential_that_overflows_is_named_as_a_cause():
    def unshifted(key, beta, memory):
        powers = (beta * F.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-12)).exp()
        return powers / (powers.sum(-1, keepdim=True) + 1e-12)

    assert "∞ / ∞" in evaluate("lab13", "content_weights", unshifted).message


def test_the_slope_of_the_square_root_at_zero_is_named_as_a_cause():
    def root_of_zero(key, beta, memory):
        lengths = memory.square().sum(-1).sqrt().clamp_min(1e-12) * key.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        return (beta * torch.einsum("bnm,bm->bn", memory, key) / lengths).softmax(-1)

    assert "square root" in evaluate("lab13", "content_weights", root_of_zero).message
