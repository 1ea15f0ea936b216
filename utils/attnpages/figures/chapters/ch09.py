"""Figures of chapter 09: the whole Transformer, what its parts and its heads are worth, and maps of heads."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnpages.figures.alignments import plot_alignment
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.heat import draw_cells, write_in_cells
from attnpages.figures.palette import BLUE, FAINT, INK, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, Look, new_axes

_ROW = 1.95  # from one sublayer to the next
_FIRST = 3.15  # height of the lowest sublayer
_LEFT, _RIGHT = 0.8, 7.4  # of the streams
_NORM = "layer norm"
_SIZE = 10.5  # points of the letters in boxes


def draw_transformer(
    source: str, written: str, next_words: str, norm: str = "post", layers: int = 2, ax: Axes | None = None
) -> Axes:
    """Draw encoder and decoder as two streams; each sublayer reads from its stream and adds to it.

    Args:
        source: the source words. ``written``: the decoder's input. ``next_words``: the target at each position.
        layers: how often the framed part is stacked.
        norm: ``"post"`` or ``"pre"``.

    Raises:
        ValueError: for another norm.
    """
    if norm not in ("post", "pre"):
        raise ValueError(f"norm must be 'post' or 'pre', got {norm!r}")
    ax = canvas(ax, (5.0, 6.9), (-0.05, 8.25), (-0.1, 10.9))
    reads = ["self-attention\n(padding mask)", "feed-forward"]
    writes = ["self-attention\n(causal mask)", "cross-attention\n(padding mask)", "feed-forward"]
    left = _column(ax, _LEFT, 1, reads, norm, f"encoder, {layers} ×")
    right = _column(ax, _RIGHT, -1, writes, norm, f"decoder, {layers} ×")
    for x, middle, text, side in ((_LEFT, 1.4, source, "left"), (_RIGHT, 6.8, written, "right")):
        box_around(ax, (middle, 1.3), 2.6, 0.85, "word vectors · √D\n+ positions", size=_SIZE, fill="white")
        ax.text(0.0 if side == "left" else 8.2, 0.1, text, ha=side, va="center", fontstyle="italic", fontsize=_SIZE)
        arrow(ax, (x, 0.35), (x, 0.85))
    _memory(ax, left, _FIRST + _ROW)
    box_around(ax, (6.6, right + 0.75), 3.1, 0.85, "a score per word,\nthen softmax", size=_SIZE, fill="white")
    arrow(ax, (_RIGHT, right - 0.02), (_RIGHT, right + 0.32), BLUE, 2.6)
    arrow(ax, (_RIGHT, right + 1.18), (_RIGHT, right + 1.55))
    ax.text(8.2, right + 1.75, next_words, ha="right", va="center", fontstyle="italic", fontsize=_SIZE)
    return ax


def _column(ax: Axes, x: float, side: int, sublayers: Sequence[str], norm: str, name: str) -> float:
    """One stream with its sublayers; returns the height of its upper end."""
    top = _FIRST + _ROW * (len(sublayers) - 1) + 1.2
    frame: Look = {"facecolor": "none", "edgecolor": FAINT, "linestyle": "--", "linewidth": 1.2}
    ax.add_patch(Rectangle((0.0 if side > 0 else 4.3, _FIRST - 1.15), 3.9, top - _FIRST + 1.2, **frame))
    say(ax, x + 2.95 * side, top - 0.22, name, ha="right" if side > 0 else "left", weight="bold", size=_SIZE)
    line(ax, (x, x), (1.75, top + 0.68), BLUE, 2.6)
    for row, sublayer in enumerate(sublayers):
        _sublayer(ax, x, side, _FIRST + _ROW * row, sublayer, norm)
    if norm == "pre":
        box_around(ax, (x, top + 0.42), 1.6, 0.42, _NORM, size=_SIZE, fill="white")
    return top + 0.68


def _sublayer(ax: Axes, x: float, side: int, y: float, name: str, norm: str) -> None:
    """A box beside the stream, a plus where its output is added; the norm below it, or on the stream."""
    fills = {"self-attention": READS, "cross-attention": WRITES}  # orange like the memory, which only the latter reads
    face = fills.get(name.partition("\n")[0], PAPER)
    middle = x + 1.9 * side
    box_around(ax, (middle, y), 2.2, 0.85, name, size=_SIZE, fill=face)
    line(ax, (x, middle), (y - 0.8, y - 0.8))
    if norm == "pre":
        box_around(ax, (middle, y - 0.8), 1.6, 0.42, _NORM, size=_SIZE, fill="white")
    arrow(ax, (middle, y - 0.59 if norm == "pre" else y - 0.8), (middle, y - 0.43))
    arrow(ax, (middle - 1.1 * side, y), (x + 0.16 * side, y))
    plus = {"boxstyle": "circle,pad=0.05", "facecolor": "white", "edgecolor": BLUE}
    ax.text(x, y, "+", ha="center", va="center", bbox=plus, zorder=3)
    if norm == "post":
        box_around(ax, (x, y + 0.68), 1.6, 0.42, _NORM, size=_SIZE, fill="white")


def _memory(ax: Axes, start: float, cross: float) -> None:
    """What the encoder made of the source, led to the decoder's second sublayer: keys and values, not queries."""
    line(ax, (_LEFT, _LEFT, 4.1, 4.1), (start, start + 0.45, start + 0.45, cross), TRUTH_COLOUR, 2.0, zorder=2)
    arrow(ax, (4.08, cross), (4.42, cross), TRUTH_COLOUR, 2.0)
    ax.text(2.4, start + 0.55, "memory", ha="center", va="bottom", color=TRUTH_COLOUR, fontsize=_SIZE)
    ax.text(4.0, start + 0.36, "keys, values", ha="right", va="top", color=TRUTH_COLOUR, fontsize=_SIZE)
    ax.text(6.83, cross - 0.76, "queries", ha="center", va="bottom", color=INK, fontsize=_SIZE - 1)


