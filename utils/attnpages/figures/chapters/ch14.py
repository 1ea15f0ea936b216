"""Figures of chapter 14: closed ways through points, and a network's choices among them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.palette import FAINT, INK
from attnpages.figures.style import STYLES, Look

_WAY: Look = {"color": STYLES[0].colour, "linestyle": "-", "marker": "", "linewidth": 2.0, "zorder": 2}
_OFF: Look = {"color": STYLES[1].colour, "linestyle": (0, (4, 1.5)), "marker": "", "linewidth": 2.6, "zorder": 2}
_BEST: Look = {"color": FAINT, "linestyle": ":", "marker": "", "linewidth": 1.6, "zorder": 1}
_POINT: Look = {"marker": "o", "linestyle": "", "markersize": 6, "color": INK, "zorder": 3}
_START: Look = {"marker": "s", "linestyle": "", "markersize": 9, "color": INK, "zorder": 3}


class Way(NamedTuple):
    """A closed way through points, as a panel shows it.

    Fields:
        title: above the panel.
        points: ``(N, 2)``.
        positions: ``(T,)``, in the order in which they are visited; N ends the way.
        best: the way to compare with, likewise; edges that it has not are drawn dashed.
        part: left and lower border and side of the part of the square that is shown, enlarged; ``None`` shows all.
        turn: mark by how many degrees the first step turns, counter-clockwise, round the mean of all points.
    """

    title: str
    points: Tensor
    positions: Tensor
    best: Tensor | None = None
    part: tuple[float, float, float] | None = None
    turn: bool = False


def plot_ways(ways: Sequence[Way], columns: int = 3, numbers: bool = False) -> list[Axes]:
    """Draw closed ways side by side, the first point of each as a square.

    Args:
        ways: one per panel, row by row.
        columns: panels per row.
        numbers: write each point's position in the input beside it.

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
    stops = _stops(way.positions, len(way.points))
    if not stops:
        raise ValueError(f"the way of {way.title!r} has no point")
    known = None if way.best is None else set(_edges(_stops(way.best, len(way.points))))
    points = _enlarged(way).tolist()
    for edge in _edges(stops):
        a, b = sorted(edge) if len(edge) == 2 else (*edge, *edge)
        look = _WAY if known is None or edge in known else _OFF
        ax.plot(*zip(points[a], points[b], strict=True), **look)
    ax.plot(*zip(*points, strict=True), **_POINT)
    ax.plot(*points[stops[0]], **_START)
    if numbers:
        _number(ax, points, _edges(stops))
    if way.turn:
        _mark_turn(ax, np.array(points), stops)
    _square(ax, way.title)
    if way.part is not None:  # the axes are those of the whole square, so their numbers are wrong here
        ax.tick_params(labelbottom=False, labelleft=False)


def _enlarged(way: Way) -> Tensor:
    """The way's points, ``(N, 2)``, so that the part to be shown fills the square from 0 to 1."""
    if way.part is None:
        return way.points
    *corner, side = way.part
    if side <= 0:
        raise ValueError(f"part of {way.title!r} must have a positive side, got {side}")
    return (way.points - way.points.new_tensor(corner)) / side


def _stops(positions: Tensor, size: int) -> list[int]:
    listed = positions.tolist()
    return listed[: listed.index(size)] if size in listed else listed


def _edges(stops: list[int]) -> list[frozenset[int]]:
    return [frozenset(pair) for pair in zip(stops, stops[1:] + stops[:1], strict=True)]


def _mark_turn(ax: Axes, points: np.ndarray, stops: list[int]) -> None:
    """Thin lines from the mean of all points to the first two of the way, and an arc between them with its degrees."""
    middle = points.mean(axis=0)
    towards = points[stops[:2]] - middle
    start, end = np.rad2deg(np.arctan2(towards[:, 1], towards[:, 0]))
    turn = (end - start) % 360
    look: Look = {"color": INK, "linestyle": ":", "linewidth": 1.2, "zorder": 1}
    for stop in stops[:2]:
        ax.plot(*zip(middle, points[stop], strict=True), marker="", **look)
    ax.plot(*middle, color=INK, linestyle="", marker="+", markersize=9)
    along = np.deg2rad(start + np.linspace(0, turn, 40))
    ax.plot(middle[0] + 0.16 * np.cos(along), middle[1] + 0.16 * np.sin(along), color=INK, marker="", linewidth=1.4)
    halfway = np.deg2rad(start + turn / 2)
    at = middle + 0.25 * np.array([np.cos(halfway), np.sin(halfway)])
    under: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    ax.text(at[0], at[1], f"{turn:.0f}°", ha="center", va="center", fontsize=11, zorder=4, bbox=under)


