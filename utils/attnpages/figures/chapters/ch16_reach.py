"""Figures of chapter 16: what single positions of an image attend to."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

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
    for line, (image, (row, column), maps) in zip(axes, rows, strict=True):
        height, wide = image.shape[1:]
        extent = (0, wide, height, 0)
        line[0].imshow(image.permute(1, 2, 0).cpu().numpy(), extent=extent, interpolation="nearest")
        line[0].set_title("query", fontsize=10, loc="left")
        for ax, (title, weights) in zip(line[1:], maps.items(), strict=True):
            ax.imshow(weights.cpu().numpy(), cmap=HEAT_MAP, vmin=0, extent=extent, interpolation="nearest")
            ax.set_title(title, fontsize=10, loc="left")
        down, right = (
            side / parts for side, parts in zip((height, wide), next(iter(maps.values())).shape, strict=True)
        )
        for ax in line:
            ax.set_axis_off()
            ax.add_patch(Rectangle((0, 0), wide, height, fill=False, edgecolor=FAINT, clip_on=False))
            for colour, thick in ((PAPER, 4.5), (TRUTH_COLOUR, 2.4)):
                place = (column * right, row * down)
                ax.add_patch(
                    Rectangle(place, right, down, fill=False, edgecolor=colour, linewidth=thick, clip_on=False)
                )
    return list(axes.flat)
