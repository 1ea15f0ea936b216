"""Figures of chapter 08: multi-head attention, what heads attend to, scores over distance."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, say
from attnpages.figures.heat import as_matrix, draw_cells, write_in_cells
from attnpages.figures.palette import FAINT, INK, PALE, SAND
from attnpages.figures.style import STYLES, Look, new_axes, readable, styles_for


def draw_heads(heads: int = 4, dim: int = 64, ax: Axes | None = None) -> Axes:
    """Draw multi-head self-attention of one sentence from its word vectors to the output, every part with its shape.

    Args:
        heads: H, the number of strips into which the features are cut. dim: features D.

    Raises:
        ValueError: if the features can't be shared equally among the heads, or there are more heads than styles.
    """
    if not 1 <= heads <= len(STYLES) or dim % heads:
        raise ValueError(f"{dim} features can't be drawn as {heads} equal heads")
    ax = canvas(ax, (6.5, 7.0), (0, 13), (-0.3, 13.7))
    part = dim // heads
    _wide_box(ax, 12.7, f"word vectors X, shape (T, {dim})")
    _draw_projections(ax, heads, dim)
    _draw_each_head(ax, heads, part)
    bottoms = [(_centre(head, heads), 4.35) for head in range(heads)]
    strips = _strips(ax, 4.1, 3.0, 4.8, heads)
    for start, end in zip(bottoms, strips, strict=True):
        arrow(ax, start, (end, 3.65))
    say(ax, 0.1, 3.3, f"contexts, joined:\nshape (T, {dim})", ha="left", size=11)
    arrow(ax, (6.5, 2.95), (6.5, 2.45))
    _wide_box(ax, 2.0, f"project the output: multiply by the matrix $W_o$, shape ({dim}, {dim})")
    arrow(ax, (6.5, 1.55), (6.5, 1.05))
    _wide_box(ax, 0.6, f"output, shape (T, {dim})")
    return ax


def _wide_box(ax: Axes, y: float, text: str) -> None:
    box_around(ax, (6.5, y), 12.8, 0.9, text, size=12)


def _draw_projections(ax: Axes, heads: int, dim: int) -> None:
    """The three projections, each as a box, and below it the result, already cut into one strip per head."""
    for i, (name, letter) in enumerate((("queries", "Q"), ("keys", "K"), ("values", "V"))):
        x = 0.2 + 4.4 * i
        arrow(ax, (x + 1.9, 12.25), (x + 1.9, 11.75))
        box_around(ax, (x + 1.9, 11.3), 3.8, 0.9, f"multiply by $W_{letter.lower()}$", size=12)
        arrow(ax, (x + 1.9, 10.85), (x + 1.9, 10.4))
        for head, strip in enumerate(_strips(ax, x, 9.7, 3.8, heads)):
            ink = INK if head == 0 else FAINT
            end = (_centre(head, heads) + 0.55 * (i - 1), 7.55)
            arrow(ax, (strip, 8.75), end, colour=ink, width=1.4 if head == 0 else 0.9)
        say(ax, x + 1.9, 9.2, f"{name} {letter}, shape (T, {dim})", size=11)


def _draw_each_head(ax: Axes, heads: int, part: int) -> None:
    """One box per head: what it computes from its own strips, and the shape of its context."""
    width = 12.6 / heads - 0.2
    for head in range(heads):
        x = _centre(head, heads)
        look: Look = {"facecolor": STYLES[head].colour, "alpha": 0.3, "edgecolor": INK, "linewidth": 1.2}
        ax.add_patch(Rectangle((x - width / 2, 4.35), width, 3.2, **look))
        say(ax, x, 7.1, f"head {head}", size=12, weight="bold")
        if heads <= 4:
            say(ax, x, 6.15, f"weights (T, T):\nsoftmax\n$(Q_{head} K_{head}^\\top / \\sqrt{{{part}}})$", size=11)
            say(ax, x, 4.9, f"context (T, {part}):\nweights $\\times\\;V_{head}$", size=11)


def _centre(head: int, heads: int) -> float:
    """Where the middle of a head's box stands."""
    return 0.2 + 12.6 * (head + 0.5) / heads


def _strips(ax: Axes, x: float, y: float, width: float, heads: int) -> list[float]:
    """Draw a bar of strips, one per head, each with its number; return the middles of the strips."""
    one = width / heads
    for head in range(heads):
        look: Look = {"facecolor": STYLES[head].colour, "alpha": 0.45, "edgecolor": INK, "linewidth": 1.2}
        ax.add_patch(Rectangle((x + head * one, y), one, 0.65, **look))
        say(ax, x + (head + 0.5) * one, y + 0.32, str(head), size=11, weight="bold")
    return [x + (head + 0.5) * one for head in range(heads)]


