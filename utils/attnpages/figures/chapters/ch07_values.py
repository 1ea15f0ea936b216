"""A figure of chapter 07: what it changes to exchange one value, for every head of a real model."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.heat import as_matrix, colour_bar, draw_cells
from attnpages.figures.palette import INK
from attnpages.figures.style import TRUTH_COLOUR, with_minus


def draw_value_map(shifts: object, head: tuple[int, int]) -> Axes:
    """Draw a map with one cell per head, one of them framed and named.

    Args:
        shifts: ``(layers, heads)``, in nats; what is negative is as white as 0.
        head: the layer and the head that is framed, from 0 on.

    Raises:
        ValueError: if there is no such head.
    """
    values = as_matrix("shifts", shifts)
    layers, heads = values.shape
    if not (0 <= head[0] < layers and 0 <= head[1] < heads):
        raise ValueError(f"there is no head {head} in {layers} layers of {heads} heads, counted from 0")
    _, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    image = draw_cells(ax, values.T, (0.0, values.max()))
    colour_bar(ax, image, "nats")
    named = range(0, layers, max(1, layers // 6))
    ax.set_xticks(named, [str(layer + 1) for layer in named])
    ax.set_yticks(range(heads), [str(number + 1) for number in range(heads)])
    ax.set(xlabel="layer", ylabel="head")
    ax.add_patch(plt.Rectangle((head[0] - 0.5, head[1] - 0.5), 1, 1, fill=False, edgecolor=TRUTH_COLOUR, linewidth=2))
    _name_head(ax, head, values[head])
    return ax


def _name_head(ax: Axes, head: tuple[int, int], value: np.floating) -> None:
    """Write which head is framed, and its value, to the left of it."""
    text = f"head {head[0] + 1}.{head[1] + 1}: {with_minus(f'{value:.1f}')}"
    ax.annotate(text, (head[0] - 0.7, head[1]), ha="right", va="center", fontsize=11, color=INK)
