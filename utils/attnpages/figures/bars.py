"""Bars for a number a model has, with every seed as a dot."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.arrays import as_array
from attnpages.figures.style import STYLES, legend_above, new_axes, readable, styles_for


def plot_bars(
    values: Mapping[str, Sequence[float]],
    xlabel: str,
    ax: Axes | None = None,
    title: str | None = None,
    decimals: int = 2,
    limits: tuple[float, float] | None = None,
    reference: tuple[str, float] | None = None,
) -> Axes:
    """Draw one bar a name up to the mean over its seeds, each seed as a dot, the mean in figures at the
    right.

    Bars lie, so that long names can be read on a narrow screen.

    Args:
        values: ``{name: [one value a seed]}``, drawn from top to bottom; a bare number stands for one seed.
        xlabel: what is measured, with its unit.
        decimals: digits after the point of the mean.
        limits: left and right end of the axis; ``None``: 0 to 1 for shares, else what fits, with 0.
        reference: ``(name, value)`` of a line to compare with, e.g. ``("chance", 0.1)``.

    Raises:
        ValueError: if there is nothing to draw, or a value isn't a finite number.
    """
    seeds = _checked(values)
    ax = new_axes(ax, (6.5, 1.3 + 0.42 * len(seeds)))
    styles = styles_for(seeds) if len(seeds) <= len(STYLES) else dict.fromkeys(seeds, STYLES[0])
    for row, (name, numbers) in enumerate(seeds.items()):
        _bar(ax, row, numbers, styles[name].colour)
        ax.text(1.02, row, f"{numbers.mean():.{decimals}f}", transform=ax.get_yaxis_transform(), va="center")
    ax.text(1.02, 1.0, "mean", transform=ax.transAxes, va="bottom")
    ax.set_yticks(range(len(seeds)), [readable(name) for name in seeds])
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    shown = [*seeds.values(), np.array([] if reference is None else [reference[1]])]
    ax.set(xlabel=xlabel, xlim=limits or _limits(np.concatenate(shown)))
    _headline(ax, reference, title)
    return ax


def _headline(ax: Axes, reference: tuple[str, float] | None, title: str | None) -> None:
    if reference is None:
        ax.set_title(title or "", loc="left")
        return
    name, value = reference
    line = ax.axvline(value, color="black", linestyle="--", linewidth=1.2, zorder=2)
    legend_above(ax, [line], [name], title)


def _bar(ax: Axes, row: int, numbers: np.ndarray, colour: str) -> None:
    ax.barh(row, numbers.mean(), height=0.62, color=colour, alpha=0.45, edgecolor=colour, linewidth=1.2)
    # The dots stand on a slant, so that equal seeds stay visible.
    spread = np.linspace(-0.16, 0.16, len(numbers)) if len(numbers) > 1 else np.zeros(1)
    ax.plot(numbers, row + spread, "o", color="black", markersize=4, clip_on=False, zorder=3)


def _checked(values: Mapping[str, Sequence[float]]) -> dict[str, np.ndarray]:
    if not values:
        raise ValueError("values is empty; give at least one name with its numbers")
    checked = {name: np.atleast_1d(as_array(numbers)) for name, numbers in values.items()}
    for name, numbers in checked.items():
        if numbers.size == 0 or not np.isfinite(numbers).all():
            raise ValueError(f"values of {name!r} must be finite numbers, at least one, got {numbers.tolist()}")
    return checked


def _limits(numbers: np.ndarray) -> tuple[float, float]:
    low, high = min(0.0, numbers.min()), max(0.0, numbers.max())
    if low == 0 and 0.5 < high <= 1:
        return 0.0, 1.0
    return 1.05 * low, 1.05 * high or 1.0
