"""Figures of chapter 16: canvases, gradients on a grid, training, agreement, mean maps of attention."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import line
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import FAINT, INK
from attnpages.figures.style import HEAT_MAP, STYLES, TRUTH_COLOUR, Look, legend_above, new_axes, readable

_BETWEEN = 1  # white rows between two lines of canvases, in pixels


def plot_canvases(
    rows: Mapping[str, Tensor], columns: int = 4, marked: Mapping[str, Sequence[bool]] | None = None
) -> list[Axes]:
    """Draw canvases side by side, under one title per row; a dashed frame stands around those that are marked.

    Args:
        rows: ``{title: (N, H, W)}``, 0 = paper, 1 = ink, or ``(N, 3, H, W)`` with colours from 0 to 1.
        columns: canvases per line; what does not fit goes into further lines of the same row.
        marked: ``{title: N booleans}`` for some of the rows.

    Raises:
        ValueError: if there is no row, the sizes differ, or a mark has no canvas.
    """
    sizes = {tuple(images.shape[-2:]) for images in rows.values()}
    if len(sizes) != 1 or columns < 1:
        raise ValueError(f"rows must hold canvases of one size and columns be at least 1, got {sizes} and {columns}")
    marked = marked or {}
    wrong = [title for title, marks in marked.items() if title not in rows or len(marks) != len(rows[title])]
    if wrong:
        raise ValueError(f"marked must hold one boolean per canvas of a row; it does not for {wrong}")
    ((height, width),) = sizes
    lines = [-(-len(images) // columns) for images in rows.values()]
    inches = 6.4 / columns * height / width
    size = (6.5, sum(0.3 + count * (inches + 0.08) for count in lines) + 0.1)
    figure = plt.figure(figsize=size, layout="constrained")
    ratios = [0.3 + count * (inches + 0.08) for count in lines]
    panels = np.asarray(figure.subfigures(len(rows), 1, squeeze=False, height_ratios=ratios))[:, 0]
    drawn: list[Axes] = []
    for panel, count, (title, images) in zip(panels, lines, rows.items(), strict=True):
        panel.suptitle(title, x=0.01, ha="left", fontsize=11)
        axes = panel.subplots(count, columns, squeeze=False)
        for ax in axes.flat:
            ax.set_axis_off()
        for i, (ax, image) in enumerate(zip(axes.flat, images, strict=False)):
            _ink(ax, image, title in marked and bool(marked[title][i]))
            drawn.append(ax)
    return drawn


def _ink(ax: Axes, image: Tensor, framed: bool) -> None:
    height, width = image.shape[-2:]
    pixels = (image if image.ndim == 2 else image.permute(1, 2, 0)).detach().cpu().numpy()
    ax.imshow(pixels, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")  # colours are drawn as they are
    dashed: Look = {"edgecolor": TRUTH_COLOUR, "linewidth": 2.2, "linestyle": (0, (3, 1.5))}
    look: Look = dashed if framed else {"edgecolor": FAINT}
    ax.add_patch(Rectangle((-0.5, -0.5), width, height, fill=False, clip_on=False, **look))


def plot_gradients(
    panels: Mapping[str, tuple[Tensor, tuple[float, float] | None]], xlabel: str, ylabel: str
) -> list[Axes]:
    """Draw, one panel below the other, how strongly one number depends on each cell of a grid.

    Args:
        panels: ``{title: ((H, W) absolute gradients, (row, column) of a cell to mark, or None)}``; cells whose gradient
            is exactly 0 stay white, the others are coloured by its fourth root, so that small ones can be seen.
        xlabel, ylabel: of the grid.

    Raises:
        ValueError: if there is no panel, or a gradient is negative.
    """
    if not panels or any(bool((gradient < 0).any()) for gradient, _ in panels.values()):
        raise ValueError(f"panels must hold at least one grid of absolute gradients, got {list(panels)}")
    ratios = [gradient.shape[0] / gradient.shape[1] for gradient, _ in panels.values()]
    size = (6.5, sum(0.75 + 5.6 * ratio for ratio in ratios))
    _, axes = plt.subplots(len(panels), 1, figsize=size, layout="constrained", squeeze=False, height_ratios=ratios)
    for ax, (title, (gradient, mark)) in zip(axes[:, 0], panels.items(), strict=True):
        values = gradient.detach().cpu().double().numpy() ** 0.25
        ax.imshow(values / max(values.max(), 1e-300), cmap=HEAT_MAP, vmin=0, vmax=1, interpolation="nearest")
        if mark is not None:
            cross: Look = {"marker": "+", "color": TRUTH_COLOUR, "linestyle": "", "markersize": 11}
            ax.plot([mark[1]], [mark[0]], markeredgewidth=2.5, **cross)
        ax.set_yticks(range(0, len(values), 2 if len(values) > 2 else 1))
        ax.set_title(title, fontsize=11, loc="left")
        ax.set(ylabel=ylabel)
        ax.grid(False)
        ax.spines[:].set_visible(True)
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def plot_training(panels: Mapping[str, Curves], xlabel: str = "training step") -> list[Axes]:
    """Draw several quantities over the steps of a training, one panel below the other.

    Args:
        panels: ``{label of the y axis: {name: {step: [one value per seed]}}}``; what a label calls a "share …" is drawn
            from 0 to 1.
        xlabel: of the lowest panel.

    Raises:
        ValueError: if there is no panel, or a curve is not as :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its curves")
    size = (6.5, 0.4 + 2.0 * len(panels))
    _, axes = plt.subplots(len(panels), 1, figsize=size, sharex=True, layout="constrained", squeeze=False)
    for ax, (label, curves) in zip(axes[:, 0], panels.items(), strict=True):
        plot_by_length(curves, xlabel="", ylabel=label, ax=ax, trained=None)
        if not label.startswith("share"):
            ax.autoscale(axis="y")
        for drawn in ax.get_lines():
            drawn.set(markersize=4)
        ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def plot_agreement(
    agreement: Mapping[str, Sequence[float]], chance: Mapping[str, Sequence[float]], ax: Axes | None = None
) -> Axes:
    """Draw agreement beside chance: one line per model and seed, from chance (a bar) to agreement (a dot).

    Args:
        agreement, chance: ``{model: [one share per seed]}``, the same models and seeds in both.

    Raises:
        ValueError: if there is no model, or the two do not fit together.
    """
    if not agreement or {k: len(v) for k, v in agreement.items()} != {k: len(v) for k, v in chance.items()}:
        raise ValueError(f"agreement and chance must hold the same models and seeds, got {agreement} and {chance}")
    ax = new_axes(ax, (6.5, 1.3 + 0.55 * len(agreement)))
    for row, name in enumerate(agreement):
        for number, (high, low) in enumerate(zip(agreement[name], chance[name], strict=True)):
            y = row + 0.2 * (number - (len(agreement[name]) - 1) / 2)
            line(ax, (low, high), (y, y), FAINT, width=2)
            ax.plot([low], [y], marker="|", color=TRUTH_COLOUR, markersize=10, markeredgewidth=2.5, linestyle="")
            ax.plot([high], [y], marker="o", color=STYLES[0].colour, markersize=6, linestyle="", zorder=3)
    ax.set_yticks(range(len(agreement)), [readable(name) for name in agreement])
    ax.set(xlim=(-0.02, 1.04), xlabel="share of the canvases", ylim=(len(agreement) - 0.5, -0.6))
    ax.grid(False, axis="y")
    handles = [
        Line2D([], [], marker="o", color=STYLES[0].colour, linestyle=""),
        Line2D([], [], marker="|", color=TRUTH_COLOUR, linestyle="", markersize=10, markeredgewidth=2.5),
    ]
    legend_above(ax, handles, ["agreement", "chance"])
    return ax


