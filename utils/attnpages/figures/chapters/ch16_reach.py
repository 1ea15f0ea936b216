"""Figures of chapter 16: what single positions of an image attend to, and what an exchange of that changes."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.chapters.ch16 import _ink
from attnpages.figures.palette import FAINT, PAPER
from attnpages.figures.style import HEAT_MAP, TRUTH_COLOUR

Query = tuple[Tensor, tuple[int, int], Mapping[str, Tensor]]


def plot_from_query(rows: Sequence[Query]) -> list[Axes]:
    """Draw images with one marked position each, and beside them the positions to which it attends.

    Args:
        rows: one per query: an image ``(3, H, W)`` between 0 and 1, the row and the column of the position on the map,
            and ``{title: weights (h, w)}``, drawn on a scale from 0; each row has equally many maps.

    Raises:
        ValueError: if there is no row, or the rows have different numbers of maps.
    """
    counts = {len(maps) for _, _, maps in rows}
    if len(counts) != 1:
        raise ValueError(f"rows must have equally many maps each, got {sorted(counts)}")
    across = 1 + counts.pop()
    shapes = [image.shape[1] / image.shape[2] for image, _, _ in rows]  # height by width
    width = min(6.5 / across, 2.3 / max(shapes))
    size = (width * across, 0.2 + len(rows) * (width * max(shapes) + 0.3))
    _, axes = plt.subplots(len(rows), across, figsize=size, layout="constrained", squeeze=False)
    for line, query in zip(axes, rows, strict=True):
        _draw_query(line, query)
    return list(axes.flat)


def plot_read_and_exchanged(queries: Sequence[Query], rows: Mapping[str, Tensor]) -> list[Axes]:
    """Draw what marked positions attend to, as :func:`plot_from_query`; and below, rows of canvases that are compared.

    Args:
        queries: as for :func:`plot_from_query`, with one map each; images are twice as wide as high, or more.
        rows: ``{title: (N, H, W)}``, 0 = paper, 1 = ink, equally many canvases per row.

    Raises:
        ValueError: if one of the two is empty, a query has several maps, or the rows differ in number.
    """
    counts = {len(images) for images in rows.values()}
    if not queries or len(counts) != 1 or any(len(maps) != 1 for _, _, maps in queries):
        raise ValueError("give at least one query with one map each, and rows with equally many canvases")
    (count,) = counts
    wide = max(image.shape[1] / image.shape[2] for image, _, _ in queries)
    ratios = [3.25 * wide + 0.3] * len(queries) + [6.4 / count * wide + 0.38] * len(rows)
    figure = plt.figure(figsize=(6.5, sum(ratios) + 0.15), layout="constrained")
    panels = np.asarray(figure.subfigures(len(ratios), 1, squeeze=False, height_ratios=ratios))[:, 0]
    drawn: list[Axes] = []
    for panel, query in zip(panels, queries, strict=False):
        line = panel.subplots(1, 2)
        _draw_query(line, query)
        drawn += list(line)
    for panel, (title, images) in zip(panels[len(queries) :], rows.items(), strict=True):
        panel.suptitle(title, x=0.01, ha="left", fontsize=10)
        for ax, image in zip(panel.subplots(1, count, squeeze=False).flat, images, strict=True):
            ax.set_axis_off()
            _ink(ax, image, framed=False)
            drawn.append(ax)
    return drawn


def _draw_query(line: Sequence[Axes], query: Query) -> None:
    """One image with its marked position, and the maps beside it."""
    image, (row, column), maps = query
    height, wide = image.shape[1:]
    extent = (0, wide, height, 0)
    line[0].imshow(image.permute(1, 2, 0).cpu().numpy(), extent=extent, interpolation="nearest")
    line[0].set_title("query", fontsize=10, loc="left")
    for ax, (title, weights) in zip(line[1:], maps.items(), strict=True):
        ax.imshow(weights.cpu().numpy(), cmap=HEAT_MAP, vmin=0, extent=extent, interpolation="nearest")
        ax.set_title(title, fontsize=10, loc="left")
    down, right = (side / parts for side, parts in zip((height, wide), next(iter(maps.values())).shape, strict=True))
    for ax in line:
        ax.set_axis_off()
        ax.add_patch(Rectangle((0, 0), wide, height, fill=False, edgecolor=FAINT, clip_on=False))
        for colour, thick in ((PAPER, 4.5), (TRUTH_COLOUR, 2.4)):
            place = (column * right, row * down)
            ax.add_patch(Rectangle(place, right, down, fill=False, edgecolor=colour, linewidth=thick, clip_on=False))
