"""Figures of chapter 07: ways through four kinds of layers, and a sentence read as the LSTMN's paper draws it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnbook.path_lengths import hops
from attnbook.plotting.boxes import PALE, arrow
from attnbook.plotting.heat import as_matrix
from attnbook.plotting.style import STYLES, TRUTH_COLOUR, Look

_THIN: Look = {"colour": PALE, "width": 0.8, "gap": 4}
_BOLD: Look = {"colour": TRUTH_COLOUR, "width": 2.6, "gap": 4}


def draw_ways(layers: Mapping[str, Tensor], within: Sequence[str] = ()) -> list[Axes]:
    """Draw for each kind of layer how the last place comes to know of the first, the way itself bold.

    Args:
        layers: ``{title: reads (T, T) bool}``, see :mod:`attnbook.path_lengths`.
        within: titles of those whose places read one another inside one layer, as recurrent states do. The others
            are stacked, as many layers as the way needs.

    Raises:
        ValueError: if there is nothing to draw, or from the first place no way leads to the last.
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
    """Places on a shortest way from the first place to the last, both ends included.

    Raises:
        ValueError: if there is none.
    """
    distance = hops(reads)[:, 0].tolist()  # hops from place 0 to each
    place = len(distance) - 1
    if distance[place] < 0:
        raise ValueError("reads has no way from the first place to the last")
    way = [place]
    while place:
        place = next(j for j in range(len(reads)) if reads[place, j] and distance[j] == distance[place] - 1)
        way.append(place)
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


def _dots(ax: Axes, places: int, names: list[str]) -> None:
    for height, name in enumerate(names):
        ax.plot(range(places), [height] * places, "o", color=STYLES[0].colour, markersize=7, zorder=3)
        if len(names) <= 5 or height in (0, len(names) - 1):
            ax.text(-0.35, height, name, ha="right", va="center", fontsize=10)
    ax.set_ylim(-0.4, len(names) - 0.6)
    ax.margins(x=0.1)


def draw_reading(words: Sequence[str], weights: object) -> Axes:
    """Draw a sentence read word by word: a row a step, the word just read framed, those before as dark as their weight.

    Args:
        words: the T words read.
        weights: ``(T, T)``, row t says where the reader looked at word t; what stands at t and later is not drawn.

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
