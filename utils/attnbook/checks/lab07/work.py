"""Lab 7, fourth part: what a layer costs, counted exactly."""

from __future__ import annotations

from torch import Tensor

from ..engine.exercise import Exercise, Property
from .masks import window_mask


def count_multiplications(kind, length, dim, radius=1):
    if kind == "recurrent":
        return length * dim**2, length * dim**2
    if kind == "self-attention":
        pairs = length**2
    else:
        pairs = int(window_mask(length, radius).sum())  # at the ends of the sentence windows are cut off
    if kind == "convolution":
        return 0, pairs * dim**2
    return 3 * length * dim**2, 2 * pairs * dim  # three tables; a score and a sum for each pair


KINDS = ("self-attention", "restricted", "recurrent", "convolution")


def _layers(draw):
    length, dim = draw.sizes(2, low=4)
    for kind in KINDS:
        yield kind, length, dim, 1
        yield kind, draw.integer(9, 40), draw.integer(2, 9), draw.integer(2, 4)
        yield kind, length + 1, dim, length - 1  # some windows are cut off at both ends, some at one
        if draw.number == 1:
            yield kind, draw.integer(3, 6), draw.integer(7, 12), draw.integer(6, 9)  # wider than the sentence
            yield kind, draw.integer(5, 9), 3, 0
        if draw.number == 2:
            yield kind, 1, draw.integer(2, 6), 1
    yield "restricted", draw.integer(5, 9), draw.integer(2, 5)  # the radius is 1 unless somebody says otherwise


def _whole(result, *args):
    """A count with a point in it becomes half a multiplication more, so that it is not taken for a whole number."""
    if not isinstance(result, (tuple, list)):
        return result
    return tuple(part + 0.5 if _has_a_point(part) else part for part in result)


def _has_a_point(part):
    return part.is_floating_point() if isinstance(part, Tensor) else isinstance(part, float)


def _part(kinds, index):
    """A property of one part of the result, for some kinds of layer."""

    def holds(result, kind, *sizes):
        return kind not in kinds or result[index] == count_multiplications(kind, *sizes)[index]

    return holds


COUNT_MULTIPLICATIONS = Exercise(
    count_multiplications,
    cases=_layers,
    returns=("projections", "mixing"),
    tolerance=0.0,
    gradients=False,
    canonical=_whole,
    properties=[
        Property(
            "whole numbers",
            "A count is a whole number, and yours has a point: 48.0. Use int(…) and //, and ** with whole numbers.",
            lambda result, *args: all(number == int(number) for number in result),
        ),
        Property(
            "projections of attention",
            "In both kinds of attention the projections are three matrix products, (T, D) @ (D, D). Each costs "
            "T · D · D multiplications.",
            _part(("self-attention", "restricted"), 0),
        ),
        Property(
            "mixing in self-attention",
            "In self-attention the mixing is two matrix products: (T, D) @ (D, T) for the scores, (T, T) @ (T, D) for "
            "the sums. Each costs T · T · D.",
            _part(("self-attention",), 1),
        ),
        Property(
            "mixing in restricted attention",
            "In restricted attention only the pairs in the window count, twice D for each: once for the score, once "
            "for the sum. The window mask has exactly as many True as there are pairs.",
            _part(("restricted",), 1),
        ),
        Property(
            "a recurrent step",
            "In a recurrent layer each of the T steps multiplies two tables (D, D): one with the word, which is the "
            "projection, one with the state, which is the mixing.",
            _part(("recurrent",), 0),
        ),
        Property(
            "mixing in a recurrent layer",
            "The state goes through a table (D, D) at each of the T steps, the start state too: T · D · D.",
            _part(("recurrent",), 1),
        ),
        Property(
            "a convolution",
            "In a convolution there is no projection apart (0), and each pair in the window takes a table (D, D): "
            "D · D for each True of the window mask.",
            _part(("convolution",), 0),
        ),
        Property(
            "mixing in a convolution",
            "In a convolution each neighbour goes through a table (D, D) of its own: D · D for each True of the "
            "window mask.",
            _part(("convolution",), 1),
        ),
    ],
)

wrong = COUNT_MULTIPLICATIONS.mistakes
wrong("windows hang over the ends", {"int(window_mask(length, radius).sum())": "length * (2 * radius + 1)"}).says("""
    You gave every word a full window of 2 · radius + 1. The first and the last words have fewer neighbours, and what
    isn't there isn't multiplied. Count the True in your window mask.""")
wrong(
    "windows wider than the sentence",
    {"int(window_mask(length, radius).sum())": "length * (2 * radius + 1) - radius * (radius + 1)"},
).says("""
    Your formula for the pairs holds only while the window is narrower than the sentence. With a large radius there
    are at most T · T pairs. The sum of the window mask is always right.""")
wrong(
    "windows cut off one by one", {"int(window_mask(length, radius).sum())": "length * min(length, 2 * radius + 1)"}
).says("""
    You took the smaller of window and sentence for each word. But a window is cut off at the ends already when it is
    narrower than the sentence: count the True in your window mask.""")
wrong("radius taken for the width", {"int(window_mask(length, radius).sum())": "length * radius"}).says("""
    You took `radius` for the number of neighbours. A window reaches `radius` words to *each* side, and holds the word
    itself.""")
