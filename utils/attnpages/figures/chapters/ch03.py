"""Figures of chapter 03: the library with its numbers, panels over features, mixtures, and runs."""

import math
from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, canvas, say
from attnpages.figures.curves import plot_by_length
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import FAINT, LINE, SAND
from attnpages.figures.style import STYLES, styles_for


def draw_library(
    titles: Sequence[str],
    query: Sequence[float],
    keys: Sequence[Sequence[float]],
    scores: Sequence[float],
    weights: Sequence[float],
    values: Sequence[Sequence[float]],
    ax: Axes | None = None,
) -> Axes:
    """Draw attention as a visit to a library: one row per book, from the label on its spine to its share of the
    sum.

    Args:
        titles: one per book. ``query``: what the visitor wants.
        keys, values: one vector per book. ``scores``, ``weights``: one number per book.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there is not one key, score, weight and value per title.
    """
    for name, given in (("keys", keys), ("scores", scores), ("weights", weights), ("values", values)):
        if len(given) != len(titles):
            raise ValueError(f"{name} has {len(given)} entries but there are {len(titles)} titles; give one per book")
    rows = list(zip(titles, keys, scores, weights, values, strict=True))
    ax = canvas(ax, (6.5, 1.55 + 0.95 * len(rows)), (0, 10), (-0.95, len(rows) + 0.75))
    _headings(ax, len(rows), query)
    for row, (book, style) in enumerate(zip(rows, STYLES, strict=False)):
        _book(ax, len(rows) - 1 - row, *book, colour=style.colour)
    context = [sum(w * v[i] for w, v in zip(weights, values, strict=True)) for i in range(len(values[0]))]
    box(ax, 7.3, -0.85, 2.6, 0.7, fill="white")
    say(ax, 8.6, -0.5, _vector(context, 2), weight="bold")
    say(ax, 7.1, -0.5, "context: what you receive =", ha="right")
    return ax


def plot_against_features(
    panels: Mapping[str, Mapping],
    xlabel: str = "features of query and key, $d_k$",
    bounds: Mapping[str, tuple[float, str]] | None = None,
    tenths: Collection[str] = (),
) -> list[Axes]:
    """Draw several measured things against the number of features, one panel each, below one another.

    Args:
        panels: ``{label of the y axis: {curve: {features: [one value a seed]}}}``. A label that holds "(log)"
            gets a logarithmic axis; the axes of the others begin at 0.
        xlabel: of the lowest panel.
        bounds: ``{label of the y axis: (value, its name)}``: a dashed line at a value that the curves cannot pass; its
            name stands at the upper left.
        tenths: labels of panels whose lines go through the medians, with bands from the lowest tenth of the values
            to the highest; a logarithmic axis begins at a tenth of the smallest median.

    Raises:
        ValueError: if there is no panel, a bound or ``tenths`` names none, or a curve is not as
            :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its curves")
    for argument, labels in (("bounds", bounds or {}), ("tenths", tenths)):
        if unknown := set(labels) - set(panels):
            raise ValueError(f"{argument} names {sorted(unknown)}; the panels are {list(panels)}")
    _, axes = plt.subplots(len(panels), 1, figsize=(6.5, 0.6 + 2.3 * len(panels)), sharex=True, layout="constrained")
    axes = [axes] if len(panels) == 1 else list(axes)
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        plot_by_length(curves, xlabel="", ylabel=label, ax=ax, trained=None)
        smallest = _show_tenths(ax, curves) if label in tenths else None
        ax.autoscale(axis="y")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log" if "(log)" in label else "linear")
        if bounds and label in bounds:
            bound, name = bounds[label]
            ax.axhline(bound, color="black", linestyle="--", linewidth=1.2, zorder=1)
            ax.annotate(name, (0.01, 0.98), xycoords="axes fraction", va="top")
            ax.margins(y=0.2)
        if "(log)" not in label:
            ax.set_ylim(bottom=0)
        elif smallest:
            ax.set_ylim(bottom=smallest / 10)
        if ax is not axes[0]:
            ax.get_legend().remove()
    features = sorted({x for curves in panels.values() for points in curves.values() for x in points})
    axes[-1].set_xticks(features, [str(x) for x in features])
    axes[-1].set_xlabel(xlabel)
    return axes


def plot_by_rate(panels: Mapping[str, Mapping], xlabel: str, ylabel: str, guess: float | None = None) -> list[Axes]:
    """Draw how well layers have learned by their learning rate, under several conditions side by side: lines through
    the means of the seeds, over a logarithmic axis.

    Args:
        panels: ``{title: {curve: {rate: [one share a seed]}}}``, the same curves in each panel.
        xlabel, ylabel: of all panels.
        guess: what a guess reaches, drawn as a dashed line with its name.

    Raises:
        ValueError: if there is no panel, the panels have different curves, or a curve is not as
            :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its curves")
    names = list(next(iter(panels.values())))
    figure, axes = plt.subplots(1, len(panels), figsize=(6.5, 3.9), squeeze=False, sharey=True, layout="constrained")
    for ax, (title, curves) in zip(axes[0], panels.items(), strict=True):
        if list(curves) != names:
            raise ValueError(f"{title!r} has the curves {list(curves)}; the first panel has {names}")
        plot_by_length(curves, "", ylabel if ax is axes[0, 0] else "", ax=ax, trained=None)
        ax.get_legend().remove()
        rates = sorted({rate for points in curves.values() for rate in points})
        ax.set_xscale("log")
        ax.set_xticks(rates, [f"{rate:g}" for rate in rates], rotation=60, minor=False)
        ax.minorticks_off()
        ax.set_title(title)
        if guess is not None:
            ax.axhline(guess, color="black", linestyle="--", linewidth=1.2, zorder=1)
            ax.annotate("a guess", (rates[0], guess), (0, 4), textcoords="offset points", va="bottom")
    figure.supxlabel(xlabel, fontsize=12)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=10)
    return list(axes[0])


