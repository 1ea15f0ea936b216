"""A figure of chapter 07: what it changes to exchange one value, for every head of a real model."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from attnpages.figures.heat import as_matrix, colour_bar, draw_cells
from attnpages.figures.palette import BLUE, INK, ORANGE, PALE_GREY
from attnpages.figures.style import TRUTH_COLOUR, with_minus

_FALLS_AND_RISES = LinearSegmentedColormap.from_list("falls and rises", [ORANGE, PALE_GREY, BLUE])


def draw_value_map(shifts: object, named: Sequence[tuple[int, int]]) -> Axes:
    """Draw a map with one cell per head, some of them framed and named: 0 is grey, rises blue and falls orange.

    Args:
        shifts: ``(layers, heads)``, in nats.
        named: the layers and heads that are framed, from 0 on.

    Raises:
        ValueError: if there is no such head.
    """
    values = as_matrix("shifts", shifts)
    layers, heads = values.shape
    for head in named:
        if not (0 <= head[0] < layers and 0 <= head[1] < heads):
            raise ValueError(f"there is no head {head} in {layers} layers of {heads} heads, counted from 0")
    _, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
    largest = float(np.abs(values).max()) or 1.0
    image = draw_cells(ax, values.T, (-largest, largest))
    image.set_cmap(_FALLS_AND_RISES)
    ax.grid(which="minor", color="white", linewidth=0.6)
    colour_bar(ax, image, "nats")
    ax.child_axes[0].set_ylim(min(-0.2 * largest, values.min()), largest)  # no more of the falls than the map needs
    ticks = range(0, layers, max(1, layers // 6))
    ax.set_xticks(ticks, [str(layer + 1) for layer in ticks])
    ax.set_yticks(range(heads), [str(number + 1) for number in range(heads)])
    ax.set(xlabel="layer", ylabel="head")
    for head in named:
        _name_head(ax, head, values[head])
    return ax


def _name_head(ax: Axes, head: tuple[int, int], value: np.floating) -> None:
    """Frame a head, and write which one it is, and its value, to the left of it."""
    frame = plt.Rectangle((head[0] - 0.5, head[1] - 0.5), 1, 1, fill=False, edgecolor=TRUTH_COLOUR, linewidth=2)
    ax.add_patch(frame)
    text = f"head {head[0] + 1}.{head[1] + 1}: {with_minus(f'{value:.1f}')}"
    ax.annotate(text, (head[0] - 0.7, head[1]), ha="right", va="center", fontsize=11, color=INK)