def plot_with_and_without(
    rows: Mapping[str, tuple[Sequence[float], Sequence[float]]], names: tuple[str, str], xlabel: str
) -> Axes:
    """Draw two kinds of error rates on a logarithmic axis: a row per model, a mark per seed of each kind.

    The first row's second kind is the one to compare with: a line at its mean runs through all rows.

    Args:
        rows: ``{name: (values of the first kind, values of the second)}`` in per cent, from top to bottom; a kind that
            was not measured is empty.
        names: what the two kinds are called in the legend.

    Raises:
        ValueError: if there is no row, a rate is not above 0, or the first row has nothing to compare with.
    """
    if not rows or not next(iter(rows.values()))[1]:
        raise ValueError("rows must hold at least one model, and its second kind at least one value")
    if min(value for kinds in rows.values() for values in kinds for value in values) <= 0:
        raise ValueError("every rate must be above 0 on a logarithmic axis")
    ax = new_axes(size=(6.5, 1.7 + 0.5 * len(rows)))
    ax.axvline(float(np.mean(next(iter(rows.values()))[1])), color=INK, linestyle="--", linewidth=1.2, zorder=1)
    looks: tuple[Look, Look] = (
        {"marker": "s", "color": STYLES[1].colour, "markerfacecolor": "white", "markeredgewidth": 1.8, "markersize": 8},
        {"marker": "o", "color": STYLES[0].colour, "markersize": 6, "alpha": 0.75},
    )
    for kind, (name, look, shift) in enumerate(zip(names, looks, (-0.16, 0.16), strict=True)):
        points = [(value, row + shift) for row, kinds in enumerate(rows.values()) for value in kinds[kind]]
        ax.plot(*zip(*points, strict=True), linestyle="none", label=name, zorder=3, clip_on=False, **look)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel=xlabel, xscale="log", ylim=(len(rows) - 0.5, -0.5), xlim=(0.5, 115))
    ax.set_xticks([0.5, 1, 2, 5, 10, 20, 50, 100], ["0.5", "1", "2", "5", "10", "20", "50", "100"])
    ax.minorticks_off()
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return ax


def plot_by_learning_rate(
    panels: Mapping[str, Mapping[str, Mapping[float, Sequence[float]]]], ylabel: str
) -> list[Axes]:
    """Draw a number against the learning rate, one panel per kind of model: a dot per seed, a line through the means.

    Args:
        panels: ``{title: {curve: {learning rate: [one value per seed]}}}``.
        ylabel: what the numbers are.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its curves")
    figure, axes = plt.subplots(1, len(panels), figsize=(7.6, 3.8), sharey=True, layout="constrained", squeeze=False)
    for ax, (title, curves) in zip(axes[0], panels.items(), strict=True):
        for shift, (name, points), style in zip((0.97, 1.03), curves.items(), STYLES, strict=False):
            at = [rate * shift for rate in points]
            means = [float(np.mean(values)) for values in points.values()]
            ax.plot(at, means, color=style.colour, linestyle=style.line, marker="")
            dots = [(x, value) for x, values in zip(at, points.values(), strict=True) for value in values]
            look: Look = {"color": style.colour, "linestyle": "none", "alpha": 0.75, "clip_on": False, "zorder": 3}
            ax.plot(*zip(*dots, strict=True), style.marker, label=name, **look)
        rates = sorted({rate for points in curves.values() for rate in points})
        ax.set(title=title, xlabel="learning rate", xscale="log", ylim=(-0.03, 1.03))
        ax.set_xlim(rates[0] / 1.25, rates[-1] * 1.25)
        ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
        ax.minorticks_off()
    axes[0][0].set_ylabel(ylabel)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return list(axes[0])


def plot_without_heads(rows: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], ylabel: str) -> list[Axes]:
    """Draw a number for each head: one row of panels per model, one panel per kind of attention, one dot per table.

    Args:
        rows: ``{model: {name: {kind of attention: [one value per head, layer after layer]}}}``; each layer has four
            heads, and all models have the same names and kinds.
        ylabel: what the numbers are.

    Returns:
        the panels, row after row.

    Raises:
        ValueError: if there is no row.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one model")
    kinds = list(next(iter(next(iter(rows.values())).values())))
    shape = (len(rows), len(kinds))
    size = (7.6, 1.3 + 1.55 * len(rows))
    figure, grid = plt.subplots(*shape, figsize=size, sharex=True, sharey=True, layout="constrained", squeeze=False)
    for axes, (row, tables) in zip(grid, rows.items(), strict=True):
        for ax, kind in zip(axes, kinds, strict=True):
            _dots_of_heads(ax, {name: table[kind] for name, table in tables.items()})
        axes[-1].text(1.03, 0.5, row, transform=axes[-1].transAxes, rotation=-90, va="center")
    for ax, kind in zip(grid[0], kinds, strict=True):
        ax.set_title(kind)
    for ax in grid[-1]:
        ax.set_xlabel("layer.head")
    figure.supylabel(ylabel, fontsize=12)
    names = grid[0][0].get_legend_handles_labels()
    figure.legend(*names, loc="outside upper left", ncols=2)
    return list(grid.flat)


