"""Figures of chapter 07: paths through layers, labelled curves, and a reader's weights."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import mean

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnbook.measure.path_lengths import hops
from attnpages.figures.boxes import arrow, box_around, canvas, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import FAINT, INK, PALE
from attnpages.figures.style import STYLES, TRUTH_COLOUR, Look, readable

_THIN: Look = {"colour": PALE, "width": 0.8, "gap": 4}
_BOLD: Look = {"colour": TRUTH_COLOUR, "width": 2.6, "gap": 4}

# A model has the same style in each figure of the chapter, whichever others stand beside it.
_MODELS = ("self-attention", "RNN", "LSTM", "LSTM, open gates", "window", "convolution")
_STYLES = dict(zip(_MODELS, STYLES, strict=False))


def draw_two_ways(words: Sequence[str], subject: int) -> Axes:
    """Draw how the word at position ``subject`` reaches the last word: through states, or by self-attention.

    Args:
        words: those before the verb. subject: a position among them.

    Raises:
        ValueError: if there is no such position.
    """
    if not 0 <= subject < len(words):
        raise ValueError(f"subject is {subject}; {len(words)} words have the positions 0 to {len(words) - 1}")
    shown = [*words, "?"]
    widths = np.array([0.4 + 0.105 * len(word) for word in shown])
    middles = widths.cumsum() - widths / 2
    ax = canvas(None, (6.5, 3.6), (0, widths.sum()), (-0.35, 5.9))
    last, steps = len(words), len(words) - 1 - subject
    end = middles[last] - widths[last] / 2 + 0.12  # the left edge of the question mark
    titles = {3.5: f"recurrent network: {steps} steps from state to state", 0.1: "self-attention: 1 step"}
    for bottom, title in titles.items():
        recurrent = bottom > 1
        dots = bottom + 1.2
        say(ax, 0.03, bottom + 2.15, title, ha="left", size=12)
        for i, middle in enumerate(middles[:last]):
            if recurrent or i + 1 == last:
                ax.plot(middle, dots, "o", color=STYLES[0].colour, markersize=9, zorder=3)
            if recurrent:
                arrow(ax, (middle, bottom + 0.35), (middle, dots), **(_BOLD if i == subject else _THIN))
                if i + 1 < last:
                    arrow(ax, (middle, dots), (middles[i + 1], dots), **(_BOLD if i >= subject else _THIN))
            else:
                arrow(ax, (middle, bottom + 0.35), (middles[last - 1], dots), **(_BOLD if i == subject else _THIN))
        arrow(ax, (middles[last - 1], dots), (end, dots), **_BOLD)
        for i, (word, middle, width) in enumerate(zip(shown, middles, widths, strict=True)):
            edge = TRUTH_COLOUR if i in (subject, last) else FAINT
            box_around(ax, (middle, dots if i == last else bottom), width - 0.08, 0.7, word, size=10.5, edge=edge)
    return ax


def plot_labelled(panels: Mapping[str, Curves], xlabel: str, height: float = 2.4) -> list[Axes]:
    """Draw curves in panels below one another, with a logarithmic x axis and each name at the end of its curve.

    Args:
        panels: ``{label of the y axis: {name: {x: [one value per seed]}}}``; a label with "(log)" gets a logarithmic
            axis. Lines go through the means, bands from the smallest to the largest value. The chapter's models keep
            their styles in all figures; in a panel with any other name, styles are given in order.
        xlabel: of the lowest panel. height: inches per panel.

    Raises:
        ValueError: if there is no panel, or a curve is not as :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its curves")
    size = (6.5, 0.5 + height * len(panels))
    _, axes = plt.subplots(len(panels), 1, figsize=size, sharex=True, layout="constrained", squeeze=False)
    measured = sorted({int(x) for curves in panels.values() for points in curves.values() for x in points})
    for ax, (label, curves) in zip(axes[:, 0], panels.items(), strict=True):
        styles = _STYLES if set(curves) <= set(_STYLES) else None
        plot_by_length(curves, xlabel="", ylabel=label, ax=ax, trained=None, styles=styles)
        ax.get_legend().remove()
        ax.set_xscale("log")
        ax.set_xlim(measured[0] / 1.1, measured[-1] * 1.1)
        if "(log)" in label:
            ax.autoscale(axis="y")
            ax.set_yscale("log")
        _name_curves(ax, curves)
        ax.set_xticks(measured, [str(x) for x in measured])
        ax.minorticks_off()
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def _name_curves(ax: Axes, curves: Curves) -> None:
    """Write each curve's name behind its last point; at the right edge, no two names touch."""
    ends, colours = {}, {line.get_label(): line.get_color() for line in ax.get_lines()}
    last = max(float(x) for points in curves.values() for x in points)
    for name, points in curves.items():
        x = max(points, key=float)
        values = points[x]
        point = (float(x), mean(values) if isinstance(values, Sequence) else float(values))
        if float(x) == last:
            ends[name] = ax.transAxes.inverted().transform(ax.transData.transform(point))[1]
        else:
            ax.annotate(readable(name), point, xytext=(9, 0), textcoords="offset points", va="center", fontsize=11)
    names = sorted(ends, key=lambda name: ends[name])
    for name, height in zip(names, spread([ends[name] for name in names], 0.115), strict=True):
        colour = colours[readable(name)]
        ax.plot([1.0, 1.04], [ends[name], height], color=colour, linestyle="-", linewidth=1.5, marker="",
                transform=ax.transAxes, clip_on=False)  # fmt: skip
        look: Look = {"transform": ax.transAxes, "ha": "left", "va": "center", "fontsize": 11, "color": INK}
        ax.text(1.05, height, readable(name), **look)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move rising ``heights`` between 0 and 1 apart until neighbours keep ``gap``; they stay as near as that allows.

    >>> spread([0.5, 0.5], 0.25)
    [0.375, 0.625]
    """
    blocks: list[list[float]] = []  # each a run of heights that touch: their middle, and how many there are
    for height in heights:
        blocks.append([height, 1])
        while len(blocks) > 1 and blocks[-1][0] - blocks[-2][0] < gap * (blocks[-1][1] + blocks[-2][1]) / 2:
            (one, m), (other, n) = blocks[-2:]
            blocks[-2:] = [[(one * m + other * n) / (m + n), m + n]]
    return [middle + gap * (i - (count - 1) / 2) for middle, count in blocks for i in range(int(count))]


def draw_ways(layers: Mapping[str, Tensor], within: Sequence[str] = ()) -> list[Axes]:
    """Draw for each kind of layer how information gets from the first position to the last, one shortest path bold.

    Args:
        layers: ``{title: reads (T, T) bool}``, see :mod:`attnbook.measure.path_lengths`.
        within: titles of those whose positions read one another inside one layer, as recurrent states do. The others
            are stacked, as many layers as the path needs.

    Raises:
        ValueError: if there is nothing to draw, or no path leads from the first position to the last.
    """
    if not layers:
        raise ValueError("layers is empty; give at least one title with its matrix")
    _, axes = plt.subplots(len(layers), 1, figsize=(6.5, 0.3 + 1.75 * len(layers)), layout="constrained")
    axes = [axes] if len(layers) == 1 else list(axes)
    for ax, (title, reads) in zip(axes, layers.items(), strict=True):
        way = way_through(reads)
        count = len(way) - 1
        ax.set_title(f"{title}: {count} hop{'s' * (count != 1)}", loc="left", fontsize=12)
        (_draw_chain if title in within else _draw_stack)(ax, reads, way)
        ax.set(xlim=(-0.9, len(reads) - 0.1))
        ax.axis("off")
    return axes


def way_through(reads: Tensor) -> list[int]:
    """Positions on a shortest path from the first to the last, both ends included.

    Raises:
        ValueError: if there is none.
    """
    distance = hops(reads)[:, 0].tolist()  # hops from position 0 to each
    position = len(distance) - 1
    if distance[position] < 0:
        raise ValueError("reads has no path from the first position to the last")
    way = [position]
    while position:
        position = next(j for j in range(len(reads)) if reads[position, j] and distance[j] == distance[position] - 1)
        way.append(position)
    return way[::-1]


def _draw_chain(ax: Axes, reads: Tensor, way: list[int]) -> None:
    """One layer: words below, states above; states read words and one another."""
    for i in range(len(reads)):
        arrow(ax, (i, 0), (i, 1), **(_BOLD if i == way[0] else _THIN))
    for i, j in reads.nonzero().tolist():
        arrow(ax, (j, 1), (i, 1), **(_BOLD if (j, i) in pairwise(way) else _THIN))
    _dots(ax, len(reads), ["words", "states"])


def _draw_stack(ax: Axes, reads: Tensor, way: list[int]) -> None:
    """As many layers as the way has hops, the words at the bottom."""
    count = len(way) - 1
    for layer in range(count):
        for i, j in reads.nonzero().tolist():
            arrow(ax, (j, layer), (i, layer + 1), **_THIN)
    for layer, (j, i) in enumerate(pairwise(way)):
        arrow(ax, (j, layer), (i, layer + 1), **_BOLD)
    _dots(ax, len(reads), ["words", *(f"layer {n}" for n in range(1, count + 1))])


def _dots(ax: Axes, positions: int, names: list[str]) -> None:
    for height, name in enumerate(names):
        ax.plot(range(positions), [height] * positions, "o", color=STYLES[0].colour, markersize=7, zorder=3)
        if len(names) <= 5 or height in (0, len(names) - 1):
            ax.text(-0.35, height, name, ha="right", va="center", fontsize=10)
    ax.set_ylim(-0.4, len(names) - 0.6)
    ax.margins(x=0.1)


def draw_reading(words: Sequence[str], weights: object) -> Axes:
    """Draw a sentence read word by word, one row per step: the word just read is framed, the others are shaded.

    Args:
        words: the T words read.
        weights: ``(T, T)``, row t holds the weights with which the reader attended at word t; columns from t on are
            not drawn.

    Raises:
        ValueError: if the weights don't fit the words.

    After figure 1 of Cheng, Dong and Lapata 2016.
    """
    values = as_matrix("weights", weights)
    if values.shape != (len(words), len(words)):
        raise ValueError(f"weights must be ({len(words)}, {len(words)}) for as many words, got {values.shape}")
    widths = np.array([0.35 + 0.095 * len(word) for word in words])
    left = np.concatenate([[0], widths.cumsum()])
    _, ax = plt.subplots(figsize=(6.5, 0.4 + 0.3 * len(words)), layout="constrained")
    blues = plt.get_cmap("Blues")
    for t, row in enumerate(values):
        for j in range(t + 1):
            face, edge = (blues(row[j]), "none") if j < t else ("white", TRUTH_COLOUR)
            box = plt.Rectangle(
                (left[j] + 0.03, t - 0.42), widths[j] - 0.06, 0.84, linewidth=1.6, facecolor=face, edgecolor=edge
            )
            ax.add_patch(box)
            ink = "white" if j < t and row[j] > 0.55 else "black"
            middle = left[j] + widths[j] / 2
            ax.text(middle, t, words[j], ha="center", va="center", fontsize=10, color=ink)
    ax.set(xlim=(0, left[-1]), ylim=(len(words) - 0.4, -0.6), xlabel="words read so far", ylabel="step")
    ax.set_yticks(range(len(words)), [str(t + 1) for t in range(len(words))])
    ax.set_xticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax


def draw_attended(rows: Sequence[tuple[str, Sequence[str], object]]) -> Axes:
    """Draw sentences below one another, each word shaded by the weight that the last word gives it, and the weight.

    Args:
        rows: (what stands above the sentence, its T words, ``(T,)`` weights of its last word).

    Raises:
        ValueError: if there is no row, or weights don't fit their words.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one sentence with its weights")
    _, ax = plt.subplots(figsize=(6.5, 0.4 + 0.92 * len(rows)), layout="constrained")
    blues, widest = plt.get_cmap("Blues"), 0.0
    for r, (title, words, weights) in enumerate(rows):
        values = np.asarray(weights, dtype=float)
        if values.shape != (len(words),):
            raise ValueError(f"weights of row {r + 1} must be ({len(words)},) for as many words, got {values.shape}")
        ax.text(0.03, r - 0.34, title, ha="left", va="center", fontsize=11, color=INK)
        left = 0.0
        for i, (word, weight) in enumerate(zip(words, values, strict=True)):
            width = 0.4 + 0.1 * len(word)
            edge = TRUTH_COLOUR if i + 1 == len(words) else PALE
            box = plt.Rectangle((left + 0.03, r - 0.17), width - 0.06, 0.34, linewidth=1.2, edgecolor=edge,
                                facecolor=blues(weight))  # fmt: skip
            ax.add_patch(box)
            look: Look = {"ha": "center", "va": "center"}
            ax.text(left + width / 2, r, word, fontsize=11, color="white" if weight > 0.55 else "black", **look)
            ax.text(left + width / 2, r + 0.3, f"{weight:.2f}", fontsize=10, color=INK, **look)
            left += width
        widest = max(widest, left)
    ax.set(xlim=(0, widest), ylim=(len(rows) - 0.5, -0.5), xticks=[], yticks=[])
    ax.set_xlabel("words, each with the weight that “?” gives it")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax
