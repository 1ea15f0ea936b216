"""Lab 7, second part: who may see whom."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)


def _some_lengths(draw):
    yield (3 + draw.number,)
    yield (draw.integer(2, 6),)
    yield (draw.integer(7, 40),)
    yield (1,)
    if draw.number == 1:  # longer than a table that was made beforehand
        yield (130,)


CAUSAL_MASK = Exercise(
    causal_mask,
    cases=_some_lengths,
    properties=[
        Property(
            "the first word sees itself alone",
            "Row 0 belongs to the first word. Nothing came before it, so it sees itself and nothing else.",
            lambda result, length: bool(result[0, 0]) and not result[0, 1:].any(),
        ),
        Property(
            "the last word sees all",
            "The last row must be all True: everything came before the last word, or is the word itself.",
            lambda result, length: bool(result[-1].all()),
        ),
    ],
)

wrong = CAUSAL_MASK.mistakes
wrong("past and future swapped", {".tril()": ".triu()"}).says("""
    You opened the future and closed the past: in your mask the first word sees everything. Row i may see columns
    j ≤ i, the lower triangle.""")
wrong("True is closed", {".tril()": ".triu(1)"}).says("""
    You marked the future, what must *not* be seen. In this book True means *may attend*.""")
wrong("not itself", {".tril()": ".tril(-1)"}).says("""
    In your mask a word sees what came before it, but not itself. The diagonal is open: the first word would have
    nothing to attend to otherwise.""")
wrong("one word of the future", {".tril()": ".tril(1)"}).says("""
    Your mask lets each word see the next one. That is the very word that a decoder has to predict, and it would copy
    it: close everything above the diagonal.""")
wrong("numbers to add", 'return torch.full((length, length), float("-inf")).triu(1)').says("""
    You made a mask to add to the scores, with 0 and −∞, as some libraries do. Here a mask is boolean, True where a
    word may attend.""")


def window_mask(length, radius):
    places = torch.arange(length)  # (T,)
    return (places[:, None] - places).abs() <= radius  # (T, 1) − (T,) -> (T, T)


def _windows(draw):
    length = draw.integer(5, 8)
    yield 4 + draw.number, 1
    yield length, 2
    yield length, 0  # itself alone
    yield draw.integer(9, 30), draw.integer(3, 7)
    yield 3, 2  # just wide enough
    yield 4, draw.integer(5, 9)  # wider than the sentence
    yield 1, 1
    yield 60, 20
    if draw.number == 1:
        yield 200, draw.integer(20, 50)  # more places than an int8 counts


WINDOW_MASK = Exercise(
    window_mask,
    cases=_windows,
    properties=[
        Property(
            "everybody sees itself",
            "The distance of a word to itself is 0, so the diagonal is open whatever the radius.",
            lambda result, length, radius: bool(result.diagonal().all()),
        ),
        Property(
            "who sees is seen",
            "Distance has no direction: if i sees j, then j sees i.",
            lambda result, length, radius: torch.equal(result, result.mT),
        ),
        Property(
            "as many as fit",
            "The first word must see itself and `radius` words to its right, as far as the sentence goes.",
            lambda result, length, radius: int(result[0].sum()) == min(length, radius + 1),
        ),
    ],
)

wrong = WINDOW_MASK.mistakes
wrong("sees the whole future", {".abs()": ""}).says("""
    You compared i − j without its absolute value. To the right that difference is negative, so everything there is
    open. The window has two ends: |i − j| ≤ radius.""")
wrong("to the left only", {"return (places": "return ((places", "<= radius": "<= radius).tril()"}).says("""
    Your window reaches to the left only. It has two sides: `radius` words before and `radius` words after.""")
_SLICES = """
mask = torch.zeros(length, length, dtype=torch.bool)
for i in range(length):
    mask[i, {}] = True
return mask"""
wrong("slice that begins below 0", _SLICES.format("i - radius : i + radius + 1")).says("""
    You opened a slice from i − radius on. At the left end of the sentence that is negative, and a negative index
    counts from the *end*, so these rows stay empty. Begin at max(0, i − radius).""")
wrong("slice one short", _SLICES.format("max(0, i - radius) : i + radius")).says("""
    Your slice ends with i + radius, and the end of a slice is left out: the last neighbour to the right is missing.
    End with i + radius + 1.""")
wrong("fixed blocks", "blocks = torch.arange(length) // (2 * radius + 1)\nreturn blocks[:, None] == blocks").says("""
    You cut the sentence into blocks, and words see their block. A window *slides*: each word stands in the middle of
    its own.""")
