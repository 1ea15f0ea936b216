"""Curves over lengths, distances and steps, each with the spread of its seeds."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatterSciNotation

from attnpages.figures.arrays import as_array
from attnpages.figures.palette import SAND
from attnpages.figures.style import FIGURE_SIZE, CurveStyle, Look, inches, legend_above, new_axes, readable, styles_for

Curves = Mapping[str, Mapping[int, Sequence[float]]]  # name -> place on the x axis -> one value a seed
Arrays = dict[str, dict[float, np.ndarray]]  # the same, as it is drawn


def plot_by_length(
    curves: Curves,
    xlabel: str = "length of the source (words)",
    ylabel: str = "exact match (share of sentences)",
    ax: Axes | None = None,
    trained: tuple[float, float] | None = (1, 6),
    title: str | None = None,
    styles: Mapping[str, CurveStyle] | None = None,
    shaded: str = "lengths seen in training",
    each: bool = False,
) -> Axes:
    """Draw how well models do at each length: a line through the means, a band from the worst seed to the
    best.

    Args:
        curves: ``{model: {length: [one value a seed]}}``; a bare number stands for one seed, and lengths may
            be strings, as JSON makes them.
        xlabel, ylabel: what is drawn, with its unit.
        ax: where to draw; ``None`` makes a figure.
        trained: shortest and longest length seen in training, shaded; ``None`` shades nothing.
        styles: one for each model; ``None`` chooses them as :func:`styles_for` does.
        shaded: what the legend calls the shaded lengths.
        each: a thin line for each seed instead of the mean and the band.

    Raises:
        ValueError: if there is no curve, a curve without points, or a value that isn't a finite number.
    """
    arrays = _checked(curves)
    ax = new_axes(ax, _size(len(arrays) + (trained is not None)))
    xs = _draw_lines(ax, arrays, styles) if each else _draw_bands(ax, arrays, styles)
    handles, labels = ax.get_legend_handles_labels()
    if trained is not None:
        shade: Look = {"facecolor": SAND, "edgecolor": "none"}
        ax.axvspan(trained[0] - 0.5, trained[1] + 0.5, zorder=0, **shade)
        handles.append(Patch(**shade))
        labels.append(shaded)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if all(0 <= y <= 1 for points in arrays.values() for values in points.values() for y in values):
        ax.set_ylim(-0.03, 1.03)
    legend_above(ax, handles, labels, title)
    _tick_at(ax, xs)
    return ax


def plot_gradient_by_distance(
    curves: Curves,
    xlabel: str = "distance from the first output (words)",
    ylabel: str = "gradient norm (loss per unit of input)",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how much of the loss's gradient reaches an input, by its distance; the y axis is logarithmic.

    A straight line downwards means that each further step costs the same factor.

    Args:
        curves: ``{model: {distance: [one gradient norm a seed]}}``, all above 0.
        xlabel, ylabel, ax, title: as in :func:`plot_by_length`.

    Raises:
        ValueError: as :func:`plot_by_length`, and if a norm is 0 or less: a logarithmic axis can't show it.
    """
    arrays = _checked(curves)
    for name, points in arrays.items():
        for distance, values in points.items():
            if values.min() <= 0:
                raise ValueError(
                    f"{name} has a gradient norm of {values.min():g} at distance {distance}; "
                    "a logarithmic axis shows only numbers above 0, so leave that distance out"
                )
    ax = new_axes(ax, _size(len(arrays)))
    ax.set_yscale("log")
    xs = _draw_bands(ax, arrays)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    legend_above(ax, *ax.get_legend_handles_labels(), title)
    _tick_at(ax, xs)
    return ax


class PlainNumbers(LogFormatterSciNotation):
    """The ticks of a logarithmic axis as plain numbers: 0.2 instead of 2 × 10⁻¹."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The number, wherever the usual labels of a logarithmic axis would stand."""
        return f"{x:g}" if super().__call__(x, pos) else ""