wrong("radius not used", {"window_mask(length, radius)": "window_mask(length, 1)"}).says("""
    You built the window with radius 1 whatever was asked for. Pass `radius` on to window_mask.""")
wrong(
    "the paper's table",
    "pairs = length if kind in ('self-attention', 'recurrent') else radius\n"
    "if kind == 'recurrent':\n    return 0, length * dim**2\n"
    "return 0, length * pairs * (dim**2 if kind == 'convolution' else dim)",
).says("""
    You took the formulas of the paper's Table 1. These are orders of magnitude: constants, projections and the ends
    of the sentence are left out. Count each matrix product.""")
wrong(
    "restricted, yet all pairs", {'if kind == "self-attention"': 'if kind in ("self-attention", "restricted")'}
).says("""
    You counted all T · T pairs for the restricted layer too. Pairs outside the window are never scored: that is what
    it saves.""")
wrong("scores without sums", {"2 * pairs": "pairs"}).says("""
    You counted one product for each pair and feature: the scores. The weighted sum of the values takes as many once
    more.""")
wrong("two tables, not three", {"3 * length": "2 * length"}).says("""
    You counted two projections. There are three: queries, keys and values.""")
wrong("one table, not three", {"3 * length": "length"}).says("""
    You counted one projection. Each word is projected three times: to a query, a key and a value.""")
wrong("four tables, not three", {"3 * length": "4 * length"}).says("""
    You counted four projections. The fourth one, after the heads, comes with multi-head attention; this layer has
    three: queries, keys and values.""")
wrong("no projections", {"3 * length * dim**2,": "0,"}).says("""
    You left the projections out, as the table in the Transformer paper does. We count what the machine does: queries,
    keys and values take a table (D, D) each.""")
wrong("projected for each pair", {"3 * length * dim**2": "3 * pairs * dim**2"}).says("""
    You projected the words anew for each pair. A key is made once and then used by every query: T · D · D for each of
    the three tables.""")
wrong("projections without the features", {"3 * length * dim**2": "3 * length * dim"}).says("""
    Your projections cost T · D. A table (D, D) times a vector takes D multiplications for each of the D *outputs*: T
    · D · D.""")
wrong("one multiplication a pair", {"2 * pairs * dim": "2 * pairs"}).says("""
    You counted one multiplication for a score and one for a weight. A score is a dot product over D features, and a
    weight multiplies a value of D features.""")
wrong("only the past", {"pairs = length**2": "pairs = length * (length + 1) // 2"}).says("""
    You counted the pairs of a causal layer, T (T + 1) / 2. Plain self-attention lets every word see every word: T ·
    T.""")
wrong("no pair with itself", {"pairs = length**2": "pairs = length * (length - 1)"}).says("""
    You left out the pairs of a word with itself. A word sees itself too: T · T pairs.""")
wrong(
    "no start state", {"return length * dim**2, length * dim**2": "return length * dim**2, (length - 1) * dim**2"}
).says("""
    You counted T − 1 steps for the recurrent state. The first word meets a state too, the start state, and it is
    multiplied like any other.""")
wrong("recurrent without its input", {"return length * dim**2, length * dim**2": "return 0, length * dim**2"}).says("""
    You counted the state's table of the recurrent layer and forgot the other: the word itself goes through a table
    (D, D) too. That is its projection.""")
wrong(
    "recurrent all in the mixing", {"return length * dim**2, length * dim**2": "return 0, 2 * length * dim**2"}
).says("""
    You put both tables of the recurrent layer into the mixing. The word's own table needs no other word: it belongs
    to the projections.""")
wrong(
    "every state meets every word",
    {"return length * dim**2, length * dim**2": "return length * dim**2, length**2 * dim**2"},
).says("""
    You counted T · T steps for the recurrent layer. It walks through the sentence once: T steps, and the past is in
    the state.""")
wrong("a number for each neighbour", {"return 0, pairs * dim**2": "return 0, pairs * dim"}).says("""
    You gave each neighbour in the convolution one number a feature. Here each neighbour has a whole table (D, D):
    every feature in meets every feature out.""")
wrong("one table for the whole window", {"return 0, pairs * dim**2": "return 0, length * dim**2"}).says("""
    You counted one table (D, D) a word in the convolution. Each *neighbour* in the window has one of its own.""")
wrong(
    "additions too",
    {
        "return length * dim**2, length * dim**2": "return 2 * length * dim**2, 2 * length * dim**2",
        "return 0, pairs * dim**2": "return 0, 2 * pairs * dim**2",
        "return 3 * length * dim**2, 2 * pairs * dim": "return 6 * length * dim**2, 4 * pairs * dim",
    },
).says("""
    You counted additions as well, as one does for FLOPs. Asked for are the multiplications alone.""")
wrong(
    "length and features swapped",
    {'    if kind == "recurrent"': '    length, dim = dim, length\n    if kind == "recurrent"'},
).says("""
    You confused the length of the sentence with the number of features. Projections grow with D squared, the pairs of
    self-attention with T squared.""")
wrong(
    "results swapped",
    {
        "return 0, pairs * dim**2": "return pairs * dim**2, 0",
        "return 3 * length * dim**2, 2 * pairs * dim": "return 2 * pairs * dim, 3 * length * dim**2",
    },
).says("""
    You returned the mixing first. Wanted is (projections, mixing).""")
