"""Lab 7, fourth part: what a layer costs, counted exactly."""

from torch import Tensor

from misread.exercise import About, Exercise
from misread.values import Strange

from .masks import window_mask


def count_multiplications(kind, length, dim, radius=1):
    """Multiplications of one layer, exactly: -> (projections, mixing), two whole numbers."""
    if kind == "recurrent":
        return length * dim**2, length * dim**2
    if kind == "self-attention":
        pairs = length**2
    else:
        pairs = int(window_mask(length, radius).sum())  # at the ends of the sentence windows are cut off
    if kind == "convolution":
        return 0, pairs * dim**2
    return 3 * length * dim**2, 2 * pairs * dim  # three matrices; a score and a sum for each pair


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
    """A count with a point in it is no whole number, and a tensor that holds one number is this number."""
    if not isinstance(result, (tuple, list)):
        return result
    return tuple(_POINT if _has_a_point(part) else _single(part) for part in result)


_POINT = Strange(0.5, "a number with a decimal point")


def _has_a_point(part):
    return part.is_floating_point() if isinstance(part, Tensor) else isinstance(part, float)


def _single(part):
    return part.reshape(()) if isinstance(part, Tensor) and part.numel() == 1 else part


def _right(index, *kinds):
    """Whether one part of the result is right, for some kinds of layer."""

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
    about=About(points=3, minutes=22, difficulty=3, read_again="What it costs"),
)

must = COUNT_MULTIPLICATIONS.properties
must("projections of attention", _right(0, "self-attention", "restricted")).says("""
    In both kinds of attention the projections are three matrix products, (T, D) @ (D, D), for queries, keys and values.
    Each takes T · D · D multiplications, and is computed once, not for each pair.""")
must("mixing in self-attention", _right(1, "self-attention")).says("""
    In self-attention the mixing consists of two matrix products: (T, D) @ (D, T) for the scores, and (T, T) @ (T, D)
    for the weighted sums. Each takes T · T · D multiplications.""")
must("mixing in restricted attention", _right(1, "restricted")).says("""
    In restricted attention only the pairs in the window count, with 2 · D multiplications each: D for the score and D
    for the weighted sum. The window mask has exactly as many True as there are pairs, for every radius.""")
must("a recurrent step", _right(0, "recurrent")).says("""
    In a recurrent layer each of the T steps multiplies by two matrices (D, D): the product with the word is the
    projection, and the product with the state is the mixing.""")
must("mixing in a recurrent layer", _right(1, "recurrent")).says("""
    The state is multiplied by a matrix (D, D) at each of the T steps, the start state included, which takes T · D · D
    multiplications.""")
must("a convolution", _right(0, "convolution")).says("""
    In a convolution there is no separate projection, so its number is 0.""")
must("mixing in a convolution", _right(1, "convolution")).says("""
    Each word in a window is multiplied by a matrix (D, D), which takes D · D multiplications for each True of the
    window mask.""")

wrong = COUNT_MULTIPLICATIONS.mistakes
PAIRS = {"int(window_mask(length, radius).sum())": "length * (2 * radius + 1) - radius * (radius + 1)"}
wrong("a formula for short windows only", PAIRS).says("""
    Your formula for the pairs, T (2 r + 1) − r (r + 1), holds only as long as the radius is smaller than the sentence.
    With a larger one there are T² pairs: count the True in the window mask.""")
wrong("windows hang over the ends", {"int(window_mask(length, radius).sum())": "length * (2 * radius + 1)"}).says("""
    You gave every word a full window of 2 · radius + 1 words. The first and the last words have fewer neighbours,
    and what doesn't exist isn't multiplied, so count the True in your window mask.""")
wrong("pairs with a decimal point", {"int(window_mask": "float(window_mask"}).says("""
    Your number of pairs is a floating-point number, so that the mixing is one, too. A count is a whole number: use
    int(…) on the sum of the mask.""")
wrong(
    "counts with a decimal point", {'if kind == "recurrent":': 'dim = float(dim)\n    if kind == "recurrent":'}
).says("""
    A count is a whole number, and yours are numbers with a decimal point, such as 48.0. Use int(…), // and ** with
    whole numbers.""")
wrong(
    "both products of a recurrent step in the mixing", {"return length * dim**2, length": "return 0, 2 * length"}
).says("""
    You counted both products of the recurrent layer as mixing. The product of the word, x W, needs no other word, so it
    is a projection. Only the product of the state, h U, is mixing.""")
wrong("restricted, yet all pairs", {'kind == "self-attention"': 'kind in ("self-attention", "restricted")'}).says("""
    You counted all T · T pairs for the restricted layer, too. Pairs outside of the window are never computed, and
    this is what such a layer saves.""")
wrong(
    "the paper's table",
    "pairs = length if kind in ('self-attention', 'recurrent') else radius\n"
    "if kind == 'recurrent':\n    return 0, length * dim**2\n"
    "return 0, length * pairs * (dim**2 if kind == 'convolution' else dim)",
).says("""
    You used the formulas of the paper's Table 1. These are orders of magnitude, without constants, projections
    and the ends of the sentence, so count each matrix product instead.""")
wrong("four projections, not three", {"3 * length": "4 * length"}).says("""
    You counted four projections. The fourth one belongs to multi-head attention, while this layer has three: for
    queries, keys and values.""")
wrong("only the past", {"pairs = length**2": "pairs = length * (length + 1) // 2"}).says("""
    You counted the pairs of a causal layer, T (T + 1) / 2. In plain self-attention every word attends to every
    word, which makes T · T pairs.""")