def plot_mean_maps(
    rows: Mapping[str, tuple[Tensor, Tensor]], digits: int = 4, canvases: Mapping[str, Tensor] | None = None
) -> list[Axes]:
    """Draw what the positions of either digit attend to on average, on one scale: a line per model, a column per end.

    Args:
        rows: ``{title: ((h, w) mean weights of the left digit's positions, (h, w) of the right digit's)}``.
        digits: how many columns of the map each digit fills; a dashed frame stands around those that attend.
        canvases: ``{title: (H, W)}``, 0 = paper, 1 = ink: one of each row, whose digits are outlined on its maps.

    Raises:
        ValueError: if there is no row, or the maps differ in size.
    """
    shapes = {tuple(weights.shape) for pair in rows.values() for weights in pair}
    if len(shapes) != 1:
        raise ValueError(f"rows must hold two maps of one size each, got {list(rows)} with sizes {sorted(shapes)}")
    ((height, width),) = shapes
    top = max(weights.max().item() for pair in rows.values() for weights in pair)
    size = (6.5, 0.75 + len(rows) * (0.45 + 3.1 * height / width))
    figure, axes = plt.subplots(len(rows), 2, figsize=size, layout="constrained", squeeze=False)
    for line_of_axes, (title, pair) in zip(axes, rows.items(), strict=True):
        for ax, weights, end in zip(line_of_axes, pair, ("left", "right"), strict=True):
            drawn = ax.imshow(weights.detach().cpu().numpy(), cmap=HEAT_MAP, vmin=0, vmax=top, interpolation="nearest")
            if canvases is not None:
                _outline(ax, canvases[title], (height, width))
            start = -0.5 if end == "left" else width - digits - 0.5
            dashed: Look = {"edgecolor": TRUTH_COLOUR, "linewidth": 2.2, "linestyle": (0, (3, 1.5))}
            ax.add_patch(Rectangle((start, -0.5), digits, height, fill=False, clip_on=False, **dashed))
            given = weights[:, :digits].sum().item(), weights[:, -digits:].sum().item()
            ax.set_title(f"{title}: {given[0]:.2f} to the left digit, {given[1]:.2f} right", fontsize=9.5, loc="left")
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            ax.spines[:].set(visible=True, color=FAINT)
    scale = figure.colorbar(drawn, ax=axes, location="bottom", shrink=0.55, aspect=32, pad=0.03)
    scale.set_label("mean weight of a position", fontsize=10)
    return list(axes.flat)


def _outline(ax: Axes, canvas: Tensor, cells: tuple[int, int]) -> None:
    """The outlines of what is drawn on a canvas ``(H, W)``, over a map with so many rows and columns of cells."""
    down, across = (
        (np.arange(pixels + 2) - 0.5) * of / pixels - 0.5 for pixels, of in zip(canvas.shape, cells, strict=True)
    )
    ink = np.pad(canvas.detach().cpu().numpy(), 1)  # with paper around it, outlines are closed
    ax.contour(across, down, ink, levels=[0.4], colors=[INK], linewidths=1.0)
