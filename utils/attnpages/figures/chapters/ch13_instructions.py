"""A figure of chapter 13: what the controller tells each head, over time."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from attnpages.figures.palette import GREY
from attnpages.figures.style import STYLES, CurveStyle

# The panels: their label, the style of each of their curves, and the range of their numbers.
PANELS: dict[str, tuple[dict[str, CurveStyle], tuple[float, float] | None]] = {
    "shift": ({"back": STYLES[0], "stay": STYLES[1], "forward": STYLES[2]}, (-0.03, 1.03)),
    "gate": ({"$g$": STYLES[6]}, (-0.03, 1.03)),
    r"$\beta$ and $\gamma$": ({r"$\beta$": STYLES[3], r"$\gamma$": STYLES[4]}, None),
}


class Track(NamedTuple):
    """The instructions to one head over T steps: shift (T, 3), back, stay, forward; gate, beta and gamma (T,)."""

    shift: object
    gate: object
    beta: object
    gamma: object


def draw_instructions(heads: Mapping[str, Track], end: int) -> np.ndarray:
    """Draw one column of panels per head: its shift, its gate, its key strength with its sharpening.

    Args:
        heads: ``{title: track}``.
        end: the time step of the end mark, at which a dashed line is drawn.

    Returns:
        the axes, ``(3, heads)``.

    Raises:
        ValueError: if there is no head, or a head's numbers do not have one entry per step.
    """
    if not heads:
        raise ValueError("heads is empty; give at least one title with its track")
    columns = [_checked(title, track) for title, track in heads.items()]
    size: Any = {"figsize": (6.5, 4.6), "sharex": True, "sharey": "row", "squeeze": False, "layout": "constrained"}
    _, axes = plt.subplots(len(PANELS), len(columns), **size)
    for column, title, curves in zip(axes.T, heads, columns, strict=True):
        column[0].set_title(title, fontsize=12)
        for ax, (styles, limits), numbers in zip(column, PANELS.values(), curves, strict=True):
            _draw_curves(ax, styles, numbers, end, limits)
            ax.axvline(end, color=GREY, linestyle="--", linewidth=1)
        column[-1].set_xlabel("time step")
    for ax, label in zip(axes[:, 0], PANELS, strict=True):
        ax.set_ylabel(label, fontsize=11)
    axes[0, 0].figure.align_ylabels(axes[:, 0])
    for ax in axes[[0, 2], -1]:  # the gate's label names its only curve
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.6, fontsize=10)
    return axes


def _checked(title: str, track: Track) -> list[np.ndarray]:
    """The curves of each panel, ``(T, 3)``, ``(T, 1)`` and ``(T, 2)``."""
    shift, gate, beta, gamma = (np.asarray(numbers, dtype=float) for numbers in track)
    steps, shapes = len(shift), [numbers.shape for numbers in (shift, gate, beta, gamma)]
    if shapes != [(steps, 3), (steps,), (steps,), (steps,)]:
        raise ValueError(f"{title} must have shift (T, 3) and gate, beta and gamma (T,), got the shapes {shapes}")
    return [shift, gate[:, None], np.stack([beta, gamma], axis=1)]


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
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0.02)
