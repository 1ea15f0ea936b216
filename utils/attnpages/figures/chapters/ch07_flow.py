"""A figure of chapter 07: the data flow of one layer of self-attention, with the numbers of a small example."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, canvas, say
from attnpages.figures.palette import BLUE, FAINT, FETCHED, LINE, READS, WRITES
from attnpages.figures.style import TRUTH_COLOUR, Look, with_minus

_ROW = 0.24  # inches; the axes below are in inches, too
_TOP, _MIDDLE, _BOTTOM = 3.35, 1.9, 0.45  # lower edges of queries, of keys and words, and of values


def draw_data_flow(
    words: Sequence[str], vectors: Tensor, projections: tuple[Tensor, Tensor, Tensor], follow: int
) -> Axes:
    """Draw how the words' vectors become queries, keys and values, then scores, weights and contexts.

    Args:
        words: the ``n`` words. vectors: ``(n, d)``, one row per word.
        projections: the matrices of queries, keys and values, ``(d, dk)``, ``(d, dk)`` and ``(d, dv)``.
        follow: the position whose row is framed wherever it occurs: its query, scores, weights and context.

    Raises:
        ValueError: if there is not one vector per word, or ``follow`` is no position.

    After equation 1 of Vaswani et al. 2017.
    """
    if len(words) != len(vectors) or not 0 <= follow < len(words):
        raise ValueError(f"{len(words)} words need as many vectors and a position below it to follow; "
                         f"got {len(vectors)} vectors and position {follow}")  # fmt: skip
    query, key, value = (vectors @ matrix for matrix in projections)  # (n, dk), (n, dk), (n, dv)
    scores = query @ key.T  # (n, n)
    weights = (scores / key.shape[1] ** 0.5).softmax(dim=1)  # (n, n)
    ax = canvas(None, (6.5, 4.4), (0, 6.5), (0.3, 4.7))
    between = (_TOP + _MIDDLE) / 2
    _words(ax, [f"“{word}”" for word in words], _MIDDLE)  # a word may be called like a matrix
    _matrix(ax, 0.66, _MIDDLE, vectors, "vectors $X$", "white")
    _matrix(ax, 2.1, _TOP, query, "queries $Q = XW_q$", WRITES, follow)
    _matrix(ax, 2.1, _MIDDLE, key, "keys $K = XW_k$", READS)
    _matrix(ax, 2.1, _BOTTOM, value, "values $V = XW_v$", FETCHED)
    _matrix(ax, 3.55, between, scores, "scores $QK^\\top$", "white", follow)
    _matrix(ax, 5.0, between, weights, "weights", "white", follow, decimals=2)
    _matrix(ax, 5.55, _BOTTOM, weights @ value, "contexts", FETCHED, follow, decimals=2)
    _arrows(ax, between + 2 * _ROW, query.shape[1], value.shape[1], len(words))
    return ax


def _words(ax: Axes, words: Sequence[str], y: float) -> None:
    for row, word in enumerate(words):
        say(ax, 0.6, y + (len(words) - row - 0.5) * _ROW, word, ha="right", size=10)


def _matrix(
    ax: Axes, x: float, y: float, numbers: Tensor, title: str, fill: str, follow: int | None = None, decimals: int = 0
) -> None:
    """A matrix as cells with their numbers, its name above it, and a frame around one row."""
    rows, columns = numbers.shape
    width = (0.45 if columns == 1 else 0.36) if decimals else 0.25
    for i, row in enumerate(numbers.tolist()):
        for j, number in enumerate(row):
            corner = (x + j * width, y + (rows - 1 - i) * _ROW)
            ax.add_patch(Rectangle(corner, width, _ROW, facecolor=fill, edgecolor=FAINT, linewidth=0.6, zorder=2))
            text = with_minus(f"{number:.{decimals}f}")
            say(ax, corner[0] + width / 2, corner[1] + _ROW / 2, text, size=10)
    if follow is not None:
        corner = (x, y + (rows - 1 - follow) * _ROW)
        frame: Look = {"facecolor": "none", "edgecolor": TRUTH_COLOUR, "linewidth": 2.2, "zorder": 4}
        ax.add_patch(Rectangle(corner, columns * width, _ROW, **frame))
    say(ax, x, y + rows * _ROW + 0.15, title, ha="left")


def _arrows(ax: Axes, height: float, dk: int, dv: int, count: int) -> None:
    """What leads to what: words to projections, queries and keys to scores, weights and values to contexts."""
    middle = [y + count * _ROW / 2 for y in (_TOP, _MIDDLE, _BOTTOM)]
    for y in middle:
        arrow(ax, (1.45, middle[1]), (2.06, y), LINE)
    right = 2.1 + 0.25 * dk + 0.04
    for y in middle[:2]:
        arrow(ax, (right, y), (3.51, height), LINE)
    arrow(ax, (3.59 + 0.25 * count, height), (4.96, height), LINE)
    say(ax, 4.78, height + 0.9, "divide by $\\sqrt{d_k}$, softmax per row", size=10)
    arrow(ax, (5.75, height - 0.52), (5.75, _BOTTOM + count * _ROW + 0.32), BLUE, 2.0)
    arrow(ax, (2.1 + 0.25 * dv + 0.04, middle[2]), (5.5, middle[2]), BLUE, 2.0)
    say(ax, 4.0, middle[2] + 0.17, "weighted sums of the rows", size=10, colour=BLUE)
