"""Diagrams of chapter 14: the network of the file, and the table of Held and Karp."""

from collections.abc import Collection
from itertools import combinations

from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.palette import FAINT, INK, PALE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR

_Cell = tuple[tuple[int, ...], int]  # of the table: the cities on the way, and the last of them


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
