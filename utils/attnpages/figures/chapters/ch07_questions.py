"""A figure of chapter 07: why one head cannot answer two questions, and how several heads share the work."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import line, say
from attnpages.figures.chapters.ch07_heads import draw_split
from attnpages.figures.palette import BLUE, INK, RUST
from attnpages.figures.style import TRUTH_COLOUR, Look

Point = tuple[float, float]
CASES = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # numbers of the first and the last noun: 1 plural, -1 singular
_EDGE = 1.75


def draw_questions(weight: float, cut: float, heads: int, dim: int) -> list[Axes]:
    """Draw two squares of the four cases, with the cuts of one head and of two; below them, how heads are split.

    Both cuts of one head belong to the sum ``weight * first + (1 - weight) * last``: the first question is answered by
    its sign, the last one by whether it is above ``cut``. Each of two heads attends to one noun, and cuts at 0.

    Args:
        weight: of the first noun. cut: on the sum. heads, dim: as in :func:`draw_split`.

    Raises:
        ValueError: if the weight doesn't lie between 0 and 1.
    """
    if not 0 < weight < 1:
        raise ValueError(f"weight must lie between 0 and 1, got {weight}")
    figure = plt.figure(figsize=(6.5, 6.0), layout="constrained")
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(2.6, 3.4)))
    one, two = above.subplots(1, 2)
    mixed = (weight, 1 - weight)
    _draw_square(one, "one head", (mixed, 0), (mixed, cut))
    _draw_square(two, "two heads", ((1, 0), 0), ((0, 1), 0))
    return [one, two, draw_split(heads, dim, below.subplots())]


def _draw_square(ax: Axes, name: str, first: tuple[Point, float], last: tuple[Point, float]) -> None:
    """The four cases as points, a cross where an answer is wrong, and the cut of each question."""
    answers = [[x * w + y * v > cut for (w, v), cut in (first, last)] for x, y in CASES]
    right = [answer == [x > 0, y > 0] for answer, (x, y) in zip(answers, CASES, strict=True)]
    for (x, y), both in zip(CASES, right, strict=True):
        right_one: Look = {"marker": "o", "markersize": 9, "color": INK}
        wrong_one: Look = {"marker": "x", "markersize": 11, "markeredgewidth": 3, "color": TRUTH_COLOUR}
        ax.plot(x, y, linestyle="", zorder=3, **(right_one if both else wrong_one))
    for (weights, cut), word, colour, dashed in ((first, "first?", BLUE, False), (last, "last?", RUST, True)):
        ends = _ends(weights, cut)
        line(ax, [x for x, _ in ends], [y for _, y in ends], colour=colour, width=2.0, dashed=dashed)
        end = max(ends, key=lambda point: (round(point[1], 6), point[0]))  # the upper one, or the right one
        upwards = abs(end[1] - _EDGE) < 1e-6
        say(ax, end[0] + (0 if upwards else 0.08), end[1] + (0.2 if upwards else 0), word, colour=colour,
            ha="center" if upwards else "left")  # fmt: skip
    ax.set_title(f"{name}: {sum(right)} of 4 cases right", fontsize=12, pad=24)
    ax.set(xlim=(-_EDGE, _EDGE), ylim=(-_EDGE, _EDGE), xlabel="first noun", ylabel="last noun", aspect="equal")
    ax.set_xticks((-1, 1), ("singular", "plural"), fontsize=10)
    ax.set_yticks((-1, 1), ("singular", "plural"), fontsize=10)
    ax.grid(False)


def _ends(weights: Point, cut: float) -> list[Point]:
    """Where the line on which the weighted sum equals ``cut`` leaves the square."""
    (w, v), ends = weights, set[Point]()
    for edge in (-_EDGE, _EDGE):
        if v and abs(y := (cut - w * edge) / v) <= _EDGE:
            ends.add((edge, y))
        if w and abs(x := (cut - v * edge) / w) <= _EDGE:
            ends.add((x, edge))
    return sorted(ends)
