"""Photographs, and beside them the patches that a vision Transformer attends to (chapter 16)."""

from collections.abc import Mapping, Sequence
from math import isqrt

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import line
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


def plot_attended_patches(
    images: Tensor, maps: Mapping[str, Tensor], left_out: Mapping[str, Tensor] | None = None,
    similar: Mapping[str, Sequence[float]] | None = None, full: int = 8,
) -> list[Axes]:  # fmt: skip
    """Draw photographs with the grid of their patches, the patches that heads attend to, and what is left without some.

    Args:
        images: ``(B, 3, S, S)`` between 0 and 1.
        maps: ``{title: (B, N)}``, the weights of N patches in a square grid, row by row.
        left_out: ``{title: (B, N) bool}``, patches that are left out; their cells stay empty.
        similar: ``{title: B numbers}`` for each of ``left_out``, to stand below its panels.
        full: how many patches with the largest weights are drawn as they are; the others fade towards white as their
            weight falls, and a patch without weight isn't seen.

    Raises:
        ValueError: if there is no map, or one does not fit the photographs, or its patches make no square grid of whole
            pixels; or if ``similar`` has other titles than ``left_out``.
    """
    if not maps:
        raise ValueError("maps is empty; give the weights of at least one head")
    left_out, similar, side = left_out or {}, similar or {}, images.shape[-1]
    if list(left_out) != list(similar):
        raise ValueError(f"similar must have the titles {list(left_out)} of left_out, got {list(similar)}")
    for title, weights in (*maps.items(), *left_out.items()):
        cells = isqrt(weights.shape[-1])
        if len(weights) != len(images) or cells**2 != weights.shape[-1] or side % cells:
            raise ValueError(f"{title} must hold a square grid per photograph, got {tuple(weights.shape)}")
    axes = _panels(len(images), 1 + len(maps) + len(left_out), above=0.36 if left_out else 0.05)
    for row, (image, line_of) in enumerate(zip(images, axes, strict=True)):
        shown = {"photograph": image} | {title: _faded(image, weights[row], full) for title, weights in maps.items()}
        shown |= {title: _faded(image, 1.0 - of[row].to(image.dtype), 1) for title, of in left_out.items()}
        for ax, (title, pixels) in zip(line_of, shown.items(), strict=True):
            _image(ax, pixels, "" if row else title, 10 if left_out else 11)
            if title in similar:
                _grid(ax, side, cells, FAINT, 0.3)
                ax.text(side / 2, 1.04 * side, f"{similar[title][row]:.2f}", ha="center", va="top", fontsize=12)
        _grid(line_of[0], side, cells)
    return list(axes.flat)


def _grid(ax: Axes, side: int, cells: int, colour: str = "white", width: float = 0.5) -> None:
    """Lines between the patches of an image of ``side`` pixels."""
    for edge in range(side // cells, side, side // cells):
        line(ax, (edge - 0.5,) * 2, (-0.5, side - 0.5), colour, width=width)
        line(ax, (-0.5, side - 0.5), (edge - 0.5,) * 2, colour, width=width)


def _image(ax: Axes, pixels: Tensor, title: str = "", size: int = 11) -> None:
    ax.set_axis_off()
    ax.set_title(title, fontsize=size)
    ax.imshow(pixels.permute(1, 2, 0).cpu().numpy(), interpolation="nearest")
    _frame(ax, pixels.shape[-1])


def _panels(rows: int, columns: int, above: float) -> np.ndarray:
    """Square panels without axes in the width of a page, with so many inches for the title above each."""
    size = (6.5, 0.3 + rows * (6.5 / columns + above))
    _, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    return axes


def _frame(ax: Axes, side: int) -> None:
    ax.add_patch(Rectangle((-0.5, -0.5), side, side, fill=False, edgecolor=FAINT, clip_on=False))


def _faded(image: Tensor, weights: Tensor, full: int) -> Tensor:
    """An image ``(3, S, S)`` whose patches are mixed with white, the more the smaller their weight ``(N,)`` is."""
    cells = isqrt(len(weights))
    kept = (weights / weights.topk(full).values[-1]).clamp(max=1).view(cells, cells)
    patch = image.shape[-1] // cells
    kept = kept.repeat_interleave(patch, dim=0).repeat_interleave(patch, dim=1)  # (S, S)
    return kept * image + (1 - kept)


def _patches(ax: Axes, weights: Tensor, side: int) -> None:
    """Weights ``(N,)`` of square patches over an image of ``side`` pixels."""
    cells = isqrt(len(weights))
    extent = (-0.5, side - 0.5, side - 0.5, -0.5)
    values = weights.view(cells, cells).cpu().numpy()
    ax.imshow(values, cmap=HEAT_MAP, vmin=0, extent=extent, interpolation="nearest", aspect="equal")
    _frame(ax, side)
