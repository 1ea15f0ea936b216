"""Figure of chapter 14 on copying: the probability of each word, and how much of it is written and how much copied."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.style import STYLES, legend_above, new_axes


def plot_written_and_copied(
    written: Mapping[str, float], copied: Mapping[str, float], ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw one bar per word, of two parts, the most probable word on top and its probability at the right.

    Args:
        written: by word, the probability with which the vocabulary gives it.
        copied: by word, the probability with which the source gives it.

    Raises:
        ValueError: if there is no word, or the probabilities do not sum to 1.
    """
    words = {**written, **copied}
    total = {word: written.get(word, 0.0) + copied.get(word, 0.0) for word in words}
    if not np.isclose(sum(total.values()), 1):
        raise ValueError(f"the probabilities of all words must sum to 1, got {sum(total.values())}")
    order = sorted(total, key=lambda word: -total[word])
    ax = new_axes(ax, (6.5, 1.1 + 0.38 * len(order)))
    rows, left = np.arange(len(order)), np.zeros(len(order))
    handles = []
    for part, style in ((written, STYLES[0]), (copied, STYLES[1])):
        widths = np.array([part.get(word, 0.0) for word in order])
        handles.append(ax.barh(rows, widths, 0.62, left, color=style.colour, hatch=style.hatch, edgecolor="white"))
        left = left + widths
    for row, word in enumerate(order):
        ax.annotate(f"{total[word]:.2f}", (total[word], row), (5, 0), textcoords="offset points", va="center")
    ax.set_yticks(rows, order)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel="probability", xlim=(0, 1.15 * max(total.values())))
    legend_above(ax, handles, ["written from the vocabulary", "copied from the source"], title)
    return ax
