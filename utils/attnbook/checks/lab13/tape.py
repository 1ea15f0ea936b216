"""Lab 13: what is done with the weights: writing, and reading."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Mistake, Property


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
    yield torch.full((2, 4, 3), 1e-6, dtype=torch.float64), draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), \
        draw.normal(2, 3)  # as the lab's machine begins
    yield 500 * draw.normal(2, 4, 3), draw.normal(2, 4).softmax(-1), draw.uniform(2, 3), 500 * draw.normal(2, 3)


ERASE_AND_ADD = Exercise(
    erase_and_add,
    cases=_writings,
    properties=[
        Property(
            "replaces the row under the focus",
            "With all weight on one row and erase = 1, that row must become `add`, and no other row may change.",
            lambda result, memory, weights, erase, add: (erase < 1).any() or torch.allclose(
                result, torch.where(weights[:, :, None] == 1, add[:, None], memory)),
        ),
        Property(
            "adds what is added",
            "With erase = 0 the sum over all rows must grow by just `add`, as the weights sum to 1.",
            lambda result, memory, weights, erase, add: (erase > 0).any() or torch.allclose(
                (result - memory).sum(1), add),
        ),
    ],
    mistakes=[
        Mistake(
            "in place",
            "You wrote into the memory that came in. The step before still needs it, for its gradient above all: make "
            "a new one.",
            "memory.mul_(1 - weights[:, :, None] * erase[:, None])\n"
            "return memory.add_(weights[:, :, None] * add[:, None])",
        ),
        Mistake(
            "erased after adding",
            "You added first and erased afterwards, so that you erased part of what had just been written. First "
            "erase, then add.",
            "seen = weights[:, :, None]\nreturn (memory + seen * add[:, None]) * (1 - seen * erase[:, None])",
        ),
        Mistake(
            "erase without weights",
            "You erased in all rows alike. A row forgets only as much as the head looks at it: 1 − w · e.",
            {"seen * erase[:, None]": "erase[:, None]"},
        ),
        Mistake(
            "add without weights",
            "You added to all rows alike. A row gets only as much as the head looks at it: w · a.",
            {"seen * add[:, None]": "add[:, None]"},
        ),
        Mistake(
            "erase and add without weights",
            "You erased and added in all rows alike; the weights have no effect. A row takes part as much as the "
            "head looks at it: both erase and add are multiplied by w.",
            {"seen * erase[:, None]": "erase[:, None]", "seen * add[:, None]": "add[:, None]"},
        ),
        Mistake(
            "nothing erased",
            "You only added. What stood in the row is still there, and the two get mixed: erase first.",
            {" * (1 - seen * erase[:, None])": ""},
        ),
        Mistake(
            "nothing added",
            "You only erased. After that w · a is added.",
            {" + seen * add[:, None]": ""},
        ),
        Mistake(
            "1 minus forgotten",
            "You multiplied by w · e in place of 1 − w · e. A row that nobody looks at would be wiped out, and it "
            "must stay as it is.",
            {"(1 - seen * erase[:, None])": "seen * erase[:, None]"},
        ),
        Mistake(
            "erase subtracted",
            "You took w · e off the memory. Erasing means forgetting a *share*: multiply by 1 − w · e.",
            {"memory * (1 - seen * erase[:, None])": "memory - seen * erase[:, None]"},
        ),
        Mistake(
            "1 − e in the brackets' place",
            "You multiplied by w · (1 − e). A row without weight would be wiped out. What is taken away is w · e: "
            "multiply by 1 − w · e.",
            {"(1 - seen * erase[:, None])": "seen * (1 - erase[:, None])"},
        ),
        Mistake(
            "erased whole",
            "You took 1 − w, as if erase were 1 everywhere. erase says for each *feature* how much of it goes.",
            {"seen * erase[:, None]": "seen"},
        ),
        Mistake(
            "added by what was erased",
            "You multiplied `add` by w · e. How much is added depends on w alone: one may add without erasing.",
            {"seen * add[:, None]": "seen * erase[:, None] * add[:, None]"},
        ),
        Mistake(
            "erase and add swapped",
            "You took `add` for `erase` and the other way round. The memory is multiplied by 1 − w · e, then w · a is "
            "added.",
            {"seen * erase[:, None]": "seen * add[:, None]", "return kept + seen * add[:, None]":
             "return kept + seen * erase[:, None]"},
        ),
        Mistake(
            "add subtracted",
            "You took w · a off the memory. It is added: what is new comes on top of what is left.",
            {"kept + seen": "kept - seen"},
        ),
        Mistake(
            "erase brought into range again",
            "You sent erase through a sigmoid. It comes as numbers from 0 to 1 already. Use it as it is.",
            {"erase[:, None]": "erase.sigmoid()[:, None]"},
        ),
        Mistake(
            "written under the largest weight only",
            "You wrote only in the row with the largest weight. All rows are written, each by its weight: a choice "
            "would have no gradient.",
            {"weights[:, :, None]": "F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)[:, :, None]"},
        ),
        Mistake(
            "one head for the whole batch",
            "You used the weights of the first sequence for all. Each sequence has its own memory and its own head.",
            {"weights[:, :, None]": "weights[:1, :, None]"},
        ),
        Mistake(
            "weights beside the features",
            "You laid the weights along the features, and erase and add along the rows. Weights belong to rows: "
            "weights[:, :, None] and erase[:, None, :].",
            "kept = memory * (1 - weights[:, None] * erase[:, :, None])\n"
            "return kept + weights[:, None] * add[:, :, None]",
        ),
        Mistake(
            "cut to 0 … 1",
            "You cut the memory to the range from 0 to 1. Its numbers may be any.",
            {"return kept + seen * add[:, None]": "return (kept + seen * add[:, None]).clamp(0, 1)"},
        ),
        Mistake(
            "the old memory cut off",
            "Your memory is right, but you cut the old one off the gradient (detach, no_grad, .data). What was written "
            "five steps ago must still learn from the mistake that is made now.",
            {"memory * (1": "memory.detach() * (1"},
        ),
    ],
)


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
                (result <= memory.amax(1) + 1e-9) & (result >= memory.amin(1) - 1e-9)).all(),
        ),
        Property(
            "reads the row under the focus",
            "With all weight on one row, that row must be read.",
            lambda result, memory, weights: (weights.amax(-1) < 1).any() or torch.allclose(
                result, memory[torch.arange(len(memory)), weights.argmax(-1)]),
        ),
    ],
    mistakes=[
        Mistake(
            "the strongest row only",
            "You read only the row with the largest weight. All rows are read, each by its weight: a choice would "
            "have no gradient.",
            "return memory[torch.arange(len(memory), device=memory.device), weights.argmax(-1)]",
        ),
        Mistake(
            "plain mean",
            "You took the plain mean of the rows, and the weights have no effect. Multiply each row by its weight, and "
            "sum.",
            "return memory.mean(1)",
        ),
        Mistake(
            "sum without weights",
            "You summed the rows as they are. Multiply each by its weight first.",
            "return memory.sum(1)",
        ),
        Mistake(
            "weighted, and the mean taken",
            "You multiplied by the weights and took the mean. The weights sum to 1, so the sum is a mean already: "
            "yours is N times too small.",
            "return (weights[:, :, None] * memory).mean(1)",
        ),
        Mistake(
            "not summed",
            "You multiplied each row by its weight and did not sum. What is read is one vector, (B, M): sum over "
            "the rows.",
            "return weights[:, :, None] * memory",
        ),
        Mistake(
            "summed over the features",
            "You summed over the features. That leaves one number a row; wanted is one vector, the sum over the rows.",
            "return (weights[:, :, None] * memory).sum(-1)",
        ),
        Mistake(
            "weights beside the features",
            "You laid the weights along the features. They belong to the rows: weights[:, :, None], and the sum goes "
            "over axis 1.",
            "return (memory * weights[:, None]).sum(-1)",
        ),
        Mistake(
            "weights along the features, summed over the rows",
            "You multiplied each *feature* by a weight. The weights belong to the rows: weights[:, :, None].",
            "return (memory * weights[:, None]).sum(1)",
        ),
        Mistake(
            "one head for the whole batch",
            "You used the weights of the first sequence for all. Each sequence has its own head.",
            {"weights[:, None]": "weights[:1, None]"},
        ),
        Mistake(
            "softmax once more",
            "You took a softmax of the weights. They are weights already; another softmax makes them nearly equal.",
            {"weights[:, None]": "weights.softmax(-1)[:, None]"},
        ),
        Mistake(
            "an axis left over",
            "Your result is (B, 1, M). Wanted is one vector a sequence, (B, M): take off the axis in the middle.",
            {"(weights[:, None] @ memory)[:, 0]": "weights[:, None] @ memory"},
        ),
        Mistake(
            "the memory cut off",
            "What you read is right, but you cut the memory off the gradient (detach, no_grad, .data). Then nothing "
            "that is written can ever learn from what is read.",
            {"@ memory": "@ memory.detach()"},
        ),
    ],
)
