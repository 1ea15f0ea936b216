"""Drawings of chapter 14: attention with its sum and without it, and Held and Karp's table for four cities."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from torch import Tensor

from attnbook.plotting.style import STYLES, TRUTH_COLOUR, new_axes

_INK = "#24292F"


def draw_pointing(ax: Axes | None = None) -> Axes:
    """Draw what attention and pointing share, and where they part: with the sum and without it."""
    ax = new_axes(ax, (6.5, 4.4))
    ax.set(xlim=(-0.3, 10), ylim=(-0.7, 6.3))
    ax.axis("off")
    _box(ax, 0.2, 4.7, 2.6, "query", "(B, Tq, Dq)")
    _box(ax, 0.2, 2.9, 2.6, "keys", "(B, Tk, Dk)")
    _box(ax, 3.6, 3.8, 2.4, "score", "(B, Tq, Tk)")
    _box(ax, 6.8, 3.8, 3.0, "normalise", "weights (B, Tq, Tk)")
    _box(ax, 0.2, 0.5, 2.6, "values", "(B, Tk, Dv)", faint=True)
    _box(ax, 3.6, 0.5, 2.4, "weighted sum", "(B, Tq, Dv)", faint=True)
    _box(ax, 6.8, 0.5, 3.0, "a place", "argmax over Tk", bold=True)
    for start, end in (((2.85, 5.1), (3.55, 4.6)), ((2.85, 3.5), (3.55, 4.1)), ((6.05, 4.35), (6.75, 4.35))):
        _arrow(ax, start, end)
    _arrow(ax, (7.5, 3.7), (5.4, 1.75), dashed=True)
    _arrow(ax, (2.85, 1.05), (3.55, 1.05), dashed=True)
    _arrow(ax, (8.6, 3.7), (8.6, 1.75), colour=TRUTH_COLOUR)
    back = {"color": TRUTH_COLOUR, "linestyle": "-", "marker": "", "linewidth": 1.4}
    ax.plot((8.3, 8.3, -0.2, -0.2), (0.42, -0.1, -0.1, 5.25), **back)
    _arrow(ax, (-0.2, 5.25), (0.18, 5.25), colour=TRUTH_COLOUR)
    ax.text(4.05, -0.42, "what stands there is read next", fontsize=11, ha="center", color=TRUTH_COLOUR)
    ax.text(8.75, 2.7, "pointing:\nstop here", fontsize=11, va="center", color=TRUTH_COLOUR)
    ax.text(3.6, 2.75, "attention:\none more step", fontsize=11, va="center", color="#57606A")
    ax.text(0.2, 6.0, "one sentence, two endings", fontsize=12, weight="bold", color=_INK)
    return ax


def _box(ax: Axes, x: float, y: float, width: float, name: str, shape: str, faint=False, bold=False) -> None:
    colour = TRUTH_COLOUR if bold else "#8C959F" if faint else _INK
    look = {"facecolor": "#F6F8FA", "edgecolor": colour, "linewidth": 2.2 if bold else 1.2}
    look["linestyle"] = "--" if faint else "-"
    ax.add_patch(FancyBboxPatch((x, y), width, 1.1, boxstyle="round,pad=0.02,rounding_size=0.12", **look))
    ax.text(x + width / 2, y + 0.75, name, ha="center", va="center", fontsize=12, weight="bold", color=_INK)
    ax.text(x + width / 2, y + 0.32, shape, ha="center", va="center", fontsize=11, color=_INK)


def _arrow(ax: Axes, start: tuple, end: tuple, dashed: bool = False, colour: str = _INK) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 14, "color": "#8C959F" if dashed else colour}
    ax.add_patch(FancyArrowPatch(start, end, linewidth=1.4, linestyle="--" if dashed else "-", **look))


def draw_held_karp(way: Tensor, ax: Axes | None = None) -> Axes:
    """Draw Held and Karp's table for four cities: each cell with its cost, the best way through them bold.

    Args:
        way: ``(4, 4)`` distances.

    Raises:
        ValueError: if there are not four cities.
    """
    if way.shape != (4, 4):
        raise ValueError(f"way must hold the distances of four cities, (4, 4), got {tuple(way.shape)}")
    d, cost, best = way.tolist(), {}, {}
    for size in (1, 2, 3):
        for cities in combinations((1, 2, 3), size):
            for last in cities:
                rest = tuple(city for city in cities if city != last)
                options = {(rest, i): cost[rest, i] + d[i][last] for i in rest} or {None: d[0][last]}
                best[cities, last] = min(options, key=options.get)
                cost[cities, last] = min(options.values())
    totals = {last: cost[(1, 2, 3), last] + d[last][0] for last in (1, 2, 3)}
    home = ((1, 2, 3), min(totals, key=totals.get))
    kept = [home]
    while best[kept[-1]]:
        kept.append(best[kept[-1]])
    return _draw_table(new_axes(ax, (6.5, 4.4)), cost, best, kept, totals[home[1]])


def _draw_table(ax: Axes, cost: dict, best: dict, kept: list, total: float) -> Axes:
    ax.axis("off")
    ax.set(xlim=(-0.1, 10.4), ylim=(-0.6, 6.6))
    spots = {}
    for column, size in enumerate((1, 2, 3)):
        cells = [cell for cell in cost if len(cell[0]) == size]
        for row, cell in enumerate(cells):
            spots[cell] = (0.1 + 3.05 * column, 5.3 - (row + 0.5) * 5.7 / len(cells) + 0.35)
    for cell, before in best.items():
        (x, y), on_way = spots[cell], cell in kept
        text = "{" + ",".join(map(str, cell[0])) + "} → " + f"{cell[1]}: {cost[cell]:g}"
        look = {"facecolor": "#DCE9F5" if on_way else "#F6F8FA", "linewidth": 2.2 if on_way else 1.0}
        shape = {"boxstyle": "round,pad=0.02,rounding_size=0.12"}
        ax.add_patch(FancyBboxPatch((x, y - 0.28), 2.1, 0.56, edgecolor=_INK, **shape, **look))
        ax.text(x + 1.05, y, text, ha="center", va="center", fontsize=11, color=_INK)
        if before:
            colour = STYLES[1].colour if on_way else "#8C959F"
            look = {"arrowstyle": "-|>", "mutation_scale": 13, "linewidth": 2.2 if on_way else 1.0, "color": colour}
            ax.add_patch(FancyArrowPatch((spots[before][0] + 2.15, spots[before][1]), (x - 0.05, y), **look))
    for column, head in enumerate(("one city", "two cities", "all three")):
        ax.text(1.15 + 3.05 * column, 6.25, head, ha="center", fontsize=12, weight="bold", color=_INK)
    x, y = spots[kept[0]]
    ax.text(x + 2.2, y, f"home:\n{total:g}", va="center", fontsize=12, weight="bold", color=STYLES[1].colour)
    return ax


