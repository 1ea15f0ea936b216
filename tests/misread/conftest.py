"""Two small exercises to try the engine on."""

import pytest
import torch

from attnlabs import Exercise, Mistake, Property

torch.set_num_threads(1)


def weigh(weights, value):
    return weights @ value  # (B, Tq, D)


def weights_and_values(draw):
    batch, queries, keys, dim = draw.sizes(4)
    yield draw.normal(batch, queries, keys).softmax(-1), draw.normal(batch, keys, dim)
    yield draw.normal(2, 3, 3).softmax(-1), draw.normal(2, 3, 4)


WEIGH = Exercise(
    weigh,
    cases=weights_and_values,
    properties=[
        Property(
            "within the values",
            "A weighted mean lies between the smallest and the largest value.",
            lambda result, weights, value: (result <= value.amax(1, keepdim=True) + 1e-9).all(),
        )
    ],
    mistakes=[
        Mistake("transposed", "You summed over the queries.", {"weights @": "weights.mT @"}),
        Mistake(
            "plain mean", "You forgot the weights.", "return value.mean(1, keepdim=True).expand_as(weights @ value)"
        ),
        Mistake("weights cut off", "No gradient reaches the weights.", "return weights.detach() @ value"),
    ],
)


def smallest_and_largest(numbers):
    return numbers.min(), numbers.max()


EXTREMES = Exercise(
    smallest_and_largest,
    cases=lambda draw: [(draw.normal(*draw.sizes(2)),)],
    mistakes=[Mistake("swapped", "You swapped the two.", "return numbers.max(), numbers.min()")],
    returns=("smallest", "largest"),
    gradients=False,
)


@pytest.fixture
def weigh_exercise():
    return WEIGH


@pytest.fixture
def extremes_exercise():
    return EXTREMES
