"""Figures of chapter 11 on learning and asking: a loss with its levels, labels beside prompts, and a task exchanged."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import INK, LINE
from attnpages.figures.style import STYLES, styles_for

_SHADES = (1.0, 0.62, 0.36)  # how much of its kind's colour a model's line keeps; the rest is white


def plot_learning(panels: Mapping[str, Curves], levels: Mapping[str, float]) -> list[Axes]:
    """Draw what changes during training, one line per model; the first panel is a loss with named levels.

    A model has one shade of its kind's colour in both panels, so that a fall and a rise can be matched.

    Args:
        panels: ``{quantity: {kind: {step: [one value for each of three models]}}}``, two of them.
        levels: ``{what a model knows there: loss}``, the higher one first.

    Raises:
        ValueError: unless there are two panels, two levels, and three models of each kind.
    """
    if len(panels) != 2 or len(levels) != 2:
        raise ValueError(f"there must be two panels and two levels, got {len(panels)} and {len(levels)}")
    if any(len(of) != len(_SHADES) for by in panels.values() for points in by.values() for of in points.values()):
        raise ValueError(f"each kind must have {len(_SHADES)} models, because each model has a shade of its own")
    _, axes = plt.subplots(1, 2, figsize=(7.8, 4.2), layout="constrained")
    top = min(levels.values()) + 3.5  # nats; what lies higher is left out
    for ax, (quantity, curves) in zip(axes, panels.items(), strict=True):
        low = {kind: {at: of for at, of in points.items() if max(of) < top} for kind, points in curves.items()}
        plot_by_length(low, "training step", quantity, ax, trained=None, each=True)
        for lines in (ax.lines[i : i + len(_SHADES)] for i in range(0, len(ax.lines), len(_SHADES))):
            for line, share in zip(lines, _SHADES, strict=True):
                line.set_color([share * of + 1 - share for of in to_rgb(line.get_color())])
        last = max(int(step) for points in curves.values() for step in points)
        ax.set_xticks(range(0, last + 1, 100), [str(step) for step in range(0, last + 1, 100)])
    for above, (name, level) in zip((0.15, -0.4), levels.items(), strict=True):
        axes[0].axhline(level, color=INK, linestyle="--", linewidth=1.1, zorder=1)
        axes[0].text(last, level + above, name, ha="right", va="bottom" if above > 0 else "top", fontsize=10.5)
    axes[0].set_ylim(min(levels.values()) - 0.8, top)
    return list(axes)


def plot_ways(panels: Mapping[str, Curves], without: tuple[str, float]) -> list[Axes]:
    """Draw right answers by the number of labels, one panel per kind of model, with guessing at one half.

    Args:
        panels: ``{title: {way: {labels: [one share per model or draw]}}}``.
        without: the name and the share of a way that needs no label, drawn in the last panel.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels must hold at least one panel")
    _, axes = plt.subplots(1, len(panels), figsize=(3.9 * len(panels), 4.8), layout="constrained", squeeze=False)
    styles = styles_for(way for curves in panels.values() for way in curves)  # no style stands in two panels
    for ax, (title, curves) in zip(axes[0], panels.items(), strict=True):
        plot_by_length(
            curves, "labelled phrases", "right (share)" if ax is axes[0, 0] else "", ax, trained=None, styles=styles
        )
        counts = sorted({int(count) for points in curves.values() for count in points})
        ax.set_xscale("log")
        ax.set_xticks(counts, [str(count) for count in counts])
        ax.minorticks_off()
        ax.axhline(0.5, color=LINE, linestyle=":", linewidth=1.2, zorder=1)
        ax.set_ylim(0.35, 1.03)
        ax.text(0.97, 0.04, title, transform=ax.transAxes, ha="right", fontsize=11, fontweight="bold")
    name, share = without
    axes[0, -1].axhline(share, color=INK, linestyle="--", linewidth=1.4, zorder=1)
    axes[0, -1].text(min(counts), share + 0.015, name, ha="left", va="bottom", fontsize=10.5)
    return list(axes[0])


def plot_task_switch(panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> list[Axes]:
    """Draw how many words are answered by each task, one panel per prompt and one row per way of changing it.

    Args:
        panels: ``{prompt: {change: {task: [one share per draw]}}}``; each change has the same two tasks.

    Raises:
        ValueError: if there is no panel, or a change doesn't have the two tasks of the first one.
    """
    rows = [row for of in panels.values() for row in of.values()]
    if not rows or any(list(row) != list(rows[0]) or len(row) != 2 for row in rows):
        raise ValueError("panels must hold at least one change, each with the same two tasks")
    _, axes = plt.subplots(1, len(panels), figsize=(3.9 * len(panels), 3.4), layout="constrained", squeeze=False)
    for ax, (title, changes) in zip(axes[0], panels.items(), strict=True):
        for y, found in enumerate(changes.values()):
            ax.axhline(y, color=LINE, linewidth=0.6, zorder=0)
            for style, fill, (task, shares) in zip(STYLES, ("full", "none"), found.items(), strict=False):
                ax.plot(
                    [100 * share for share in shares], y + np.linspace(-0.16, 0.16, len(shares)), linestyle="none",
                    color=style.colour, marker=style.marker, markersize=7, markeredgewidth=1.8, fillstyle=fill,
                    clip_on=False, label=f"{task}s" if y == 0 else "_",
                )  # fmt: skip
        ax.set(xlabel="words answered so (%)", xlim=(0, 100), ylim=(len(changes) - 0.5, -0.5))
        ax.set_title(title, fontsize=11.5)
        ax.set_yticks(range(len(changes)), list(changes) if ax is axes[0, 0] else [""] * len(changes))
        ax.grid(False, axis="y")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return list(axes[0])
