"""Figures of chapter 15: episodes, online recall, what dilated convolutions reach, blocks that append, two rounds."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, FAINT, INK, PALE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, Look


def plot_episodes(images: Tensor, labels: Tensor) -> list[Axes]:
    """Draw episodes of few-shot classification, one per row: the labelled examples and, last, the question.

    Args:
        images: ``(E, T, 1, side, side)``, 0 = paper, 1 = ink. labels: ``(E, T)``; the last of a row is not shown.

    Raises:
        ValueError: if the shapes do not fit together, or a row has less than two pictures.
    """
    if images.dim() != 5 or labels.shape != images.shape[:2] or images.shape[1] < 2:
        shapes = f"{tuple(images.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"images and labels must be (E, T, 1, side, side) and (E, T) with T at least 2, got {shapes}")
    rows, columns = labels.shape
    size = (6.5, 1.45 * rows * 6 / columns)
    _, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for row in range(rows):
        for column, ax in enumerate(grid[row]):
            ax.imshow(as_array(images[row, column, 0]), cmap="Greys", vmin=0, vmax=1)
            asked = column == columns - 1
            ax.set_title("?" if asked else str(labels[row, column].item()), fontsize=13)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(visible=True, color=TRUTH_COLOUR if asked else FAINT, linewidth=2.5 if asked else 1)
    return list(grid.flat)


def draw_recall(keys: Sequence[str], values: Sequence[int]) -> Axes:
    """Draw a sequence of online recall, and how the last step finds its value: the same key, and one step later.

    Args:
        keys, values: of each step, the last key one that stood earlier, before the last step but one.

    Raises:
        ValueError: if the numbers of keys and values differ, or the last key cannot be found.
    """
    found = [step for step, key in enumerate(keys[:-2]) if key == keys[-1]]
    if len(keys) != len(values) or not found:
        raise ValueError(f"keys and values must be equally many and the last key stand earlier, got {keys}, {values}")
    step, last = found[-1], len(keys) - 1
    ax = canvas(None, (6.5, 3.0), (-2.3, last + 0.6), (-1.9, 3.3))
    rows = {2.0: ("key", list(keys)), 1.0: ("value of the\nstep before", ["–", *map(str, values[:-1])])}
    say(ax, -0.75, 2.9, "step", ha="right")
    for position in range(len(keys)):
        say(ax, position, 2.9, str(position), colour=FAINT)
    for y, (name, entries) in rows.items():
        say(ax, -0.75, y, name, ha="right")
        for position, entry in enumerate(entries):
            marked = (y == 2.0 and position in (step, last)) or (y == 1.0 and position == step + 1)
            look: Look = {"fill": READS if marked else PAPER, "edge": TRUTH_COLOUR if marked else FAINT}
            box_around(ax, (position, y), 0.8, 0.75, entry, size=12, **look)
    arrow(ax, (last - 0.1, 2.4), (step + 0.1, 2.4), TRUTH_COLOUR, 1.8, bend=0.1)
    arrow(ax, (step + 0.1, 1.6), (step + 0.75, 1.4), INK, 1.8)
    arrow(ax, (step + 1, 0.6), (last - 0.45, -0.75), INK, 1.8, bend=0.1)
    box_around(ax, (last, -0.8), 0.8, 0.75, str(values[-1]), size=12, fill=WRITES, edge=INK)
    say(ax, last - 0.6, -1.55, "the answer at the last step", ha="right")
    return ax


def draw_reach(stacks: Mapping[str, Sequence[int]], length: int) -> list[Axes]:
    """Draw which inputs the last position can see through stacks of causal convolutions with two taps each.

    Args:
        stacks: ``{title: dilations from the input upwards}``. length: of the sequence.

    Raises:
        ValueError: if there is no stack, one is empty, or ``length`` is not positive.
    """
    if not stacks or not all(stacks.values()) or length < 1:
        raise ValueError(f"stacks and length must be at least one layer and one position, got {stacks} and {length}")
    size = (6.5, sum(1.0 + 0.5 * len(dilations) for dilations in stacks.values()))
    heights = [1.0 + 0.5 * len(dilations) for dilations in stacks.values()]
    _, grid = plt.subplots(
        len(stacks), 1, figsize=size, layout="constrained", squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    axes = list(grid[:, 0])
    for ax, (title, dilations) in zip(axes, stacks.items(), strict=True):
        _draw_stack(canvas(ax, size, (-3.4, length - 0.5), (-1.15, len(dilations) + 0.4)), dilations, length)
        ax.set_title(title, loc="left", fontsize=12)
    axes[-1].text(length / 2 - 0.5, -1.05, "position of the input", ha="center", fontsize=11)
    return axes


def _draw_stack(ax: Axes, dilations: Sequence[int], length: int) -> None:
    """Circles for all positions of all layers, lines from the last one down to all inputs that it sees."""
    seen = {length - 1}
    for level in range(len(dilations), -1, -1):
        say(ax, -0.8, level, f"dilation {dilations[level - 1]}" if level else "input", ha="right", size=10.5)
        for position in range(length):
            look: Look = {"marker": "o", "markersize": 9 if position in seen else 6, "zorder": 3}
            ax.plot(position, level, color=BLUE if position in seen else PALE, linestyle="", **look)
            if level == 0:
                say(ax, position, -0.42, str(position), size=9.5)
        if level:
            below = {(top, top - back) for top in seen for back in (0, dilations[level - 1]) if top >= back}
            for top, bottom in below:
                line(ax, (top, bottom), (level, level - 1), BLUE, 1.4)
            seen = {bottom for _, bottom in below}


def draw_blocks(blocks: Sequence[tuple[str, int]]) -> Axes:
    """Draw how the features of a position grow from block to block, each of which appends to what came in.

    Args:
        blocks: names and widths, from the input on: what the block before gave, and what it appends itself.

    Raises:
        ValueError: if there is none, or a width is smaller than that of the block before.
    """
    widths = [width for _, width in blocks]
    if not widths or sorted(widths) != widths or widths[0] < 1:
        raise ValueError(f"blocks must have widths that grow from at least 1, got {widths}")
    ax = canvas(None, (6.5, 0.6 + 0.62 * len(blocks)), (-95, 1.06 * widths[-1] + 30), (-0.75, len(blocks) - 0.35))
    for row, (name, width) in enumerate(blocks):
        y = len(blocks) - 1 - row
        before = widths[row - 1] if row else 0
        if before:
            box(ax, 0, y - 0.3, before, 0.6, fill=PAPER, edge=FAINT)
        fill = READS if "attention" in name else WRITES
        box(ax, before, y - 0.3, width - before, 0.6, fill=fill, edge=INK)
        say(ax, -6, y, name, ha="right", size=11.5)
        say(ax, width + 5, y, str(width), ha="left", size=11.5)
        if row:
            arrow(ax, (before / 2, y + 0.68), (before / 2, y + 0.32), FAINT)
    say(ax, 0, -0.65, "features of a position", ha="left")
    return ax


def draw_walks(open_: Tensor, goal: int, walks: Mapping[str, Sequence[int]]) -> list[Axes]:
    """Draw a maze once per walk through it: its walls, the cells in the order of the walk, start and goal.

    Args:
        open_: ``(side², 4)`` bool, whether a cell can be left to the north, east, south, west.
        goal: a cell. walks: ``{title: cells}``, the first of each the start.

    Raises:
        ValueError: if the number of cells is no square, or there is no walk or an empty one.
    """
    side = round(len(open_) ** 0.5)
    if side * side != len(open_) or not walks or not all(len(cells) for cells in walks.values()):
        raise ValueError(f"open_ must have side² rows and walks at least a cell each, got {len(open_)} and {walks}")
    _, grid = plt.subplots(1, len(walks), figsize=(6.5, 6.5 / len(walks) + 0.5), layout="constrained", squeeze=False)
    for ax, (title, cells) in zip(grid[0], walks.items(), strict=True):
        ax.set(xlim=(-0.1, side + 0.1), ylim=(side + 0.1, -0.1), aspect="equal", title=title)
        ax.set_axis_off()
        _draw_walls(ax, open_, side)
        _draw_walk(ax, cells, side)
        ax.plot(goal % side + 0.5, goal // side + 0.5, marker="*", markersize=17, color=TRUTH_COLOUR, linestyle="")
        ax.plot(cells[0] % side + 0.5, cells[0] // side + 0.5, marker="s", markersize=10, color=INK, linestyle="")
    return list(grid[0])


def _draw_walls(ax: Axes, open_: Tensor, side: int) -> None:
    corners = ((0, 0, 1, 0), (1, 0, 1, 1), (0, 1, 1, 1), (0, 0, 0, 1))  # north, east, south, west of a cell
    for cell, ways in enumerate(open_.tolist()):
        y, x = divmod(cell, side)
        for way, (x0, y0, x1, y1) in zip(ways, corners, strict=True):
            look: Look = {"color": PALE if way else INK, "linewidth": 0.6 if way else 3, "marker": ""}
            ax.plot([x + x0, x + x1], [y + y0, y + y1], linestyle=":" if way else "-", **look)


def _draw_walk(ax: Axes, cells: Sequence[int], side: int) -> None:
    """A line through the cells, which moves a little to the lower right while it goes on, so that returns show."""
    shift = np.linspace(-0.2, 0.2, len(cells)) if len(cells) > 1 else np.zeros(1)
    xs = [cell % side + 0.5 + move for cell, move in zip(cells, shift, strict=True)]
    ys = [cell // side + 0.5 + move for cell, move in zip(cells, shift, strict=True)]
    ax.plot(xs, ys, color=STYLES[0].colour, linestyle="-", marker="o", markersize=3.5, linewidth=1.6, zorder=2)
