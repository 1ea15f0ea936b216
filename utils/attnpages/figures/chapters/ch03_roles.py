"""Figures of chapter 03: what query, key and value do, and how a score that is far ahead stops learning."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.palette import FAINT, INK, LINE, SAND
from attnpages.figures.style import STYLES, new_axes

KEY, QUERY, VALUE = (style.colour for style in STYLES[:3])


def draw_changes(
    shelves: Mapping[str, tuple[Sequence, Sequence[float], Sequence]], names: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Draw the same shelf several times, side by side, and frame each key or value that differs from the first.

    Args:
        shelves: ``{title: (keys, weights, values)}``, one key, weight and value per book.
        names: one per book.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there is no shelf, or one of them has not one key, weight and value per name.
    """
    if not shelves:
        raise ValueError("shelves is empty; give at least one title with its keys, weights and values")
    for title, parts in shelves.items():
        if any(len(part) != len(names) for part in parts):
            raise ValueError(f"{title!r} needs one key, one weight and one value for each of {len(names)} names")
    ax = canvas(ax, (6.5, 0.95 + 0.8 * len(names)), (0, 3.3 * len(shelves)), (-0.8, len(names) + 0.9))
    first = next(iter(shelves.values()))
    for place, (title, shelf) in enumerate(shelves.items()):
        _shelf(ax, 3.3 * place, title, shelf, first, names)
    return ax


def draw_roles(
    asking: str, offering: Mapping[str, tuple[float, float]], rest: str = "", ax: Axes | None = None
) -> Axes:
    """Draw how one word asks and others offer: the query of one, the key and the value of each of the others.

    Args:
        asking: the word whose query is drawn. ``offering``: ``{word: (score, weight)}``, three words.
        rest: what is written about the words that are not drawn.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there are not three words.
    """
    if len(offering) != 3:
        raise ValueError(f"offering has {len(offering)} words; there is room for three")
    ax = canvas(ax, (6.5, 4.9), (0, 10.4), (1.4, 9.2))
    line(ax, (0.6, 9.1), (5.1, 5.1), colour=QUERY, dashed=True)
    for place, (word, (score, weight)) in enumerate(offering.items()):
        _offer(ax, 2.6 * place, word, score, weight)
    _word(ax, 9.1, asking)
    arrow(ax, (9.1, 7.75), (9.1, 7.05), LINE)
    say(ax, 9.5, 7.4, "$W_q$", size=11)
    _strip(ax, 9.1, 6.65, QUERY, "query")
    arrow(ax, (9.1, 5.9), (9.1, 5.15), QUERY)
    say(ax, 9.1, 4.8, "score with each key", size=10)
    say(ax, 9.1, 4.0, "softmax: weights", size=10)
    say(ax, 8.1, 2.55, "+ … =")
    _strip(ax, 9.1, 2.55, VALUE, "context", sum(weight for _, weight in offering.values()))
    say(ax, 0.1, 1.7, rest, ha="left", size=10)
    return ax


