"""Figures of chapter 14: attention and pointing, a network and its choices, closed ways, and Held and Karp's table."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.palette import FAINT, INK, LINE, PALE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, Look

_WAY: Look = {"color": STYLES[0].colour, "linestyle": "-", "marker": "", "linewidth": 2.0, "zorder": 2}
_OFF: Look = {"color": STYLES[1].colour, "linestyle": (0, (4, 1.5)), "marker": "", "linewidth": 2.6, "zorder": 2}
_BEST: Look = {"color": FAINT, "linestyle": ":", "marker": "", "linewidth": 1.6, "zorder": 1}
_POINT: Look = {"marker": "o", "linestyle": "", "markersize": 6, "color": INK, "zorder": 3}
_START: Look = {"marker": "s", "linestyle": "", "markersize": 9, "color": INK, "zorder": 3}

_Cell = tuple[tuple[int, ...], int]  # of the table: the cities on the way, and the last of them


class Way(NamedTuple):
    """A closed way through points, as a panel shows it.

    Fields:
        title: above the panel.
        points: ``(N, 2)``.
        positions: ``(T,)``, in the order in which they are visited; N ends the way.
        best: the way to compare with, likewise; edges that it has not are drawn dashed.
        part: left and lower border and side of the part of the square that is shown, enlarged; ``None`` shows all.
    """

    title: str
    points: Tensor
    positions: Tensor
    best: Tensor | None = None
    part: tuple[float, float, float] | None = None


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
        _number(ax, points)
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


def _number(ax: Axes, points: list[list[float]]) -> None:
    """Write each point's position beside it."""
    middle = np.mean(points, axis=0)
    for number, point in enumerate(points):
        away = np.array(point) - middle  # numbers stand outside, where few edges run
        shift = 11 * away / max(np.linalg.norm(away), 1e-9)
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


def draw_pointing(ax: Axes | None = None) -> Axes:
    """Draw what attention and pointing share, and where they part: with the sum and without it."""
    ax = canvas(ax, (6.5, 4.2), (-0.3, 10), (-0.7, 5.9))
    _part(ax, 0.2, 4.7, 2.6, "query", "(B, Tq, Dq)")
    _part(ax, 0.2, 2.9, 2.6, "keys", "(B, Tk, Dk)")
    _part(ax, 3.6, 3.8, 2.4, "score", "(B, Tq, Tk)")
    _part(ax, 6.8, 3.8, 3.0, "normalise", "weights (B, Tq, Tk)")
    _part(ax, 0.2, 0.5, 2.6, "values", "(B, Tk, Dv)", faint=True)
    _part(ax, 3.6, 0.5, 2.4, "weighted sum", "(B, Tq, Dv)", faint=True)
    _part(ax, 6.8, 0.5, 3.0, "the output", "a distribution over Tk", bold=True)
    for start, end in (((2.85, 5.1), (3.55, 4.6)), ((2.85, 3.5), (3.55, 4.1)), ((6.05, 4.35), (6.75, 4.35))):
        arrow(ax, start, end)
    arrow(ax, (7.5, 3.7), (5.4, 1.75), FAINT, dashed=True)
    arrow(ax, (2.85, 1.05), (3.55, 1.05), FAINT, dashed=True)
    arrow(ax, (8.6, 3.7), (8.6, 1.75), TRUTH_COLOUR)
    line(ax, (8.3, 8.3, -0.2, -0.2), (0.42, -0.1, -0.1, 5.25), TRUTH_COLOUR)
    arrow(ax, (-0.2, 5.25), (0.18, 5.25), TRUTH_COLOUR)
    say(ax, 4.05, -0.42, "the element that is chosen helps to make the next query", colour=TRUTH_COLOUR)
    say(ax, 8.75, 2.7, "pointing:\nstop here", ha="left", colour=TRUTH_COLOUR)
    say(ax, 3.6, 2.75, "attention:\none more step", ha="left", colour=LINE)
    return ax


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


