"""Figures of chapter 13: weights of heads over time, a mark for each run."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.heat import as_matrix, colour_bar
from attnpages.figures.palette import DARK_GREY, GREY, PALE_GREY
from attnpages.figures.style import HEAT_MAP, STYLES, TRUTH_COLOUR, readable

_WHOLE = {"cmap": HEAT_MAP, "aspect": "auto", "interpolation": "nearest"}


def plot_tracks(
    panels: Mapping[str, object], end: int | None = None, rows: int | None = None, ylabel: str = "row of memory",
    mark: str = "end mark",
) -> list[Axes]:  # fmt: skip
    """Draw the weights of heads over time, one panel per head; darker cells have larger weights, row 0 is at the top.

    Args:
        panels: ``{title: (T, N)}``, all with the same T; a title that holds "bits" gets bits as its rows, one that
            holds "vectors" gets features, and colours for numbers of both signs (purple above 0, orange below).
        end: the time step of a mark; a line is drawn there, with its name ``mark`` above the first panel.
        rows: how many rows of the memory to show, from row 0; ``None`` shows all.
        ylabel: label of panels that show a memory.

    Raises:
        ValueError: if there is nothing to draw, the panels differ in their number of steps, ``end`` is none
            of these, or ``rows`` is not positive.
    """
    tracks = _checked(panels, end, rows)
    heights = [0.45 if "bits" in title else 0.6 if "vectors" in title else 0.9 for title in tracks]
    size = (6.5, 0.8 + 1.9 * sum(heights))
    _, axes = plt.subplots(
        len(heights), 1, figsize=size, sharex=True, squeeze=False, height_ratios=heights, layout="constrained"
    )
    for ax, (title, values) in zip(axes[:, 0], tracks.items(), strict=True):
        _draw_track(ax, title, values, rows, ylabel)
    if end is not None:
        _mark_step(list(axes[:, 0]), end, mark, len(next(iter(tracks.values()))))
    axes[-1, 0].set_xlabel("time step")
    return list(axes[:, 0])


def _checked(panels: Mapping[str, object], end: int | None, rows: int | None) -> dict[str, np.ndarray]:
    """What is to be drawn, as arrays; raises ValueError as :func:`plot_tracks` says."""
    tracks = {title: as_matrix(title, values) for title, values in panels.items()}
    if not tracks:
        raise ValueError("panels is empty; give at least one title with its weights")
    steps = {title: len(values) for title, values in tracks.items()}
    count = next(iter(steps.values()))
    if len({*steps.values()}) > 1:
        raise ValueError(f"the panels must have the same number of steps, got {steps}")
    if end is not None and not 0 <= end < count:
        raise ValueError(f"end must be one of the {count} steps, got {end}")
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be positive or None, got {rows}")
    return tracks


def _draw_track(ax: Axes, title: str, values: np.ndarray, rows: int | None, ylabel: str) -> None:
    """Draw one panel of weights, bits or vectors over time."""
    bits, vectors = "bits" in title, "vectors" in title
    shown = values if bits or vectors or rows is None else values[:, :rows]
    largest = float(np.abs(shown).max()) or 1.0
    colours: dict[str, Any] = {"cmap": "PuOr", "vmin": -largest, "vmax": largest} if vectors else {"vmin": 0, "vmax": 1}
    image = ax.imshow(shown.T, **{**_WHOLE, **colours})
    ax.set_title(title, loc="left", fontsize=12)
    ax.set_ylabel("bit" if bits else "feature" if vectors else ylabel)
    last = shown.shape[1] - 1
    few = bits or vectors or last < 12
    ax.set_yticks([0, last] if few else [0, (last + 1) // 4, (last + 1) // 2, 3 * (last + 1) // 4, last])
    ax.grid(False)
    if not bits:
        colour_bar(ax, image, "number" if vectors else "weight")


def _mark_step(axes: Sequence[Axes], end: int, mark: str, steps: int) -> None:
    """Draw a line at a time step through all panels, with its name above the first."""
    for ax in axes:
        ax.axvline(end, color=TRUTH_COLOUR, linewidth=1.2, linestyle="--")
    beside = "left" if end < steps / 4 else "center"  # so that the first panel's title stays free
    place: dict[str, Any] = {"transform": axes[0].get_xaxis_transform(), "ha": beside, "va": "bottom"}
    axes[0].text(end, 1.04, mark, color=TRUTH_COLOUR, fontsize=11, **place)


def plot_runs(
    groups: Mapping[str, Mapping[str, Sequence[float]]], xlabel: str, chance: float | None = None
) -> list[Axes]:
    """Draw one mark per run: a panel for each group, a row for each name; runs of a row lie below one another.

    Args:
        groups: ``{group: {name: [one value per run]}}``; the names are drawn from top to bottom.
        xlabel: what is drawn; it stands below each panel.
        chance: a grey line at the value that guessing gives; it is named in the first panel, in the row whose marks
            are farthest from it.

    Raises:
        ValueError: if there is nothing to draw.
    """
    names = list(dict.fromkeys(name for points in groups.values() for name in points))
    if not names:
        raise ValueError("groups is empty; give at least one group with a name and its values")
    size = (6.5, 1.3 + 0.75 * len(names))
    _, axes = plt.subplots(1, len(groups), figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained")
    for ax, (group, points), style in zip(axes[0], groups.items(), STYLES, strict=False):
        for name, values in points.items():
            rows = names.index(name) + 0.13 * (np.arange(len(values)) - (len(values) - 1) / 2)
            ax.plot(values, rows, style.marker, color=style.colour, markersize=6, clip_on=False)
        if chance is not None:
            ax.axvline(chance, color=GREY, linewidth=1.5, linestyle="-")
        for boundary in range(1, len(names)):
            ax.axhline(boundary - 0.5, color=PALE_GREY, linewidth=0.8, linestyle="-")
        ax.grid(visible=False, axis="y")
        ax.set_title(readable(group), loc="left", fontsize=12)
        ax.set_xlabel(xlabel)
    if chance is not None:
        first = next(iter(groups.values()))
        free = [min((abs(value - chance) for value in first.get(name, ())), default=np.inf) for name in names]
        place = {"xytext": (-4, 0), "textcoords": "offset points", "rotation": 90, "ha": "right", "va": "center"}
        axes[0, 0].annotate("guessing", (chance, int(np.argmax(free))), fontsize=11, color=DARK_GREY, **place)
    axes[0, 0].set_yticks(range(len(names)), [readable(name) for name in names])
    axes[0, 0].set(ylim=(len(names) - 0.5, -0.5))
    return list(axes[0])
