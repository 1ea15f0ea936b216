"""Figures of chapter 05: GNMT piece by piece and word by word, a layer with and without a sum, what stacks with another
start or other steps learn, a range of losses beside curves, when each layer can compute each word, and how much
attention words get."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, INK, LINE, PAPER, READS, RUST, SAND, WRITES
from attnpages.figures.style import STYLES, legend_above, new_axes

_WIDTH, _HEIGHT = 2.5, 0.62  # of a layer's box
_LAYERS = {1: 1.35, 2: 2.55, 3: 3.75, 4: 5.35, 8: 7.35}  # number of a layer: height of its middle
_PICTURES = {"1. two stacks": (1.6, 5.6), "2. sums": (10.4, 14.8), "3. attention": (20.0, 29.0)}  # x of the stacks
_MOST_WORDS = 12  # in a schedule; with more, the numbers in it could not be read


def draw_gnmt(ax: Axes | None = None) -> Axes:
    """Draw GNMT piece by piece: two stacks of eight layers, of which 5 to 7 are left out; with sums; with attention."""
    ax = canvas(ax, (6.5, 4.3), (0, 31), (-1.0, 10.4))
    for number, (title, (encoder, decoder)) in enumerate(_PICTURES.items(), start=1):
        say(ax, (encoder + decoder) / 2, 10.05, title, weight="bold", size=11)
        _stack(ax, encoder, READS, "1 → ←" if number == 3 else "1 →", sums=number > 1)
        _stack(ax, decoder, WRITES, "1 →", sums=number > 1)
        for x, name, words in ((encoder, "encoder", "source"), (decoder, "decoder", "target")):
            say(ax, x, 9.25, name, size=9.5)
            say(ax, x, 0.25, words, size=9)
    _attention(ax, *_PICTURES["3. attention"])
    return ax


def _stack(ax: Axes, x: float, fill: str, lowest: str, sums: bool) -> None:
    """One box per layer, from bottom to top; if it has ``sums``, with a residual connection from the third on."""
    half = _HEIGHT / 2
    arrow(ax, (x, 0.5), (x, _LAYERS[1] - half))
    below = _LAYERS[1] + half
    for number in (2, 3, 4):
        arrow(ax, (x, below), (x, _LAYERS[number] - half))
        below = _layer(ax, x, number, fill, sums)
    say(ax, x, 6.35, "⋮", size=14)
    line(ax, (x, x), (below, 6.12))
    arrow(ax, (x, 6.6), (x, _LAYERS[8] - half))
    top = _layer(ax, x, 8, fill, sums)
    arrow(ax, (x, top), (x, 8.85))
    box_around(ax, (x, _LAYERS[1]), _WIDTH, _HEIGHT, lowest, size=10, fill=fill)


def _layer(ax: Axes, x: float, number: int, fill: str, sums: bool) -> float:
    """The box of a layer; returns the height at which what leaves it ends."""
    y = _LAYERS[number]
    box_around(ax, (x, y), _WIDTH, _HEIGHT, f"{number} →", size=10, fill=fill)
    if not sums or number < 3:
        return y + _HEIGHT / 2
    aside, low, high = x + _WIDTH / 2 + 0.35, y - _HEIGHT / 2 - 0.2, y + _HEIGHT / 2 + 0.3
    _around(ax, x, (aside, low, high), y + _HEIGHT / 2)
    return high + 0.2


def _around(ax: Axes, x: float, bounds: tuple[float, float, float], top: float) -> None:
    """The line of a residual connection around a box, and the plus sign above ``top``, the upper edge of the box."""
    aside, low, high = bounds
    line(ax, (x, aside, aside, x), (low, low, high, high), BLUE, width=1.8)
    line(ax, (x, x), (top, high - 0.16))
    ax.text(x, high, "+", ha="center", va="center", fontsize=8, zorder=4, bbox=_circle())


def _circle() -> dict:
    return {"boxstyle": "circle,pad=0.05", "facecolor": "white", "edgecolor": BLUE, "linewidth": 1.4}


def _attention(ax: Axes, encoder: float, decoder: float) -> None:
    """Annotations come down from the top of the encoder; the query is what leaves the lowest layer of the decoder."""
    bottom, middle, context = _LAYERS[1], encoder + 4.2, encoder + 6.6
    line(ax, (encoder, middle), (8.55, 8.55))
    arrow(ax, (middle, 8.55), (middle, bottom + 0.42))
    _upright(ax, middle - 0.3, 4.6, "annotations")
    box_around(ax, (middle, bottom), 3.7, 0.84, "attention", size=10, fill=PAPER, edge=INK)
    left, aside, low = decoder - _WIDTH / 2, decoder + _WIDTH / 2 + 0.35, -0.35
    output = (_LAYERS[1] + _LAYERS[2]) / 2  # of layer 1
    line(ax, (decoder, aside, aside, middle), (output, output, low, low), LINE, dashed=True)
    arrow(ax, (middle, low), (middle, bottom - 0.42), LINE, dashed=True)
    say(ax, middle - 0.3, 0.25, "query", ha="right", size=9)
    say(ax, (middle + aside) / 2, low - 0.4, "one word later", size=9)
    above = [y for number, y in _LAYERS.items() if number > 1]
    line(ax, (middle + 1.85, context, context), (bottom, bottom, above[-1]), width=1.8)
    for y in above:
        arrow(ax, (context, y), (left, y), width=1.8)
    _upright(ax, context - 0.3, 4.6, "context")


def _upright(ax: Axes, x: float, y: float, text: str) -> None:
    ax.text(x, y, text, ha="right", va="center", rotation=90, fontsize=9, color=INK, zorder=3)


def draw_unrolled(
    source: Sequence[str] = ("four", "hundred"), target: Sequence[str] = ("vier", "hundert"), ax: Axes | None = None
) -> Axes:
    """Draw three layers of GNMT word by word: states along the rows, sums in the third layer, contexts beside it.

    Args:
        source: the words that the encoder reads.
        target: the words that the decoder writes; each is written at the top and read at the bottom of the next column.
    """
    heights, step = (1.5, 4.0, 6.5), 5.9
    left = [1.0 + 4.6 * i for i in range(len(source))]
    right = [left[-1] + step + 1.6 + step * i for i in range(len(target) + 1)]
    ax = canvas(ax, (6.5, 4.1), (-1.4, right[-1] + 2.6), (-1.3, 9.9))
    written = [*target, "⟨end⟩"]
    for columns, fill, below, above in (
        (left, READS, source, [""] * len(source)),
        (right, WRITES, ["⟨end⟩", *target], written),
    ):
        for x, read, out in zip(columns, below, above, strict=True):
            say(ax, x, -0.2, read, size=10.5)
            say(ax, x, 9.0, out, size=10.5, weight="bold")
            _column(ax, x, heights, fill)
        for x, following in pairwise(columns):
            for y in heights:
                arrow(ax, (x + _WIDTH / 2, y + 0.12), (following - _WIDTH / 2, y + 0.12), LINE)
    for x, before in pairwise(reversed(left)):  # the lowest layer of the encoder reads from the last word, too
        arrow(ax, (x - _WIDTH / 2, heights[0] - 0.2), (before + _WIDTH / 2, heights[0] - 0.2), LINE)
    for number, x in enumerate(right, start=1):
        aside, low = x - 2.35, (heights[0] + heights[1]) / 2
        if number > 1:
            arrow(ax, (x - step + _WIDTH / 2, heights[0] + 0.2), (aside - 0.45, low - 0.1), LINE, dashed=True)
        line(ax, (aside, aside), (low, heights[2] - 0.2), width=1.8)
        for y in heights[1:]:
            arrow(ax, (aside, y - 0.2), (x - _WIDTH / 2, y - 0.2), width=1.8)
        round_box = _circle() | {"edgecolor": INK, "boxstyle": "circle,pad=0.15"}
        ax.text(aside, low, f"$c_{number}$", ha="center", va="center", fontsize=10.5, zorder=4, bbox=round_box)
    say(ax, sum(left) / len(left), 9.0, "annotations", size=9.5)
    say(ax, sum(left) / len(left), -1.0, "encoder reads", size=9.5)
    say(ax, sum(right) / len(right), 9.75, "decoder writes", size=9.5)
    say(ax, sum(right) / len(right), -1.0, "decoder reads", size=9.5)
    return ax


def _column(ax: Axes, x: float, heights: Sequence[float], fill: str) -> None:
    """One box per layer for one word, from bottom to top; the third has a sum."""
    half = _HEIGHT / 2
    below = 0.25
    for number, y in enumerate(heights, start=1):
        arrow(ax, (x, below), (x, y - half))
        box_around(ax, (x, y), _WIDTH, _HEIGHT, str(number), size=10, fill=fill)
        below = y + half
    _around(ax, x, (x + _WIDTH / 2 + 0.35, heights[2] - 0.75, heights[2] + 0.75), below)
    arrow(ax, (x, heights[2] + 0.95), (x, 8.55))


def draw_sum(factor: float, ax: Axes | None = None) -> Axes:
    """Draw a layer that gives f(x), and one that gives x + f(x), each with what is left of a difference of 1.

    Args:
        factor: how long f makes a difference of 1; in the sum it is at a right angle to it.
    """
    ax = canvas(ax, (6.5, 2.3), (0, 14), (-0.2, 4.4))
    for x, given, left in ((2.6, "$f(x)$", factor), (8.6, "$x + f(x)$", (1 + factor**2) ** 0.5)):
        summed = given != "$f(x)$"
        box_around(ax, (x, 1.9), 1.9, 0.9, "layer $f$", fill=READS)
        say(ax, x, 0.05, "$x$")
        say(ax, x + 0.5, 0.05, "1", ha="left", colour=RUST)
        arrow(ax, (x, 0.35), (x, 1.45))
        say(ax, x, 4.15, given)
        say(ax, x + (1.15 if summed else 0.8), 4.15, f"{left:.2f}".rstrip("0"), ha="left", colour=RUST)
        if summed:
            _around(ax, x, (x + 1.6, 0.85, 2.95), 2.35)
        arrow(ax, (x, 3.15 if summed else 2.35), (x, 3.8))
    _triangle(ax, factor)
    return ax


def _triangle(ax: Axes, factor: float) -> None:
    """A difference of 1, at a right angle to it what f makes of it, and their sum."""
    start, unit = (11.6, 1.2), 1.9
    corner, end = (start[0], start[1] + unit), (start[0] + factor * unit * 1.0, start[1] + unit)
    arrow(ax, start, corner, BLUE, width=1.8)
    arrow(ax, corner, end, INK, width=1.8)
    arrow(ax, start, end, RUST, width=1.8)
    say(ax, start[0] - 0.15, start[1] + unit / 2, "1", ha="right", colour=BLUE)
    say(ax, (corner[0] + end[0]) / 2, corner[1] + 0.3, f"{factor:g}")
    say(ax, start[0] + 0.55, start[1] + unit / 2, f"{(1 + factor**2) ** 0.5:.2f}", ha="left", colour=RUST)


def plot_learned(
    groups: Mapping[str, Mapping[str, tuple[str, Sequence[float]]]], column: str, ax: Axes | None = None
) -> Axes:
    """Draw, in groups of rows, the share that each seed of a model gets right, and beside it what it begins with.

    Args:
        groups: ``{title: {row: (beginning, shares)}}``; the beginning is a short text for the column on the right, and
            the shares lie between 0 and 1, one per seed.
        column: the title of the column on the right.

    Raises:
        ValueError: if there is no group, or a row has no share, or one that lies outside of 0 to 1.
    """
    if not groups:
        raise ValueError("groups is empty; give at least one title with its rows")
    ax = new_axes(ax, (6.5, 1.2 + 0.36 * sum(1 + len(rows) for rows in groups.values())))
    y, ticks = 0.0, {}
    for (title, rows), style in zip(groups.items(), STYLES[1::-1] + STYLES[2:], strict=False):
        ax.text(0.0, y, title, weight="bold", va="center", fontsize=11)
        for row, (beginning, shares) in rows.items():
            if not shares or not all(0 <= share <= 1 for share in shares):
                raise ValueError(f"{row!r} must have shares from 0 to 1, got {list(shares)}")
            y += 1
            ticks[y] = row
            ax.plot([100 * share for share in shares], [y] * len(shares), style.marker, color=style.colour, alpha=0.75)
            ax.text(1.05, y, beginning, transform=ax.get_yaxis_transform(), va="center", fontsize=10.5)
        y += 1.2
    ax.text(1.05, 0.0, column, transform=ax.get_yaxis_transform(), va="center", fontsize=10.5)
    ax.set(xlabel="right numbers of 200 in the test (%)", xlim=(-3, 103), ylim=(y - 0.6, -0.6))
    ax.set_yticks(list(ticks), list(ticks.values()))
    return ax


def mark_losses(ax: Axes, low: float, high: float, text: str) -> None:
    """Mark the losses from ``low`` to ``high`` behind curves, and say above, at the right, what they mean.

    Raises:
        ValueError: if the range is empty.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got {low:g} and {high:g}")
    ax.axhspan(low, high, facecolor=SAND, edgecolor=LINE, linewidth=1.0, zorder=0)
    ax.text(0.98 * ax.get_xlim()[1], 1.22 * high, text, ha="right", fontsize=10.5, color=INK)


