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
    yield (
        torch.full((2, 4, 3), 1e-6, dtype=torch.float64),
        draw.normal(2, 4).softmax(-1),
        draw.uniform(2, 3),
        draw.normal(2, 3),
    )  # as the lab's machine begins
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

wrong = ERASE_AND_ADD.mistakes
wrong(
    "in place",
    "memory.mul_(1 - weights[:, :, None] * erase[:, None])\nreturn memory.add_(weights[:, :, None] * add[:, None])",
).says("""
    You wrote into the memory that came in. The step before still needs it, for its gradient above all: make a new
    one.""")
wrong(
    "erased after adding",
    "seen = weights[:, :, None]\nreturn (memory + seen * add[:, None]) * (1 - seen * erase[:, None])",
).says("""
    You added first and erased afterwards, so that you erased part of what had just been written. First erase, then
    add.""")
wrong("erase without weights", {"seen * erase[:, None]": "erase[:, None]"}).says("""
    You erased in all rows alike. A row forgets only as much as the head looks at it: 1 − w · e.""")
wrong("add without weights", {"seen * add[:, None]": "add[:, None]"}).says("""
    You added to all rows alike. A row gets only as much as the head looks at it: w · a.""")
wrong(
    "erase and add without weights", {"seen * erase[:, None]": "erase[:, None]", "seen * add[:, None]": "add[:, None]"}
).says("""
    You erased and added in all rows alike; the weights have no effect. A row takes part as much as the head looks at
    it: both erase and add are multiplied by w.""")
wrong("nothing erased", {" * (1 - seen * erase[:, None])": ""}).says("""
    You only added. What stood in the row is still there, and the two get mixed: erase first.""")
wrong("nothing added", {" + seen * add[:, None]": ""}).says("""
    You only erased. After that w · a is added.""")
wrong("1 minus forgotten", {"(1 - seen * erase[:, None])": "seen * erase[:, None]"}).says("""
    You multiplied by w · e in place of 1 − w · e. A row that nobody looks at would be wiped out, and it must stay as
    it is.""")
wrong("erase subtracted", {"memory * (1 - seen * erase[:, None])": "memory - seen * erase[:, None]"}).says("""
    You took w · e off the memory. Erasing means forgetting a *share*: multiply by 1 − w · e.""")
wrong("1 − e in the brackets' place", {"(1 - seen * erase[:, None])": "seen * (1 - erase[:, None])"}).says("""
    You multiplied by w · (1 − e). A row without weight would be wiped out. What is taken away is w · e: multiply by 1
    − w · e.""")
wrong("erased whole", {"seen * erase[:, None]": "seen"}).says("""
    You took 1 − w, as if erase were 1 everywhere. erase says for each *feature* how much of it goes.""")
wrong("added by what was erased", {"seen * add[:, None]": "seen * erase[:, None] * add[:, None]"}).says("""
    You multiplied `add` by w · e. How much is added depends on w alone: one may add without erasing.""")
wrong(
    "erase and add swapped",
    {
        "seen * erase[:, None]": "seen * add[:, None]",
        "return kept + seen * add[:, None]": "return kept + seen * erase[:, None]",
    },
).says("""
    You took `add` for `erase` and the other way round. The memory is multiplied by 1 − w · e, then w · a is added.""")
wrong("add subtracted", {"kept + seen": "kept - seen"}).says("""
    You took w · a off the memory. It is added: what is new comes on top of what is left.""")
wrong("erase brought into range again", {"erase[:, None]": "erase.sigmoid()[:, None]"}).says("""
    You sent erase through a sigmoid. It comes as numbers from 0 to 1 already. Use it as it is.""")
wrong(
    "written under the largest weight only",
    {"weights[:, :, None]": "F.one_hot(weights.argmax(-1), weights.shape[1]).to(weights.dtype)[:, :, None]"},
).says("""
    You wrote only in the row with the largest weight. All rows are written, each by its weight: a choice would have
    no gradient.""")
wrong("one head for the whole batch", {"weights[:, :, None]": "weights[:1, :, None]"}).says("""
    You used the weights of the first sequence for all. Each sequence has its own memory and its own head.""")
wrong(
    "weights beside the features",
    "kept = memory * (1 - weights[:, None] * erase[:, :, None])\nreturn kept + weights[:, None] * add[:, :, None]",
).says("""
    You laid the weights along the features, and erase and add along the rows. Weights belong to rows: weights[:, :,
    None] and erase[:, None, :].""")
wrong("cut to 0 … 1", {"return kept + seen * add[:, None]": "return (kept + seen * add[:, None]).clamp(0, 1)"}).says("""
    You cut the memory to the range from 0 to 1. Its numbers may be any.""")
wrong("the old memory cut off", {"memory * (1": "memory.detach() * (1"}).says("""
    Your memory is right, but you cut the old one off the gradient (detach, no_grad, .data). What was written five
    steps ago must still learn from the mistake that is made now.""")


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
wrong(
    "the strongest row only", "return memory[torch.arange(len(memory), device=memory.device), weights.argmax(-1)]"
).says("""
    You read only the row with the largest weight. All rows are read, each by its weight: a choice would have no
    gradient.""")
wrong("plain mean", "return memory.mean(1)").says("""
    You took the plain mean of the rows, and the weights have no effect. Multiply each row by its weight, and sum.""")
wrong("sum without weights", "return memory.sum(1)").says("""
    You summed the rows as they are. Multiply each by its weight first.""")
wrong("weighted, and the mean taken", "return (weights[:, :, None] * memory).mean(1)").says("""
    You multiplied by the weights and took the mean. The weights sum to 1, so the sum is a mean already: yours is N
    times too small.""")
wrong("not summed", "return weights[:, :, None] * memory").says("""
    You multiplied each row by its weight and did not sum. What is read is one vector, (B, M): sum over the rows.""")
wrong("summed over the features", "return (weights[:, :, None] * memory).sum(-1)").says("""
    You summed over the features. That leaves one number a row; wanted is one vector, the sum over the rows.""")
wrong("weights beside the features", "return (memory * weights[:, None]).sum(-1)").says("""
    You laid the weights along the features. They belong to the rows: weights[:, :, None], and the sum goes over axis
    1.""")
wrong("weights along the features, summed over the rows", "return (memory * weights[:, None]).sum(1)").says("""
    You multiplied each *feature* by a weight. The weights belong to the rows: weights[:, :, None].""")
wrong("one head for the whole batch", {"weights[:, None]": "weights[:1, None]"}).says("""
    You used the weights of the first sequence for all. Each sequence has its own head.""")
wrong("softmax once more", {"weights[:, None]": "weights.softmax(-1)[:, None]"}).says("""
    You took a softmax of the weights. They are weights already; another softmax makes them nearly equal.""")
wrong("an axis left over", {"(weights[:, None] @ memory)[:, 0]": "weights[:, None] @ memory"}).says("""
    Your result is (B, 1, M). Wanted is one vector a sequence, (B, M): take off the axis in the middle.""")
wrong("the memory cut off", {"@ memory": "@ memory.detach()"}).says("""
    What you read is right, but you cut the memory off the gradient (detach, no_grad, .data). Then nothing that is
    written can ever learn from what is read.""")
