"""Figures of chapter 12: which pairs each cheaper attention computes, and how far two ways back lead."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import canvas, line, say
from attnpages.figures.chapters.ch12_windows import draw_net, draw_relay
from attnpages.figures.palette import FAINT, INK, READS
from attnpages.figures.style import STYLES, Look


def draw_masks(masks: Mapping[str, np.ndarray], columns: int = 3) -> list[Axes]:
    """Draw which pairs of query and key are computed, and which keys arrive through a second layer of the same kind.

    Args:
        masks: ``{name: (T, T) bool}``, causal: for each query the keys that it attends to. columns: of panels.

    Raises:
        ValueError: if there is no mask, or one of them shows a later key.
    """
    if not masks or any(np.triu(mask, 1).any() for mask in masks.values()):
        raise ValueError(f"masks must be causal, and at least one, got {list(masks)}")
    rows = -(-len(masks) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(6.5, 2.75 * rows + 0.4), layout="constrained", squeeze=False)
    for ax, (name, mask) in zip(axes.flat, masks.items(), strict=False):
        twice = (mask.astype(int) @ mask.astype(int)) > 0
        _cells(ax, mask, twice)
        ax.set_title(name, fontsize=10.5)
        ax.set_xlabel(f"{mask.sum()} pairs\nreaches {twice[-1].sum()} of {len(mask)}", fontsize=10.5)
    for ax in axes.flat[len(masks) :]:
        ax.set_axis_off()
    directly = plt.Rectangle((0, 0), 1, 1, color=STYLES[0].colour, label="attends to")
    later = plt.Line2D([], [], marker="o", color=INK, markersize=3, linestyle="", label="through a second layer")
    figure.legend(handles=[directly, later], loc="outside lower center", ncols=2, frameon=False, fontsize=10.5)
    return list(axes.flat[: len(masks)])


def _cells(ax: Axes, mask: np.ndarray, twice: np.ndarray) -> None:
    """One square per key up to the query; filled where it is attended to, with a dot where it arrives later."""
    T = len(mask)
    for query, key in ((q, k) for q in range(T) for k in range(q + 1)):
        fill = STYLES[0].colour if mask[query, key] else READS if twice[query, key] else "white"
        frame: Look = {"facecolor": fill, "edgecolor": FAINT, "linewidth": 0.4}
        ax.add_patch(plt.Rectangle((key - 0.5, query - 0.5), 1, 1, **frame))
    dots = np.argwhere(twice & ~mask)
    ax.scatter(dots[:, 1], dots[:, 0], s=3, color=INK, zorder=3)
    ax.set(xlim=(-0.7, T - 0.3), ylim=(T - 0.3, -0.7), aspect="equal", xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)


def draw_ways_back(T: int, window: int, layers: int, size: int, titles: Sequence[str]) -> list[Axes]:
    """Draw how the last position learns of an old token: through windows above, through segments with a memory below.

    Args:
        T, window, layers: of the upper part, as :func:`draw_relay` takes them. size: tokens per segment, which must
            divide ``T``; there are as many layers as segments before the last. titles: of both parts.

    Raises:
        ValueError: if ``size`` does not divide ``T``, or there is only one segment.
    """
    hops = T // size - 1
    if T % size or hops < 1:
        raise ValueError(f"size must divide T, with at least two segments, got {T} and {size}")
    heights = (0.55 * layers + 0.9, 0.85 * hops + 0.9)
    _, axes = plt.subplots(2, 1, figsize=(6.5, sum(heights)), height_ratios=heights, layout="constrained")
    draw_relay(T, window, layers, ax=axes[0])
    at = np.arange(T)
    segment, back = at // size, at[:, None] - at
    reads = (back >= 0) & (segment[:, None] - segment <= 1)
    path = [*range(0, T - size, size), T - 1]
    below = canvas(axes[1], (6.5, heights[1]), (-2.2, T - 0.3), (-0.7, hops + 0.35))
    draw_net(below, reads, hops, path)
    for edge in range(size, T, size):
        line(below, (edge - 0.5, edge - 0.5), (-0.3, hops + 0.3), dashed=True)
    for number in range(hops + 1):
        say(below, size * (number + 0.5) - 0.5, -0.5, f"segment {number + 1}", size=10.5)
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=11, loc="left")
    return list(axes)
