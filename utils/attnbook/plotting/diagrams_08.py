"""Drawings of chapter 08: four heads side by side, and pairs of features that turn with the place."""

from collections.abc import Sequence
from math import cos, sin

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from attnbook.plotting.style import STYLES, new_axes

_INK = "#24292F"


def draw_heads(heads: int = 4, dim: int = 64, ax: Axes | None = None) -> Axes:
    """Draw the way of one word's features through multi-head attention, from top to bottom.

    Args:
        heads: how many strips the features are cut into; dim: features D.

    Raises:
        ValueError: if the features can't be shared equally among the heads, or there are more heads than styles.
    """
    if not 1 <= heads <= len(STYLES) or dim % heads:
        raise ValueError(f"{dim} features can't be drawn as {heads} equal heads")
    ax = new_axes(ax, (6.5, 4.6))
    ax.set(xlim=(-0.05, 10.3), ylim=(-0.45, 6.4))
    ax.axis("off")
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
        ax.text(4.45, y + 0.36, name, va="center", fontsize=12, color=_INK, weight="bold")
        ax.text(4.45, y + 0.02, shape, va="center", fontsize=11, color=_INK)
        if y:
            arrow = {"arrowstyle": "-|>", "mutation_scale": 14, "color": _INK, "linewidth": 1.3}
            ax.add_patch(FancyArrowPatch((2.1, y - 0.22), (2.1, y - 0.7), **arrow))
    ax.text(7.9, 3.0, "each head: its own scores,\nits own softmax, its own\nweights", va="center", fontsize=11)
    return ax


def _row(ax: Axes, y: float, cut: int, apart: bool) -> None:
    if not cut:
        ax.add_patch(Rectangle((0.1, y - 0.15), 4.0, 0.65, facecolor="#E3E8ED", edgecolor=_INK, linewidth=1.2))
        return
    width = 4.0 / cut
    for head, style in zip(range(cut), STYLES, strict=False):
        gap = 0.18 if apart else 0.0
        look = {"facecolor": style.colour, "alpha": 0.45, "edgecolor": _INK, "hatch": style.hatch, "linewidth": 1.2}
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
        ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor="#767676", linewidth=1))
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
    ax.text(0, -1.42, f"arc: the turn of {label}", ha="center", fontsize=11, color=_INK)
