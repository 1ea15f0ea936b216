"""Figures of chapter 06: a canvas and three of its cells, a captioner, maps, the variance of REINFORCE, and peaks."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnbook.seeding import generator
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import BLUE, FAINT, INK, LINE, PAPER, READS, WRITES
from attnpages.figures.style import HEAT_MAP, STYLES, TRUTH_COLOUR

_COLUMNS = 5  # panels beside each other: more could not be read on a phone
_GRID = 3  # cells per side in the drawing of the model
_DIGITS = {"two": "71747", "seven": "71111"}  # five rows of three bits, as in the chapter's file
_CORNERS = {"two": (9, 2), "seven": (9, 10)}  # row and column of the upper left pixel: two cells of the middle row


def example_canvas() -> Tensor:
    """The canvas of the whole chapter, *two left-of seven*, painted as the chapter's file does: ``(24, 24)``."""
    image = 0.25 * torch.rand(1, 24, 24, generator=generator(0))[0]
    for name, (top, left) in _CORNERS.items():
        bits = [[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in _DIGITS[name]]
        image[top : top + 5, left : left + 3] += 0.75 * torch.tensor(bits)
    return image


def draw_choice(image: Tensor, probabilities: Sequence[float], rewards: Sequence[float]) -> Axes:
    """Draw a canvas, the three cells of its middle row, and below each its probability and what reading it is worth.

    Raises:
        ValueError: if there are not three probabilities and three rewards.
    """
    if (len(probabilities), len(rewards)) != (_GRID, _GRID):
        raise ValueError(f"probabilities and rewards must be three, got {len(probabilities)} and {len(rewards)}")
    ax = canvas(None, (6.5, 3.4), (0, 11.0), (0, 5.75))
    side, third = 2.6, len(image) // _GRID
    say(ax, 0.1 + side / 2, 5.5, "canvas")
    _picture(ax, image, 0.1, 2.6, side)
    for i in range(1, _GRID):
        line(ax, (0.1, 0.1 + side), (2.6 + i * side / _GRID,) * 2, FAINT, width=0.8)
        line(ax, (0.1 + i * side / _GRID,) * 2, (2.6, 2.6 + side), FAINT, width=0.8)
    edge: dict = {"fill": False, "edgecolor": BLUE, "linewidth": 1.8}
    ax.add_patch(Rectangle((0.1, 2.6 + side / _GRID), side, side / _GRID, **edge))
    arrow(ax, (0.2 + side, 2.6 + side / 2), (5.3, 2.6 + side / 2), BLUE)
    names = ("probability of drawing the cell", "p(seven) after reading it", "reward: the logarithm of this")
    for y, name in zip((2.0, 1.2, 0.4), names, strict=True):
        say(ax, 0.1, y, name, ha="left")
    for number, (name, probability, reward) in enumerate(
        zip(("the two", "the seven", "the empty cell"), probabilities, rewards, strict=True)
    ):
        x = 5.4 + 1.85 * number
        say(ax, x + 0.85, 5.0, name)
        _picture(ax, image[third : 2 * third, number * third : (number + 1) * third], x, 3.05, 1.7)
        ax.add_patch(Rectangle((x, 3.05), 1.7, 1.7, **edge))
        ax.add_patch(Rectangle((x, 1.75), 1.7 * probability, 0.5, facecolor=READS, edgecolor=BLUE))
        say(ax, x + 1.3, 2.0, f"{probability:.1f}")
        say(ax, x + 0.85, 1.2, f"{np.exp(reward):.2f}")
        say(ax, x + 0.85, 0.4, f"{reward:.0f}".replace("-", "−"))
    return ax


def _picture(ax: Axes, image: Tensor, x: float, y: float, size: float) -> None:
    """Pixels with their lower left corner at ``(x, y)``; the limits of the axes stay as they are."""
    limits = ax.get_xlim(), ax.get_ylim()
    extent = (x, x + size, y, y + size)
    ax.imshow(image.detach().cpu().numpy(), cmap="Greys", vmin=0, vmax=1, extent=extent, interpolation="nearest")
    ax.set(xlim=limits[0], ylim=limits[1])
    ax.add_patch(Rectangle((x, y), size, size, fill=False, edgecolor=LINE))


def draw_captioner(image: Tensor) -> Axes:
    """Draw canvas, feature map, annotations, and the step of the decoder that writes the third word."""
    ax = canvas(None, (6.5, 3.5), (0, 10.4), (0, 5.6))
    _picture(ax, image, 0.15, 3.3, 1.5)
    say(ax, 0.9, 5.15, "canvas")
    arrow(ax, (1.7, 4.05), (2.75, 4.05))
    say(ax, 2.2, 4.35, "CNN")
    _grid(ax, 2.8, 3.3, 1.5, _GRID, READS)
    say(ax, 3.55, 5.15, "feature map")
    arrow(ax, (4.35, 4.05), (4.95, 4.05))
    for i in range(_GRID**2):
        ax.add_patch(Rectangle((5.0 + 0.26 * i, 3.55), 0.2, 1.0, facecolor=READS, edgecolor=LINE))
    say(ax, 4.95, 5.15, "annotations: keys and values,", ha="left")
    say(ax, 4.95, 4.82, "one vector per cell", ha="left")
    _step(ax)
    return ax


def _grid(ax: Axes, x: float, y: float, size: float, cells: int, fill: str) -> None:
    side = size / cells
    for i in range(cells):
        for j in range(cells):
            ax.add_patch(Rectangle((x + i * side, y + j * side), side, side, facecolor=fill, edgecolor=LINE))


def _step(ax: Axes) -> None:
    """One step of the decoder, below the annotations."""
    box_around(ax, (6.2, 2.55), 1.8, 0.7, "attention", fill=PAPER, edge=INK)
    arrow(ax, (6.2, 3.5), (6.2, 2.93), BLUE, width=2.0)
    box_around(ax, (3.4, 1.2), 1.5, 0.7, "LSTM", fill=WRITES)
    box_around(ax, (8.6, 1.2), 1.5, 0.7, "LSTM", fill=WRITES)
    arrow(ax, (4.17, 1.2), (7.83, 1.2))
    arrow(ax, (9.37, 1.2), (9.75, 1.2))
    arrow(ax, (2.0, 1.2), (2.63, 1.2))
    arrow(ax, (4.5, 1.2), (5.75, 2.18), LINE, dashed=True)
    say(ax, 4.55, 1.95, "query", size=10)
    arrow(ax, (7.12, 2.4), (8.3, 1.57), BLUE, width=2.0)
    arrow(ax, (7.12, 2.65), (7.95, 3.08), BLUE, width=2.0)  # the context also enters the choice of the word
    say(ax, 7.55, 1.8, "context", ha="right", size=10)
    line(ax, (9.0, 9.0), (1.57, 2.7))
    arrow(ax, (9.0, 2.6), (9.0, 2.95))
    say(ax, 9.0, 3.2, "next word: seven", size=10)
    arrow(ax, (8.6, 0.45), (8.6, 0.83))
    line(ax, (8.6, 10.0, 10.0), (0.58, 0.58, 2.6))
    arrow(ax, (10.0, 2.5), (10.0, 2.95))  # and so does the previous word
    say(ax, 8.6, 0.22, "previous word: left-of", size=10)


def plot_maps(
    image: Tensor, weights: Tensor, words: Sequence[str], frames: Mapping[int, tuple[int, int]] | None = None,
    side: int = 8,
) -> list[Axes]:  # fmt: skip
    """Draw a canvas, and for each word the attention weights over it as blue cells; the ink is drawn as contours.

    Args:
        image: ``(S, S)``, 0 = paper, 1 = ink.
        weights: ``(T, n · n)``, one row per word; each row has its own scale, from 0 to its largest weight.
        words: the T words. frames: ``{number of a word: (row, column)}``, the top left pixel of what it names.
        side: pixels per side of a frame.

    Raises:
        ValueError: if there is no word, or the weights are not one square grid per word.
    """
    cells = round(weights.shape[-1] ** 0.5)
    if weights.ndim != 2 or not len(words) or len(weights) != len(words) or cells**2 != weights.shape[-1]:
        raise ValueError(f"weights must be (T, n · n) with T = {len(words)} > 0 words, got {tuple(weights.shape)}")
    rows = -(-(len(words) + 1) // _COLUMNS)
    _, axes = plt.subplots(rows, _COLUMNS, figsize=(6.5, 0.2 + 1.55 * rows), layout="constrained", squeeze=False)
    flat = list(axes.flat)
    for ax in flat:
        ax.set_axis_off()
    _ink(flat[0], image, "canvas", filled=True)
    for number, (ax, word) in enumerate(zip(flat[1:], words, strict=False)):
        row = weights[number].view(cells, cells).detach().cpu().numpy()
        extent = (-0.5, len(image) - 0.5, len(image) - 0.5, -0.5)
        ax.imshow(row, cmap=HEAT_MAP, vmin=0, extent=extent, interpolation="nearest", alpha=0.85)
        _ink(ax, image, f"{word} ({row.max():.2f})", filled=False)
        if frames and number in frames:
            top, left = frames[number]
            _frame(ax, left - 0.5, top - 0.5, side)
    return flat[: len(words) + 1]


def plot_two_ways(
    image: Tensor, maps: Mapping[str, Tensor], words: Sequence[str], read: str | None = None
) -> list[Axes]:  # fmt: skip
    """Draw the maps of several models for the same canvas and words: a row per model, on one scale from 0 to 1.

    Args:
        image: ``(S, S)``, 0 = paper, 1 = ink.
        maps: ``{model: weights (T, n · n)}``; weights of 0.05 and more are written into their cells.
        words: the T words. read: the model of which the cell of the largest weight is framed.

    Raises:
        ValueError: if there is no model, or its weights are not one square grid per word.
    """
    sizes = {tuple(weights.shape) for weights in maps.values()}
    cells = round(max(size[-1] for size in sizes) ** 0.5) if sizes else 0
    if not len(words) or sizes != {(len(words), cells**2)}:
        raise ValueError(f"maps must be at least one, each (T, n · n) with T = {len(words)} > 0 words, got {sizes}")
    size = (6.5, 0.3 + 1.65 * len(maps))
    _, axes = plt.subplots(len(maps), len(words) + 1, figsize=size, layout="constrained", squeeze=False)
    side = len(image) / cells
    for row, (name, weights) in zip(axes, maps.items(), strict=True):
        for ax in row:
            ax.set_axis_off()
        _ink(row[0], image, name, filled=True)
        for ax, word, each in zip(row[1:], words, weights.detach().cpu(), strict=True):
            extent = (-0.5, len(image) - 0.5, len(image) - 0.5, -0.5)
            ax.imshow(each.view(cells, cells).numpy(), cmap=HEAT_MAP, vmin=0, vmax=1, extent=extent, alpha=0.85)
            _ink(ax, image, word, filled=False)
            for border in range(1, cells):
                line(ax, (-0.5, len(image) - 0.5), (border * side - 0.5,) * 2, FAINT, width=0.6)
                line(ax, (border * side - 0.5,) * 2, (-0.5, len(image) - 0.5), FAINT, width=0.6)
            for cell, weight in enumerate(each.tolist()):
                top, left = cell // cells * side - 0.5, cell % cells * side - 0.5
                if weight >= 0.05:
                    fill = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
                    ax.text(left + side / 2, top + 0.84 * side, f"{weight:.2f}", ha="center", size=8, bbox=fill)
                if name == read and cell == int(each.argmax()):
                    _frame(ax, left, top, side)
    return list(axes.flat)


def _ink(ax: Axes, image: Tensor, title: str, filled: bool) -> None:
    ink = image.detach().cpu().numpy()
    if filled:
        ax.imshow(ink, cmap="Greys", vmin=0, vmax=1)
    else:
        ax.contour(ink, levels=[0.4], colors=[INK], linewidths=0.9)
    ax.set(xlim=(-0.5, len(ink) - 0.5), ylim=(len(ink) - 0.5, -0.5), aspect="equal")
    ax.set_title(title, fontsize=10)
    ax.add_patch(Rectangle((-0.5, -0.5), len(ink), len(ink), fill=False, edgecolor=FAINT, clip_on=False))


def _frame(ax: Axes, x: float, y: float, side: float) -> None:
    ax.add_patch(Rectangle((x, y), side, side, fill=False, edgecolor=TRUTH_COLOUR, linewidth=1.8, linestyle="--"))


def plot_updates(panels: Mapping[str, Mapping[str, Sequence[float]]], names: Sequence[str]) -> list[Axes]:
    """Draw the estimate of the gradient: one panel per title, one group of bars per draw, one bar per score.

    Args:
        panels: ``{title: {what was drawn: [one change per score]}}``, the same draws in each. names: of the scores.

    Raises:
        ValueError: if there is no panel, or the draws differ, or a group has not one change per name.
    """
    draws = [list(panel) for panel in panels.values()]
    if not draws or any(other != draws[0] for other in draws):
        raise ValueError(f"panels must be at least one, with the same draws in each; got {draws}")
    if any(len(changes) != len(names) for panel in panels.values() for changes in panel.values()):
        raise ValueError(f"each draw must have {len(names)} changes, one per name")
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(6.5, 0.7 + 1.9 * len(panels)), layout="constrained", sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    width = 0.8 / len(names)
    for ax, (title, panel) in zip(axes[:, 0], panels.items(), strict=True):
        bars = []
        for number, style in zip(range(len(names)), STYLES, strict=False):
            at = [group + (number - (len(names) - 1) / 2) * width for group in range(len(panel))]
            bars.append(ax.bar(at, [each[number] for each in panel.values()], width, color=style.colour))
        ax.axhline(0, color=INK, linewidth=1)
        ax.grid(False, axis="x")
        ax.set_ylabel("estimate for a score")
        ax.set_title(title, fontsize=11, loc="left")
    axes[-1, 0].set_xticks(range(len(draws[0])), draws[0])
    figure.legend(bars, [f"score of {name}" for name in names], loc="outside upper left", ncols=len(names))
    return list(axes[:, 0])


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


def by_offset(values: Tensor, corners: Tensor, reach: int = 10, canvas: int = 28, size: int = 8) -> Tensor:
    """Mean value of a cell by where its centre lies, seen from the centre of the digit that is named.

    Args:
        values: ``(N, n · n)``, one row per named digit. corners: ``(N, 2)``, its top left pixel.
        reach: pixels in each direction. canvas, size: pixels per side of canvas and digit.

    Returns:
        ``(2 · reach + 1, 2 · reach + 1)``, rows from above to below; NaN where no cell ever lies.

    Raises:
        ValueError: if there is not one corner per row.
    """
    if len(values) != len(corners):
        raise ValueError(f"corners must be one per row of values, got {len(corners)} for {len(values)}")
    cells, width = round(values.shape[-1] ** 0.5), 2 * reach + 1
    centres = (torch.arange(cells) + 0.5) * canvas / cells  # (n,), in pixels
    away = (centres - corners[..., None] - size / 2).round().long()  # (N, 2, n)
    down = away[:, 0, :, None].expand(-1, -1, cells).flatten(1) + reach  # (N, n · n)
    across = away[:, 1, None, :].expand(-1, cells, -1).flatten(1) + reach  # (N, n · n)
    near = (down >= 0) & (down < width) & (across >= 0) & (across < width)
    place = (down * width + across)[near]
    total = torch.zeros(width**2).index_add(0, place, values[near].float())
    count = torch.zeros(width**2).index_add(0, place, torch.ones(len(place)))
    return torch.where(count > 0, total / count, torch.nan).view(width, width)


def plot_offsets(
    rows: Mapping[str, Mapping[str, Tensor]], limits: Mapping[str, tuple[float, float]], size: int = 8
) -> list[Axes]:
    """Draw values by offset from a digit's centre: one row of panels per quantity, one panel per model.

    Args:
        rows: ``{quantity: {model: square matrix of by_offset}}``. limits: lightest and darkest value per quantity.
        size: pixels per side of the digit, whose frame is drawn.

    Raises:
        ValueError: if there is no quantity, one has no limits, or the models differ.
    """
    if len({tuple(models) for models in rows.values()}) > 1:
        raise ValueError(f"rows must hold the same models for each quantity, got {[list(m) for m in rows.values()]}")
    if not rows or set(rows) - set(limits):
        raise ValueError(f"rows must hold at least one quantity, each with limits; got {list(rows)}, {list(limits)}")
    columns = max(map(len, rows.values()))
    figure, axes = plt.subplots(
        len(rows), columns, figsize=(6.5, 0.5 + 2.15 * len(rows)), layout="constrained", squeeze=False
    )
    for line_of_axes, (quantity, models) in zip(axes, rows.items(), strict=True):
        for ax, (model, matrix) in zip(line_of_axes, models.items(), strict=True):
            image = _offsets(ax, matrix, model, limits[quantity], size)
        figure.colorbar(image, ax=line_of_axes, label=quantity, fraction=0.04, pad=0.02)
        line_of_axes[0].set_ylabel("down (pixels)")
    axes[-1, columns // 2].set_xlabel("to the right (pixels)")
    return list(axes.flat)


def _offsets(ax: Axes, matrix: Tensor, title: str, limits: tuple[float, float], size: int):
    values = as_matrix(title, torch.nan_to_num(matrix, nan=limits[0]))
    reach = values.shape[0] // 2
    extent = (-reach - 0.5, reach + 0.5, reach + 0.5, -reach - 0.5)
    image = ax.imshow(np.clip(values, *limits), cmap=HEAT_MAP, vmin=limits[0], vmax=limits[1], extent=extent)
    _frame(ax, -size / 2, -size / 2, size)
    ax.plot([0], [0], marker="+", color=TRUTH_COLOUR, linestyle="", markersize=8)
    ax.set_title(title, fontsize=11)
    ax.grid(False)
    return image


def plot_learning(
    exact: Mapping[str, Mapping[int, Sequence[float]]],
    variance: Mapping[str, Mapping[int, Sequence[float]]] | None = None, level: float | None = None,
) -> list[Axes]:  # fmt: skip
    """Draw the exact match over the steps of training, and variances beside it: a thin line per seed, a thick median.

    Args:
        exact, variance: ``{name: {step: [one value per seed]}}``; the variances on a logarithmic axis. A name that
            stands in both has the same colour. Without variances there is one panel.
        level: a share that the left panel marks by a dotted line.

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
    panels = ((exact, "exact match (share of captions)", "linear"), (variance, "variance of the estimate", "log"))
    handles = {}
    for ax, (curves, ylabel, scale) in zip(axes[0], panels, strict=False):
        for name, of in curves.items():
            if len({len(values) for values in of.values()}) != 1:
                raise ValueError(f"{name} must have as many seeds at each step")
            steps, rows, look = list(of), np.array([*of.values()], dtype=float), looks[name]
            for seed in rows.T:
                ax.plot(steps, seed, color=look.colour, linestyle="-", marker="", linewidth=0.8, alpha=0.4)
            style: dict = {"color": look.colour, "linestyle": look.line, "marker": look.marker}
            (handles[name],) = ax.plot(steps, np.median(rows, axis=1), linewidth=2.4, markersize=4, **style)
        ax.set(yscale=scale, xlabel="training step", ylabel=ylabel)
    axes[0, 0].set_ylim(-0.03, 1.03)
    if level is not None:
        axes[0, 0].axhline(level, color=INK, linewidth=1, linestyle=":")
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=2 if variance else 3)
    return list(axes[0])
