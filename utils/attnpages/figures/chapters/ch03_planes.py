"""Figures of chapter 03: what scores prefer among all keys of a plane, and the bump of an additive score."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.palette import LINE
from attnpages.figures.style import HEAT_MAP, STYLES


def plot_preferences(
    scores: Mapping[str, Callable[[Tensor], Tensor]],
    query: Sequence[float],
    keys: Mapping[str, Sequence[float]],
    limits: tuple[float, float] = (-1.0, 5.0),
    labels: tuple[str, str] = ("feature 1 of the key", "feature 2 of the key"),
    last: Callable[[Axes], object] | None = None,
    triangle: Sequence[Sequence[float]] = (),
    shadows: Collection[str] = (),
) -> np.ndarray:
    """Draw what scores prefer: for each of them the plane of all keys with two features, darker for a higher score.

    Args:
        scores: ``{title: function}``, two panels in a row; a function takes keys ``(N, 2)`` and returns ``(N,)``.
        query: where the ring is drawn. ``keys``: ``{name: key}``, points with their names.
        limits: of both axes. ``labels``: what the two features are.
        last: draws into one more panel, whose axes are its own.
        triangle: corners of a dashed outline in each panel.
        shadows: titles of panels that show each key's shadow on the line through the query.

    Raises:
        ValueError: if there is no score, or the query has not two features.
    """
    if not scores:
        raise ValueError("scores is empty; give at least one title with its function")
    if len(query) != 2:
        raise ValueError(f"the query has {len(query)} features; the plane has two")
    rows = math.ceil((len(scores) + (last is not None)) / 2)
    _, axes = plt.subplots(rows, 2, figsize=(6.5, 0.5 + 2.9 * rows), squeeze=False, layout="constrained")
    side = torch.linspace(*limits, 121)  # (N,)
    plane = torch.cartesian_prod(side, side)  # (N * N, 2)
    for ax, (title, score) in zip(axes.flat, scores.items(), strict=False):
        heights = score(plane).reshape(len(side), len(side)).T  # (second feature, first feature)
        ax.contourf(side, side, heights, levels=20, cmap=HEAT_MAP, alpha=0.75)
        ax.contour(side, side, heights, levels=20, colors=LINE, linewidths=0.8, linestyles="solid")
        ax.plot(*query, "o", markersize=15, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.6)
        for (name, key), style in zip(keys.items(), STYLES, strict=False):
            ax.plot(*key, "o", markersize=8, color=style.colour, markeredgecolor="white")
            look = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
            above = key[1] >= query[1]  # names stand away from the ring
            if title in shadows:
                above = query[0] * key[1] > query[1] * key[0]  # and away from the line through the query
                _draw_shadow(ax, query, key, style.colour)
            ax.annotate(
                name, key, (0, 11 if above else -11), textcoords="offset points", fontsize=11, bbox=look,
                ha="center", va="bottom" if above else "top",
            )  # fmt: skip
        if title in shadows:
            end = limits[1] / max(query)
            ax.plot((0, end * query[0]), (0, end * query[1]), color="black", linewidth=1.2, marker="", linestyle="-")
        ax.set(title=title, aspect="equal", xlim=limits, ylim=limits)
        ax.grid(visible=False)
    for place, ax in enumerate(axes.flat[: len(scores)]):
        lowest, leftmost = place + 2 >= len(scores), place % 2 == 0
        ax.set(xlabel=labels[0] if lowest else "", ylabel=labels[1] if leftmost else "")
        ax.tick_params(labelbottom=lowest, labelleft=leftmost)
    if triangle:
        corners = [*triangle, triangle[0]]
        for ax in axes.flat[: len(scores)]:
            ax.fill(*zip(*triangle, strict=True), color="white", alpha=0.4, linewidth=0, zorder=1.5)
            ax.plot(*zip(*corners, strict=True), color="black", linestyle="--", linewidth=1.6, marker="", zorder=2)
    beyond = list(axes.flat)[len(scores) :]
    if last is not None:
        last(beyond.pop(0))
    for ax in beyond:
        ax.remove()
    return axes


def _draw_shadow(ax: Axes, query: Sequence[float], key: Sequence[float], colour: str) -> None:
    """A triangle of the origin, a key and its shadow, the foot of the perpendicular to the line through the query."""
    share = sum(a * b for a, b in zip(query, key, strict=True)) / sum(a * a for a in query)
    foot = (share * query[0], share * query[1])
    ax.plot((0, key[0]), (0, key[1]), color=colour, linestyle="-", linewidth=2, marker="")
    ax.plot(*zip(key, foot, strict=True), color=colour, linestyle="--", linewidth=2, marker="")
    ax.plot(*foot, "D", markersize=6, color=colour, markeredgecolor="white", zorder=3)


def draw_bump(ax: Axes, half_width: float = 1.0, reach: float = 4.0) -> Axes:
    """Draw how two units of tanh make a bump: tanh(x + w), tanh(x − w), and the first minus the second.

    Args:
        ax: where to draw. ``half_width``: w. ``reach``: how far the axis goes to each side.
    """
    x = np.linspace(-reach, reach, 201)
    up, down = np.tanh(x + half_width), np.tanh(x - half_width)
    for y, sign, style in ((up, "+", STYLES[1]), (down, "−", STYLES[2])):
        name = f"tanh(x {sign} {half_width:g})"
        ax.plot(x, y, label=name, linestyle=style.line, color=style.colour, linewidth=1.4, marker="")
    ax.plot(x, up - down, color=STYLES[0].colour, linestyle="-", linewidth=2.6, marker="", label="first − second")
    ax.set(title="additive: one feature", xlabel="x: query minus key", ylim=(-1.2, 3.4), yticks=(-1, 0, 1))
    ax.set_box_aspect(1)
    ax.legend(loc="upper left", fontsize=10, frameon=False)
    return ax
