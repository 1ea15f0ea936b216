"""Figures of chapter 12: segments, traffic between memories, masks, what attention costs, how far a model learns."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import FAINT, INK, PALE, PAPER, READS, WRITES
from attnpages.figures.style import HEAT_MAP, STYLES, TRUTH_COLOUR, Look


def draw_segments(segments: Sequence[Sequence[str]], fact: int, relay: int, question: int) -> Axes:
    """Draw a text cut into three segments, and how a question in the last can reach a fact in the first by two hops.

    Args:
        segments: three lists of equally many words.
        fact, relay, question: positions in the first, the second and the third segment.

    Raises:
        ValueError: if there are not three segments of one length, or a position lies outside.
    """
    lengths = {len(words) for words in segments}
    if len(segments) != 3 or len(lengths) != 1:
        raise ValueError(f"segments must be three of one length, got lengths {[len(words) for words in segments]}")
    (length,) = lengths
    chosen = fact, relay, question
    if not all(0 <= position < length for position in chosen):
        raise ValueError(f"fact, relay and question must lie between 0 and {length - 1}, got {chosen}")
    ax = canvas(None, (6.5, 3.4), (-1.75, length + 0.1), (-0.1, 5.6))
    # The direct way goes around the boxes, above the first row and right of all, so that no word hides it.
    edge = length - 0.22
    line(ax, (fact, fact, edge, edge), (4.98, 5.35, 5.35, 0.4), colour=TRUTH_COLOUR, width=1.5, dashed=True)
    arrow(ax, (edge, 0.4), (question + 0.46, 0.4), colour=TRUTH_COLOUR, width=1.5)
    for row, (words, position) in enumerate(zip(segments, chosen, strict=True)):
        y = 4.6 - 2.1 * row
        say(ax, -0.7, y, f"segment {row + 1}", ha="right", size=11)
        for i, word in enumerate(words):
            look: Look = (
                {"fill": (WRITES, READS, WRITES)[row], "edge": TRUTH_COLOUR} if i == position else {"fill": PAPER}
            )
            box_around(ax, (i, y), 0.92, 0.72, word, size=10.5, **look)
    for row in (0, 1):
        start, end = (chosen[row], 4.6 - 2.1 * row - 0.4), (chosen[row + 1], 4.6 - 2.1 * (row + 1) + 0.4)
        arrow(ax, start, end, colour=INK, width=2.2, gap=2)
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        say(ax, middle[0] + 0.22, middle[1] + 0.05, f"layer {row + 1}", ha="left", size=10.5)
    return ax


def draw_traffic(ways: Mapping[str, Sequence[tuple[str, float, bool]]], memories: tuple[str, str]) -> Axes:
    """Draw what moves between a large and a small memory, one pair of boxes below the other; thick arrows move much.

    Args:
        ways: ``{name: [(what, megabytes, whether into the small memory), ...]}``, in the order of the steps.
        memories: what is written into the box of the large memory (left) and of the small one (right).

    Raises:
        ValueError: if there is no way, or one without a step.
    """
    if not ways or not all(ways.values()):
        raise ValueError("ways must be at least one, each with at least one step")
    height = sum(len(steps) + 1.1 for steps in ways.values())
    ax = canvas(None, (6.5, 0.45 * height), (0, 10), (0, height))
    top = height
    for name, steps in ways.items():
        moved = sum(megabytes for _, megabytes, _ in steps)
        say(ax, 0, top - 0.45, f"{name}: {moved:,.0f} MB", ha="left", weight="bold")
        bottom = top - 0.85 - len(steps)
        for x, text, fill in ((0.05, memories[0], PAPER), (7.55, memories[1], READS)):
            box(ax, x, bottom, 2.4, len(steps), fill=fill)
            say(ax, x + 1.2, bottom + len(steps) / 2, text, size=10.5)
        for row, (what, megabytes, inwards) in enumerate(steps):
            y = top - 1.6 - row
            start, end = (2.5, 7.5) if inwards else (7.5, 2.5)
            arrow(ax, (start, y), (end, y), width=4 if megabytes > moved / 20 else 1.2)
            say(ax, 5, y + 0.38, f"{what}: {megabytes:,.0f} MB", size=10.5)
        top = bottom - 0.25
    return ax


def plot_masks(masks: Mapping[str, Tensor], columns: int = 2) -> list[Axes]:
    """Draw boolean masks side by side: a filled cell for each pair in which the row may attend to the column.

    Args:
        masks: ``{title: (T, T) bool}``. columns: panels per row.

    Raises:
        ValueError: if there is none, or ``columns`` is below 1.
    """
    if not masks or columns < 1:
        raise ValueError(f"masks and columns must be at least one, got {len(masks)} and {columns}")
    rows = -(-len(masks) // columns)
    size = (6.5, 0.35 + 7.1 / columns * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.flat)
    for ax in axes[len(masks) :]:
        ax.set_axis_off()
    for ax, (title, mask) in zip(axes, masks.items(), strict=False):
        length = len(mask)
        edges = np.arange(length + 1) - 0.5
        ax.pcolormesh(edges, edges, as_array(mask), cmap=HEAT_MAP, vmin=0, vmax=1.4, edgecolors=PALE, lw=0.3)
        ax.set(xlim=(-0.5, length - 0.5), ylim=(length - 0.5, -0.5), aspect="equal")
        ax.set_title(f"{title}\n{int(mask.sum()):,} pairs", fontsize=11, loc="left")
        ax.grid(False)
        ax.tick_params(labelsize=10)
    figure.supxlabel("position attended to", fontsize=11)
    figure.supylabel("position that attends", fontsize=11)
    return axes[: len(masks)]


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


def plot_grid(shares: Mapping[tuple[int, int], float], reachable: Mapping[tuple[int, int], bool]) -> Axes:
    """Draw the share of right answers for each lag and memory; a thick frame where the answer is in reach on paper.

    Args:
        shares: ``{(lag, memory): share}``, one for each pair of the lags and memories that occur.
        reachable: ``{(lag, memory): bool}``, the same pairs.

    Raises:
        ValueError: if there is none, or the pairs differ or are not complete.
    """
    lags, memories = (sorted({pair[axis] for pair in shares}) for axis in (0, 1))
    wanted = {(lag, memory) for lag in lags for memory in memories}
    if not shares or set(shares) != wanted or set(reachable) != wanted:
        raise ValueError(f"shares and reachable must hold each pair of lags {lags} and memories {memories}")
    _, ax = plt.subplots(figsize=(6.5, 1.2 + 0.75 * len(lags)), layout="constrained")
    values = np.array([[shares[lag, memory] for memory in memories] for lag in lags])
    image = ax.imshow(values, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto")
    for (row, lag), (column, memory) in ((r, c) for r in enumerate(lags) for c in enumerate(memories)):
        share = shares[lag, memory]
        ax.text(column, row, f"{share:.2f}", ha="center", va="center", color="white" if share > 0.6 else INK)
        if reachable[lag, memory]:
            frame: Look = {"fill": False, "edgecolor": STYLES[1].colour, "linewidth": 3}
            ax.add_patch(plt.Rectangle((column - 0.44, row - 0.42), 0.88, 0.84, **frame))
    ax.set_xticks(range(len(memories)), [str(memory) for memory in memories])
    ax.set_yticks(range(len(lags)), [str(lag) for lag in lags])
    ax.set(xlabel="memory (states per layer)", ylabel="lag (words)")
    ax.grid(False)
    ax.tick_params(length=0, color=FAINT)
    plt.colorbar(image, ax=ax, label="right answers (share)")
    return ax


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