def _number(ax: Axes, points: list[list[float]], edges: list[frozenset[int]]) -> None:
    """Write each point's position beside it."""
    middle = np.mean(points, axis=0)
    for number, point in enumerate(points):
        away = np.array(point) - middle  # numbers stand outside, where few edges run
        away = away / max(float(np.linalg.norm(away)), 1e-9)
        ends = [np.array(points[other]) - point for edge in edges if number in edge for other in edge - {number}]
        leading = [end / max(float(np.linalg.norm(end)), 1e-9) for end in ends]
        if leading and max(away @ one for one in leading) > 0.95:  # an edge runs there: opposite to both is free
            free = -np.sum(leading, axis=0)
            away = free / max(float(np.linalg.norm(free)), 1e-9)
        shift = 11 * away
        ax.annotate(
            str(number),
            (point[0], point[1]),
            (shift[0], shift[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=11,
        )


def _square(ax: Axes, title: str) -> None:
    ax.set(xlim=(-0.07, 1.1), ylim=(-0.07, 1.1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
    ax.set_xticklabels(("0", "½", "1"))
    ax.set_yticklabels(("0", "½", "1"))
    ax.set_title(title, fontsize=11, loc="left")


def plot_second_cities(points: Tensor, seconds: Mapping[str, Tensor]) -> list[Axes]:
    """Draw to which city a network goes on from each given first city, and ring one that it chooses from over half.

    Args:
        points: ``(N, 2)``.
        seconds: ``{title: (N,)}``, entry i is the second city if city i is the first; one panel per title.

    Raises:
        ValueError: if there is no panel, or one has not a second city for each first one.
    """
    if not seconds or any(chosen.shape != (len(points),) for chosen in seconds.values()):
        raise ValueError(f"seconds must hold ({len(points)},) cities per title, got {[*seconds.values()]}")
    axes, listed = _panels(len(seconds), len(seconds)), points.tolist()
    for ax, (title, chosen) in zip(axes, seconds.items(), strict=True):
        look: Look = {"arrowstyle": "-|>", "color": STYLES[0].colour, "linewidth": 1.2, "shrinkA": 3, "shrinkB": 4}
        for first, second in enumerate(chosen.tolist()):
            ax.annotate("", listed[second], listed[first], arrowprops={**look, "mutation_scale": 11})
        ax.plot(*zip(*listed, strict=True), **_POINT)
        ring: Look = {"marker": "o", "markersize": 16, "markerfacecolor": "none", "markeredgewidth": 2.4}
        if (counts := chosen.bincount()).max() > len(listed) / 2:
            ax.plot(*listed[int(counts.argmax())], markeredgecolor=STYLES[1].colour, zorder=4, **ring)
        _square(ax, title)
    return axes


def plot_choices(points: Tensor, trip: Sequence[int], probabilities: Tensor, choices: int = 3) -> list[Axes]:
    """Draw the first choices of a pointer network on the map: how probable each position is as the next one.

    Args:
        points: ``(N, 2)``.
        trip: the N positions in the order in which they are chosen, from the given first one on.
        probabilities: ``(N - 1, N)``, row t: of each position at choice t + 1; 0 where it has been chosen.
        choices: how many of them are drawn, one per panel.

    Raises:
        ValueError: if the sizes do not fit.
    """
    count = len(points)
    if len(trip) != count or probabilities.shape != (count - 1, count) or not 0 < choices < count:
        found = (len(trip), tuple(probabilities.shape), choices)
        raise ValueError(f"trip, probabilities and choices do not fit {count} points, got {found}")
    axes = _maps(choices)
    for step, ax in enumerate(axes):
        choice = Choice(trip[: step + 1], trip[step + 1], probabilities[step])
        _draw_choice(ax, points, choice, f"choice {step + 1}: {choice.following}")
    return axes


class Choice(NamedTuple):
    """One choice of a pointer network.

    Fields:
        begun: the positions chosen so far. following: the position to which an arrow leads.
        probabilities: ``(N,)``, of each position; 0 where it has been chosen.
    """

    begun: Sequence[int]
    following: int
    probabilities: Tensor


def plot_same_last(points: Tensor, choices: Sequence[Choice]) -> list[Axes]:
    """Draw choices side by side after different beginnings that end at the same position.

    Raises:
        ValueError: if there are fewer than two, or they do not end at the same position.
    """
    if len(choices) < 2 or len({choice.begun[-1] for choice in choices}) > 1:
        begun = [list(choice.begun) for choice in choices]
        raise ValueError(f"choices must be two or more that end at the same position, got {begun}")
    axes = _maps(len(choices))
    for ax, choice in zip(axes, choices, strict=True):
        _draw_choice(ax, points, choice, "after " + ", ".join(map(str, choice.begun)))
    return axes


def _maps(count: int) -> list[Axes]:
    _, drawn = plt.subplots(1, count, figsize=(6.5, 2.5), layout="constrained")
    return list(np.atleast_1d(drawn).flat)


def _draw_choice(ax: Axes, points: Tensor, choice: Choice, title: str) -> None:
    """The way so far, a dashed arrow to the next position, and a circle for each probability."""
    listed, done, following = points.tolist(), list(choice.begun), choice.following
    ax.plot(*zip(*(listed[n] for n in done), strict=True), **_WAY)
    end: Look = {"arrowstyle": "-|>", "color": STYLES[1].colour, "linewidth": 2, "linestyle": "--", "shrinkB": 7}
    ax.annotate("", listed[following], listed[done[-1]], arrowprops={**end, "mutation_scale": 13})
    for n, (x, y) in enumerate(listed):
        chance = float(choice.probabilities[n])
        if n in done:
            ax.plot(x, y, **(_START if n == done[0] else _POINT))
        else:
            ring: Look = {"marker": "o", "markersize": 6 + 22 * chance**0.5, "color": STYLES[1].colour, "alpha": 0.3}
            ax.plot(x, y, linestyle="", markeredgewidth=0, zorder=1, **ring)
            ax.plot(x, y, **_POINT)
        share = "×" if n in done else f"{100 * chance:.0f} %"
        radius = 0.0 if n in done else 11 * chance**0.5
        _say_beside(ax, f"{n}: {share}", points[n], points[_neighbours(n, [*done, following])], 3 + radius)
    _square(ax, title)
    ax.set(xlim=(-0.12, 1.1), ylim=(0.04, 1.0), xticks=(), yticks=())


def _neighbours(n: int, path: list[int]) -> list[int]:
    """The positions that a path joins to n directly."""
    pairs = [*pairwise(path), *pairwise(path[::-1])]
    return [other for one, other in pairs if one == n]


def _say_beside(ax: Axes, text: str, point: Tensor, others: Tensor, radius: float) -> None:
    """Write a text beside a point, outside its circle, on the side that is farthest from the lines to others."""
    sides = {
        (0, -1): ("center", "top"),
        (0, 1): ("center", "bottom"),
        (1, 0): ("left", "center"),
        (-1, 0): ("right", "center"),
    }
    ways = others - point

    def nearest(side: tuple[int, int]) -> float:  # the cosine of the angle to the nearest line; 0 is far enough
        cosines = ways @ ways.new_tensor(side) / ways.norm(dim=1).clamp(min=1e-9)
        return max([0.0, *cosines.tolist()])

    side = min(sides, key=nearest)
    ha, va = sides[side]
    x, y = point.tolist()
    shift = ((radius + 3) * side[0], (radius + 3) * side[1])
    ax.annotate(text, (x, y), shift, textcoords="offset points", ha=ha, va=va, fontsize=11)
