"""Pictures of chapter 14: ways through points, the walk around a hull, and where a network points at each step."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnbook.plotting.style import STYLES

_INK, _PALE = "#24292F", "#B4B4B4"
_WAY = {"color": STYLES[0].colour, "linestyle": "-", "marker": "", "linewidth": 2.0, "zorder": 2}
_OFF = {"color": STYLES[1].colour, "linestyle": (0, (4, 1.5)), "marker": "", "linewidth": 2.6, "zorder": 2}
_POINT = {"marker": "o", "linestyle": "", "markersize": 6, "color": _INK, "zorder": 3}
_START = {"marker": "s", "linestyle": "", "markersize": 9, "color": _INK, "zorder": 3}


class Way(NamedTuple):
    """A closed way through points, as a panel shows it.

    Fields:
        title: above the panel.
        points: ``(N, 2)``.
        places: ``(T,)``, in the order in which they are visited; N ends the way.
        best: the way to compare with, likewise; edges that it has not are drawn dashed.
    """

    title: str
    points: Tensor
    places: Tensor
    best: Tensor | None = None


def plot_ways(ways: Sequence[Way], columns: int = 3, numbers: bool = False) -> list[Axes]:
    """Draw closed ways side by side, the first place of each as a square.

    Args:
        ways: one a panel, row by row.
        columns: panels in a row.
        numbers: write each place's number beside it.

    Raises:
        ValueError: if there is no way, one is empty, or ``columns`` is not positive.
    """
    if not len(ways) or columns < 1:
        raise ValueError(f"ways and columns must be at least one, got {len(ways)} and {columns}")
    axes = _panels(len(ways), columns)
    for ax, way in zip(axes, ways, strict=True):
        _draw_way(ax, way, numbers)
    return axes


def _panels(count: int, columns: int) -> list[Axes]:
    """``count`` square panels with common axes, ``columns`` in a row."""
    rows = -(-count // columns)
    size = (6.5, 0.5 + (6.5 / columns + 0.15) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, layout="constrained")
    axes = list(np.atleast_1d(axes).flat)
    for ax in axes[count:]:
        ax.set_axis_off()
    figure.supxlabel("x (sides of the square)", fontsize=12)
    figure.supylabel("y (sides of the square)", fontsize=12)
    return axes[:count]


def _draw_way(ax: Axes, way: Way, numbers: bool) -> None:
    places = _stops(way.places, len(way.points))
    if not places:
        raise ValueError(f"the way of {way.title!r} has no place")
    known = None if way.best is None else set(_edges(_stops(way.best, len(way.points))))
    spots = way.points.tolist()
    for edge in _edges(places):
        a, b = sorted(edge) if len(edge) == 2 else (*edge, *edge)
        look = _WAY if known is None or edge in known else _OFF
        ax.plot(*zip(spots[a], spots[b], strict=True), **look)
    ax.plot(*way.points.T.tolist(), **_POINT)
    ax.plot(*spots[places[0]], **_START)
    if numbers:
        _number(ax, spots)
    _square(ax, way.title)


def _stops(places: Tensor, size: int) -> list[int]:
    listed = places.tolist()
    return listed[: listed.index(size)] if size in listed else listed


def _edges(places: list[int]) -> list[frozenset[int]]:
    return [frozenset(pair) for pair in zip(places, places[1:] + places[:1], strict=True)]


def _number(ax: Axes, spots: list[list[float]]) -> None:
    middle = np.mean(spots, axis=0)
    for number, spot in enumerate(spots):
        away = np.array(spot) - middle  # numbers stand outside, where few edges run
        shift = 11 * away / max(np.linalg.norm(away), 1e-9)
        ax.annotate(str(number), spot, shift, textcoords="offset points", ha="center", va="center", fontsize=11)


def _square(ax: Axes, title: str) -> None:
    ax.set(xlim=(-0.07, 1.1), ylim=(-0.07, 1.1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
    ax.set_xticklabels(("0", "½", "1"))
    ax.set_yticklabels(("0", "½", "1"))
    ax.set_title(title, fontsize=11, loc="left")


def plot_wrapping(points: Tensor, hull: Tensor, columns: int = 3) -> list[Axes]:
    """Draw gift wrapping, one panel a corner: the rays to all other points, and the one that has none to its right.

    Args:
        points: ``(N, 2)``. hull: ``(T,)`` places, N from its end on.

    Raises:
        ValueError: if the hull has no corner.
    """
    stops = _stops(hull, len(points))
    if not stops:
        raise ValueError("hull has no corner")
    axes, spots = _panels(len(stops), columns), points.tolist()
    for step, ax in enumerate(axes):
        for other in spots:
            ax.plot(*zip(spots[stops[step]], other, strict=True), color=_PALE, linestyle=":", marker="", linewidth=1.2)
        found = [*stops, stops[0]][: step + 2]
        ax.plot(*zip(*(spots[place] for place in found), strict=True), **_WAY)
        ax.plot(*points.T.tolist(), **_POINT)
        ax.plot(*spots[stops[step]], **_START)
        _number(ax, spots)
        _square(ax, f"{step + 1}: from {found[-2]} to {found[-1]}")
    return axes


def plot_pointing(
    points: Tensor, tokens: Tensor, weights: Tensor, steps: Sequence[int], columns: int = 3
) -> list[Axes]:
    """Draw at some steps of one answer how probable each place was: the larger the circle, the more.

    Args:
        points: ``(N, 2)``. tokens: ``(T,)`` what was chosen. weights: ``(T, N + 1)`` the probabilities before.
        steps: which steps, one a panel; their numbers count from 0, and step 0 has nothing behind it.

    Raises:
        ValueError: if there is no step, or one that the answer has not.
    """
    if not len(steps) or not 0 <= min(steps) <= max(steps) < len(tokens):
        raise ValueError(f"steps must lie from 0 to {len(tokens) - 1}, got {list(steps)}")
    axes, spots, chosen = _panels(len(steps), columns), points.tolist(), tokens.tolist()
    for ax, step in zip(axes, steps, strict=True):
        before = [place for place in chosen[:step] if place < len(spots)]
        for place, (x, y) in enumerate(spots):
            share = weights[step, place].item()
            if place in before:
                ax.plot(x, y, marker="x", color=_INK, markersize=6, zorder=3)
                continue
            look = {"facecolor": STYLES[0].colour, "alpha": 0.45, "edgecolor": _INK, "linewidth": 0.8}
            ax.scatter([x], [y], s=420 * share, zorder=2, clip_on=False, **look)
            ax.plot(x, y, marker="o", color=_INK, markersize=3, zorder=3)
        if before:
            ax.plot(*zip(*(spots[place] for place in before), strict=True), **_WAY)
            ax.plot(*spots[before[-1]], **_START)
        _square(ax, f"choice {step + 1}: {weights[step].max().item():.2f}")
    return axes