def plot_heads_at(
    weights: object,
    names: Sequence[str],
    words: Sequence[str],
    query: int,
    split: int | None = None,
    least: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw what one word attends to in several heads: one row per head, one column per word, shares in percent.

    Args:
        weights: ``(heads, T)``, from 0 to 1. names: of the rows. words: the T words.
        query: the position of the word that attends; its name is bold.
        split: a thick line is drawn above this row. least: smaller weights get no number.

    Raises:
        ValueError: if there are not as many weights as names and words, or ``query`` is none of the words.
    """
    values = as_matrix("weights", weights)
    if values.shape != (len(names), len(words)) or not 0 <= query < len(words):
        raise ValueError(f"{values.shape} weights don't fit {len(names)} names, {len(words)} words and query {query}")
    ax = new_axes(ax, (6.5, 0.3 * len(names) + 1.5))
    image = draw_cells(ax, values, (0.0, 1.0))
    ax.set_xticks(range(len(words)), words, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.get_xticklabels()[query].set_fontweight("bold")
    shares = {at: f"{100 * value:.0f}" for at, value in np.ndenumerate(values) if value >= least}
    write_in_cells(ax, image, shares, size=10)
    if split is not None:
        ax.axhline(split - 0.5, color=INK, linewidth=2.5)
    ax.set(xlabel="word that is attended to", ylabel="")
    return ax


def plot_readouts(panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], xlabel: str) -> list[Axes]:
    """Draw the shares that models reach with several readouts: one panel per task, one row per attention.

    Args:
        panels: ``{title: {readout: {row: [one share per seed]}}}`` with the same readouts and rows in each.
        xlabel: what is measured; the shares, from 0 to 1, are drawn in percent.

    Raises:
        ValueError: if there is no panel, or the panels differ in their readouts or rows.
    """
    shapes = [{readout: list(rows) for readout, rows in panel.items()} for panel in panels.values()]
    rows = next(iter(shapes[0].values()), []) if shapes else []
    if not rows or any(shape != dict.fromkeys(shapes[0], rows) for shape in shapes):
        raise ValueError(f"panels must hold at least one panel, all with the same readouts and rows, got {shapes}")
    size = (6.5, 0.42 * len(rows) + 1.5)
    figure, grid = plt.subplots(1, len(panels), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for ax, (title, panel) in zip(grid[0], panels.items(), strict=True):
        for (readout, of), style in zip(panel.items(), (STYLES[1], STYLES[0]), strict=False):
            points = [(100 * share, row) for row, name in enumerate(rows) for share in of[name]]
            xs, ys = zip(*points, strict=True)
            ax.plot(xs, ys, linestyle="", marker=style.marker, color=style.colour, label=readout, clip_on=False)
        ax.set_title(title, loc="left", fontsize=12)
        ax.set(xlim=(0, 100), ylim=(len(rows) - 0.5, -0.5), xticks=range(0, 101, 25))
        ax.set_yticks(range(len(rows)), rows)
    figure.set_layout_engine("constrained", wspace=0.1)  # lest 100 of one axis touch 0 of the next
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    figure.supxlabel(xlabel, fontsize=12)
    return list(grid[0])


def plot_by_distance(
    curves: Mapping[str, Sequence[float]],
    distances: Sequence[float],
    trained: tuple[float, float],
    xlabel: str = "target position minus source position (words)",
    ylabel: str = "mean score (before softmax)",
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores change with the distance of query and key; the distances of training are shaded.

    Args:
        curves: ``{name: [one value per distance]}``. trained: smallest and largest distance of training.

    Raises:
        ValueError: if there is no curve, or one hasn't a value for each distance.
    """
    if not curves or any(len(values) != len(distances) for values in curves.values()):
        raise ValueError("curves must hold at least one curve, with one value for each distance")
    ax = new_axes(ax)
    ax.axvspan(*trained, zorder=0, facecolor=SAND, edgecolor="none", label="distances seen in training")
    at = as_array(distances)
    for name, style in styles_for(curves).items():
        values = as_array(curves[name])
        ax.plot(at, values, color=style.colour, linestyle=style.line, marker="", label=readable(name))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def plot_hands(
    sizes: Sequence[float], terms: Mapping[str, Sequence[float]], distances: Sequence[float], scores: Sequence[float]
) -> list[Axes]:
    """Draw the score of a query and a key hand by hand, and below it their sum over the distance.

    Args:
        sizes: the largest term of each hand, ``|q| |k|``, from the fastest hand on; grey bars.
        terms: ``{name of a distance: [the term of each hand there]}``. distances: of the lower panel.
        scores: the sum of all terms at each of them.

    Raises:
        ValueError: if there is no hand, terms do not fit the hands, or scores do not fit the distances.
    """
    if not len(sizes) or any(len(of) != len(sizes) for of in terms.values()) or len(scores) != len(distances):
        raise ValueError("give one term per hand at each named distance, and one score for each distance")
    _, (top, below) = plt.subplots(2, 1, figsize=(6.5, 5.2), layout="constrained")
    hands = range(1, len(sizes) + 1)
    height = 2 * as_array(sizes)
    top.bar(hands, height, 0.9, -height / 2, color=PALE, edgecolor=FAINT, linewidth=0.6, label="from least to most")
    for i, (name, style) in enumerate(styles_for(terms).items()):
        at = [hand + 0.4 * (i - (len(terms) - 1) / 2) for hand in hands]  # side by side, lest one hide the other
        look: Look = {"marker": style.marker, "markersize": 4.5, "color": style.colour}
        top.plot(at, as_array(terms[name]), linestyle="", label=name, **look)
    top.set(xlabel="hand, from the fastest to the slowest", ylabel="term of the score", xlim=(0.3, len(sizes) + 0.7))
    top.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(terms) + 1, fontsize=10)
    below.plot(as_array(distances), as_array(scores), marker=".", color=STYLES[0].colour)
    below.set(xlabel="position of the key minus position of the query", ylabel="score (the sum)")
    for ax in (top, below):
        ax.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    return [top, below]