def draw_trip_network(
    coordinates: Tensor, first: int, last: int, visited: Collection[int], ax: Axes | None = None
) -> Axes:
    """Draw one choice of a pointer network for round trips: keys, the query made of them, and one output per city.

    Args:
        coordinates: ``(N, 2)`` of the cities. first, last: where the trip begins, and where it is now.
        visited: the positions that have been chosen.

    Raises:
        ValueError: if the first or the last city is not among the visited ones.
    """
    if not {first, last} <= set(visited):
        raise ValueError(f"first and last ({first}, {last}) must be among the visited cities, got {sorted(visited)}")
    count = len(coordinates)
    wide = 1.6 * count - 0.3
    ax = canvas(ax, (6.5, 5.3), (-0.2, wide + 2.9), (-0.1, 8.4))
    box(ax, 0, 1.3, wide, 0.8, fill=READS)
    say(ax, wide / 2, 1.7, "Transformer encoder without positions")
    box(ax, 0, 5.4, wide, 0.8)
    say(ax, wide / 2, 5.8, "score of query and key, mask, softmax")
    box(ax, -0.12, 2.6, wide + 0.24, 1.2, edge=TRUTH_COLOUR, dashed=True)  # all keys, which the mean takes
    for n, (x_of, y_of) in enumerate(coordinates.tolist()):
        x = 1.6 * n
        used = n in (first, last)
        box(ax, x, 0, 1.3, 0.8)
        say(ax, x + 0.65, 0.4, f"({x_of:g},\u00a0{y_of:g})", size=10)
        box(ax, x, 2.75, 1.3, 0.9, fill=READS, edge=TRUTH_COLOUR if used else INK, line=2.2 if used else 1.2)
        say(ax, x + 0.65, 3.2, f"$h_{n}$", size=13)
        box(ax, x, 6.8, 1.3, 0.8, fill=PALE if n in visited else PAPER)
        say(ax, x + 0.65, 7.2, "×" if n in visited else f"$p_{n}$", size=13)
        say(ax, x + 0.65, 7.95, f"city {n}")
        for low, high in ((0.85, 1.25), (2.15, 2.55), (3.85, 5.35), (6.25, 6.75)):
            arrow(ax, (x + 0.65, low), (x + 0.65, high))
    x = wide + 0.6
    box(ax, x, 2.75, 2.1, 2.05, fill=WRITES, edge=TRUTH_COLOUR, line=2.2)
    for city, name, height in ((first, "first", 4.5), (last, "last", 4.05)):
        corner = 1.6 * city + 1.0
        line(ax, (corner, corner, x - 0.3), (3.7, height, height), TRUTH_COLOUR)
        arrow(ax, (x - 0.4, height), (x - 0.05, height), TRUTH_COLOUR)
        say(ax, x + 1.05, height, f"{name} key $h_{city}$", size=10)
    arrow(ax, (wide + 0.15, 3.2), (x - 0.05, 3.2), TRUTH_COLOUR)
    say(ax, x + 1.05, 3.2, "mean of keys", size=10)
    box(ax, x, 5.4, 2.1, 0.8, fill=WRITES, edge=TRUTH_COLOUR, line=2.2)
    say(ax, x + 1.05, 5.8, "query", weight="bold")
    arrow(ax, (x + 1.05, 4.85), (x + 1.05, 5.35), TRUTH_COLOUR)
    arrow(ax, (x - 0.05, 5.8), (wide + 0.05, 5.8), TRUTH_COLOUR)
    say(ax, x + 1.05, 7.2, "the largest\nis the output", colour=TRUTH_COLOUR)
    return ax


def _part(ax: Axes, x: float, y: float, width: float, name: str, shape: str, faint=False, bold=False) -> None:
    colour = TRUTH_COLOUR if bold else FAINT if faint else INK
    box(ax, x, y, width, 1.1, edge=colour, line=2.2 if bold else 1.2, dashed=faint)
    say(ax, x + width / 2, y + 0.75, name, size=12, weight="bold")
    say(ax, x + width / 2, y + 0.32, shape)


def draw_held_karp(way: Tensor, ax: Axes | None = None) -> Axes:
    """Draw Held and Karp's table for four cities: each cell with its cost, the best way through them bold.

    Args:
        way: ``(4, 4)`` distances.

    Raises:
        ValueError: if there are not four cities.
    """
    if way.shape != (4, 4):
        raise ValueError(f"way must hold the distances of four cities, (4, 4), got {tuple(way.shape)}")
    d = way.tolist()
    cost: dict[_Cell, float] = {}
    best: dict[_Cell, _Cell | None] = {}
    for size in (1, 2, 3):
        for cities in combinations((1, 2, 3), size):
            for last in cities:
                rest = tuple(city for city in cities if city != last)
                options: dict[_Cell | None, float] = {(rest, i): cost[rest, i] + d[i][last] for i in rest}
                options = options or {None: d[0][last]}
                best[cities, last] = min(options, key=options.__getitem__)
                cost[cities, last] = min(options.values())
    totals = {last: cost[(1, 2, 3), last] + d[last][0] for last in (1, 2, 3)}
    home: _Cell = ((1, 2, 3), min(totals, key=totals.__getitem__))
    kept = [home]
    while previous := best[kept[-1]]:
        kept.append(previous)
    return _draw_table(canvas(ax, (6.5, 4.4), (-0.1, 10.4), (-0.6, 6.6)), cost, best, kept, totals[home[1]])


def _draw_table(ax: Axes, cost: dict, best: dict, kept: list, total: float) -> Axes:
    corner = {}
    for column, size in enumerate((1, 2, 3)):
        cells = [cell for cell in cost if len(cell[0]) == size]
        for row, cell in enumerate(cells):
            corner[cell] = (0.1 + 3.05 * column, 5.3 - (row + 0.5) * 5.7 / len(cells) + 0.35)
    for cell, before in best.items():
        (x, y), on_way = corner[cell], cell in kept
        text = "{" + ",".join(map(str, cell[0])) + "} → " + f"{cell[1]}: {cost[cell]:g}"
        width = 2.2 if on_way else 1.0
        box(ax, x, y - 0.29, 2.1, 0.58, fill=READS if on_way else PAPER, edge=INK, line=width)
        say(ax, x + 1.05, y, text)
        if before:
            colour = STYLES[1].colour if on_way else FAINT
            arrow(ax, (corner[before][0] + 2.15, corner[before][1]), (x - 0.05, y), colour, width)
    for column, head in enumerate(("one city", "two cities", "all three")):
        say(ax, 1.15 + 3.05 * column, 6.35, head, size=12, weight="bold")
    x, y = corner[kept[0]]
    say(ax, x + 2.2, y, f"home:\n{total:g}", ha="left", size=12, weight="bold", colour=STYLES[1].colour)
    return ax
