"""Lab 13: what is done with the weights: writing, and reading."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property


def erase_and_add(memory, weights, erase, add):
    seen = weights[:, :, None]  # (B, N, 1)
    kept = memory * (1 - seen * erase[:, None])  # (B, N, M)
    return kept + seen * add[:, None]  # (B, N, M)


def _writings(draw):
    batch, rows, width = draw.sizes(3)
    for B, N, M in ((batch, rows, width), (3, 3, 3), (1, rows, width), (batch, 1, width), (batch, rows, 1), (2, 40, 3)):
        yield 2 * draw.normal(B, N, M), draw.normal(B, N).softmax(-1), draw.uniform(B, M), 2 * draw.normal(B, M)
    one_row = F.one_hot(draw.integers(0, rows, 2), rows).double()
    yield draw.normal(2, rows, width), one_row, torch.ones(2, width, dtype=torch.float64), draw.normal(2, width)
    yield draw.normal(2, rows, width), one_row, torch.zeros(2, width, dtype=torch.float64), draw.normal(2, width)
    beginning = torch.full((2, 4, 3), 1e-6, dtype=torch.float64)  # as the lab's machine begins
    yield beginning, draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), draw.normal(2, 3)
    yield 500 * draw.normal(2, 4, 3), draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), 500 * draw.normal(2, 3)


ERASE_AND_ADD = Exercise(
    erase_and_add,
    cases=_writings,
    properties=[
        Property(
            "replaces the row under the focus",
            "With all weight on one row and erase = 1, that row must become `add`, and no other row may change.",
            lambda result, memory, weights, erase, add: (
                (erase < 1).any() or torch.allclose(result, torch.where(weights[:, :, None] == 1, add[:, None], memory))
            ),
        ),
        Property(
            "adds what is added",
            "With erase = 0 the sum over all rows must grow by just `add`, as the weights sum to 1.",
            lambda result, memory, weights, erase, add: (
                (erase > 0).any() or torch.allclose((result - memory).sum(1), add)
            ),
        ),
    ],
)

_ERASED, _ADDED = "seen * erase[:, None]", "seen * add[:, None]"

wrong = ERASE_AND_ADD.mistakes
wrong(
    "erased after adding",
    "seen = weights[:, :, None]\nreturn (memory + seen * add[:, None]) * (1 - seen * erase[:, None])",
).says("""
    You added first, and then erased part of what had just been written. First erase, then add.""")
wrong("erase without weights", {_ERASED: "erase[:, None]"}).says("""
    You erased in all rows alike. A row forgets only as much as the head looks at it: 1 − w · e.""")
wrong("add without weights", {_ADDED: "add[:, None]"}).says("""
    You added to all rows alike. A row gets only as much as the head looks at it: w · a.""")
wrong("1 minus forgotten", {f"(1 - {_ERASED})": _ERASED}).says("""
    You multiplied by w · e, not by 1 − w · e. A row that nobody looks at is wiped out, and it must stay as it is.""")
wrong("erase subtracted", {f"memory * (1 - {_ERASED})": f"memory - {_ERASED}"}).says("""
    You took w · e off the memory. Erasing means forgetting a *share*: multiply by 1 − w · e.""")
wrong(
    "written under the largest weight only",
    {"weights[:, :, None]": "F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)[:, :, None]"},
).says("""
    You wrote in the row of the largest weight only. All are written, by weight: a choice would have no gradient.""")


def read(memory, weights):
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
    properties=[
        Property(
            "within the rows",
            "A weighted mean lies, in each feature, between the smallest and the largest of the rows.",
            lambda result, memory, weights: (
                (result <= memory.amax(1) + 1e-9) & (result >= memory.amin(1) - 1e-9)
            ).all(),
        ),
        Property(
            "reads the row under the focus",
            "With all weight on one row, that row must be read.",
            lambda result, memory, weights: (
                (weights.amax(-1) < 1).any()
                or torch.allclose(result, memory[torch.arange(len(memory)), weights.argmax(-1)])
            ),
        ),
    ],
)

wrong = READ.mistakes
wrong("the strongest row only", "return memory[range(len(memory)), weights.argmax(-1)]").says("""
    You read only the row of the largest weight. All are read, each by weight: a choice would have no gradient.""")
wrong("weighted, and the mean taken", "return (weights[:, :, None] * memory).mean(1)").says("""
    You weighted and took the mean. The weights sum to 1, so the sum is a mean already: yours is N times too small.""")
wrong("not summed", "return weights[:, :, None] * memory").says("""
    You multiplied each row by its weight and did not sum. What is read is one vector, (B, M): sum over the rows.""")
wrong("weights along the features, summed over the rows", "return (memory * weights[:, None]).sum(1)").says("""
    You multiplied each *feature* by a weight. The weights belong to the rows: weights[:, :, None].""")
wrong("softmax once more", {"weights[:, None]": "weights.softmax(-1)[:, None]"}).says("""
    You took a softmax of the weights. They are weights already; another softmax makes them nearly equal.""")
