"""Diagrams of chapter 14: two choices of the file's network, and the table of Held and Karp."""

from collections.abc import Sequence
from itertools import combinations

from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.palette import FAINT, INK, PALE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR

_Cell = tuple[tuple[int, ...], int]  # of the table: the cities on the way, and the last of them


def draw_trip_network(coordinates: Tensor, trip: Sequence[int], ax: Axes | None = None) -> Axes:
    """Draw two choices of a pointer network for round trips: the keys, computed once, and the loop over the choices.

    Args:
        coordinates: ``(N, 2)`` of the cities.
        trip: where the trip begins, and the first two positions that are chosen.

    Raises:
        ValueError: if the trip does not name three different cities.
    """
    count, wide = len(coordinates), 12.3
    if len(trip) != 3 or len({*trip} & {*range(count)}) != 3:
        raise ValueError(f"trip must name three of the {count} cities, got {list(trip)}")
    ax = canvas(ax, (6.5, 5.6), (-0.2, wide + 0.2), (-0.1, 10.9))
    step = wide / count
    box(ax, 0, 1.2, wide, 0.75, fill=READS)
    say(ax, wide / 2, 1.575, "Transformer encoder without positions, once")
    box(ax, -0.1, 2.45, wide + 0.2, 1.15, edge=TRUTH_COLOUR, dashed=True)  # all keys, which the mean takes
    for n, (x_of, y_of) in enumerate(coordinates.tolist()):
        x = step * (n + 0.5)
        box(ax, x - 0.95, 0, 1.9, 0.75)
        say(ax, x, 0.375, f"({x_of:g},\u00a0{y_of:g})", size=10)
        box(ax, x - 0.95, 2.6, 1.9, 0.85, fill=READS)
        say(ax, x, 3.025, f"$h_{n}$", size=13)
        for low, high in ((0.78, 1.17), (1.98, 2.57)):
            arrow(ax, (x, low), (x, high))
    part = 5.5  # of the width, for each choice
    for left, done, chosen in ((0.0, trip[:1], trip[1]), (wide - part, trip[:2], trip[2])):
        _draw_step(ax, left, part, count, done, chosen)
    cell, gap = part / count, wide / 2
    x = cell * (trip[1] + 0.5)
    line(ax, (x, x, gap, gap), (9.6, 10.0, 10.0, 4.85), TRUTH_COLOUR, 2.2)
    for height in (7.375, 4.85):  # the mask and the query of the next choice
        arrow(ax, (gap - 0.02, height), (wide - part - 0.03, height), TRUTH_COLOUR, 2.2)
    return ax


def _draw_step(ax: Axes, left: float, part: float, count: int, done: Sequence[int], chosen: int) -> None:
    """One choice: the query, the score with the keys, and one output per city."""
    box(ax, left, 4.4, 3.5, 1.95, fill=WRITES, edge=TRUTH_COLOUR, line=2.2)
    for height, text in (
        (5.95, "query: mean of keys,"),
        (5.4, f"first key $h_{done[0]}$,"),
        (4.85, f"last key $h_{done[-1]}$"),
    ):
        say(ax, left + 1.75, height, text)
    arrow(ax, (left + 1.75, 3.63), (left + 1.75, 4.37), TRUTH_COLOUR)
    arrow(ax, (left + 1.75, 6.38), (left + 1.75, 6.97), TRUTH_COLOUR)
    arrow(ax, (left + 4.5, 3.63), (left + 4.5, 6.97))
    say(ax, left + 4.6, 5.4, "keys", ha="left")
    box(ax, left, 7.0, part, 0.75)
    say(ax, left + part / 2, 7.375, "score, mask, softmax")
    cell = part / count
    for n in range(count):
        x = left + cell * (n + 0.5)
        arrow(ax, (x, 7.78), (x, 8.47))
        fill = PALE if n in done else WRITES if n == chosen else PAPER
        look = (TRUTH_COLOUR, 2.2) if n == chosen else (FAINT, 1.2)
        box(ax, x - 0.43, 8.5, 0.86, 1.1, fill, *look)
        say(ax, x, 9.05, "×" if n in done else str(n), size=13, weight="bold" if n == chosen else "normal")
    say(ax, left + part / 2, 10.55, f"choice {len(done)}: city {chosen}", weight="bold")


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
