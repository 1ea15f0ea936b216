"""A figure of chapter 13: a read head that waits on its row, or drifts away from it."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import GREY, INK
from attnpages.figures.style import HEAT_MAP


def draw_drift(panels: Mapping[str, object], rows: Sequence[int], mark: int, names: Sequence[str]) -> list[Axes]:
    """Draw the weights of one head over time as strips, one below the other; a dashed line runs in front of the mark.

    Args:
        panels: ``{title: (T, N)}``.
        rows: which of the N rows to show, from top to bottom; a negative one is counted from the end.
        mark: the time step of the end mark; the steps are counted from it.
        names: what each of these rows holds.

    Raises:
        ValueError: if there is nothing to draw, the panels differ in shape, or the mark is none of their steps.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its weights")
    strips = {title: as_matrix(title, weights) for title, weights in panels.items()}
    shapes = {weights.shape for weights in strips.values()}
    if len(shapes) > 1:
        raise ValueError(f"the panels must have the same shape, got {sorted(shapes)}")
    steps, total = shapes.pop()
    if not 0 <= mark < steps:
        raise ValueError(f"mark must be one of the {steps} steps, got {mark}")
    shown = [row % total for row in rows]
    named = [f"{row}: {name}" for row, name in zip(shown, names, strict=True)]
    size = (6.5, 0.9 + len(strips) * (0.35 + 0.16 * len(rows)))
    _, axes = plt.subplots(len(strips), 1, figsize=size, sharex=True, squeeze=False, layout="constrained")
    for ax, (title, weights) in zip(axes[:, 0], strips.items(), strict=True):
        image = ax.imshow(
            weights[:, shown].T, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto",
            interpolation="nearest", extent=(-mark - 0.5, steps - mark - 0.5, len(rows) - 0.5, -0.5),
        )  # fmt: skip
        ax.axvline(-0.5, color=INK, linestyle="--", linewidth=1.2)
        for place in np.flatnonzero(np.diff(shown) < 0):  # from the last row to row 0
            ax.axhline(place + 0.5, color=GREY, linewidth=0.8)
        ax.set_title(title, loc="left", fontsize=12)
        ax.set_yticks(range(len(rows)), named, fontsize=10)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False)
    axes[-1, 0].set_xlabel("time steps from the end mark")
    axes[0, 0].figure.supylabel("row of memory", fontsize=12)
    axes[0, 0].figure.colorbar(image, ax=list(axes[:, 0]), label="weight", aspect=40, pad=0.02)
    return list(axes[:, 0])