def plot_mixing(
    panels: Mapping[str, object],
    xlabel: str = "position that is read",
    ylabel: str = "number that multiplies the value",
) -> list[Axes]:
    """Draw how one output position mixes all input positions, for several inputs: bars side by side.

    Args:
        panels: ``{title: (inputs, positions)}``; equal bars mean that the numbers do not depend on the input.
        xlabel, ylabel: of the positions, and of what is drawn for each of them.

    Raises:
        ValueError: if there is no panel, or one of them has not two axes.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its numbers")
    drawn = {title: as_matrix(title, numbers) for title, numbers in panels.items()}
    _, axes = plt.subplots(1, len(drawn), figsize=(6.5, 3.2), squeeze=False, sharey=True, layout="constrained")
    for ax, (title, numbers) in zip(axes[0], drawn.items(), strict=True):
        inputs, positions = numbers.shape
        width = 0.8 / inputs
        for row, (heights, style) in enumerate(zip(numbers, STYLES, strict=False)):
            places = [position + (row - (inputs - 1) / 2) * width for position in range(positions)]
            look = {"facecolor": style.colour, "alpha": 0.7, "edgecolor": "black", "hatch": style.hatch}
            ax.bar(places, heights, width, label=f"input {row + 1}", **look)
        ax.axhline(0, color="black", linewidth=1)
        ax.set_xticks(range(positions), [str(position + 1) for position in range(positions)])
        ax.grid(axis="x", visible=False)
        ax.set(title=title, xlabel=xlabel)
    axes[0, 0].set_ylabel(ylabel)
    axes[0, -1].legend(loc="upper left", fontsize=10)
    return list(axes[0])


def plot_runs(panels: Mapping[str, Mapping[str, Sequence[float]]], xlabel: str) -> list[Axes]:
    """Draw one row per name and one dot per training run, for several conditions side by side.

    Args:
        panels: ``{title: {name: [one share per seed]}}``, the same names in each panel, drawn from top to bottom.
        xlabel: what is measured, as a share from 0 to 1.

    Raises:
        ValueError: if there is no panel, the panels have different names, or a share is not between 0 and 1.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its runs")
    names = list(next(iter(panels.values())))
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6.5, 1.2 + 0.36 * len(names)), squeeze=False, sharey=True, layout="constrained"
    )
    for ax, (title, runs) in zip(axes[0], panels.items(), strict=True):
        if list(runs) != names:
            raise ValueError(f"{title!r} has the names {list(runs)}; the first panel has {names}")
        for row, shares in enumerate(runs.values()):
            _runs_of_a_row(ax, row, shares)
        ax.set(title=title, xlim=(-0.06, 1.06), ylim=(len(names) - 0.5, -0.5), xticks=(0, 0.5, 1))
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
    axes[0, 0].set_yticks(range(len(names)), names)
    figure.supxlabel(xlabel, fontsize=12)
    return list(axes[0])


