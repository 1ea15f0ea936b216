"""Figures of chapter 06: maps of attention over a canvas, and values by their offset from a digit."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import line
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import FAINT, INK, PAPER
from attnpages.figures.style import HEAT_MAP, TRUTH_COLOUR

_COLUMNS = 5  # panels beside each other: more could not be read on a phone


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


def plot_two_ways(image: Tensor, maps: Mapping[str, Tensor], captions: Mapping[str, Sequence[str]]) -> list[Axes]:
    """Draw what several models read of the same canvas: a row per model, on one scale from 0 to 1.

    Args:
        image: ``(S, S)``, 0 = paper, 1 = ink.
        maps: ``{model: weights (T, n · n)}``; weights of 0.05 and more are written into their cells, and the cell of
            the largest is framed, unless all are equal. captions: ``{model: its T words}``.

    Raises:
        ValueError: if there is no model, or its weights are not one square grid per word of its caption.
    """
    sizes = {tuple(weights.shape) for weights in maps.values()}
    cells = round(max(size[-1] for size in sizes) ** 0.5) if sizes else 0
    lengths = {len(captions[name]) for name in maps}
    words = max(lengths, default=0)
    if not words or len(lengths) > 1 or sizes != {(words, cells**2)}:
        raise ValueError(f"maps must be at least one, each (T, n · n) with T words, got {sizes} for {lengths} words")
    size = (6.5, 0.3 + 1.65 * len(maps))
    _, axes = plt.subplots(len(maps), words + 1, figsize=size, layout="constrained", squeeze=False)
    side = len(image) / cells
    for row, (name, weights) in zip(axes, maps.items(), strict=True):
        for ax in row:
            ax.set_axis_off()
        _ink(row[0], image, name, filled=True)
        for ax, word, each in zip(row[1:], captions[name], weights.detach().cpu(), strict=True):
            extent = (-0.5, len(image) - 0.5, len(image) - 0.5, -0.5)
            ax.imshow(each.view(cells, cells).numpy(), cmap=HEAT_MAP, vmin=0, vmax=1, extent=extent, alpha=0.85)
            _ink(ax, image, word, filled=False)
            for border in range(1, cells):
                line(ax, (-0.5, len(image) - 0.5), (border * side - 0.5,) * 2, FAINT, width=0.6)
                line(ax, (border * side - 0.5,) * 2, (-0.5, len(image) - 0.5), FAINT, width=0.6)
            for cell, weight in enumerate(each.tolist()):
                top, left = cell // cells * side - 0.5, cell % cells * side - 0.5
                if weight >= 0.05:
                    fill = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.3, "alpha": 0.85}
                    at = {"x": left + side / 2, "y": top + 0.97 * side, "ha": "center", "va": "bottom"}
                    ax.text(**at, s=f"{weight:.2f}", size=8, bbox=fill)
                if cell == int(each.argmax()) and each.max() > each.min():
                    _frame(ax, left, top, side)
    return list(axes.flat)


class Read(NamedTuple):
    """What a hard model reads at one word, and the word.

    Fields:
        image: ``(S, S)``, the canvas from which the cell is taken, 0 = paper, 1 = ink.
        cell: its number, row by row. word: what is written, as the panel's title.
    """

    image: Tensor
    cell: int
    word: str


def plot_reads(rows: Mapping[str, Sequence[Read]], cells: int = 3) -> list[Axes]:
    """Draw the cells that a hard model reads: a row per test, a panel per word; what is not read is pale.

    Args:
        rows: ``{name of the test, left of its row: what is read at each word}``. cells: per side of a canvas.

    Raises:
        ValueError: if there is no test, their words differ in number, or a cell lies outside of the canvas.
    """
    lengths = {len(reads) for reads in rows.values()}
    if len(lengths) != 1 or not max(lengths) or any(not 0 <= r.cell < cells**2 for of in rows.values() for r in of):
        raise ValueError(f"rows must be at least one, of as many words each, with cells below {cells**2}, got {rows}")
    columns = max(lengths)
    size, widths = (6.5, 0.1 + 1.75 * len(rows)), [1.15, *[1.0] * columns]
    _, axes = plt.subplots(
        len(rows), 1 + columns, figsize=size, layout="constrained", squeeze=False, width_ratios=widths
    )
    for line_of, (name, reads) in zip(axes, rows.items(), strict=True):
        for ax in line_of:
            ax.set_axis_off()
        line_of[0].text(0.0, 0.5, name, size=10, ha="left", va="center", transform=line_of[0].transAxes)
        for ax, read in zip(line_of[1:], reads, strict=True):
            _ink(ax, read.image, read.word, filled=True)
            side = len(read.image) / cells
            for cell in range(cells**2):
                corner = cell % cells * side - 0.5, cell // cells * side - 0.5
                if cell != read.cell:
                    ax.add_patch(Rectangle(corner, side, side, facecolor=PAPER, edgecolor=FAINT, alpha=0.7))
            _frame(ax, read.cell % cells * side - 0.5, read.cell // cells * side - 0.5, side)
    return list(axes[:, 1:].flat)


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
