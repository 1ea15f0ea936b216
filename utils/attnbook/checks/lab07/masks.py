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
    You opened the future and closed the past: in your mask row 0, the first word, sees everything. Row i may see
    columns j ≤ i, the lower triangle.""")
wrong("True is closed", {".tril()": ".triu(1)"}).says("""
    You marked the future, what must *not* be seen. In this book True means *may attend*.""")
wrong("not itself", {".tril()": ".tril(-1)"}).says("""
    In your mask a word sees what came before it, but not itself. The diagonal is open: the first word would have
    nothing to look at otherwise.""")
wrong("one word of the future", {".tril()": ".tril(1)"}).says("""
    Your mask lets each word see the next one. That is the very word a decoder has to guess: it would copy it. Close
    everything above the diagonal.""")
wrong(
    "only itself", {"torch.ones(length, length, dtype=torch.bool).tril()": "torch.eye(length, dtype=torch.bool)"}
).says("""
    You opened the diagonal alone. Each word may also see all that came before it.""")
wrong("itself and the one before", {".tril()": ".tril().triu(-1)"}).says("""
    In your mask a word sees itself and its left neighbour. It may see *everything* that came before it.""")
wrong("all open", {".tril()": ""}).says("""
    Your mask is True everywhere. The future, above the diagonal, must be closed.""")
wrong("numbers, not truth values", {", dtype=torch.bool": ""}).says("""
    Your mask holds numbers. A mask is boolean, so that ~mask means *not*: dtype=torch.bool.""")
wrong("numbers to add", 'return torch.full((length, length), float("-inf")).triu(1)').says("""
    You made a mask to add to the scores, with 0 and −∞. That is how some libraries do it. Here a mask is boolean,
    True where a word may attend.""")
wrong("an axis too many", {".tril()": ".tril()[None]"}).says("""
    Your mask has an axis for the batch. Wanted is (T, T): it serves every sentence, and broadcasting adds the axis.""")


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
wrong("radius left out", {"<= radius": "< radius"}).says("""
    You used <, so that neighbours exactly `radius` away are closed. They belong to the window: |i − j| ≤ radius.""")
wrong("sees the whole future", {".abs()": ""}).says("""
    You compared i − j without its absolute value. To the right that difference is negative, so everything there is
    open. The window has two ends: |i − j| ≤ radius.""")
wrong("sees the whole past", {"(places[:, None] - places).abs()": "(places - places[:, None])"}).says("""
    You compared j − i without its absolute value. To the left that difference is negative, so everything there is
    open. The window has two ends: |i − j| ≤ radius.""")
wrong(
    "to the left only",
    {"(places[:, None] - places).abs() <= radius": "((places[:, None] - places).abs() <= radius).tril()"},
).says("""
    Your window reaches to the left only. It has two sides: `radius` words before and `radius` words after.""")
wrong(
    "to the right only",
    {"(places[:, None] - places).abs() <= radius": "((places[:, None] - places).abs() <= radius).triu()"},
).says("""
    Your window reaches to the right only. It has two sides: `radius` words before and `radius` words after.""")
wrong("only the edge", {"<= radius": "== radius"}).says("""
    You opened the words exactly `radius` away, and closed those in between. All within the window may be seen: ≤, not
    ==.""")
wrong("radius taken for the width", {"<= radius": "<= radius // 2"}).says("""
    You took `radius` for the width of the whole window, and reach half as far. The radius counts to *each* side.""")
wrong("radius not used", {"<= radius": "<= 1"}).says("""
    Your window has radius 1 whatever was asked for. Compare the distance with `radius`.""")
wrong(
    "slice that begins below 0",
    "mask = torch.zeros(length, length, dtype=torch.bool)\nfor i in range(length):\n"
    "    mask[i, i - radius : i + radius + 1] = True\nreturn mask",
).says("""
    You opened a slice from i − radius on. At the left end of the sentence that is negative, and a negative place
    counts from the *end*: these rows stay empty. Begin at max(0, i − radius).""")
wrong(
    "slice one short",
    "mask = torch.zeros(length, length, dtype=torch.bool)\nfor i in range(length):\n"
    "    mask[i, max(0, i - radius) : i + radius] = True\nreturn mask",
).says("""
    Your slice ends with i + radius, and the end of a slice is left out: the last neighbour to the right is missing.
    End with i + radius + 1.""")
wrong(
    "not itself",
    {
        "(places[:, None] - places).abs() <= radius": "((places[:, None] - places).abs() <= radius).fill_diagonal_(False)"
    },
).says("""
    Your words see their neighbours but not themselves. A distance of 0 is within every radius.""")
wrong("True is closed", {"<= radius": "> radius"}).says("""
    You marked what lies outside the window. In this book True means *may attend*.""")
wrong(
    "round the end",
    "places = torch.arange(length)\ndistance = (places[:, None] - places).abs()\n"
    "return torch.minimum(distance, length - distance) <= radius",
).says("""
    In your mask the sentence is a ring: the first word sees the last one. A sentence has two ends, and windows are
    cut off there.""")
wrong("fixed blocks", "blocks = torch.arange(length) // (2 * radius + 1)\nreturn blocks[:, None] == blocks").says("""
    You cut the sentence into blocks, and words see their block. A window *slides*: each word stands in the middle of
    its own.""")
wrong(
    "numbers, not truth values",
    {"(places[:, None] - places).abs() <= radius": "((places[:, None] - places).abs() <= radius).float()"},
).says("""
    Your mask holds numbers. A mask is boolean: a comparison gives it for nothing, and ~mask then means *not*.""")
