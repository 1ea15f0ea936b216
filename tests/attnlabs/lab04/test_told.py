"""What is said of answers that students of lab 4 have given, where it is not a known mistake's own sentence."""

import torch

from attnlabs.lab04 import check
from misread.judge import judge


def told(name, answer):
    verdict = judge(check.exercise(name), answer)
    assert not verdict.passed
    return " ".join(verdict.message.split())


def _word_alone(embedded, attentional, state, annotations, mask, score, cell, W_c):
    return cell(embedded, state)


def test_a_cell_that_gets_the_word_alone_asks_for_the_attentional_state_and_not_for_the_context():
    assert "the word vector and the last attentional state side by side" in told("input_feeding_step", _word_alone)


def _added_to_the_last_one(embedded, attentional, state, annotations, mask, score, cell, W_c):
    state = cell(torch.cat([embedded, attentional], -1), state)
    weights = score(state[:, None], annotations)[:, 0].masked_fill(~mask, -torch.inf).softmax(-1)
    context = (weights[:, None] @ annotations)[:, 0]
    return (torch.cat([context, state], -1) @ W_c.mT).tanh() + attentional, state, weights


def test_a_result_and_an_argument_of_the_step_have_different_names():
    assert "Your `new_attentional` is the right one plus `attentional`" in told(
        "input_feeding_step", _added_to_the_last_one
    )


def _turned(previous, filters):
    padded = torch.nn.functional.pad(previous, (filters.shape[1] // 2,) * 2)
    return padded.unfold(1, filters.shape[1], 1) @ filters.flip(1).mT


def test_who_turns_the_filters_round_reads_that_conv1d_does_not():
    assert "without turning the filter round" in told("location_features", _turned)
