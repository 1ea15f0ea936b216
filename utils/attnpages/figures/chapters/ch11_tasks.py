"""Figures of chapter 11 on learning and asking: a loss with its levels, and labels beside prompts."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import INK, LINE


def plot_learning(panels: Mapping[str, Curves], levels: Mapping[str, float]) -> list[Axes]:
    """Draw what changes during training, one line per model; the first panel is a loss with named levels.

    Args:
        panels: ``{quantity: {kind: {step: [one value per model]}}}``, two of them.
        levels: ``{what a model knows there: loss}``, the higher one first.

    Raises:
        ValueError: unless there are two panels and two levels.
    """
    if len(panels) != 2 or len(levels) != 2:
        raise ValueError(f"there must be two panels and two levels, got {len(panels)} and {len(levels)}")
    _, axes = plt.subplots(1, 2, figsize=(7.8, 4.2), layout="constrained")
    top = min(levels.values()) + 3.5  # nats; what lies higher is left out
    for ax, (quantity, curves) in zip(axes, panels.items(), strict=True):
        low = {kind: {at: of for at, of in points.items() if max(of) < top} for kind, points in curves.items()}
        plot_by_length(low, "training step", quantity, ax, trained=None, each=True)
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
    for ax, (title, curves) in zip(axes[0], panels.items(), strict=True):
        plot_by_length(curves, "labelled phrases", "right (share)" if ax is axes[0, 0] else "", ax, trained=None)
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