def _dots_of_heads(ax: Axes, table: Mapping[str, Sequence[float]]) -> None:
    """One kind of dot per name, at each head."""
    heads = len(next(iter(table.values())))
    for shift, (name, values), style in zip((-0.14, 0.14), table.items(), STYLES, strict=False):
        at = np.arange(heads) + shift
        ax.plot(at, values, style.marker, color=style.colour, linestyle="none", label=name, clip_on=False)
    ax.set_xticks(range(heads), [f"{number // 4 + 1}.{number % 4 + 1}" for number in range(heads)])
    ax.tick_params(axis="x", labelsize=9.5)
    ax.set_ylim(-0.03, 1.03)


def plot_three_maps(panels: Mapping[str, tuple]) -> list[Axes]:
    """Draw maps of weights side by side, 0 white and 1 dark.

    Args:
        panels: ``{title: (weights (T, Tk), words of the keys, words of the queries)}``.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one")
    size = (3.35 * len(panels), 4.3)
    _, grid = plt.subplots(1, len(panels), figsize=size, layout="constrained", squeeze=False)
    for ax, (title, (weights, keys, rows)) in zip(grid[0], panels.items(), strict=True):
        plot_alignment(weights, keys, rows, ax=ax, title=title, bar=False, xlabel="key", ylabel="query")
    return list(grid[0])


def plot_shares_right(panels: Mapping[str, Mapping[str, Mapping[str, float]]], xlabels: Sequence[str]) -> list[Axes]:
    """Draw tables of shares side by side, in per cent and as colours: one row per model, one column per kind of output.

    Args:
        panels: ``{title: {row: {column: share}}}``; all rows of a panel have the same columns, and all panels the same
            rows. What was not measured is NaN, and gets a dash.
        xlabels: what the columns are, panel by panel.

    Raises:
        ValueError: if there is no panel or no row, or rows or columns differ.
    """
    if not panels or not all(panels.values()):
        raise ValueError("panels must hold at least one title with at least one row")
    rows = list(next(iter(panels.values())))
    columns = {title: list(next(iter(table.values()))) for title, table in panels.items()}
    for title, table in panels.items():
        if list(table) != rows or any(list(shares) != columns[title] for shares in table.values()):
            raise ValueError(f"{title!r} must have the rows of the first panel, and the same columns in each row")
    counts = [len(names) for names in columns.values()]
    size = (2.1 + 0.58 * sum(counts), 1.6 + 0.36 * len(rows))
    look: Look = {"figsize": size, "layout": "constrained", "width_ratios": counts}
    _, axes = plt.subplots(1, len(panels), sharey=True, squeeze=False, **look)
    for ax, (title, table), xlabel in zip(axes[0], panels.items(), xlabels, strict=True):
        values = np.array([[100 * shares[name] for name in columns[title]] for shares in table.values()])
        image = draw_cells(ax, values, (0, 100))
        shown = {at: "–" if np.isnan(value) else f"{value:.0f}" for at, value in np.ndenumerate(values)}
        write_in_cells(ax, image, shown, size=10)
        ax.set(title=title, xlabel=xlabel)
        ax.set_xticks(range(len(columns[title])), columns[title])
        ax.tick_params(axis="x", labelsize=10)
    axes[0][0].set_yticks(range(len(rows)), rows)
    return list(axes[0])
