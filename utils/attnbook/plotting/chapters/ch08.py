"""Figures of chapter 08: heads side by side, features that turn, scores over distance, and heads that are silenced."""

from collections.abc import Mapping, Sequence
from math import cos, sin

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from attnbook.plotting.boxes import FAINT, INK, PAPER, arrow, canvas
from attnbook.plotting.style import STYLES, Look, new_axes, readable, styles_for


def draw_heads(heads: int = 4, dim: int = 64, ax: Axes | None = None) -> Axes:
    """Draw the way of one word's features through multi-head attention, from top to bottom.

    Args:
        heads: how many strips the features are cut into; dim: features D.

    Raises:
        ValueError: if the features can't be shared equally among the heads, or there are more heads than styles.
    """
    if not 1 <= heads <= len(STYLES) or dim % heads:
        raise ValueError(f"{dim} features can't be drawn as {heads} equal heads")
    ax = canvas(ax, (6.5, 4.6), (-0.05, 10.3), (-0.45, 6.4))
    part = dim // heads
    steps = [
        (5.6, "word vectors", f"(B, T, {dim})", 0),
        (4.2, "project: query, key, value", f"3 × (B, T, {dim})", 0),
        (2.8, "split and attend", f"(B, {heads}, T, {part})", heads),
        (1.4, "merge", f"(B, T, {dim})", heads),
        (0.0, "project the output", f"(B, T, {dim})", 0),
    ]
    for y, name, shape, cut in steps:
        _row(ax, y, cut, apart=name.startswith("split"))
        ax.text(4.45, y + 0.36, name, va="center", fontsize=12, color=INK, weight="bold")
        ax.text(4.45, y + 0.02, shape, va="center", fontsize=11, color=INK)
        if y:
            arrow(ax, (2.1, y - 0.24), (2.1, y - 0.68))
    ax.text(7.9, 3.0, "each head: its own scores,\nits own softmax, its own\nweights", va="center", fontsize=11)
    return ax


def _row(ax: Axes, y: float, cut: int, apart: bool) -> None:
    if not cut:
        ax.add_patch(Rectangle((0.1, y - 0.15), 4.0, 0.65, facecolor=PAPER, edgecolor=INK, linewidth=1.2))
        return
    width = 4.0 / cut
    for head, style in zip(range(cut), STYLES, strict=False):
        gap = 0.18 if apart else 0.0
        look: Look = {
            "facecolor": style.colour,
            "alpha": 0.45,
            "edgecolor": INK,
            "hatch": style.hatch,
            "linewidth": 1.2,
        }
        ax.add_patch(Rectangle((0.1 + head * width + gap / 2, y - 0.15), width - gap, 0.65, **look))
        ax.text(0.1 + (head + 0.5) * width, y + 0.17, str(head), ha="center", va="center", weight="bold")


def draw_clocks(speeds: Sequence[float], places: Sequence[int], shift: int) -> list[Axes]:
    """Draw pairs of features as hands of clocks, and how the same turn leads from each place to a later one.

    Args:
        speeds: radians a place, one clock each. places: which places to draw. shift: how many places the arc spans.

    Raises:
        ValueError: if there is no clock or no place.
    """
    if not len(speeds) or not len(places):
        raise ValueError("speeds and places must not be empty; give at least one of each")
    _, axes = plt.subplots(1, len(speeds), figsize=(6.5, 6.5 / len(speeds) + 0.4), squeeze=False)
    for ax, speed in zip(axes[0], speeds, strict=True):
        ax.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), aspect="equal")
        ax.axis("off")
        ax.set_title(f"{speed:g} radian a place")
        ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FAINT, linewidth=1))
        for place in places:
            x, y = cos(speed * place), sin(speed * place)
            ax.plot([0, x], [0, y], color=STYLES[0].colour, linestyle="-", marker="", linewidth=1.8)
            ax.text(1.22 * x, 1.22 * y, str(place), ha="center", va="center", fontsize=12)
        _arc(ax, speed * places[0], speed * (places[0] + shift), 0.45, f"{shift} places")
    return list(axes[0])


def _arc(ax: Axes, start: float, end: float, radius: float, label: str) -> None:
    steps = [start + (end - start) * i / 40 for i in range(41)]
    xs, ys = [radius * cos(a) for a in steps], [radius * sin(a) for a in steps]
    ax.plot(xs, ys, color=STYLES[1].colour, linestyle="-", marker="", linewidth=2.5)
    ax.text(0, -1.42, f"arc: the turn of {label}", ha="center", fontsize=11, color=INK)


def plot_by_distance(
    curves: Mapping[str, Sequence[float]],
    distances: Sequence[float],
    trained: tuple[float, float],
    xlabel: str = "target position minus source position (words)",
    ylabel: str = "mean score (before softmax)",
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores change with the distance of query and key; what training showed is shaded.

    Args:
        curves: ``{name: [one value a distance]}``. trained: smallest and largest distance of training.

    Raises:
        ValueError: if there is no curve, or one hasn't a value for each distance.
    """
    if not curves or any(len(values) != len(distances) for values in curves.values()):
        raise ValueError("curves must hold at least one curve, with one value for each distance")
    ax = new_axes(ax)
    ax.axvspan(*trained, zorder=0, facecolor="#F1EBDD", edgecolor="none", label="distances seen in training")
    for name, style in styles_for(curves).items():
        ax.plot(distances, curves[name], color=style.colour, linestyle=style.line, marker="", label=readable(name))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def plot_silenced(tables: Mapping[str, Sequence[Sequence[float]]], ylabel: str = "exact match") -> list[Axes]:
    """Draw what is left when one head is silent: one panel a kind of attention, one dot a head.

    Args:
        tables: ``{kind of attention: [[one value a head], one row a layer]}``.

    Raises:
        ValueError: if there is no table.
    """
    if not tables:
        raise ValueError("tables is empty; give at least one kind of attention")
    figure, axes = plt.subplots(1, len(tables), figsize=(6.5, 3.2), sharey=True, layout="constrained", squeeze=False)
    for ax, (kind, rows) in zip(axes[0], tables.items(), strict=True):
        for layer, (row, style) in enumerate(zip(rows, STYLES, strict=False)):
            xs = [head + 0.24 * (layer - (len(rows) - 1) / 2) for head in range(len(row))]
            ax.vlines(xs, row, 1.0, color=style.colour, linewidth=1.5)
            ax.plot(xs, row, style.marker, color=style.colour, clip_on=False, label=f"layer {layer}")
        ax.set(title=kind, xlabel="silent head", xticks=range(len(rows[0])), ylim=(-0.03, 1.03))
    axes[0][0].set_ylabel(ylabel)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return list(axes[0])
