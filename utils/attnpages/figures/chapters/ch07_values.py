"""A figure of chapter 07: what it changes to exchange one value, for every head of a real model."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.bars import plot_bars
from attnpages.figures.heat import as_matrix, colour_bar, draw_cells
from attnpages.figures.palette import INK
from attnpages.figures.style import TRUTH_COLOUR


def draw_value_map(
    shifts: object, head: tuple[int, int], bars: Mapping[str, Sequence[float]], xlabel: str
) -> tuple[Axes, Axes]:
    """Draw a map with one cell per head, one of them framed and named; below it bars with each seed as a dot.

    Args:
        shifts: ``(layers, heads)``; what is negative is as white as 0. head: the layer and the head that is framed,
            from 0 on.
        bars: ``{name: [one value per seed]}``. xlabel: what cells and bars measure, with its unit.

    Raises:
        ValueError: if there is no such head.
    """
    values = as_matrix("shifts", shifts)
    layers, heads = values.shape
    if not (0 <= head[0] < layers and 0 <= head[1] < heads):
        raise ValueError(f"there is no head {head} in {layers} layers of {heads} heads, counted from 0")
    _, (top, bottom) = plt.subplots(2, 1, figsize=(6.5, 5.4), layout="constrained", height_ratios=(1, 1.2))
    image = draw_cells(top, values.T, (0.0, values.max()))
    colour_bar(top, image, "nats")
    named = range(0, layers, max(1, layers // 6))
    top.set_xticks(named, [str(layer + 1) for layer in named])
    top.set_yticks(range(heads), [str(number + 1) for number in range(heads)])
    top.set(xlabel="layer", ylabel="head")
    top.add_patch(plt.Rectangle((head[0] - 0.5, head[1] - 0.5), 1, 1, fill=False, edgecolor=TRUTH_COLOUR, linewidth=2))
    _name_head(top, head, values[head])
    plot_bars(bars, xlabel, ax=bottom, decimals=1)
    return top, bottom


def _name_head(ax: Axes, head: tuple[int, int], value: np.floating) -> None:
    """Write which head is framed, and its value, to the left of it."""
    text = f"head {head[0] + 1}.{head[1] + 1}: {value:.1f}".replace("-", "−")
    ax.annotate(text, (head[0] - 0.7, head[1]), ha="right", va="center", fontsize=11, color=INK)
