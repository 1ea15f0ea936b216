"""A figure of chapter 13: the weights of a head over time, whole and without one of its moves, side by side."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import GREY
from attnpages.figures.style import HEAT_MAP, TRUTH_COLOUR

DOTTED = 0.1  # the weight from which the largest of a step gets a dot


def draw_without(
    machines: Mapping[str, Mapping[str, object]], end: int, shown: tuple[int, int] = (-4, 22)
) -> np.ndarray:
    """Draw one row of panels per machine and one panel per intervention.

    A dot is on the largest weight of each step if it is over ``DOTTED``, so that a head without a position has none.

    Args:
        machines: ``{machine: {intervention: (T, N)}}``, weights of a head; all have the same interventions.
        end: the time step of the end mark, at which a dashed line is drawn.
        shown: the first row of memory that is shown, and the one after the last; row −1 is the last on the circle.

    Returns:
        the axes, ``(machines, interventions)``.

    Raises:
        ValueError: if there is no machine, or two have different interventions.
    """
    titles = [list(tracks) for tracks in machines.values()]
    if not titles or not titles[0] or any(one != titles[0] for one in titles):
        raise ValueError(f"give machines with the same interventions, got {titles}")
    size = (6.5, 0.9 + 1.75 * len(machines))
    figure, axes = plt.subplots(
        len(machines), len(titles[0]), figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for line, (machine, tracks) in zip(axes, machines.items(), strict=True):
        for ax, (title, weights) in zip(line, tracks.items(), strict=True):
            image = _draw_track(ax, as_matrix(title, weights), end, shown)
        line[0].set_ylabel(f"{machine}\nrow of memory")
    for ax, title in zip(axes[0], titles[0], strict=True):
        ax.set_title(title, fontsize=11)
    for ax in axes[-1]:
        ax.set_xlabel("time step")
    figure.colorbar(image, ax=axes, label="weight", aspect=40, pad=0.02)
    return axes


def _draw_track(ax: Axes, weights: np.ndarray, end: int, shown: tuple[int, int]) -> AxesImage:
    """Draw the weights ``(T, N)`` with the rows around the circle, the largest of each step, and the end mark."""
    steps, rows = weights.shape
    order = np.arange(*shown)
    image = ax.imshow(
        weights[:, order % rows].T, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest",
        extent=(-0.5, steps - 0.5, shown[1] - 0.5, shown[0] - 0.5),
    )  # fmt: skip
    largest = (weights.argmax(axis=1) - shown[0]) % rows + shown[0]  # (T,), counted from the first row that is shown
    largest = np.where(weights.max(axis=1) > DOTTED, largest, np.nan)
    ax.plot(range(steps), largest, ".", color=TRUTH_COLOUR, markersize=3.5)
    ax.axvline(end, color=GREY, linestyle="--", linewidth=1)
    ax.set(ylim=(shown[1] - 0.5, shown[0] - 0.5))
    ticks = [row for row in range(shown[0], shown[1]) if row % 5 == 0 or row == shown[0]]
    ax.set_yticks(ticks, [str(row % rows) for row in ticks], fontsize=10)
    ax.grid(visible=False)
    return image
