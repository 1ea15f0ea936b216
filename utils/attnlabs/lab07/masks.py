"""Lab 7, second part: who may attend to whom."""

import torch

from misread.exercise import About, Exercise


def causal_mask(length):
    """Each word may attend to itself and to earlier words: -> bool (T, T)."""
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
    about=About(points=1, minutes=7, difficulty=1, read_again="Masks: which positions may be attended to"),
)

must = CAUSAL_MASK.properties
must(
    "the first word attends to itself alone", lambda result, length: bool(result[0, 0]) and not result[0, 1:].any()
).says("""
    Row 0 belongs to the first word. No word comes before it, so it attends to itself and to nothing else.""")
must("the last word attends to all", lambda result, length: bool(result[-1].all())).says("""
    The last row must be True everywhere, because each word is the last word itself or comes before it.""")

wrong = CAUSAL_MASK.mistakes
wrong("past and future swapped", {".tril()": ".triu()"}).says("""
    You opened the later words and closed the earlier ones, so that in your mask the first word attends to
    everything. Row i may attend to columns j ≤ i, which is the lower triangle.""")
wrong("True is closed", {".tril()": ".triu(1)"}).says("""
    Your mask is True for the later words, which may *not* be attended to. In this book True means *may attend*.""")
wrong("not itself", {".tril()": ".tril(-1)"}).says("""
    In your mask a word attends to earlier words, but not to itself. The diagonal must be open, because otherwise
    the first word could not attend to anything.""")
wrong("one word of the future", {".tril()": ".tril(1)"}).says("""
    In your mask each word attends to the next one, too. This is the word that a decoder has to predict, and it
    would simply copy it, so close everything above the diagonal.""")
TO_ADD = """
    You made a mask of 0 and −∞ to be added to the scores, as some libraries do. Here a mask is boolean, and True
    means *may attend*."""
wrong("numbers to add", 'return torch.full((length, length), float("-inf")).triu(1)').says(TO_ADD)


def window_mask(length, radius):
    """Each word may attend to itself and to its neighbours up to `radius` away: -> bool (T, T)."""
    positions = torch.arange(length)  # (T,)
    return (positions[:, None] - positions).abs() <= radius  # (T, 1) − (T,) -> (T, T)


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
        yield 200, draw.integer(20, 50)  # more positions than an int8 counts


WINDOW_MASK = Exercise(
    window_mask,
    cases=_windows,
    about=About(points=2, minutes=11, difficulty=2, read_again="Masks: which positions may be attended to"),
)

must = WINDOW_MASK.properties
must("each word attends to itself", lambda result, length, radius: bool(result.diagonal().all())).says("""
    The distance of a word to itself is 0, so the diagonal must be open for every radius.""")
must("both directions are open", lambda result, length, radius: torch.equal(result, result.mT)).says("""
    Distance has no direction: if word i may attend to word j, then word j may attend to word i, and in your mask this
    is not so.""")
must("as many as fit", lambda result, length, radius: int(result[0].sum()) == min(length, radius + 1)).says("""
    The first word must attend to itself and to `radius` words on its right, or to all that there are if the sentence is
    shorter.""")

wrong = WINDOW_MASK.mistakes
_CIRCLE = "distance = (positions[:, None] - positions).abs()\n    return torch.minimum(distance, length - distance)"
wrong("a circle", {"return (positions[:, None] - positions).abs()": _CIRCLE}).says("""
    Your window continues at the other end of the sentence, as on a circle. A sentence has two ends, and windows are cut
    off there.""")
_NO_RADIUS = {
    "(positions[:, None] - positions).abs() <= radius": "(positions[:, None] - positions).abs() <= (radius or length)"
}
wrong("radius 0 as no window", _NO_RADIUS).says("""
    You took the radius 0 for "no window". With radius 0 each word attends to itself alone: in Python `not radius` is
    True for 0, too.""")
wrong("attends to the whole future", {".abs()": ""}).says("""
    You compared i − j without its absolute value. This difference is negative for all words on the right, so they
    are all open. The window has two ends: |i − j| ≤ radius.""")
wrong(
    "attends to the whole past", {"(positions[:, None] - positions).abs()": "(positions - positions[:, None])"}
).says("""
    You compared j − i without its absolute value. This difference is negative for all words on the left, so they
    are all open. The window has two ends: |i − j| ≤ radius.""")
wrong("to the right only", {"return (positions": "return ((positions", "<= radius": "<= radius).triu()"}).says("""
    Your window extends to the right only. It has two sides: `radius` words before and `radius` words after.""")
wrong("to the left only", {"return (positions": "return ((positions", "<= radius": "<= radius).tril()"}).says("""
    Your window extends to the left only. It has two sides: `radius` words before and `radius` words after.""")
_SLICES = """
mask = torch.zeros(length, length, dtype=torch.bool)
for i in range(length):
    mask[i, {}] = True
return mask"""
wrong("slice that begins below 0", _SLICES.format("i - radius : i + radius + 1")).says("""
    You opened a slice that begins at i − radius. At the beginning of the sentence this is negative, and a
    negative index counts from the *end*, so that these rows stay closed. Begin at max(0, i − radius).""")
wrong("slice one short", _SLICES.format("max(0, i - radius) : i + radius")).says("""
    Your slice ends with i + radius, and the end of a slice is not part of it, so that the last neighbour on the
    right is missing. End with i + radius + 1.""")
_NEIGHBOURS = """
mask = torch.zeros(length, length, dtype=torch.bool)
for i in range(length):
    for j in range(i - radius, i + radius + 1):
        if j < length:
            mask[i, j] = True
return mask"""
wrong("positions below 0", _NEIGHBOURS).says("""
    You opened positions below 0, too. A negative index counts from the *end*, so that the first words attend to the
    last ones. Begin at max(0, i − radius).""")
wrong(
    "numbers to add",
    {"return (": "return torch.zeros(length, length).masked_fill((", "<= radius": '> radius, float("-inf"))'},
).says(TO_ADD)
wrong("fixed blocks", "blocks = torch.arange(length) // (2 * radius + 1)\nreturn blocks[:, None] == blocks").says("""
    You cut the sentence into blocks, and each word attends to its block. The window *moves* instead: each word
    stands in the middle of its own window.""")
