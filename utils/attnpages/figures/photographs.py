"""Photographs, and beside them the patches that a vision Transformer attends to (chapter 16)."""

from collections.abc import Mapping, Sequence
from math import isqrt

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.palette import FAINT, INK, PAPER
from attnpages.figures.style import HEAT_MAP


def plot_class_attention(
    images: Tensor, objects: Tensor, maps: Mapping[str, Tensor], shares: Mapping[str, Sequence[float]]
) -> list[Axes]:
    """Draw photographs with the outline of their object, and beside each one the class token's weights for its patches.

    Args:
        images: ``(B, 3, S, S)`` between 0 and 1. objects: ``(B, S, S)`` bool.
        maps: ``{title: (B, N)}``, each row on its own scale from 0.
        shares: ``{title: B numbers}`` for the photographs (the first title) and for each map, to stand above it.

    Raises:
        ValueError: if the maps do not fit the photographs, or a share has no panel.
    """
    count, wanted = len(images), [*list(shares)[:1], *maps]
    if not count or list(shares) != wanted or any(len(weights) != count for weights in maps.values()):
        raise ValueError(
            f"shares must have a title for the photographs, then those of maps {list(maps)} with {count} rows"
        )
    axes = _panels(count, len(wanted), above=0.25)
    for row, line_of in enumerate(axes):
        for ax, title in zip(line_of, wanted, strict=True):
            share, first = f"{shares[title][row]:.2f}", title == wanted[0]
            ax.set_title(share if row else f"{title}\n{share}", fontsize=10)
            edge = PAPER if first else INK
            ax.contour(objects[row].cpu().numpy(), levels=[0.5], colors=[edge], linewidths=1.1, zorder=3)
            if first:
                ax.imshow(images[row].permute(1, 2, 0).cpu().numpy(), interpolation="nearest")
            else:
                _patches(ax, maps[title][row], images.shape[-1])
    return list(axes.flat)


def _panels(rows: int, columns: int, above: float) -> np.ndarray:
    """Square panels without axes in the width of a page, with so many inches for the title above each."""
    size = (6.5, 0.3 + rows * (6.5 / columns + above))
    _, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    return axes


def _frame(ax: Axes, side: int) -> None:
    ax.add_patch(Rectangle((-0.5, -0.5), side, side, fill=False, edgecolor=FAINT, clip_on=False))


def _patches(ax: Axes, weights: Tensor, side: int) -> None:
    """Weights ``(N,)`` of square patches over an image of ``side`` pixels."""
    cells = isqrt(len(weights))
    extent = (-0.5, side - 0.5, side - 0.5, -0.5)
    values = weights.view(cells, cells).cpu().numpy()
    ax.imshow(values, cmap=HEAT_MAP, vmin=0, extent=extent, interpolation="nearest", aspect="equal")
    _frame(ax, side)
