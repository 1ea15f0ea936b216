"""Two steps of Bahdanau's and of Luong's decoder, and what a decoder attends to while it writes a list of numbers."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import Point, arrow, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, GREY, INK, PAPER, READS, SAND, WRITES
from attnpages.figures.style import TRUTH_COLOUR, Look

# Rows: what is written, the output layer, the attentional state, the cell, the words read, the source.
_WRITTEN, _OUTPUT, _JOINED, _CELL, _READ, _SOURCE = 7.25, 6.4, 4.8, 3.0, 1.3, 0.25
_STEP, _BLUE, _FED = 4.2, 1.8, 2.0  # columns from one step to the next; widths of the lines of context and feeding


def draw_orders(read: Sequence[str], written: Sequence[str], source: str) -> Sequence[Axes]:
    """Draw two steps of Bahdanau's decoder above two steps of Luong's, with the same rows for the same parts.

    Args:
        read: the words that the two steps read; written: those that they write; source: the words of the source.

    Returns:
        the axes of Bahdanau's decoder and those of Luong's.

    Raises:
        ValueError: if there are not two words read and two written.
    """
    if len(read) != 2 or len(written) != 2:
        raise ValueError(f"there are two steps, so read and written have two words; got {len(read)} and {len(written)}")
    _, axes = plt.subplots(2, 1, figsize=(6.5, 7.6), layout="constrained")
    for ax, title, one_step in zip(axes, ("Bahdanau: attend, then step", "Luong: step, then attend"),
                                   (_bahdanau, _luong), strict=True):  # fmt: skip
        canvas(ax, (6.5, 4.2), (-0.9, 7.9), (-0.2, 8.1))
        ax.set_title(title, fontsize=12)
        for at, (word, following) in enumerate(zip(read, written, strict=True)):
            cell, attention = one_step(ax, at)
            before = "t-1" if at else "t-2"
            now = "t" if at else "t-1"
            say(ax, (cell + attention) / 2, 7.9, f"step ${now}$", size=10, colour=GREY)
            _column(ax, cell, attention, now)
            say(ax, cell, _WRITTEN, f"$y_{{{now}}}$ = {following}")
            say(ax, cell, _READ, f"$y_{{{before}}}$ = {word}", size=10)
        box_around(ax, (3.5, _SOURCE), 8.2, 0.6, f"annotations of: {source}", size=10, fill=READS, edge=INK)
    return axes


def _column(ax: Axes, cell: float, attention: float, now: str) -> None:
    """What both decoders have in each step: the cell, the output layer, attention, and the words."""
    _part(ax, (cell, _OUTPUT), "output", WRITES, 1.3)
    _part(ax, (cell, _CELL), f"$s_{{{now}}}$", WRITES, 1.0)
    _part(ax, (attention, _CELL), "attention", READS, 1.5)
    arrow(ax, (cell, _OUTPUT + 0.37), (cell, _WRITTEN - 0.25))
    arrow(ax, (cell, _READ + 0.25), (cell, _CELL - 0.37))
    arrow(ax, (attention, _SOURCE + 0.32), (attention, _CELL - 0.37))


def _part(ax: Axes, centre: Point, name: str, fill: str, width: float) -> None:
    box_around(ax, centre, width, 0.7, name, size=11, fill=fill, edge=INK)


def _number(ax: Axes, x: float, y: float, text: str) -> None:
    look: Look = {"boxstyle": "circle,pad=0.2", "facecolor": INK, "edgecolor": INK}
    ax.text(x, y, text, color="white", fontsize=9, ha="center", va="center", bbox=look, zorder=6)


def _around(ax: Axes, start: float, end: float, height: float) -> None:
    """The path of the state from one cell to the next, past the attention that stands between them."""
    line(ax, (start, start, end), (_CELL + 0.36, height, height))
    arrow(ax, (end, height), (end, _CELL + 0.37))


def _bahdanau(ax: Axes, at: int) -> Point:
    attention, cell = 0.2 + at * _STEP, 2.2 + at * _STEP
    arrow(ax, (attention + 0.77, _CELL), (cell - 0.52, _CELL), colour=BLUE, width=_BLUE)  # the context, to the cell …
    line(ax, (attention, attention), (_CELL + 0.36, _OUTPUT), BLUE, _BLUE)  # … and to the output layer
    arrow(ax, (attention, _OUTPUT), (cell - 0.67, _OUTPUT), colour=BLUE, width=_BLUE)
    arrow(ax, (cell, _CELL + 0.37), (cell, _OUTPUT - 0.37))
    if at:
        say(ax, attention + 0.12, 5.3, "context $c_t$", ha="left", size=10, colour=BLUE)
        arrow(ax, (cell - _STEP + 0.52, _CELL), (attention - 0.77, _CELL), dashed=True)
        say(ax, attention - 1.15, 2.35, "query\n$s_{t-1}$", size=10)
        _around(ax, cell - _STEP + 0.3, cell - 0.3, 4.0)
        for x, y, text in ((attention - 0.55, 3.65, "1"), (cell + 0.75, 3.3, "2"), (cell + 0.95, _OUTPUT, "3")):
            _number(ax, x, y, text)
    return cell, attention


def _luong(ax: Axes, at: int) -> Point:
    cell, attention = 0.2 + at * _STEP, 2.2 + at * _STEP
    _part(ax, (cell, _JOINED), f"$\\tilde{{h}}_{{{'t' if at else 't-1'}}}$", PAPER, 1.0)
    arrow(ax, (cell + 0.52, _CELL), (attention - 0.77, _CELL), dashed=True)
    line(ax, (attention, attention), (_CELL + 0.36, _JOINED), BLUE, _BLUE)
    arrow(ax, (attention, _JOINED), (cell + 0.52, _JOINED), colour=BLUE, width=_BLUE)
    arrow(ax, (cell, _CELL + 0.37), (cell, _JOINED - 0.37))
    arrow(ax, (cell, _JOINED + 0.37), (cell, _OUTPUT - 0.37))
    if at:
        before = cell - _STEP
        say(ax, (cell + attention) / 2 - 0.1, 2.35, "query\n$s_t$", size=10)
        say(ax, attention + 0.12, 4.0, "context $c_t$", ha="left", size=10, colour=BLUE)
        xs = (before + 0.25, before + 0.25, cell - 0.9, cell - 0.9, cell - 0.3)
        line(ax, xs, (_JOINED + 0.36, 5.6, 5.6, 2.2, 2.2), TRUTH_COLOUR, _FED)
        arrow(ax, (cell - 0.3, 2.2), (cell - 0.3, _CELL - 0.37), colour=TRUTH_COLOUR, width=_FED)
        say(ax, before + 0.8, 5.33, "input feeding", ha="left", size=10, colour=TRUTH_COLOUR)
        _around(ax, before + 0.3, cell - 0.3, 3.75)
        marks = ((cell + 0.72, 3.6), (attention + 0.95, _CELL), (cell + 0.72, _JOINED + 0.4), (cell - 0.9, _OUTPUT))
        for number, (x, y) in enumerate(marks, 1):
            _number(ax, x, y, str(number))
    return cell, attention


Row = tuple[str, Sequence[float], bool]  # the word written, its weights per number of the source, whether it is right


def draw_writing(panels: Mapping[str, Sequence[Row]], numbers: Sequence[str]) -> np.ndarray:
    """Draw to which number of a list a decoder attends while it writes each word, one panel per model.

    Args:
        panels: ``{title: [(word, weights, right)]}``; a wrong word is marked by a cross, besides its colour.
        numbers: the numbers of the source, as they stand above the columns.

    Returns:
        the axes, one per panel.

    Raises:
        ValueError: if a word does not have one weight per number.
    """
    rows = max(map(len, panels.values()))
    _, axes = plt.subplots(1, len(panels), figsize=(6.5, 0.4 + 0.2 * rows), layout="constrained", squeeze=False)
    for ax, (title, written) in zip(axes[0], panels.items(), strict=True):
        for t, (word, weights, right) in enumerate(written):
            if len(weights) != len(numbers):
                raise ValueError(
                    f"{word!r} must have one weight for each of the {len(numbers)} numbers; got {len(weights)}"
                )
            for at, weight in enumerate(weights):
                ax.barh(t, 0.92, left=at - 0.46, height=0.84, color=BLUE, alpha=float(min(1, weight)), linewidth=0)
            ax.text(-0.75, t, word if right else f"{word} ×", ha="right", va="center", fontsize=10,
                    color=INK if right else TRUTH_COLOUR, fontweight="normal" if right else "bold")  # fmt: skip
        for at in range(1, len(numbers)):
            ax.axvline(at - 0.5, color=SAND, linewidth=1, zorder=0)
        ax.set(xlim=(-0.5, len(numbers) - 0.5), ylim=(rows - 0.4, -0.6), yticks=[])
        ax.set_xticks(range(len(numbers)), numbers)
        ax.xaxis.tick_top()
        ax.set_title(title, fontsize=12)
        ax.grid(False)
    return axes[0]
