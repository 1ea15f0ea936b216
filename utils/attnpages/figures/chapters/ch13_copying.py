"""Figures of chapter 13's trained copying machines: how each seed learned, and each machine on a grid of tests."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from attnpages.figures.heat import draw_cells
from attnpages.figures.style import STYLES, legend_above, readable

Grid = Mapping[str, Mapping[str, float]]

_COLUMNS = 4  # panels beside each other at most
_DARKEST = 0.5  # the share of wrong bits that guessing gives


def plot_learning(
    panels: Mapping[str, Sequence[Sequence[float]]], every: int = 1000, ylabel: str = "wrong bits per sequence"
) -> list[Axes]:
    """Draw the validations of each training as a curve, one panel per model; a dot ends each of them.

    Args:
        panels: ``{model: [one list of results per seed]}``; the lists may have different lengths.
        every: sequences from one validation to the next; the x axis counts thousands of them.
        ylabel: what was measured.

    Raises:
        ValueError: if there is nothing to draw.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one model with the results of its seeds")
    size = (6.5, 1.3 + 1.9 * len(panels))
    figure, axes = plt.subplots(
        len(panels), 1, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    longest = max(len(run) for runs in panels.values() for run in runs)
    for ax, (name, runs) in zip(axes[:, 0], panels.items(), strict=True):
        for seed, (run, style) in enumerate(zip(runs, STYLES, strict=False)):
            thousands = every * np.arange(1, len(run) + 1) / 1000
            look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "clip_on": False}
            ax.plot(thousands, run, label=f"seed {seed}", linewidth=1.4, markevery=[len(run) - 1], **look)
        ax.set_ylim(bottom=0)
        ax.set_xlim(0, 1.02 * every * longest / 1000)
        ax.set_title(readable(name), loc="left", fontsize=12)
    axes[-1, 0].set_xlabel("sequences of the training (thousands)")
    figure.supylabel(ylabel, fontsize=12)
    fullest = max(axes[:, 0], key=lambda ax: len(ax.lines))
    handles, labels = fullest.get_legend_handles_labels()
    legend_above(axes[0, 0], handles, labels, readable(next(iter(panels))))
    return list(axes[:, 0])


def plot_grids(panels: Mapping[str, Sequence[Grid]], bits: int = 8, good: float = 1.0) -> list[Axes]:
    """Draw how each model copies by the vectors of a sequence and the rows of the memory, one panel per model.

    The darker a cell, the larger the share of wrong bits, mean over seeds. Its number counts the seeds that have less
    than ``good`` wrong bits per sequence. A cell with more vectors than rows is grey.

    Args:
        panels: ``{model: [one grid per seed]}``, a grid being ``{vectors: {rows: wrong bits per sequence}}``.
        bits: of a vector.
        good: wrong bits per sequence below which a seed counts.

    Raises:
        ValueError: if there is nothing to draw, or a model has no grid.
    """
    if not panels or not all(panels.values()):
        raise ValueError("panels must have at least one model, and each of them at least one grid")
    lines = -(-len(panels) // _COLUMNS)
    columns = -(-len(panels) // lines)
    figure, axes = plt.subplots(
        lines, columns, figsize=(6.5, 0.9 + 2.1 * lines), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, (name, grids) in zip(axes.flat, panels.items(), strict=False):
        image = _draw_grid(ax, list(grids), bits, good)
        ax.set_title(readable(name), fontsize=11)
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    figure.supxlabel("rows of the memory", fontsize=12)
    figure.supylabel("vectors to copy", fontsize=12)
    figure.colorbar(image, ax=axes, label="share of wrong bits", location="top", fraction=0.05, aspect=40, pad=0.02)
    return list(axes.flat[: len(panels)])


def _draw_grid(ax: Axes, grids: list[Grid], bits: int, good: float) -> AxesImage:
    """Draw one panel of :func:`plot_grids` and return its image."""
    lengths, rows = list(grids[0]), list(next(iter(grids[0].values())))
    wrong = np.array([[[grid[length][row] for row in rows] for length in lengths] for grid in grids])  # (seeds, L, N)
    shares = wrong.mean(axis=0) / (bits * np.array([[int(length)] for length in lengths]))  # (L, N)
    room = np.array([[int(length) <= int(row) for row in rows] for length in lengths])  # (L, N)
    image = draw_cells(ax, np.where(room, shares, -np.inf), (0.0, _DARKEST))
    for (line, column), count in np.ndenumerate((wrong < good).sum(axis=0)):
        if room[line, column]:
            colour = "white" if shares[line, column] > 0.6 * _DARKEST else "black"
            ax.text(column, line, str(count), ha="center", va="center", fontsize=10, color=colour)
    ax.set_xticks(range(len(rows)), rows, rotation=90, fontsize=10)
    ax.set_yticks(range(len(lengths)), lengths, fontsize=10)
    return image
