"""Answers to exercises of the labs are explained."""

import pytest
import torch
from torch.nn import functional as F

from attnlabs import checks_of, evaluate


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


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
def test_where_infinity_is_wanted_it_is_not_said_that_all_numbers_are_finite(number):
    reference = checks_of("lab07").exercise("path_length").reference

    def path_length(mask):
        lengths = reference(mask)
        return lengths.masked_fill(lengths.isinf(), number)

    verdict = evaluate("lab07", "path_length", path_length)
    assert verdict.mistake == "not a number"
    assert "are finite" not in verdict.message
    assert "Infinity itself is wanted" in verdict.message


def test_single_precision_is_told_as_a_cause_of_lost_digits():
    def in_single_precision(query, key, value, mask=None):
        context, weights = reference(query.float(), key.float(), value.float(), mask)
        return context.to(query.dtype), weights.to(query.dtype)

    reference = checks_of("lab03").exercise("scaled_dot_attention").reference
    verdict = evaluate("lab03", "scaled_dot_attention", in_single_precision)
    assert verdict.kind == "digits lost"
    assert "`.float()`" in verdict.message
