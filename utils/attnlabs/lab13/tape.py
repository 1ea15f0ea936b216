"""Lab 13: what is done with the weights: writing, and reading."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise

from ..families.attention_properties import along_the_sum


def erase_and_add(memory, weights, erase, add):
    """Erase and add in proportion to the weights: (B, N, M), (B, N), (B, M), (B, M) -> new (B, N, M)."""
    portion = weights[:, :, None]  # (B, N, 1)
    kept = memory * (1 - portion * erase[:, None])  # (B, N, M)
    return kept + portion * add[:, None]  # (B, N, M)


def _writings(draw):
    batch, rows, width = draw.sizes(3)
    for B, N, M in ((batch, rows, width), (3, 3, 3), (1, rows, width), (batch, 1, width), (batch, rows, 1), (2, 40, 3)):
        yield 2 * draw.normal(B, N, M), draw.normal(B, N).softmax(-1), draw.uniform(B, M), 2 * draw.normal(B, M)
    one_row = F.one_hot(draw.integers(0, rows, 1), rows).double()
    yield draw.normal(1, rows, width), one_row, torch.ones(1, width, dtype=torch.float64), draw.normal(1, width)
    yield draw.normal(1, rows, width), one_row, torch.zeros(1, width, dtype=torch.float64), draw.normal(1, width)
    beginning = torch.full((2, 4, 3), 1e-6, dtype=torch.float64)  # as the lab's machine begins
    yield beginning, draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), draw.normal(2, 3)
    yield 500 * draw.normal(2, 4, 3), draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), 500 * draw.normal(2, 3)


ERASE_AND_ADD = Exercise(
    erase_and_add, cases=_writings, about=About(points=3, minutes=14, difficulty=3, read_again="Reading and writing")
)

must = ERASE_AND_ADD.properties
must(
    "replaces a row that has all the weight",
    lambda result, memory, weights, erase, add: (
        (erase < 1).any() or torch.allclose(result, torch.where(weights[:, :, None] == 1, add[:, None], memory))
    ),
).says("""
    With all weight on one row and erase = 1, this row must become `add`, and no other row may change.""")
must(
    "adds what is added",
    lambda result, memory, weights, erase, add: (erase > 0).any() or torch.allclose((result - memory).sum(1), add),
).says("""
    With erase = 0, nothing is deleted. The sum over all rows must then grow by exactly `add`, because the weights sum
    to 1.""")

_ERASED, _ADDED = "portion * erase[:, None]", "portion * add[:, None]"

wrong = ERASE_AND_ADD.mistakes
wrong(
    "erased after adding",
    "portion = weights[:, :, None]\nreturn (memory + portion * add[:, None]) * (1 - portion * erase[:, None])",
).says("""
    You added first and erased afterwards, so that part of what you had just added was deleted. Erase first, then
    add.""")
wrong("erase without weights", {_ERASED: "erase[:, None]"}).says("""
    You erased all rows equally. Each row must be erased in proportion to its weight, so it keeps the factor
    1 − w · e.""")
wrong("add without weights", {_ADDED: "add[:, None]"}).says("""
    You added the whole vector to every row. Each row must receive it in proportion to its weight, which is w · a.""")
wrong("1 minus forgotten", {f"(1 - {_ERASED})": _ERASED}).says("""
    You multiplied the memory by w · e instead of 1 − w · e. A row with weight 0 would then be deleted, but it must stay
    as it is.""")
wrong("erase subtracted", {f"memory * (1 - {_ERASED})": f"memory - {_ERASED}"}).says("""
    You subtracted w · e from the memory. Erasing deletes a *proportion* of what is there, so multiply the memory by
    1 − w · e.""")
wrong("two brackets", {f"(1 - {_ERASED})": "(1 - portion) * (1 - erase[:, None])"}).says("""
    You multiplied the memory by (1 − w) · (1 − e). Then a row loses something where only one of the two is above 0.
    What is erased is the product w · e, and a row keeps the rest of it: one bracket, 1 − w · e.""")
wrong("weight outside the bracket", {f"memory * (1 - {_ERASED})": "memory * portion * (1 - erase[:, None])"}).says("""
    You multiplied the memory by w · (1 − e). A row with weight 0 would then be deleted, but it must stay as it is. The
    weight belongs to the erase vector: 1 − w · e.""")
wrong("weights along the features", {"weights[:, :, None]": "weights[:, None]"}).says("""
    You gave the weights the shape (B, 1, N), so that they run along the features, or the shapes do not fit. The weights
    belong to the rows: `weights[:, :, None]` has shape (B, N, 1).""")
wrong(
    "rows and features exchanged",
    "erased, added = erase[:, :, None] * weights[:, None], add[:, :, None] * weights[:, None]\n"
    "return memory * (1 - erased) + added",
).says("""
    You multiplied the weights with erase and add so that the products have shape (B, M, N), with the features before
    the rows. The memory is (B, N, M): give the weights the shape (B, N, 1), and erase and add the shape (B, 1, M).""")
wrong(
    "written under the largest weight only",
    {"weights[:, :, None]": "F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)[:, :, None]"},
).says("""
    You wrote only to the row with the largest weight. All rows are written in proportion to their weights, because a
    choice of one row would have no gradient.""")


def read(memory, weights):
    """The weighted sum of the rows: (B, N, M), (B, N) -> (B, M)."""
    return (weights[:, None] @ memory)[:, 0]  # (B, 1, N) @ (B, N, M) -> (B, M)


def _readings(draw):
    batch, rows, width = draw.sizes(3)
    for B, N, M in ((batch, rows, width), (3, 3, 3), (1, rows, width), (batch, 1, width), (batch, rows, 1), (2, 40, 3)):
        yield 2 * draw.normal(B, N, M), draw.normal(B, N).softmax(-1)
    yield draw.normal(2, rows, width), F.one_hot(draw.integers(0, rows, 2), rows).double()
    yield 500 * draw.normal(2, 4, 3), draw.normal(2, 4).softmax(-1)


READ = Exercise(
    read,
    cases=_readings,
    canonical_gradients=along_the_sum(1),
    about=About(points=1, minutes=6, difficulty=1, read_again="Reading and writing"),
)

must = READ.properties
must(
    "within the rows",
    lambda result, memory, weights: ((result <= memory.amax(1) + 1e-9) & (result >= memory.amin(1) - 1e-9)).all(),
).says("""
    A weighted sum whose weights sum to 1 is an average, so each feature of it must lie between the smallest and the
    largest value of this feature in the rows.""")
must(
    "reads a row that has all the weight",
    lambda result, memory, weights: (
        (weights.amax(-1) < 1).any() or torch.allclose(result, memory[torch.arange(len(memory)), weights.argmax(-1)])
    ),
).says("""
    With all weight on one row, the result must be this row.""")

wrong = READ.mistakes
wrong("the strongest row only", "return memory[range(len(memory)), weights.argmax(-1)]").says("""
    You read only the row with the largest weight. All rows are read in proportion to their weights, because a choice of
    one row would have no gradient.""")
wrong("weighted, and the mean taken", "return (weights[:, :, None] * memory).mean(1)").says("""
    You took the mean of the weighted rows. The weights already sum to 1, so take the sum: your result is N times too
    small.""")
wrong("not summed", "return weights[:, :, None] * memory").says("""
    You multiplied each row by its weight, but you did not sum over the rows. The result is one vector per sequence,
    (B, M).""")
wrong("weights along the features, summed over the rows", "return (memory * weights[:, None]).sum(1)").says("""
    You multiplied each *feature* by a weight. The weights belong to the rows, so they need the shape (B, N, 1), which
    is weights[:, :, None].""")
wrong("weights without an axis for the features", "return (memory * weights).sum(1)").says("""
    You multiplied the memory (B, N, M) by weights (B, N) as they are. PyTorch aligns shapes from the right, so the
    weights run along the features, or the shapes do not fit. Give the weights an axis for the features,
    weights[:, :, None].""")