def plot_schedules(
    schedules: Mapping[str, Tensor],
    both: Mapping[str, Collection[int]] = MappingProxyType({}),
    xlabel: str = "time (steps)",
) -> list[Axes]:
    """Draw, one panel below the other, at which step each layer computes each word.

    Args:
        schedules: ``{title: (L, T)}``, whole numbers from 1 on: the step for each layer, lowest first, and word.
        both: ``{title: numbers of layers}`` that read in both directions: under their words they have a second row, in
            which the words are read from the last to the first.

    Raises:
        ValueError: if there is no schedule, or one is not ``(L, T)`` with 1 to 12 words.
    """
    if not schedules:
        raise ValueError("schedules is empty; give at least one title with its steps")
    for title, steps in schedules.items():
        if steps.ndim != 2 or not 0 < steps.shape[1] <= _MOST_WORDS or not len(steps):
            raise ValueError(f"{title!r} must be (L, T) with T from 1 to {_MOST_WORDS}, got {tuple(steps.shape)}")
    size = (6.5, 0.8 + sum(0.75 + 0.34 * len(steps) for steps in schedules.values()))
    heights = [1 + len(steps) for steps in schedules.values()]
    _, axes = plt.subplots(
        len(schedules), 1, figsize=size, sharex=True, squeeze=False, height_ratios=heights, layout="constrained"
    )
    last = max(int(steps.max()) for steps in schedules.values())
    for ax, (title, steps) in zip(axes[:, 0], schedules.items(), strict=True):
        _schedule(ax, title, steps, last, both.get(title, ()))
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def _schedule(ax: Axes, title: str, steps: Tensor, last: int, both: Collection[int]) -> None:
    for layer, row in enumerate(steps.tolist(), start=1):
        if layer in both:
            _words(ax, row, bottom=layer, height=0.5)
            _words(ax, row[::-1], bottom=layer - 0.5, height=0.5)
        else:
            _words(ax, row, bottom=layer - 0.5, height=1.0)
    ax.set(xlim=(0, last), ylim=(0.5, len(steps) + 0.5), ylabel="layer", yticks=range(1, len(steps) + 1))
    ax.set_title(title, fontsize=11, loc="left")
    ax.grid(False, axis="y")


