"""Questions on chapters 4 and 6, answered with fractions."""

from fractions import Fraction

import pytest
import torch
from exam_answers import disagreements
from torch import nn


def local_window(share, length, half, exponentials):
    centre = length * share
    nearest = min(max(centre, 0), length - 1)
    inside = [j for j in range(length) if abs(j - nearest) <= half]
    weights = [Fraction(e, sum(exponentials)) for e in exponentials]
    return {"centre": centre, "inside": inside, "weights": weights, "gaussian": [(j - centre) ** 2 / 2 for j in inside]}


def walking_centres(shares, length):
    at, path = Fraction(-1), []
    for share in shares:
        at = min(at + 3 * share, Fraction(length - 1))
        path.append(at)
    return {"centres": path}


def judged_seeds(one, other):
    overlap = any(min(one) <= number <= max(one) for number in (min(other), max(other)))
    return {"means": [Fraction(sum(one), 3), Fraction(sum(other), 3)], "overlap": overlap}


def policy_gradient(tenths, rewards, drawn):
    alpha = [Fraction(n, 10) for n in tenths]
    expected = sum(a * r for a, r in zip(alpha, rewards, strict=True))
    all_draws = [[(rewards[s] - b) * ((k == s) - alpha[k]) for k in range(3)] for s in range(3) for b in (0, expected)]
    exact = [a * (r - expected) for a, r in zip(alpha, rewards, strict=True)]
    for b in (0, 1):  # the estimate is unbiased, with a baseline and without
        assert [sum(alpha[s] * all_draws[2 * s + b][k] for s in range(3)) for k in range(3)] == exact
    return {"expected": expected, "exact": exact, "estimates": all_draws[2 * drawn : 2 * drawn + 2]}


def receptive_pixels(layers):
    fields = []
    for depth in range(1, len(layers) + 1):  # which pixels change the middle position, by gradients
        x = torch.zeros(1, 1, 200, requires_grad=True)
        y = x
        for size, stride in layers[:depth]:
            y = nn.functional.conv1d(y, torch.ones(1, 1, size), stride=stride)
        y[0, 0, y.shape[-1] // 2].backward()
        fields.append(int((x.grad != 0).sum()))
    return {"fields": fields, "distance": 2 ** sum(stride == 2 for _, stride in layers)}


@pytest.mark.parametrize("compute", [
    local_window, walking_centres, judged_seeds, policy_gradient, receptive_pixels,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
