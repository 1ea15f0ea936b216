"""A figure of chapter 13: the weights of a head over time, and below them what its controller tells it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import GREY
from attnpages.figures.style import HEAT_MAP, STYLES, TRUTH_COLOUR, CurveStyle

DOTTED = 0.1  # the weight from which the largest of a step gets a dot
# The panels below the weights: their label, the style of each of their curves, and the range of their numbers.
PANELS: dict[str, tuple[dict[str, CurveStyle], tuple[float, float] | None]] = {
    "gate": ({"$g$": STYLES[6]}, (-0.03, 1.03)),
    "shift": ({"back": STYLES[0], "stay": STYLES[1], "forward": STYLES[2]}, (-0.03, 1.03)),
    r"$\beta$ and $\gamma$": ({r"$\beta$": STYLES[3], r"$\gamma$": STYLES[4]}, None),
}


class Track(NamedTuple):
    """One head over T steps: weights (T, N); gate, beta and gamma (T,); shift (T, 3): back, stay, forward."""

    weights: object
    gate: object
    shift: object
    beta: object
    gamma: object


def draw_instructions(heads: Mapping[str, Track], end: int, shown: tuple[int, int] = (-4, 22)) -> np.ndarray:
    """Draw one column of panels per head: its weights, its gate, its shift, and its strength with its sharpening.

    A dot is on the largest weight of each step if it is over ``DOTTED``, so that a head without a position has none.

    Args:
        heads: ``{title: track}``.
        end: the time step of the end mark, at which a dashed line is drawn.
        shown: the first row of memory that is shown, and the one after the last; row −1 is the last on the circle.

    Returns:
        the axes, ``(4, heads)``.

    Raises:
        ValueError: if there is no head, or a head's numbers do not have one entry per step.
    """
    if not heads:
        raise ValueError("heads is empty; give at least one title with its track")
    columns = [_checked(title, track) for title, track in heads.items()]
    _, axes = plt.subplots(
        1 + len(PANELS), len(columns), figsize=(6.5, 6.6), sharex=True, sharey="row", squeeze=False,
        height_ratios=[1.7, 1, 1, 1], layout="constrained",
    )  # fmt: skip
    for column, title, (weights, curves) in zip(axes.T, heads, columns, strict=True):
        _draw_weights(column[0], weights, shown)
        column[0].set_title(title, fontsize=12)
        for ax, (styles, limits), numbers in zip(column[1:], PANELS.values(), curves, strict=True):
            _draw_curves(ax, styles, numbers, end, limits)
        for ax in column:
            ax.axvline(end, color=GREY, linestyle="--", linewidth=1)
        column[-1].set_xlabel("time step")
    _label_left_and_right(axes)
    return axes


def _checked(title: str, track: Track) -> tuple[np.ndarray, list[np.ndarray]]:
    """The weights ``(T, N)`` and the curves of each panel, ``(T, 1)``, ``(T, 3)`` and ``(T, 2)``."""
    weights = as_matrix(title, track.weights)
    gate, shift, beta, gamma = (np.asarray(numbers, dtype=float) for numbers in track[1:])
    steps = len(weights)
    shapes = [numbers.shape for numbers in (gate, shift, beta, gamma)]
    if shapes != [(steps,), (steps, 3), (steps,), (steps,)]:
        raise ValueError(f"{title} has weights of {steps} steps, but gate, shift, beta and gamma of shapes {shapes}")
    return weights, [gate[:, None], shift, np.stack([beta, gamma], axis=1)]


def _draw_weights(ax: Axes, weights: np.ndarray, shown: tuple[int, int]) -> None:
    """Draw the weights ``(T, N)`` with the rows around the circle, and the largest of each step."""
    steps, rows = weights.shape
    ax.imshow(
        weights[:, np.arange(*shown) % rows].T, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto", interpolation="nearest",
        extent=(-0.5, steps - 0.5, shown[1] - 0.5, shown[0] - 0.5),
    )  # fmt: skip
    largest = (weights.argmax(axis=1) - shown[0]) % rows + shown[0]  # (T,), counted from the first row that is shown
    largest = np.where(weights.max(axis=1) > DOTTED, largest, np.nan)
    ax.plot(range(steps), largest, ".", color=TRUTH_COLOUR, markersize=3.5)
    ax.set(ylim=(shown[1] - 0.5, shown[0] - 0.5))
    ticks = [row for row in range(*shown) if row % 5 == 0 or row == shown[0]]
    ax.set_yticks(ticks, [str(row % rows) for row in ticks], fontsize=10)
    ax.grid(visible=False)


def _draw_curves(
    ax: Axes, styles: Mapping[str, CurveStyle], numbers: np.ndarray, end: int, limits: tuple[float, float] | None
) -> None:
    """Draw one curve per style from numbers ``(T, styles)``, with a mark at step ``end``."""
    for (name, style), curve in zip(styles.items(), numbers.T, strict=True):
        look: dict[str, Any] = {"color": style.colour, "linestyle": style.line, "linewidth": 1.6}
        ax.plot(curve, label=name, marker=style.marker, markersize=4.5, markevery=[end], **look)
    highest = max(1.05 * numbers.max(), ax.get_ylim()[1])  # the heads share this axis
    ax.set(ylim=limits if limits is not None else (0, highest))
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True) if limits is None else FixedLocator([0, 0.5, 1]))
    ax.margins(x=0)


def _label_left_and_right(axes: np.ndarray) -> None:
    """Name each row of panels on the left, and its colours or curves on the right."""
    for ax, label in zip(axes[:, 0], ("row of memory", *PANELS), strict=True):
        ax.set_ylabel(label, fontsize=11)
    axes[0, 0].figure.align_ylabels(axes[:, 0])
    axes[0, 0].figure.colorbar(axes[0, -1].images[0], ax=list(axes[0]), label="weight", aspect=12, pad=0.02)
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "handlelength": 1.6, "fontsize": 10}
    for ax in axes[2:, -1]:
        ax.legend(**beside)
