"""Figures of chapter 09 on the residual stream: one word through one layer by hand, and the blocks of a real model."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, INK, PAPER, READS
from attnpages.figures.style import STYLES, Look, with_minus

_STREAM, _BOXES = 1.35, 4.0  # from left: the stream, and the boxes beside it
_UP = 3.3  # from one sublayer to the next

Vector = Sequence[float]
Blocks = Sequence[Sequence[float]]  # one row per seed, in it one number per block


def draw_layer_by_hand(
    stream: Sequence[Vector], inside: Sequence[tuple[Vector, Vector]], names: Sequence[str], notes: Sequence[str]
) -> Axes:
    """Draw one word's vector through a pre-norm layer, with its numbers.

    Args:
        stream: the vector that enters, and after each sublayer.
        inside: for each sublayer what its norm returns, and what it adds.
        names: of the sublayers. notes: what is said beside each, below what it adds.

    Raises:
        ValueError: if these don't fit one another.
    """
    if not len(stream) - 1 == len(inside) == len(names) == len(notes):
        raise ValueError(f"{len(names)} sublayers need one vector more, got {len(stream)}, and as many pairs and notes")
    top = _UP * len(names)
    ax = canvas(None, (6.5, 0.9 + 1.7 * len(names)), (0, 8.6), (-0.55, top + 0.75))
    line(ax, (_STREAM, _STREAM), (-0.1, top + 0.3), BLUE, 2.6)
    _on_stream(ax, -0.1, stream[0])
    for row, (name, note, (normed, out)) in enumerate(zip(names, notes, inside, strict=True)):
        low, high = _UP * row + 0.85, _UP * row + 2.25
        line(ax, (_STREAM, _BOXES - 1.1), (low, low))
        arrow(ax, (_BOXES - 1.3, low), (_BOXES - 1.0, low))
        box_around(ax, (_BOXES, low), 2.0, 0.7, "layer norm", fill="white")
        say(ax, _BOXES + 1.25, low, written(normed), ha="left", size=11.5)
        arrow(ax, (_BOXES, low + 0.35), (_BOXES, high - 0.4))
        box_around(ax, (_BOXES, high), 2.0, 0.8, name, fill=READS if "attention" in name else PAPER)
        say(ax, _BOXES + 1.25, high + 0.2, written(out), ha="left", size=11.5)
        say(ax, _BOXES + 1.25, high - 0.08, note, ha="left", va="top", size=10)
        arrow(ax, (_BOXES - 1.0, high), (_STREAM + 0.22, high))
        plus: Look = {"boxstyle": "circle,pad=0.05", "facecolor": "white", "edgecolor": BLUE}
        ax.text(_STREAM, high, "+", ha="center", va="center", bbox=plus, zorder=4)
        _on_stream(ax, _UP * (row + 1) - 0.1, stream[row + 1])
    return ax


def _on_stream(ax: Axes, y: float, vector: Vector) -> None:
    look: Look = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": BLUE}
    ax.text(_STREAM, y, written(vector), ha="center", va="center", fontsize=11.5, color=INK, bbox=look, zorder=4)


def written(vector: Vector) -> str:
    """The numbers of a vector as on paper: ``(−1.41, 0, 0, 1.41)``."""
    numbers = (f"{round(x, 2) + 0.0:.2f}" for x in vector)
    return "(" + ", ".join(with_minus(one.removesuffix(".00")) for one in numbers) + ")"


def plot_blocks(panels: Mapping[str, Mapping[str, Blocks]], most: float | None = None) -> list[Axes]:
    """Draw bars for the blocks of a model, one panel below the other: means over seeds, and a line from least to most.

    Args:
        panels: ``{label of the y axis: {name: one row per seed, with one number per block}}``; a panel with several
            names has as many bars per block.
        most: where the first panel is cut off; a higher bar bears its number.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its blocks")
    size = (6.5, 0.4 + 2.5 * len(panels))
    _, axes = plt.subplots(len(panels), 1, figsize=size, sharex=True, layout="constrained", squeeze=False)
    for number, (ax, (label, bars)) in enumerate(zip(axes[:, 0], panels.items(), strict=True)):
        width = 0.8 / len(bars)
        for place, ((name, seeds), style) in enumerate(zip(bars.items(), STYLES, strict=False)):
            table = np.array(seeds)  # (seeds, blocks)
            at = np.arange(1, table.shape[1] + 1) + (place - (len(bars) - 1) / 2) * width
            hatch = "///" if place else ""
            look: Look = {"facecolor": "white" if place else style.colour, "edgecolor": style.colour, "hatch": hatch}
            ax.bar(at, table.mean(axis=0), width, label=name, **look)
            ax.vlines(at, table.min(axis=0), table.max(axis=0), color=INK, linewidth=1.0)
            if number == 0 and most is not None:
                for x, mean in zip(at, table.mean(axis=0), strict=True):
                    if mean > most:
                        say(ax, x + 0.6, 0.94 * most, f"← {mean:.1f}", ha="left", size=11)
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set_ylabel(label)
        if len(bars) > 1:
            ax.legend(loc="upper left")
        ax.grid(axis="x", visible=False)
    if most is not None:
        axes[0, 0].set_ylim(max(axes[0, 0].get_ylim()[0], -0.06 * most), most)
    axes[-1, 0].set(xlabel="block", xlim=(0.3, table.shape[1] + 0.7))
    axes[-1, 0].set_xticks([1, *range(5, table.shape[1] + 1, 5)])
    return list(axes[:, 0])
