"""Lab 13: its mistakes are caught under their own names, its right answers pass, in any variant."""

import pytest
import torch
from catalogue import ChecksOfALab
from torch.nn import functional as F

from attnlabs import evaluate
from attnlabs.lab13.step import ntm_step


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
    assert "Between the ends" not in verdict.message


def test_answers_that_are_wrong_at_one_end_are_called_so():
    def falls_off(weights, shift):
        back, stay, forward = shift.split(1, dim=-1)
        return back * F.pad(weights[:, 1:], (0, 1)) + stay * weights + forward * weights.roll(1, dims=-1)

    message = evaluate("lab13", "circular_shift", falls_off).message
    assert "only at the last position" in message
    assert "Between the ends your result is right" in " ".join(message.split())


def test_an_assignment_in_a_memory_of_one_row_or_two_is_named_as_a_cause():
    def assigned(weights, shift):
        rows = torch.arange(weights.shape[1])
        moves = weights.new_zeros(len(weights), len(rows), len(rows))
        for move, part in zip((-1, 0, 1), shift.split(1, dim=-1), strict=True):
            moves[:, rows, (rows + move) % len(rows)] = part
        return (weights[:, None] @ moves)[:, 0]

    assert "look for an assignment" in " ".join(evaluate("lab13", "circular_shift", assigned).message.split())


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


@pytest.mark.parametrize("exercise", ["content_weights", "sharpen"])
def test_an_answer_without_its_number_is_not_told_that_it_used_it(exercise):
    answers = {
        "content_weights": lambda key, beta, memory: F.cosine_similarity(memory, key[:, None], -1, 1e-12).softmax(-1),
        "sharpen": lambda weights, gamma: weights / weights.sum(-1, keepdim=True),
    }
    message = " ".join(evaluate("lab13", exercise, answers[exercise]).message.split())
    assert "You multiplied the" not in message
    assert "You did not use β" in message or "γ has no effect" in message


@pytest.mark.parametrize("cut", [(0,), (1, 2), (0, 1, 2, 3)])
def test_entries_of_the_state_that_lose_their_gradient_are_named(cut):
    def step(x, state, machine):
        output, state = ntm_step(x, state, machine)
        return output, tuple(part.detach() if i in cut else part for i, part in enumerate(state))

    verdict = evaluate("lab13", "ntm_step", step)
    names = ["memory", "last_read", "read_weights", "write_weights"]
    assert verdict.about == (", ".join(names[i] for i in cut),)


def test_arguments_of_the_controller_that_are_exchanged_stop_the_step():
    def exchanged(x, state, machine):
        machine.controller(state[1], x)
        return ntm_step(x, state, machine)

    verdict = evaluate("lab13", "ntm_step", exchanged)
    assert (verdict.kind, "machine.controller: x has shape" in verdict.message) == ("error", True)


@pytest.mark.parametrize("variant", [9, 30])
def test_no_weight_of_a_step_is_so_small_that_a_guard_beside_it_shows(variant):
    """`log(w + 1e-12)` in the place of log(w) has another slope where w is about 1e-12."""

    def guarded(x, state, machine):
        def address(previous, orders):
            found = (orders.beta * F.cosine_similarity(state[0], orders.key[:, None], -1, 1e-12)).softmax(-1)
            back, stay, forward = orders.shift.split(1, -1)
            mixed = torch.lerp(previous, found, orders.gate)
            mixed = back * mixed.roll(-1, 1) + stay * mixed + forward * mixed.roll(1, 1)
            return (orders.gamma * (mixed + 1e-12).log()).softmax(-1)

        hidden = machine.controller(x, state[1])
        reader, writer = address(state[2], machine.read_head(hidden)), address(state[3], machine.write_head(hidden))
        erase, add = machine.writing(hidden)
        memory = state[0] * (1 - writer[:, :, None] * erase[:, None]) + writer[:, :, None] * add[:, None]
        vector = torch.einsum("bn,bnm->bm", reader, memory)
        return machine.output(hidden, vector), (memory, vector, reader, writer)

    verdict = evaluate("lab13", "ntm_step", guarded, variant, explains=False)
    assert verdict.passed, verdict.message