def _words(ax: Axes, row: Sequence[int], bottom: float, height: float) -> None:
    """A box per word, at its step, with the word's number."""
    for word, step in enumerate(row, start=1):
        ax.add_patch(Rectangle((step - 1, bottom), 1, height, facecolor=READS, edgecolor=LINE))
        ax.text(
            step - 0.5,
            bottom + height / 2,
            str(word),
            ha="center",
            va="center",
            fontsize=8 if height < 1 else 9,
            color=INK,
        )


def plot_coverage(words: Sequence[str], coverage: Sequence[float], ax: Axes | None = None) -> Axes:
    """Draw one bar per source word: the attention it got, summed over the target words; 1 is what a penalty wants.

    Raises:
        ValueError: if there is no word, or not one number per word.
    """
    if not len(words) or len(words) != len(coverage):
        raise ValueError(f"coverage must have one number per word, got {len(coverage)} for {len(words)} words")
    ax = new_axes(ax, (6.5, 3.6))
    positions = range(len(words))
    ax.bar(positions, list(map(float, coverage)), color=STYLES[0].colour, width=0.7)
    wanted = ax.axhline(1.0, color=STYLES[1].colour, linestyle="--", linewidth=1.6)
    ax.set_xticks(positions, list(words), rotation=45, ha="right")
    ax.set(xlabel="source word", ylabel="attention received (sum of weights)")
    ax.grid(False, axis="x")
    legend_above(ax, [wanted], ["1: from here on the penalty is zero"])
    return ax
