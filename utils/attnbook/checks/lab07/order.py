"""Lab 7, after the layer: the same words in another order."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def permute_rows(x, order):
    return x[:, order]  # (B, T, D): place i now holds what stood at place order[i]


def turning_order(draw, places):
    """A random order that differs from its own inverse, so that the two can be told apart (3 places at least)."""
    order = draw.order(places)
    while torch.equal(order[order], torch.arange(places)):
        order = draw.order(places)
    return order


def _rows_and_orders(draw):
    batch, places, dim = draw.sizes(3, low=3)
    yield draw.normal(2, 3, 2), turning_order(draw, 3)
    yield draw.normal(batch, places, dim), turning_order(draw, places)
    yield draw.normal(4, 4, 4), turning_order(draw, 4)  # sentences or features can be reordered here too
    yield draw.normal(1, 4, 5), turning_order(draw, 4)  # one sentence: its axis stays
    yield draw.normal(2, 1, 3), torch.tensor([0])  # one word
    yield draw.normal(2, 6, 3), turning_order(draw, 6)
    yield draw.integers(3, 20, 4, 5, 1), turning_order(draw, 5)  # numbers of words


PERMUTE_ROWS = Exercise(
    permute_rows,
    cases=_rows_and_orders,
    tolerance=1e-9,
    properties=[
        Property(
            "each sentence keeps its own words",
            "Each sentence of the result must hold its own rows, only in another order.",
            lambda result, x, order: torch.equal(result.sort(1).values, x.sort(1).values),
        ),
        Property(
            "order says what comes first",
            "Place 0 of the result must hold what stood at place order[0].",
            lambda result, x, order: torch.equal(result[:, 0], x[:, order[0]]),
        ),
    ],
)

wrong = PERMUTE_ROWS.mistakes
wrong("the way back", {"order]": "order.argsort()]"}).says("""
    You sent row i *to* place order[i]. Asked for is the other way round: place i *gets* the row that stood at place
    order[i]. What you have is the inverse, the way back.""")
wrong("sentences reordered", {"x[:, order]": "x[order]"}).says("""
    You reordered the sentences of the batch. The first axis is the batch: leave it alone, and reorder axis 1.""")
wrong("features reordered", {"x[:, order]": "x[:, :, order]"}).says("""
    You reordered the features. A word's vector stays as it is; what changes is where the word stands, axis 1.""")
wrong(
    "overwritten while reading",
    "result = x.clone()\nfor i, j in enumerate(order):\n    result[:, i] = result[:, j].clone()\nreturn result",
).says("""
    You copied rows within one tensor, and later rows read what had been overwritten already. Read from x, and write
    into a new tensor (indexing with a list of places does both).""")
wrong(
    "swapped one after the other",
    "result = x.clone()\nfor i, j in enumerate(order):\n    result[:, [i, j]] = result[:, [j, i]]\nreturn result",
).says("""
    You swapped row i with row order[i], one pair after the other. Each swap moves rows that later ones count on: take
    all rows from x at once.""")
