"""Figure of chapter 02: which scores the loss would raise, above the weights, while a model learns."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.heat import as_matrix, draw_cells
from attnpages.figures.palette import INK


def plot_rises_and_weights(
    rises: Mapping[str, object],
    weights: Mapping[str, object],
    marks: Iterable[tuple[int, int]],
    labels: tuple[str, str],
    names: tuple[str, str],
    curves: bool = False,
) -> Sequence[Axes]:
    """Draw two rows of panels, one column per stage of a training: where scores would rise, and the weights.

    In the upper row each panel has its own scale, whose largest number stands above it, and what falls is white. In
    the lower row all panels go from 0 to 1.

    Args:
        rises: ``{stage: (rows, columns)}``, positive where a score would rise. weights: the same stages.
        marks: ``(column, row)`` of cells to mark with a dot. labels: of columns and rows. names: of the two rows.
        curves: whether empty axes for curves stand below, which are then the last of those that are returned.

    Raises:
        ValueError: if the stages differ, there are none, or no score of a stage rises.
    """
    if not rises or [*rises] != [*weights]:
        raise ValueError(f"rises has the stages {[*rises]} and weights {[*weights]}; give both the same ones")
    figure = plt.figure(figsize=(6.5, 7.9 if curves else 4.6), layout="constrained")
    grid = figure.add_gridspec(3 if curves else 2, len(rises), height_ratios=(1, 1, 1.1) if curves else (1, 1))
    axes = np.array([[figure.add_subplot(grid[row, column]) for column in range(len(rises))] for row in range(2)])
    marks = list(marks)
    for (above, below), stage in zip(axes.T, rises, strict=True):
        up = np.maximum(as_matrix(stage, rises[stage]), 0)
        if not up.any():
            raise ValueError(f"no score of {stage!r} rises; leave this stage out")
        draw_cells(above, up, (0.0, up.max()))
        draw_cells(below, as_matrix(stage, weights[stage]), (0.0, 1.0))
        above.set_title(f"{stage}\nup to {up.max():#.2g}", fontsize=11)
        for ax in (above, below):
            ax.set(xticks=[], yticks=[])
            for column, row in marks:
                ax.plot(column, row, marker="o", linestyle="", color="white", markeredgecolor=INK, markersize=4.5)
        below.set_xlabel(labels[0], fontsize=10)
    for ax, name in zip(axes[:, 0], names, strict=True):
        ax.set_ylabel(f"{name}\n{labels[1]}", fontsize=10)
    return [*axes[0], *axes[1], *([figure.add_subplot(grid[2, :])] if curves else [])]
