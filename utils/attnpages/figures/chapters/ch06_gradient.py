"""Figures of chapter 06: what a draw does to the probabilities, the variance of REINFORCE, and learning by steps."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnpages.figures.boxes import line, say
from attnpages.figures.palette import BLUE, INK, LINE, PAPER, READS, RUST, WRITES
from attnpages.figures.style import STYLES, CurveStyle


def plot_draws(
    cells: Sequence[str], before: Sequence[float], rows: Mapping[str, Sequence[Sequence[float]]]
) -> list[Axes]:
    """Draw what one step after one draw makes of the probabilities: a row per baseline, a panel per cell that is drawn.

    Args:
        cells: their names. before: their probabilities before the step, drawn as dashed frames.
        rows: ``{name of the row: for each cell that is drawn, the probabilities of all cells after the step}``.

    Raises:
        ValueError: if there is no row, or a row does not hold as many probabilities per draw and draws as cells.
    """
    count = len(cells)
    if not rows or {count} != {
        len(before),
        *map(len, rows.values()),
        *(len(of) for row in rows.values() for of in row),
    }:
        raise ValueError(f"rows must be at least one, with {count} draws of {count} probabilities, got {rows}")
    size = (6.5, 0.4 + 1.65 * len(rows))
    _, axes = plt.subplots(
        len(rows), count, figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for row, (line_of, (name, draws)) in enumerate(zip(axes, rows.items(), strict=True)):
        line_of[0].set_ylabel(name, fontsize=11)
        for drawn, (ax, after) in enumerate(zip(line_of, draws, strict=True)):
            ax.set_title("" if row else f"drawn: {cells[drawn]}", fontsize=11)
            fills = [READS if cell != drawn else WRITES for cell in range(count)]
            edges = [BLUE if cell != drawn else RUST for cell in range(count)]
            ax.bar(range(count), after, 0.66, color=fills, edgecolor=edges, linewidth=1.4)
            ax.bar(range(count), before, 0.86, fill=False, edgecolor=INK, linestyle=":", linewidth=1.1)
            for cell, (old, new) in enumerate(zip(before, after, strict=True)):
                weight = "bold" if cell == drawn else "normal"
                say(ax, cell, max(old, new) + 0.05, f"{new:.2f}", size=10, weight=weight)
            ax.set(xlim=(-0.6, count - 0.4), ylim=(0, 0.75), yticks=[])
            ax.set_xticks(range(count), cells)
            ax.grid(visible=False)
    return list(axes.flat)


def plot_variances(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Axes]:
    """Draw variances on a logarithmic axis, one panel per title: a dot per seed, a line from the least to the largest.

    Args:
        panels: ``{title: {name of an estimator: [one variance per seed]}}``, the same estimators in each.

    Raises:
        ValueError: if there is no panel, the names differ, or a variance is not above 0.
    """
    names = [list(panel) for panel in panels.values()]
    if not names or any(other != names[0] for other in names):
        raise ValueError(f"panels must be at least one, with the same estimators in each; got {names}")
    _, axes = plt.subplots(
        1, len(panels), figsize=(6.5, 1.2 + 0.36 * len(names[0])), layout="constrained", sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for ax, (title, panel) in zip(axes[0], panels.items(), strict=True):
        for row, values in enumerate(panel.values()):
            if min(values) <= 0:
                raise ValueError(f"{title!r} holds a variance that is not above 0: {list(values)}")
            line(ax, (min(values), max(values)), (row, row), LINE, width=2.5)
            ax.plot(values, [row] * len(values), linestyle="", marker="o", color=STYLES[0].colour)
        ax.set(xscale="log", xlabel="variance (nats²)")
        ax.set_title(title, fontsize=11, loc="left")
    axes[0, 0].set_yticks(range(len(names[0])), names[0])
    axes[0, 0].invert_yaxis()
    return list(axes[0])


def plot_learning(
    exact: Mapping[str, Mapping[int, Sequence[float]]],
    variance: Mapping[str, Mapping[int, Sequence[float]]] | None = None, level: float | None = None,
    share: str = "exact match (share of captions)",
) -> list[Axes]:  # fmt: skip
    """Draw the exact match, or another share, over the steps, and variances beside it: thin seeds, a thick median.

    Args:
        exact, variance: ``{name: {step: [one value per seed]}}``; the variances on a logarithmic axis. A name that
            stands in both has the same colour. Without variances there is one panel.
        level: a share that the left panel marks by a dotted line. share: the label of the left panel's axis.

    Raises:
        ValueError: if there is no name, a name has other numbers of seeds at some steps, or a variance is not above 0.
    """
    if not exact:
        raise ValueError("exact must have at least one name")
    variance = variance or {}
    if any(value <= 0 for of in variance.values() for values in of.values() for value in values):
        raise ValueError("a variance is not above 0, so a logarithmic axis cannot show it")
    looks = dict(zip(dict.fromkeys([*exact, *variance]), STYLES, strict=False))
    size = (6.5, 3.6 if variance else 3.2)
    figure, axes = plt.subplots(1, 2 if variance else 1, figsize=size, layout="constrained", squeeze=False)
    panels = ((exact, share, "linear"), (variance, "variance of the estimate", "log"))
    handles = {}
    for ax, (curves, ylabel, scale) in zip(axes[0], panels, strict=False):
        for name, of in curves.items():
            handles[name] = _seeds_and_median(ax, name, of, looks[name])
        ax.set(yscale=scale, xlabel="training step", ylabel=ylabel)
    axes[0, 0].set_ylim(-0.03, 1.03)
    if level is not None:
        axes[0, 0].axhline(level, color=INK, linewidth=1, linestyle=":")
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=2 if variance else 3)
    return list(axes[0])


def plot_leads(
    groups: Mapping[str, Sequence[Mapping[int, tuple[float, float]]]], label: str, filled: str, limit: float = 1.0
) -> Axes:
    """Draw how far one choice is ahead of another over the steps: a line per training, and who is chosen as its dots.

    Args:
        groups: ``{title: one mapping per training, {step: (lead, share of the choices that fall on the other one)}}``.
            A dot is filled where this share is above a half.
        label: of the axis of the leads. filled: what a filled dot means, for the legend.
        limit: leads from ``-limit`` to ``limit`` are shown.

    Raises:
        ValueError: if there is no group, there are more than two, or one has no training.
    """
    if not 0 < len(groups) <= 2 or not all(groups.values()):
        raise ValueError(f"groups must be one or two, each with a training or more, got {list(groups)}")
    figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    ax.axhline(0, color=INK, linewidth=1.2)
    handles = {}
    for (title, trainings), (colour, style, beside) in zip(
        groups.items(), ((RUST, "-", -3), (BLUE, (0, (4, 2)), 3)), strict=False
    ):
        for training in trainings:
            steps = [step + beside for step in training]  # the groups side by side, so that no dot hides another's
            leads = [lead for lead, _ in training.values()]
            (handles[title],) = ax.plot(steps, leads, color=colour, linestyle=style, marker="", linewidth=1.1)
            for step, (lead, other) in zip(steps, training.values(), strict=True):
                fill, above = (colour, 4) if other > 0.5 else (PAPER, 3)
                dot: dict = {"marker": "o", "markersize": 5, "markeredgecolor": colour, "markerfacecolor": fill}
                ax.plot([step], [lead], linestyle="", zorder=above, **dot)
    handles[filled] = Line2D([], [], linestyle="", marker="o", markersize=5, color=INK)
    ax.set(xlabel="training step", ylabel=label, ylim=(-limit, limit), xticks=list(next(iter(groups.values()))[0]))
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=1)
    return ax


def _seeds_and_median(ax: Axes, name: str, of: Mapping[int, Sequence[float]], look: CurveStyle) -> Line2D:
    """A thin line per seed and the thick one of their median, which is returned for the legend."""
    if len({len(values) for values in of.values()}) != 1:
        raise ValueError(f"{name} must have as many seeds at each step")
    steps, rows = list(of), np.array([*of.values()], dtype=float)
    for seed in rows.T:
        ax.plot(steps, seed, color=look.colour, linestyle="-", marker="", linewidth=0.8, alpha=0.4)
    style: dict = {"color": look.colour, "linestyle": look.line, "marker": look.marker}
    (median,) = ax.plot(steps, np.median(rows, axis=1), linewidth=2.4, markersize=4, **style)
    return median


def plot_seeds(panels: Mapping[str, Mapping[int, Sequence[float]]], level: float, label: str) -> list[Axes]:
    """Draw a share over the steps in small panels, one per way of training: thin seeds, a thick median.

    Args:
        panels: ``{title: {step: [one share per seed]}}``.
        level: a share that each panel marks by a dotted line. label: of the axis of the shares.

    Raises:
        ValueError: if there is no panel, or one has other numbers of seeds at some steps.
    """
    if not panels or any(len({len(values) for values in of.values()}) != 1 for of in panels.values()):
        raise ValueError("panels must be at least one, each with as many seeds at each step")
    size: dict = {"figsize": (6.5, 2.5), "layout": "constrained"}
    figure, axes = plt.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False, **size)
    for ax, (title, of) in zip(axes[0], panels.items(), strict=True):
        steps, rows = list(of), np.array([*of.values()], dtype=float)
        for seed in rows.T:
            ax.plot(steps, seed, color=STYLES[1].colour, linestyle="-", marker="", linewidth=1)
        ax.plot(steps, np.median(rows, axis=1), color=INK, linestyle="-", marker="", linewidth=2.4)
        ax.axhline(level, color=INK, linewidth=1, linestyle=":")
        ax.set_title(title, fontsize=10, loc="left")
    axes[0, 0].set(ylim=(-0.03, 1.03), ylabel=label)
    figure.supxlabel("training step", fontsize=10)
    return list(axes[0])
