"""Figure of chapter 09 that follows one list: what the stream would write after each sublayer, and where it attends."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnpages.figures.alignments import plot_alignment
from attnpages.figures.heat import write_in_cells
from attnpages.figures.palette import BLUE, FAINT, PAPER, SKY
from attnpages.figures.style import Look

_FILLS = (BLUE, SKY, PAPER)  # dark, middle and light in grey, too
_MEANS = ("the right word", "other candidates", "the position's own word")  # what the fills stand for
_LETTER = 0.0142  # what share of a bar a letter needs


def plot_bookings(bars: Mapping[str, Mapping[str, Mapping[str, float]]], maps: Mapping[str, tuple]) -> list[Axes]:
    """Draw what a position would write after each sublayer, as bars of shares, and below them maps of weights.

    Args:
        bars: ``{title: {sublayer: {word or kind of words: share}}}``, from top to bottom and from left to right: the
            right word, other candidates if there are any, and the word of the position itself. A share of 0 is not
            drawn; what the shares leave of 1 stays white. A legend names the three.
        maps: ``{title: (weights (T, Tk), words of the keys, names of the rows, what the rows are)}``.

    Raises:
        ValueError: if there are no bars or no maps.
    """
    if not bars or not maps:
        raise ValueError("give at least one title with bars, and one map")
    figure = plt.figure(figsize=(6.7, 1.55 * len(bars) + 4.2), layout="constrained")
    upper, lower = np.asarray(figure.subfigures(2, 1, squeeze=False, height_ratios=(1.55 * len(bars) + 0.3, 3.9)))[:, 0]
    above = list(upper.subplots(len(bars), 1, sharex=True, squeeze=False)[:, 0])
    for ax, (title, rows) in zip(above, bars.items(), strict=True):
        _bars(ax, title, rows)
    above[-1].set_xlabel("probability")
    look: Look = {"edgecolor": FAINT, "linewidth": 0.8}
    handles = [
        Rectangle((0, 0), 1, 1, facecolor=fill, label=of, **look) for fill, of in zip(_FILLS, _MEANS, strict=True)
    ]
    upper.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=10)
    below = list(lower.subplots(1, len(maps), squeeze=False)[0])
    for ax, (title, (weights, keys, rows, of_rows)) in zip(below, maps.items(), strict=True):
        plot_alignment(weights, keys, rows, ax=ax, title=title, bar=False, xlabel="key", ylabel=of_rows)
        shares = {at: f"{weight:.2f}" for at, weight in np.ndenumerate(np.asarray(weights)) if weight >= 0.005}
        write_in_cells(ax, ax.images[0], shares, size=9)
    return [*above, *below]


def _bars(ax: Axes, title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    """One bar per sublayer; a part says what it is where it has room."""
    for row, shares in enumerate(rows.values()):
        left = 0.0
        fills = _FILLS if len(shares) > 2 else (_FILLS[0], _FILLS[2])
        for (name, share), fill in zip(shares.items(), fills, strict=True):
            look: Look = {"color": fill, "edgecolor": FAINT, "linewidth": 0.8}
            ax.barh(row, share, 0.78, left, **look)
            text = f"{name} {share:.2f}"
            if share > _LETTER * len(text):
                ink = "white" if fill == BLUE else "black"
                ax.text(left + share / 2, row, text, ha="center", va="center", color=ink, fontsize=10)
            left += share
    ax.set_title(title, loc="left")
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
    ax.grid(visible=False)