def plot_pull(gaps: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Draw the context of two keys, a wrong one with the value 1 and a right one with the value 0, over the gap between
    their scores, and at some gaps the slope, which is what the gradient sees.

    Args:
        gaps: ``{name: score of the wrong key minus score of the right one}``.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there is no gap.
    """
    if not gaps:
        raise ValueError("gaps is empty; give at least one name with its gap")
    ax = new_axes(ax, (6.5, 3.5))
    x = np.linspace(-8, 10, 301)
    ax.plot(x, _sigmoid(x), color=INK, linestyle="-", marker="", linewidth=1.8)
    for (name, gap), style in zip(gaps.items(), STYLES, strict=False):
        height = _sigmoid(gap)
        slope = height * (1 - height)
        ends = np.array([gap - 1.5, gap + 1.5])
        ax.plot(
            ends, height + slope * (ends - gap), color=style.colour, linestyle="-", marker="", linewidth=4, alpha=0.6
        )
        ax.plot(gap, height, style.marker, markersize=10, color=style.colour, markeredgecolor="black")
        words = f"{name}\ngap {gap:g}, slope {slope:.{4 if slope < 0.01 else 3}f}"
        side, start = ("left", gap) if gap < 5 else ("right", 9.6)  # the words end within the axes
        ax.annotate(words, (start, height), (12, -12), textcoords="offset points", va="top", ha=side)
    ax.annotate("", (-4.5, 0.5), (-0.8, 0.5), arrowprops={"arrowstyle": "-|>", "color": INK})
    ax.text(-2.7, 0.54, "training should\ngo this way", ha="center", va="bottom")
    ax.set(xlabel="gap: score of the wrong key − score of the right key", ylabel="context", ylim=(-0.08, 1.12))
    ax.set_xticks(range(-8, 11, 2))
    ax.set_yticks((0, 0.5, 1), ("0: right value", "0.5", "1: wrong value"))
    return ax


def _sigmoid(gap):
    return 1 / (1 + np.exp(-gap))


def _shelf(ax: Axes, x: float, title: str, shelf, first, names: Sequence[str]) -> None:
    """One shelf from ``x`` on; what differs from the ``first`` one stands in a frame."""
    say(ax, x + 1.55, len(names) + 0.65, title, weight="bold")
    for at, word in ((0.5, "key"), (1.5, "weight"), (2.55, "value")):
        say(ax, x + at, len(names) + 0.12, word, size=10)
    for row, (name, key, weight, value) in enumerate(zip(names, *shelf, strict=True)):
        y, colour = len(names) - 0.55 - row, STYLES[row].colour
        for at, now, before in ((0.5, key, first[0][row]), (2.55, value, first[2][row])):
            if tuple(now) != tuple(before):
                box(ax, x + at - 0.48, y - 0.22, 0.96, 0.44, fill=SAND, edge="black", line=1.8)
            say(ax, x + at, y, _pair(now))
        _weight_bar(ax, (x + 1.05, y - 0.08), (0.9, 0.26), weight, colour)
        say(ax, x + 1.5, y - 0.26, f"{weight:.2f}", size=10)
        if not x:
            say(ax, x + 0.5, y + 0.34, name, size=10)
    context = [sum(w * v[i] for w, v in zip(shelf[1], shelf[2], strict=True)) for i in range(2)]
    say(ax, x + 0.95, -0.45, "context", size=10)
    say(ax, x + 2.2, -0.45, _pair(context, 2), weight="bold")


def _weight_bar(ax: Axes, corner: tuple[float, float], size: tuple[float, float], weight: float, colour: str) -> None:
    """A white frame as wide as the weight 1, filled from the left up to ``weight``."""
    width, height = size
    ax.add_patch(plt.Rectangle(corner, width, height, facecolor="white", edgecolor=FAINT, linewidth=0.8))
    ax.add_patch(plt.Rectangle(corner, width * weight, height, color=colour))


def _word(ax: Axes, x: float, word: str) -> None:
    say(ax, x, 8.85, word, weight="bold", size=12)
    _strip(ax, x, 8.2, "white")


def _strip(ax: Axes, x: float, y: float, colour: str, name: str = "", share: float = 1.0) -> None:
    """Four cells around ``x``: a vector, with its name below; the smaller its ``share``, the paler."""
    for cell in range(4):
        fill = to_rgba(colour, share)
        ax.add_patch(
            plt.Rectangle((x - 0.48 + 0.24 * cell, y - 0.2), 0.24, 0.4, facecolor=fill, edgecolor=INK, zorder=2)
        )
    say(ax, x, y - 0.5, name, size=10)


def _offer(ax: Axes, x: float, word: str, score: float, weight: float) -> None:
    """A word with its key, score and weight in the left lane and its value in the right one."""
    left, right = x + 0.6, x + 1.8
    _word(ax, x + 1.2, word)
    for lane, name, matrix, colour in ((left, "key", "$W_k$", KEY), (right, "value", "$W_v$", VALUE)):
        arrow(ax, (x + 1.2, 7.95), (lane, 6.95), LINE)
        say(ax, lane + (-0.2 if lane == left else 0.2), 7.5, matrix)
        _strip(ax, lane, 6.65, colour, name)
    arrow(ax, (left, 5.9), (left, 5.4), LINE)
    ax.text(
        left,
        5.1,
        f"{score:g}",
        ha="center",
        va="center",
        fontsize=11,
        zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
    )
    arrow(ax, (left, 4.8), (left, 4.3), LINE)
    _weight_bar(ax, (left - 0.5, 3.85), (1.0, 0.32), weight, KEY)
    arrow(ax, (right, 5.9), (right, 3.0), LINE)
    say(ax, left, 2.55, f"{weight:.2f} ×")
    arrow(ax, (left, 3.65), (left, 2.95), LINE)
    _strip(ax, right, 2.55, VALUE, share=weight)
    say(ax, x + 2.55, 2.55, "+" if x < 5 else "")


def _pair(numbers: Sequence[float], decimals: int = 0) -> str:
    return "(" + ", ".join(f"{float(x):.{decimals}f}" for x in numbers) + ")"
