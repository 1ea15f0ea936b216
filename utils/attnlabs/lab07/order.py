"""Lab 7, after the layer: the same words in another order."""

import torch

from misread.exercise import About, Exercise


def permute_rows(x, order):
    """Position i receives what stood at position order[i]: x (B, T, D), order (T,) -> (B, T, D)."""
    return x[:, order]  # (B, T, D): position i now holds what stood at position order[i]


def turning_order(draw, length):
    """A random order that differs from its own inverse, so that the two can be told apart (3 positions at least)."""
    order = draw.order(length)
    while torch.equal(order[order], torch.arange(length)):
        order = draw.order(length)
    return order


def _rows_and_orders(draw):
    batch, length, dim = draw.sizes(3, low=3)
    yield draw.normal(2, 3, 2), turning_order(draw, 3)
    yield draw.normal(batch, length, dim), turning_order(draw, length)
    yield draw.normal(4, 4, 4), turning_order(draw, 4)  # sentences or features can be reordered here too
    yield draw.normal(1, 4, 5), turning_order(draw, 4)  # one sentence: its axis stays
    yield draw.normal(2, 1, 3), torch.tensor([0])  # one word
    yield draw.normal(2, 6, 3), turning_order(draw, 6)
    yield draw.integers(3, 20, 4, 5, 1), turning_order(draw, 5)  # numbers of words


PERMUTE_ROWS = Exercise(
    permute_rows,
    cases=_rows_and_orders,
    about=About(points=1, minutes=9, difficulty=1, read_again="Self-attention does not know the order"),
)

must = PERMUTE_ROWS.properties
must(
    "each sentence keeps its own words", lambda result, x, order: torch.equal(result.sort(1).values, x.sort(1).values)
).says("""
    Each sentence of the result must contain its own rows, only in another order. In your result some rows are changed
    or come from elsewhere.""")
must("order says what comes first", lambda result, x, order: torch.equal(result[:, 0], x[:, order[0]])).says("""
    Position 0 of the result must hold the row that stood at position order[0]. In your result another row stands
    there.""")

wrong = PERMUTE_ROWS.mistakes
wrong("only the first sentence", {"x[:, order]": "torch.cat([x[:1, order], x[1:]])"}).says("""
    You put only the first sentence into the new order. Axis 0 is the batch: x[:, order] takes the rows of every
    sentence.""")
wrong("rolled until the first row is right", {"x[:, order]": "x.roll(-int(order[0]), dims=1)"}).says("""
    You rolled the rows until the first one was right, which keeps the others in their old sequence. Each position i
    must hold the row order[i]: x[:, order].""")
wrong("the inverse permutation", {"order]": "order.argsort()]"}).says("""
    You moved row i *to* position order[i]. It is the other way round: position i *receives* the row that stood at
    position order[i]. What you computed is the inverse permutation.""")
wrong("sentences reordered", {"x[:, order]": "x[order]"}).says("""
    You reordered the sentences of the batch. The first axis is the batch, which must stay as it is, so reorder
    axis 1.""")
wrong("features reordered", {"x[:, order]": "x[:, :, order]"}).says("""
    You reordered the features. The vector of a word stays as it is, and only its position changes, which is axis
    1.""")
wrong(
    "overwritten while reading",
    "result = x.clone()\nfor i, j in enumerate(order):\n    result[:, i] = result[:, j].clone()\nreturn result",
).says("""
    You copied rows within one tensor, so that later rows read what had been overwritten before. Read from x and
    write into a new tensor, as indexing with a tensor of positions does.""")
wrong(
    "swapped one after the other",
    "result = x.clone()\nfor i, j in enumerate(order):\n    result[:, [i, j]] = result[:, [j, i]]\nreturn result",
).says("""
    You exchanged row i with row order[i], one pair after the other. Each exchange moves rows that are needed
    later, so take all rows from x at once.""")