def _runs_of_a_row(ax: Axes, row: int, shares: Sequence[float]) -> None:
    """The dots of a row stand on a slant, so that equal runs stay visible; every second row is shaded."""
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"shares must lie between 0 and 1, got {list(shares)}")
    if row % 2:
        ax.axhspan(row - 0.5, row + 0.5, color=SAND, zorder=0)
    for seed, share in enumerate(shares):
        height = row + 0.2 * (seed - (len(shares) - 1) / 2)
        ax.plot(share, height, "o", color=STYLES[0].colour, markeredgecolor="black", clip_on=False, zorder=3)


def _show_tenths(ax: Axes, curves: Mapping) -> float:
    """Draw medians and tenths in place of what the panel has so far, and return the smallest median."""
    for artist in [*ax.lines, *ax.collections]:
        artist.remove()
    styles, smallest = styles_for(curves), math.inf
    for name, points in curves.items():
        low, median, high = np.quantile(list(points.values()), (0.1, 0.5, 0.9), axis=1)
        look = styles[name]
        ax.fill_between(list(points), low, high, color=look.colour, alpha=0.2, linewidth=0)
        ax.plot(list(points), median, color=look.colour, linestyle=look.line, marker=look.marker, label=name)
        smallest = min(smallest, median.min())
    return smallest


def _headings(ax: Axes, rows: int, query: Sequence[float]) -> None:
    say(ax, 0.1, rows + 0.5, f"query: what you want to read about = {_vector(query)}", ha="left", weight="bold")
    for x, text in ((1.6, "key: the label"), (4.15, "score"), (5.75, "weight"), (8.6, "value: the content")):
        say(ax, x, rows + 0.02, text, size=10)


def _book(ax: Axes, y: float, title: str, key, score: float, weight: float, value, colour: str) -> None:
    box(ax, 0.1, y + 0.1, 3.1, 0.74)
    ax.add_patch(plt.Rectangle((0.1, y + 0.1), 0.16, 0.74, color=colour, zorder=2))
    say(ax, 1.72, y + 0.64, title, weight="bold")
    say(ax, 1.72, y + 0.3, _vector(key))
    arrow(ax, (3.3, y + 0.47), (3.8, y + 0.47), LINE)
    say(ax, 4.15, y + 0.47, f"{score:.3g}")
    arrow(ax, (4.5, y + 0.47), (4.95, y + 0.47), LINE)
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5, 0.26, facecolor="white", edgecolor=FAINT, linewidth=0.8))
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5 * weight, 0.26, color=colour))
    say(ax, 5.75, y + 0.16, f"{weight:.3f}")
    say(ax, 6.9, y + 0.47, "×")
    box(ax, 7.3, y + 0.12, 2.6, 0.7)
    say(ax, 8.6, y + 0.47, _vector(value))
    if y:
        say(ax, 8.6, y - 0.03, "+")


def _vector(numbers: Sequence[float], decimals: int = 0) -> str:
    return "(" + ", ".join(f"{float(x):.{decimals}f}" for x in numbers) + ")"
