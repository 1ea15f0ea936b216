"""Figures of chapter 14: attention and pointing, the networks, Held and Karp's table, closed ways, and their gaps."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
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


def plot_gaps(panels: Mapping[str, Mapping[str, Sequence[float]]], published: Collection[str] = ()) -> list[Axes]:
    """Draw how much longer than the shortest round trips are, one panel per number of cities, on a logarithmic axis.

    Args:
        panels: ``{title: {name: [one gap in per cent per seed]}}``, drawn from top to bottom, each gap as a dot.
        published: names whose numbers others have published, drawn as hollow dots.

    Raises:
        ValueError: if there is nothing to draw, or a gap is not positive.
    """
    if not panels or not all(panels.values()) or not all(gaps for named in panels.values() for gaps in named.values()):
        raise ValueError("panels must not be empty, and each name needs a gap")
    if (least := min(gap for named in panels.values() for gaps in named.values() for gap in gaps)) <= 0:
        raise ValueError(f"gaps must be positive on a logarithmic axis, got {least}")
    rows = [len(named) for named in panels.values()]
    size = (6.5, 0.8 + 0.36 * sum(rows) + 0.5 * len(rows))
    _, axes = plt.subplots(len(rows), 1, figsize=size, sharex=True, layout="constrained", height_ratios=rows)
    axes = list(np.atleast_1d(axes).flat)
    for ax, (title, named) in zip(axes, panels.items(), strict=True):
        for row, (name, gaps) in enumerate(named.items()):
            fill = PAPER if name in published else STYLES[0].colour
            look: Look = {"markerfacecolor": fill, "markeredgecolor": STYLES[0].colour, "markeredgewidth": 1.6}
            ax.plot(gaps, [row] * len(gaps), marker="o", linestyle="", markersize=8, zorder=3, **look)
        ax.set(xscale="log", ylim=(len(named) - 0.4, -0.6), yticks=range(len(named)), yticklabels=list(named))
        ax.set_title(title, fontsize=12, loc="left")
        ax.grid(axis="y", color=PALE, linewidth=0.6)
    ticks = (0.1, 0.3, 1, 3, 10, 30)
    axes[-1].set(xlim=(0.08, 50), xticks=ticks, xticklabels=[f"{tick:g}" for tick in ticks])
    axes[-1].minorticks_off()
    axes[-1].set_xlabel("longer than the shortest round trip (%, log)")
    return axes


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
    _part(ax, 6.8, 0.5, 3.0, "a position", "argmax over Tk", bold=True)
    for start, end in (((2.85, 5.1), (3.55, 4.6)), ((2.85, 3.5), (3.55, 4.1)), ((6.05, 4.35), (6.75, 4.35))):
        arrow(ax, start, end)
    arrow(ax, (7.5, 3.7), (5.4, 1.75), FAINT, dashed=True)
    arrow(ax, (2.85, 1.05), (3.55, 1.05), FAINT, dashed=True)
    arrow(ax, (8.6, 3.7), (8.6, 1.75), TRUTH_COLOUR)
    line(ax, (8.3, 8.3, -0.2, -0.2), (0.42, -0.1, -0.1, 5.25), TRUTH_COLOUR)
    arrow(ax, (-0.2, 5.25), (0.18, 5.25), TRUTH_COLOUR)
    say(ax, 4.05, -0.42, "the input at this position is read next", colour=TRUTH_COLOUR)
    say(ax, 8.75, 2.7, "pointing:\nstop here", ha="left", colour=TRUTH_COLOUR)
    say(ax, 3.6, 2.75, "attention:\none more step", ha="left", colour=LINE)
    return ax


def draw_network(numbers: Tensor, weights: Tensor, ax: Axes | None = None) -> Axes:
    """Draw a pointer network that sorts: an encoder of N numbers, and N steps of the decoder with their weights.

    Args:
        numbers: ``(N,)`` what is read. weights: ``(N, N)``, row t: the probabilities of the positions at step t.

    Raises:
        ValueError: if the shapes do not fit.
    """
    size = len(numbers)
    if weights.shape != (size, size):
        raise ValueError(f"weights must have shape {(size, size)}, got {tuple(weights.shape)}")
    ax = canvas(ax, (6.5, 4.6), (-0.2, 3.0 * size + 1.3), (-1.1, 6.0))
    chosen = weights.argmax(dim=-1).tolist()
    right = 1.5 * size + 1.0  # where the decoder begins
    for i, number in enumerate(numbers.tolist()):
        _cell_of_chain(ax, 1.5 * i, f"$h_{i}$", f"{number:g}", READS, i > 0)
        arrow(ax, (1.5 * i + 0.5, 1.95), (1.5 * i + 0.5, 3.25))
    arrow(ax, (1.5 * size - 0.45, 1.5), (right - 0.05, 1.5))
    box(ax, 0, 3.3, 1.5 * size - 0.5, 0.8, fill=READS)
    say(ax, 0.75 * size - 0.25, 3.7, "keys: one per number")
    arrow(ax, (1.5 * size - 0.45, 3.7), (right - 0.15, 3.7))
    reads = ["start", *(f"{numbers[position].item():g}" for position in chosen[:-1])]
    for t, word in enumerate(reads):
        x = right + 1.5 * t
        _cell_of_chain(ax, x, f"$s_{t + 1}$", word, WRITES, t > 0)
        arrow(ax, (x + 0.5, 1.95), (x + 0.5, 2.65))
        _draw_weights(ax, x + 0.1, weights[t].tolist(), chosen[:t])
        say(ax, x + 0.5, 5.2, f"position\n{chosen[t]}", weight="bold")
    say(ax, 0.75 * size - 0.25, -0.85, "encoder reads the numbers", size=12, weight="bold")
    say(ax, right + 0.75 * size - 0.25, -0.85, "decoder points", size=12, weight="bold")
    return ax


def draw_queries(ax: Axes | None = None) -> Axes:
    """Draw two ways to make the query of a network for round trips: an LSTM's state, and anew from the keys."""
    ax = canvas(ax, (6.5, 4.5), (-0.2, 10.4), (-0.7, 6.9))
    box(ax, 0, 5.9, 10.2, 0.9, fill=READS)
    say(ax, 5.1, 6.35, "encoder without positions: one key per city", size=12)
    arrow(ax, (0.6, 5.85), (0.6, 4.25))
    say(ax, 0.75, 5.05, "mean of all keys", ha="left")
    for t, city in enumerate(("city 0\n(given)", "city 3", "city 1")):
        x = 1.6 * t
        last = t == 2
        box(ax, x, 3.3, 1.2, 0.9, fill=WRITES, edge=TRUTH_COLOUR if last else INK, line=2.2 if last else 1.2)
        say(ax, x + 0.6, 3.75, f"$s_{t + 1}$", size=13)
        say(ax, x + 0.6, 2.2, city)
        arrow(ax, (x + 0.6, 2.65), (x + 0.6, 3.25))
        if t:
            arrow(ax, (x - 0.35, 3.75), (x - 0.05, 3.75))
    line(ax, (4.45, 4.75, 4.75), (3.75, 3.75, 3.7), TRUTH_COLOUR)
    arrow(ax, (4.75, 3.75), (4.75, 1.25), TRUTH_COLOUR)
    say(ax, 4.65, 1.55, "query", ha="right", colour=TRUTH_COLOUR)
    for x, name in ((5.5, "mean of\nall keys"), (7.1, "key of\nfirst city"), (8.7, "key of\nlast city")):
        box(ax, x, 3.6, 1.5, 1.2, fill=READS)
        say(ax, x + 0.75, 4.2, name)
        arrow(ax, (x + 0.75, 5.85), (x + 0.75, 4.85))
        arrow(ax, (x + 0.75, 3.55), (7.85 + 0.3 * (x - 7.1), 2.75))
    box(ax, 7.0, 1.95, 1.7, 0.75, fill=WRITES, edge=TRUTH_COLOUR, line=2.2)
    say(ax, 7.85, 2.32, "query", colour=TRUTH_COLOUR)
    arrow(ax, (7.85, 1.9), (7.85, 1.25), TRUTH_COLOUR)
    for x, heading in ((0, "ours: the state of an LSTM"), (5.4, "Kool et al.: made anew")):
        box(ax, x, 0.3, 4.9, 0.9)
        say(ax, x + 2.45, 0.75, "scores, mask, softmax")
        say(ax, x + 2.45, -0.3, heading, size=12, weight="bold")
    return ax


def _cell_of_chain(ax: Axes, x: float, name: str, reads: str, fill: str, linked: bool) -> None:
    """One state of a recurrent network, what it reads below it, and an arrow from the state before."""
    box(ax, x, 1.05, 1.0, 0.9, fill=fill)
    say(ax, x + 0.5, 1.5, name, size=13)
    say(ax, x + 0.5, 0.05, reads)
    arrow(ax, (x + 0.5, 0.3), (x + 0.5, 1.0))
    if linked:
        arrow(ax, (x - 0.45, 1.5), (x - 0.05, 1.5))


def _draw_weights(ax: Axes, x: float, weights: list[float], before: list[int]) -> None:
    """A column of cells, position 0 at the top: the probability of each, or a cross where it has been chosen."""
    height = 2.1 / len(weights)
    for position, weight in enumerate(weights):
        y = 4.8 - height * (position + 1)
        best = position == int(np.argmax(weights))
        box(ax, x, y, 0.8, height, fill=READS if best else PAPER, edge=INK, line=2.2 if best else 1.0)
        say(ax, x + 0.4, y + height / 2, "×" if position in before else f"{weight:.2f}")


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