def plot_losses(
    histories: Mapping[str, object],
    ax: Axes | None = None,
    smooth: int = 50,
    every: int = 1,
    xlabel: str = "training step",
    ylabel: str = "loss (nats per word)",
    title: str | None = None,
) -> Axes:
    """Draw the losses of trainings, averaged over ``smooth`` steps; the y axis is logarithmic.

    Args:
        histories: ``{name: history}``, each a ``History`` of ``fit``, a list of losses, or a list of these
            (one a seed), which is drawn as a mean with a band.
        smooth: width in steps of the running mean; 1 draws each loss as it is.
        every: steps from one loss of the list to the next, if not each was kept.

    Raises:
        ValueError: if there is nothing to draw, or a loss isn't a finite number above 0, or smooth or every
            below 1.
    """
    if smooth < 1 or every < 1:
        raise ValueError(f"smooth and every must be at least 1, got smooth = {smooth}, every = {every}")
    if not histories:
        raise ValueError("histories is empty; give at least one name with its history")
    ax = new_axes(ax, _size(len(histories)))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(PlainNumbers())
    ax.yaxis.set_minor_formatter(PlainNumbers())
    styles = styles_for(histories)
    for name, history in histories.items():
        runs = [_smoothed(losses, max(1, smooth // every)) for losses in _seeds(name, history)]
        shortest = min(map(len, runs))
        steps = every * np.arange(1, shortest + 1)
        _band(ax, steps, np.stack([run[:shortest] for run in runs], axis=1), readable(name), styles[name], 8)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    legend_above(ax, *ax.get_legend_handles_labels(), title)
    return ax


def _size(entries: int) -> tuple[float, float]:
    """The usual size, and more height for a legend of more than two rows, two entries a row."""
    width, height = FIGURE_SIZE
    return width, height + 0.24 * max(0, (entries + 1) // 2 - 2)


def _checked(curves: Curves) -> Arrays:
    """Numbers for lengths, arrays for values, in rising order."""
    if not curves:
        raise ValueError("curves is empty; give at least one name with its points")
    checked = {}
    for name, points in curves.items():
        if not points:
            raise ValueError(f"the curve {name!r} has no points")
        arrays = {_place(x): np.atleast_1d(as_array(values)) for x, values in points.items()}
        for x, values in arrays.items():
            if values.size == 0 or not np.isfinite(values).all():
                raise ValueError(f"the curve {name!r} holds {values.tolist()} at {x}; it needs finite numbers")
        checked[name] = dict(sorted(arrays.items()))
    return checked


def _place(x: float | str) -> float:
    number = float(x)  # JSON makes strings of numbers that are keys
    return int(number) if number.is_integer() else number


def _draw_bands(ax: Axes, curves: Arrays, styles: Mapping[str, CurveStyle] | None = None) -> list[float]:
    styles = styles or styles_for(curves)
    for name, points in curves.items():
        _band(ax, list(points), list(points.values()), readable(name), styles[name])
    return sorted({x for points in curves.values() for x in points})


def _draw_lines(ax: Axes, curves: Arrays, styles: Mapping[str, CurveStyle] | None = None) -> list[float]:
    styles = styles or styles_for(curves)
    for name, points in curves.items():
        style = styles[name]
        look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "clip_on": False}
        for number, seed in enumerate(zip(*points.values(), strict=True)):
            label = "_" if number else readable(name)  # one entry in the legend
            ax.plot(list(points), seed, label=label, linewidth=1.3, markersize=5, **look)
    return sorted({x for points in curves.values() for x in points})


def _band(
    ax: Axes, xs: Sequence | np.ndarray, values: Sequence | np.ndarray, label: str, style: CurveStyle, markers: int = 0
) -> None:
    low, mean, high = ([function(v) for v in values] for function in (np.min, np.mean, np.max))
    ax.fill_between(xs, low, high, color=style.colour, alpha=0.2, linewidth=0)
    ax.plot(
        xs, mean, color=style.colour, linestyle=style.line, marker=style.marker, label=label,
        markevery=max(1, len(xs) // markers) if markers else None, clip_on=False,
    )  # fmt: skip


def _seeds(name: str, history: object) -> list[np.ndarray]:
    several = isinstance(history, list | tuple) and history and not isinstance(history[0], float | int)
    histories = history if isinstance(history, list | tuple) and several else [history]
    runs = [as_array(getattr(run, "losses", run)) for run in histories]
    for run in runs:
        if run.ndim != 1 or run.size == 0 or not (np.isfinite(run) & (run > 0)).all():
            raise ValueError(f"the losses of {name!r} must be a list of finite numbers above 0")
    return runs


def _smoothed(losses: np.ndarray, width: int) -> np.ndarray:
    """Mean of each loss and the ones before it, ``width`` in all: no loss of the future is mixed in."""
    total = np.cumsum(np.concatenate([[0.0], losses]))
    ends = np.arange(1, len(losses) + 1)
    starts = np.maximum(0, ends - width)
    return (total[ends] - total[starts]) / (ends - starts)


def _tick_at(ax: Axes, xs: list[int | float]) -> None:
    """Label the lengths that were measured, as many as fit."""
    per_inch = np.diff(ax.get_xlim())[0] / inches(ax)[0]
    needed = [per_inch * (0.06 + 0.09 * len(f"{x:g}")) for x in xs]
    gaps = set(np.diff(xs))
    if len(gaps) == 1 and max(needed) > min(gaps):  # evenly measured, so evenly labelled
        steps = (step * nice for step in (1, 10, 100, 1000) for nice in (1, 2, 5))
        step = next(step for step in steps if step >= max(needed))
        kept = [x for x in xs if x % step == 0]
    else:
        kept = [xs[0]]
        for x, room in zip(xs[1:], needed[1:], strict=True):
            if x - kept[-1] >= room:
                kept.append(x)
    ax.set_xticks(kept, [f"{x:g}".replace("-", "\N{MINUS SIGN}") for x in kept])  # matplotlib's minus
