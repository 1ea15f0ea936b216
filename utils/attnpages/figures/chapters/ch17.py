"""Figures of chapter 17: copying beyond the trained lengths, scores of all pairs, and ways to read a model."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import INK
from attnpages.figures.style import HEAT_MAP, TRUTH_COLOUR, Look, legend_above, styles_for

Ways = Mapping[str, Sequence[Mapping[str, float]]]  # kind of model -> {way to read it: share}, one per training


class Beyond(NamedTuple):
    """One panel of :func:`plot_beyond`.

    Fields:
        curves: ``{name: {length: [one share per seed]}}``. xlabel, ylabel: of its axes.
        trained: shortest and longest trained length, which are shaded.
    """

    curves: Curves
    xlabel: str
    ylabel: str
    trained: tuple[float, float]


def plot_beyond(panels: Sequence[Beyond], height: float = 3.3) -> list[Axes]:
    """Draw shares within and beyond the trained lengths, one panel below another.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one")
    _, grid = plt.subplots(len(panels), 1, figsize=(6.5, height * len(panels)), layout="constrained", squeeze=False)
    for ax, panel in zip(grid[:, 0], panels, strict=True):
        plot_by_length(panel.curves, panel.xlabel, panel.ylabel, ax=ax, trained=panel.trained)
    return list(grid[:, 0])


def draw_scores(
    maps: Mapping[str, Tensor],
    trained: int,
    lowest: float = 10.0,
    columns: int = 2,
    rewarded: tuple[int, int] | None = None,
) -> list[Axes]:
    """Draw the scores of all pairs of a query (row) and a key (column), each below the highest of its row.

    The square of the trained positions is marked, and a thin line leads along the keys that are right.

    Args:
        maps: ``{title: (T, T) scores}`` of a string of ``T / 2`` letters and its copy; keys behind the query are not
            drawn. trained: positions of the longest training strings. lowest: so far below, a cell is white.
            columns: maps per row. rewarded: two distances between query and key; below the square each has a
            dotted line.

    Raises:
        ValueError: if there is no map.
    """
    if not maps:
        raise ValueError("maps is empty; give at least one title with its scores")
    rows = -(-len(maps) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(6.5, 3.1 * rows), layout="constrained", squeeze=False)
    for ax, (title, scores) in zip(grid.flat, maps.items(), strict=False):
        values = as_matrix(title, scores)
        T = len(values)
        later = np.triu(np.ones((T, T), dtype=bool), 1)
        below = np.ma.masked_array(values - np.where(later, -np.inf, values).max(axis=1, keepdims=True), later)
        image = ax.imshow(below, cmap=HEAT_MAP, vmin=-lowest, vmax=0, aspect="equal", interpolation="nearest")
        ax.plot([0, T // 2 - 1], [T // 2, T - 1], "-", color=TRUTH_COLOUR, marker="", linewidth=0.8)
        ax.plot(
            [-0.5, trained - 0.5, trained - 0.5],
            [trained - 0.5, trained - 0.5, -0.5],
            "-",
            color=INK,
            marker="",
            linewidth=1.2,
        )
        for distance in rewarded or ():
            ax.plot([trained - distance, T - 1 - distance], [trained, T - 1], ":", color=INK, marker="", linewidth=0.9)
        ax.set_title(title, loc="left", fontsize=11)
        ticks = list(range(0, T, 12))
        ax.set(xticks=ticks, yticks=ticks)
        ax.grid(False)
    figure.colorbar(
        image, ax=grid, location="bottom", shrink=0.5, aspect=30, label="score, below the highest of its row"
    )
    for ax in grid[-1]:
        ax.set_xlabel("position of the key")
    for ax in grid[:, 0]:
        ax.set_ylabel("position of the query")
    for ax in grid.flat[len(maps) :]:
        ax.set_visible(False)
    return list(grid.flat[: len(maps)])


def plot_ways(panels: Mapping[str, Ways], ylabel: str, height: float = 3.2) -> list[Axes]:
    """Draw what trained models reach if they are read in several ways: a dot per training and way, a line per training.

    Args:
        panels: ``{title: {kind of model: [{way: share} per training]}}``, one below another; the first one says the
            ways and their order. ylabel: of the shares.

    Raises:
        ValueError: if there is no panel, or a training lacks a way.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its models")
    first = next(iter(panels.values()))
    ways, styles = list(next(iter(first.values()))[0]), styles_for(first)
    _, grid = plt.subplots(len(panels), 1, figsize=(6.5, height * len(panels)), layout="constrained", squeeze=False)
    axes: list[Axes] = list(grid[:, 0])
    for ax, (title, kinds) in zip(axes, panels.items(), strict=True):
        for offset, (kind, trainings) in enumerate(kinds.items()):
            for number, training in enumerate(trainings):
                if set(training) != set(ways):
                    raise ValueError(f"a training of {kind} has the ways {list(training)}, others have {ways}")
                xs = [x + 0.12 * (offset - (len(kinds) - 1) / 2) for x in range(len(ways))]
                style = styles[kind]
                look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "linewidth": 1.0}
                label = "" if number else kind  # one line per kind stands in the legend
                ax.plot(xs, [training[way] for way in ways], markersize=7, alpha=0.85, label=label, **look)
        ax.set_xticks(range(len(ways)), ways)
        ax.set(ylabel=f"{ylabel}\n({title})", ylim=(-0.03, 1.05), xlim=(-0.4, len(ways) - 0.6))
    legend_above(axes[0], *axes[0].get_legend_handles_labels())
    return axes
