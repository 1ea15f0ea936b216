"""Figures of chapter 13: a machine with a memory, and what each addressing step does to the weights of its rows."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Patch

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import INK, LINE, PALE_GREY
from attnpages.figures.style import HEAT_MAP, STYLES, Look, with_minus

_BAR: Look = {"height": 0.62, "color": STYLES[0].colour, "alpha": 0.55, "edgecolor": STYLES[0].colour}
_OLD: Look = {"height": 0.62, "color": "white", "edgecolor": STYLES[0].colour, "hatch": "//////", "linewidth": 0.8}


def draw_machine() -> Axes:
    """Draw the parts of a neural Turing machine and what passes between them at one step."""
    ax = canvas(None, (6.5, 3.9), (-0.15, 10), (-0.25, 4.7))
    for x, width, text in ((0.2, 2.1, "controller"), (3.5, 2.1, "write head"), (3.5, 2.1, "read head")):
        y = {"controller": 1.9, "write head": 3.1, "read head": 0.7}[text]
        box(ax, x, y, width, 0.9, edge=LINE)
        say(ax, x + width / 2, y + 0.45, text, weight="bold")
    for row in range(8):
        ax.add_patch(plt.Rectangle((7.7, 0.55 + 0.45 * row), 2.1, 0.45, facecolor="white", edgecolor=LINE))
        say(ax, 7.55, 0.77 + 0.45 * row, str(7 - row), ha="right", size=10)
    say(ax, 8.75, 4.4, "memory (N, M)", weight="bold")
    arrow(ax, (1.25, 1.1), (1.25, 1.85), LINE)
    say(ax, 1.25, 0.85, r"input $x_t$")
    arrow(ax, (1.25, 2.85), (1.25, 3.6), LINE)
    say(ax, 1.25, 3.85, r"output $y_t$")
    arrow(ax, (2.35, 2.6), (3.45, 3.45), LINE)
    say(ax, 2.35, 3.38, "$k, \\beta, g, s, \\gamma$\nand $e, a$", size=11)
    arrow(ax, (2.35, 2.2), (3.45, 1.4), LINE)
    say(ax, 3.6, 1.95, r"$k, \beta, g, s, \gamma$", size=11)
    arrow(ax, (5.65, 3.55), (7.3, 3.55), LINE)
    say(ax, 6.45, 3.8, "1: write", size=10)
    arrow(ax, (7.3, 1.1), (5.65, 1.1), LINE)
    say(ax, 6.45, 0.88, "2: read", size=10)
    for y in (3.25, 1.45):  # both heads compare their keys with the rows, before they read or write
        arrow(ax, (7.0, y), (5.65, y), LINE, dashed=True)
    line(ax, (7.0, 7.0), (1.45, 3.25), LINE, dashed=True)
    line(ax, (7.3, 7.0), (2.42, 2.42), LINE, dashed=True)
    say(ax, 6.3, 2.42, "rows to\ncompare", size=10)
    for top in (4.0, 1.6):  # each head also keeps its weights for the next step
        line(ax, (5.3, 5.3, 4.5), (top + 0.05, top + 0.25, top + 0.25), LINE)
        arrow(ax, (4.5, top + 0.25), (4.5, top + 0.03), LINE)
        say(ax, 4.9, top + 0.43, "$w_{t-1}$", size=10)
    line(ax, (4.55, 4.55, 0.6), (0.65, 0.25, 0.25), LINE)
    arrow(ax, (0.6, 0.25), (0.6, 1.85), LINE)
    line(ax, (0.6, -0.1, -0.1), (0.25, 0.25, 3.85), LINE)  # past the controller, to the output
    arrow(ax, (-0.1, 3.85), (0.6, 3.85), LINE)
    say(ax, 2.6, 0.0, r"read vector $r_t$: for $y_t$, and for the controller at step $t+1$", size=10)
    return ax


def draw_tape(
    inputs: Sequence[str],
    outputs: Sequence[str],
    write: object,
    read: object,
    lead: int = 0,
    held: Sequence[Sequence[str]] = (),
) -> list[Axes]:
    """Draw the weights of two heads over time as cells, with the input of each step above them and the output below.

    In the cell with the largest weight stands what is written there (an input of one letter), or read there.

    Args:
        inputs: what comes in at each of the T steps; the input of a step is written if it is a single letter.
        outputs: what goes out at each step, "" for nothing.
        write: ``(T, N)``, the weights of the write head.
        read: ``(T, N)``, those of the read head.
        lead: how many steps before its output a row is read.
        held: for each step, the letter that each row holds after it, "" for none: a panel between the heads.

    Returns:
        the axes from top to bottom.

    Raises:
        ValueError: if they do not have the same number of steps, or not the same rows.
    """
    heads = {"write head": as_matrix("write", write), "read head": as_matrix("read", read)}
    shapes = {name: weights.shape for name, weights in heads.items()}
    if len({*shapes.values()}) > 1 or {len(inputs), len(outputs)} != {shapes["write head"][0]}:
        raise ValueError(f"give {len(inputs)} outputs and weights of as many steps, got {len(outputs)} and {shapes}")
    letters = {
        "write head": [one if len(one) == 1 else "" for one in inputs],
        "read head": [*outputs[lead:], *[""] * lead],
    }
    panels, rows = 3 if held else 2, shapes["write head"][1]
    size = (6.5, 1.3 + 0.23 * panels * rows)
    _, axes = plt.subplots(panels, 1, figsize=size, sharex=True, layout="constrained")
    if held:
        _held(axes[1], held, rows)
    for ax, (name, weights) in zip((axes[0], axes[-1]), heads.items(), strict=True):
        image = _tape(ax, f"{name}:\nrow of memory", weights)
        for step, letter in enumerate(letters[name]):
            if letter:
                ax.text(step, weights[step].argmax(), letter, ha="center", va="center", color="white", weight="bold")
    _named_above(axes[0], "input", inputs)
    axes[-1].set_xticks(range(len(outputs)), [one or "–" for one in outputs])
    axes[-1].set_xlabel("output")
    axes[0].figure.colorbar(image, ax=list(axes), label="weight", aspect=40, pad=0.02)
    return list(axes)


def _held(ax: Axes, held: Sequence[Sequence[str]], rows: int) -> None:
    """Write into each cell, rows by steps, the letter that the row holds."""
    _tape(ax, "memory:\nrow", np.array([[0.12 * bool(letter) for letter in column] for column in held]))
    for step, column in enumerate(held):
        if len(column) != rows:
            raise ValueError(f"give the letters of {rows} rows, got {len(column)}")
        for row, letter in enumerate(column):
            ax.text(step, row, letter, ha="center", va="center", color=INK)


def _tape(ax: Axes, name: str, cells: np.ndarray) -> AxesImage:
    """Draw cells, rows by steps, with lines between them."""
    steps, rows = cells.shape
    image = ax.imshow(cells.T, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto")
    ax.set_ylabel(name)
    ax.set_yticks(range(rows), [str(row) for row in range(rows)], fontsize=10)
    ax.set_xticks(np.arange(0.5, steps - 1), minor=True)
    ax.set_yticks(np.arange(0.5, rows - 1), minor=True)
    ax.grid(visible=False)
    ax.grid(visible=True, which="minor", color=PALE_GREY, linewidth=0.6)
    ax.tick_params(which="both", length=0)
    return image


def _named_above(ax: Axes, title: str, names: Sequence[str]) -> None:
    """Write a name above each column, and above them what they are."""
    above = ax.secondary_xaxis("top")
    above.set_xticks(range(len(names)), [one or "–" for one in names])
    above.set_xlabel(title)
    above.tick_params(length=0)


def draw_rows(
    columns: Mapping[str, Sequence[float]],
    memory: object | None = None,
    decimals: int = 2,
    names: Sequence[str] = (),
    old: Mapping[str, Sequence[float]] | None = None,
) -> list[Axes]:
    """Draw one weight per row of memory as bars with their values, one panel per column; row 0 is at the top.

    Args:
        columns: ``{title: (N,)}``, from left to right.
        memory: ``(N, M)``, drawn as cells to their left.
        decimals: how many decimals of each number to print.
        names: what stands behind the number of each row; without, only the numbers stand there.
        old: ``{title: (N,)}``, for some columns: a part of each bar, hatched at its right end; a legend names it.

    Returns:
        the axes of the columns.

    Raises:
        ValueError: if there is no column, or columns and memory have not the same number of rows.
    """
    if not columns:
        raise ValueError("columns is empty; give at least one title with its numbers")
    numbers = {title: as_array(column) for title, column in columns.items()}
    shapes = {values.shape for values in numbers.values()}
    cells = None if memory is None else as_matrix("memory", memory)
    if len(shapes) > 1 or (cells is not None and shapes != {(len(cells),)}):
        raise ValueError(f"columns and memory must have the same rows, got {sorted(shapes)}")
    if names and {(len(names),)} != shapes:
        raise ValueError(f"give a name for each row of {sorted(shapes)}, got {len(names)}")
    ratios = [1.0] * len(numbers) if cells is None else [0.7] + [1.0] * len(numbers)
    rows = len(next(iter(numbers.values())))
    size = (6.5, 1.1 + 0.32 * rows + 0.3 * bool(old))  # room for the legend
    _, axes = plt.subplots(1, len(ratios), figsize=size, sharey=True, width_ratios=ratios, layout="constrained")
    axes = np.atleast_1d(axes)
    if cells is not None:
        _cells(axes[0], cells)
    panels = list(axes[cells is not None :])
    for ax, (title, values) in zip(panels, numbers.items(), strict=True):
        _bars(ax, title, values, decimals)
        if old and title in old:
            part = as_array(old[title])
            some = np.flatnonzero(part)
            ax.barh(some, part[some], left=(values - part)[some], **_OLD)
        ax.set_xlabel("weight")
    _name_rows(axes[0], rows, names)
    if old:
        hatched = Patch(facecolor="white", **{name: _OLD[name] for name in ("edgecolor", "hatch", "linewidth")})
        axes[0].figure.legend([hatched], ["from the weights before"], loc="outside lower center", fontsize=11)
    return panels


def draw_read_and_write(
    memory: object,
    reads: Sequence[float],
    writes: Sequence[float],
    erased: object,
    after: object,
    names: Sequence[str] = (),
) -> list[list[Axes]]:
    """Draw one read step above one write step, each from the memory and the head's weights to the result.

    Args:
        memory, erased, after: ``(N, M)`` each, drawn as cells; row 0 is at the top.
        reads: ``(N,)``, the read head's weights, drawn as bars; beside them each row times its weight, and their sum.
        writes: ``(N,)``, those of the write head; beside them the memory erased, and added to.
        names: what stands behind the number of each row; without, only the numbers stand there.

    Returns:
        the four axes of the read step, and those of the write step.

    Raises:
        ValueError: if they have not the same number of rows.
    """
    cells = {"memory": as_matrix("memory", memory), "1: erased": as_matrix("erased", erased)}
    cells["2: added"] = as_matrix("after", after)
    weights = {"read head": as_array(reads), "write head": as_array(writes)}
    counts = [len(part) for part in (*cells.values(), *weights.values())]
    rows = counts[0]
    if {*counts} != {rows}:
        raise ValueError(f"give memories and weights of as many rows, got {counts}")
    shares = weights["read head"][:, None] * cells["memory"]
    results = [{"weight × row": shares}, {name: cells[name] for name in ("1: erased", "2: added")}]
    ratios, size = [1, 0.75, 1, 1], (6.5, 1.7 + 0.64 * rows)
    _, axes = plt.subplots(2, 4, figsize=size, sharex="col", sharey=True, width_ratios=ratios, layout="constrained")
    for line_of, (head, values), parts in zip(axes, weights.items(), results, strict=True):
        _bars(line_of[1], head, values, 2)
        for ax, (title, part) in zip(
            (line_of[0], *line_of[2:]), ({"memory": cells["memory"]} | parts).items(), strict=False
        ):
            _cells(ax, part, title)
        _name_rows(line_of[0], rows, names)
    _cells(axes[0, 3], shares.sum(axis=0, keepdims=True), "their sum", middle=(rows - 1) / 2)
    axes[0, 3].spines[:].set_visible(False)  # the sum is in no row
    axes[0, 3].tick_params(length=0)
    for ax in axes[0]:
        ax.set_xlabel("")
    axes[1, 1].set_xlabel("weight")
    return [list(line_of) for line_of in axes]


def _name_rows(ax: Axes, rows: int, names: Sequence[str]) -> None:
    """Name the rows from top to bottom, by their number and what they hold."""
    ax.set_yticks(range(rows), [f"{row} {name}".strip() for row, name in enumerate(names or [""] * rows)])
    ax.set(ylim=(rows - 0.45, -0.55), ylabel="row of memory")


def _cells(ax: Axes, cells: np.ndarray, title: str = "memory", middle: float | None = None) -> None:
    """Draw numbers as cells; a single row of them can stand at the height of another row, its ``middle``."""
    low, high = min(0.0, cells.min()), max(1.0, cells.max())
    down = 0 if middle is None else middle
    rows, columns = cells.shape
    place = (-0.5, columns - 0.5, down + rows - 0.5, down - 0.5)
    ax.imshow(cells, cmap=HEAT_MAP, vmin=low, vmax=2.4 * high, aspect="auto", extent=place)
    for (row, column), value in np.ndenumerate(cells):
        ax.text(column, row + down, with_minus(f"{value:.3g}"), ha="center", va="center", fontsize=10, color=INK)
    ax.set_xticks(range(columns), [str(column) for column in range(columns)])
    ax.set(xlabel="feature")
    ax.set_title(title, fontsize=11)
    ax.grid(False)


def _bars(ax: Axes, title: str, values: np.ndarray, decimals: int) -> None:
    ax.barh(range(len(values)), values, **_BAR)
    largest = max(1.0, round(values.max(), 3))
    for row, value in enumerate(values):
        text = with_minus(f"{value:.{decimals}f}")
        ax.text(max(value, 0) + 0.04 * largest, row, text, va="center", fontsize=10, color=INK)
    ax.set(xlim=(min(0.0, 1.1 * values.min()), 1.5 * largest))
    ax.set_title(title, fontsize=11)
    ax.set_xticks([0, 1] if largest == 1 else [0, round(largest)])
    ax.grid(False)
    ax.tick_params(axis="y", length=0)
