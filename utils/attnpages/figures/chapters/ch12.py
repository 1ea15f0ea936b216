"""Figures of chapter 12: two memories, a softmax in blocks, costs, the first token."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, canvas, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import FAINT, INK, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, Look


def plot_running(scores: Sequence[float], values: Sequence[float], size: int) -> list[Axes]:
    """Draw what an online softmax adds up, one bar exp(score - largest so far) per score, and below it what it keeps.

    Args:
        scores, values: equally many numbers. size: scores per block.

    Raises:
        ValueError: if there is no score, the numbers of scores and values differ, or ``size`` is below 1.
    """
    if not scores or len(scores) != len(values) or size < 1:
        raise ValueError(
            f"scores and values must be equally many, size at least 1, got {len(scores)}, {len(values)}, {size}"
        )
    ends = range(min(size, len(scores)), len(scores) + size, size)
    _, axes = plt.subplots(1, len(ends), figsize=(6.5, 3.3), sharey=True, layout="constrained", squeeze=False)
    for number, (ax, end) in enumerate(zip(axes[0], ends, strict=True)):
        read, largest = np.array(scores[:end]), max(scores[:end])
        heights = np.exp(read - largest)
        for i, height in enumerate(heights):
            look: Look = {
                "color": STYLES[i // size % len(STYLES)].colour,
                "hatch": "//" if i // size % 2 == 0 else None,
            }
            ax.bar(i, height, edgecolor="white", **look)
            ax.text(i, height + 0.02, f"{height:.4f}", ha="center", fontsize=11)
        ax.set_title(f"after block {number + 1}", fontsize=11, loc="left")
        weighted = heights @ np.array(values[:end])
        kept = f"largest {largest:g},  total {heights.sum():.4f},\nweighted sum {weighted:.4f}"
        frame: Look = {"boxstyle": "square,pad=0.35", "facecolor": PAPER, "edgecolor": FAINT}
        ax.set_xlabel(kept, fontsize=10.5, labelpad=9, bbox=frame)
        names = [f"score {s:g}\nvalue {v:g}" for s, v in zip(scores, values, strict=True)]
        ax.set_xticks(range(len(scores)), names, fontsize=10.5)
        ax.set(xlim=(-0.6, len(scores) - 0.4), ylim=(0, 1.15))
        ax.grid(False)
    axes[0, 0].set_ylabel("exp(score − largest)")
    return list(axes[0])


def draw_to_scale(tokens: int, features: int, size: int, names: Mapping[str, str]) -> Axes:
    """Draw to scale the scores of a text, those of half the text, one tile of them, and what the head returns.

    Args:
        tokens, features: of the text and of a head. size: of a tile, in queries and in keys.
        names: what is written beside ``scores``, ``half``, ``tile`` and ``contexts``.

    Raises:
        ValueError: if a number is below 1, or the tile is larger than the matrix.
    """
    if min(tokens, features, size) < 1 or size > tokens:
        raise ValueError(
            f"all numbers must be at least 1 and the tile fit into the scores, got {tokens}, {features}, {size}"
        )
    ax = canvas(None, (5.4, 2.9), (-0.02, 1.9), (-0.02, 1.11))
    ax.set_aspect("equal")
    shape: Look = {"edgecolor": FAINT, "linewidth": 1.2}
    ax.add_patch(plt.Rectangle((0, 0), 1, 1, facecolor=READS, **shape))
    ax.add_patch(plt.Rectangle((0, 0.5), 0.5, 0.5, fill=False, linestyle="--", **shape))
    side, thin = size / tokens, features / tokens
    orange, blue = STYLES[1].colour, STYLES[0].colour
    ax.add_patch(plt.Rectangle((0.75, 0.25), side, side, facecolor=orange, linewidth=0))
    ax.add_patch(plt.Rectangle((1.2, 0), thin, 1, facecolor=blue, linewidth=0))
    say(ax, 0.25, 0.75, names["half"], size=10)
    say(ax, 0.5, 1.05, names["scores"], size=10.5)
    say(ax, 0.75 + side / 2, 0.18, names["tile"], size=10)
    say(ax, 1.2 + thin + 0.05, 0.5, names["contexts"], ha="left", size=10.5)
    return ax


Kernel = tuple[str, Sequence[tuple[str, bool]], tuple[str, bool]]


def draw_kernels(kernels: Sequence[Kernel], large: str, chip: str) -> Axes:
    """Draw several kernels one after the other: each reads tensors from the large memory and writes one back.

    Args:
        kernels: ``[(what it computes, [(tensor that it reads, whether it has T × T numbers), ...], (what it writes,
            the same)), ...]``; a thick arrow carries T × T numbers.
        large, chip: titles of the two memories.

    Raises:
        ValueError: if there is no kernel.
    """
    if not kernels:
        raise ValueError("kernels is empty; give at least one")
    width = 13 / len(kernels)
    ax = canvas(None, (6.5, 2.9), (0, 13), (0, 6.2))
    say(ax, 0, 5.95, chip, ha="left", weight="bold", size=10.5)
    say(ax, 0, 0.2, large, ha="left", weight="bold", size=10.5)
    box(ax, 0.05, 0.5, 12.9, 1.0)
    for i, (text, reads, (written, heavy)) in enumerate(kernels):
        left, moves = width * i, [*((name, thick, True) for name, thick in reads), (written, heavy, False)]
        box(ax, left + 0.15, 4.3, width - 0.3, 1.3, fill=READS)
        say(ax, left + width / 2, 4.95, text, size=10)
        for n, (name, thick, up) in enumerate(moves):
            x = left + 0.2 + (width - 0.4) * (n + 0.5) / len(moves)
            start, end = (1.55, 4.25) if up else (4.25, 1.55)
            look: Look = {"width": 0.3, "head_width": 0.75, "color": STYLES[1].colour} if thick else {"color": INK}
            look = {"width": 0.04, "head_width": 0.3, "length_includes_head": True, "head_length": 0.45} | look
            ax.arrow(x, start, 0, end - start, linewidth=0, **look)
            say(ax, x, 1.0, name, size=10)
    return ax


def draw_schedule(
    moved: Mapping[str, str], chip: Sequence[tuple[str, bool]], blocks: int = 8, row: int = 2, column: int = 4
) -> Axes:
    """Draw attention in blocks between a large and a small memory, at the moment when one tile of scores is computed.

    Args:
        moved: what is written above the arrows of the ``"queries"``, the ``"keys and values"`` and the
            ``"contexts"``, below that of the keys and values (``"again"``, if it is there), and, under ``"large"`` and
            ``"chip"``, as the titles of the two memories.
        chip: the boxes in the small memory, ``[(text, whether it stays while the keys go by), ...]``.
        blocks: number of blocks drawn. row, column: the present block of queries, and of keys.

    Raises:
        ValueError: if ``row`` or ``column`` is not among the blocks.
    """
    if not (0 <= row < blocks and 0 <= column < blocks):
        raise ValueError(f"row and column must lie between 0 and {blocks - 1}, got {row} and {column}")
    ax = canvas(None, (6.5, 3.4), (0, 13), (0, 7.2))
    say(ax, 0, 6.85, moved["large"], ha="left", weight="bold", size=10.5)
    say(ax, 9.35, 6.85, moved["chip"], ha="left", weight="bold", size=10.5)
    box(ax, 0, 0.1, 6.1, 6.4)
    box(ax, 9.35, 0.1, 3.6, 6.4)
    now = {"queries": row, "keys": column, "values": column, "contexts": row}
    for i, (name, present) in enumerate(now.items()):
        x = 0.25 + 1.47 * i
        say(ax, x + 0.6, 6.1, name, size=10)
        for tile in range(blocks):
            strong = tile == present
            fill = (READS if name in ("keys", "values") else WRITES) if strong else PAPER
            look: Look = {"fill": fill, "edge": INK if strong else FAINT, "line": 1.8 if strong else 0.8}
            box(ax, x, 5.7 - 5.4 * (tile + 1) / blocks, 1.2, 5.4 / blocks - 0.08, **look)
    rows = zip(("queries", "keys and values", "contexts"), (5.0, 3.1, 1.0), (True, True, False), strict=True)
    for name, y, inwards in rows:
        start, end = (6.2, 9.25) if inwards else (9.25, 6.2)
        arrow(ax, (start, y), (end, y), width=1.6)
        say(ax, 7.72, y + 0.5, moved[name], size=10)
        if name == "keys and values" and "again" in moved:
            say(ax, 7.72, y - 0.2, moved["again"], va="top", size=10)
    height = 6.2 / len(chip)
    for i, (text, stays) in enumerate(chip):
        y = 6.4 - height * (i + 1)
        box(ax, 9.55, y, 3.2, height - 0.12, fill=WRITES if stays else READS, edge=FAINT)
        say(ax, 11.15, y + height / 2 - 0.06, text, size=10)
    return ax


def plot_bounds(panels: Mapping[str, Mapping[str, Mapping[str, float]]], xlabel: str) -> list[Axes]:
    """Draw for each way to compute how long its parts take at least, with hatched bars for what was measured.

    Args:
        panels: ``{title: {way: {part: milliseconds}}}``, one panel below the other; a part called ``"measured"`` is
            hatched. The parts keep their colour in all panels.
        xlabel: of each panel.

    Raises:
        ValueError: if there is no panel, or one without a bar.
    """
    bars = {
        title: [(way, *bar) for way, parts in ways.items() for bar in parts.items()] for title, ways in panels.items()
    }
    if not all(bars.values()) or not bars:
        raise ValueError(f"panels must each have at least one bar, got {dict(panels)}")
    heights = [0.7 + 0.36 * len(rows) for rows in bars.values()]
    _, axes = plt.subplots(
        len(bars), 1, figsize=(6.5, sum(heights)), height_ratios=heights, layout="constrained", squeeze=False
    )
    named = list(dict.fromkeys(part for rows in bars.values() for _, part, _ in rows if part != "measured"))
    for ax, (title, rows) in zip(axes[:, 0], bars.items(), strict=True):
        for row, (_, part, milliseconds) in enumerate(rows):
            look: Look = {"facecolor": "white", "hatch": "//", "edgecolor": INK}
            if part in named:
                look = {"facecolor": STYLES[named.index(part) % len(STYLES)].colour}
            ax.barh(row, milliseconds, height=0.7, **look)
            ax.annotate(
                f"{milliseconds:.2g}" if milliseconds < 10 else f"{milliseconds:.0f}", (milliseconds, row), (4, 0),
                textcoords="offset points", va="center", fontsize=10.5,
            )  # fmt: skip
        ax.set_yticks(range(len(rows)), [f"{way}: {part}" for way, part, _ in rows], fontsize=10.5)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(0, 1.12 * max(milliseconds for *_, milliseconds in rows))
        ax.set_title(title, fontsize=11, loc="left")
        ax.set_xlabel(xlabel, fontsize=10.5)
        ax.grid(False, axis="y")
    return list(axes[:, 0])


def plot_cost(panels: Mapping[str, Curves], xlabel: str = "length of the text (positions)") -> list[Axes]:
    """Draw what attention costs over the length, one panel below the other, both axes logarithmic.

    Args:
        panels: ``{label of the y axis: {name: {length: [one value per run]}}}``, all values above 0; the panels have
            the same names.
        xlabel: of the lowest panel.

    Raises:
        ValueError: if there is no panel, or a curve is not as :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its curves")
    size = (6.5, 0.8 + 2.5 * len(panels))
    _, axes = plt.subplots(len(panels), 1, figsize=size, sharex=True, layout="constrained", squeeze=False)
    for number, (ax, (label, curves)) in enumerate(zip(axes[:, 0], panels.items(), strict=True)):
        plot_by_length(curves, xlabel="", ylabel=label, ax=ax, trained=None)
        if number:
            ax.get_legend().remove()
        ax.autoscale(axis="y")
        ax.set_yscale("log")
        ax.set_xscale("log", base=2)
        lengths = sorted({int(length) for points in curves.values() for length in points})
        ax.set_xticks(lengths, [f"{length:,}" for length in lengths])
        ax.minorticks_off()
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def plot_extra(panels: Mapping[str, tuple[Curves, float]], ylabel: str = "additional nats") -> list[Axes]:
    """Draw by position what reading less costs, one panel below the other; a dashed line where the first word is lost.

    Args:
        panels: ``{title: (curves, position)}``: the curves as :func:`plot_by_length` takes them, by position; and the
            position at which the first word leaves the window. The panels name their curves in the same order.
        ylabel: of each panel.

    Raises:
        ValueError: if there is no panel, or a curve is not as :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its curves and a position")
    size = (6.5, 0.3 + 2.75 * len(panels))
    _, axes = plt.subplots(len(panels), 1, figsize=size, layout="constrained", squeeze=False)
    for ax, (title, (curves, position)) in zip(axes[:, 0], panels.items(), strict=True):
        plot_by_length(curves, xlabel="position in the text", ylabel=ylabel, ax=ax, trained=None, title=title)
        ax.autoscale(axis="y")
        ax.axvline(position, color=INK, linestyle="--", linewidth=1)
        ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
        last = max(int(at) for points in curves.values() for at in points)
        step = next(step for step in (1, 4, 16, 64, 128, 512, 2048) if last <= 10 * step)
        ticks = list(range(0, last + step, step))
        ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.minorticks_off()
    return list(axes[:, 0])
