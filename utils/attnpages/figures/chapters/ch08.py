"""Figures of chapter 08: multi-head attention, what heads attend to, scores over distance."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, say
from attnpages.figures.heat import as_matrix, draw_cells, write_in_cells
from attnpages.figures.palette import FAINT, INK, PALE, SAND
from attnpages.figures.style import STYLES, Look, new_axes, readable, styles_for


def draw_heads(queries: object, keys: object, values: object, words: Sequence[str], query: int) -> Axes:
    """Draw what one word receives from one head, and from two heads that share the same columns.

    Args:
        queries, keys, values: ``(T, D)`` each; the first half of the columns belongs to head 0, the second to head 1.
        words: the T words. query: the position of the word that attends.

    Raises:
        ValueError: if the matrices don't have the same shape, with a row per word and an even number of columns.
    """
    q, k, v = (as_matrix(name, part) for name, part in (("queries", queries), ("keys", keys), ("values", values)))
    if not (q.shape == k.shape == v.shape) or len(q) != len(words) or q.shape[1] % 2:
        raise ValueError(
            f"give matrices of one shape, a row per word, even columns; got {q.shape}, {k.shape}, {v.shape}"
        )
    ax = canvas(None, (6.5, 6.3), (0, 13), (0, 12.6))
    half = q.shape[1] // 2
    for x, name, part in zip((1.3, 5.3, 9.3), ("queries Q", "keys K", "values V"), (q, k, v), strict=True):
        _halves(ax, (x, 9.3), part, half, framed=query if name[0] == "q" else None)
        say(ax, x + 1.7, 12.1, name, size=12, weight="bold")
    for row, word in enumerate(words):
        say(ax, 1.1, 11.25 - 0.8 * row, word, ha="right", weight="bold" if row == query else "normal")
    say(ax, 7.0, 8.75, "split: columns 0 and 1 for head 0, columns 2 and 3 for head 1", size=11)
    contexts = _each_head(ax, (q[query], k, v), words)
    _halves(ax, (6.9, 1.75), np.concatenate(contexts[1:])[None], half, decimals=2, wide=1.4)
    say(ax, 6.7, 2.15, f"{words[query]}, merged", ha="right")
    arrow(ax, (9.7, 1.7), (9.7, 1.05))
    box_around(ax, (9.7, 0.6), 6.2, 0.85, "project again: multiply by $W_o$", size=11)
    return ax


def _each_head(ax: Axes, parts: tuple[np.ndarray, np.ndarray, np.ndarray], words: Sequence[str]) -> list[np.ndarray]:
    """The boxes of one head with all columns and of two with half of them; returns what each of the three receives."""
    (query, keys, values), half = parts, len(parts[0]) // 2
    heads = {"one head": slice(0, 2 * half), "head 0": slice(0, half), "head 1": slice(half, 2 * half)}
    contexts = []
    for number, (name, columns) in enumerate(heads.items()):
        scores = keys[:, columns] @ query[columns] / query[columns].size ** 0.5
        shares = np.exp(scores) / np.exp(scores).sum()
        contexts.append(shares @ values[:, columns])
        rows = zip(words, scores, shares, strict=True)
        _head_box(
            ax,
            number,
            name,
            [f"{word}: {score:.2f}, so {100 * share:.0f} %" for word, score, share in rows],
            contexts[-1],
        )
    return contexts


def _halves(
    ax: Axes, corner: tuple[float, float], matrix: np.ndarray, half: int, framed: int | None = None,
    decimals: int = 0, wide: float = 0.85,
) -> None:  # fmt: skip
    """A matrix as cells with numbers, the columns of each head in its colour; ``corner`` is its lower left one."""
    for (row, column), value in np.ndenumerate(matrix):
        x, y = corner[0] + wide * column, corner[1] + 0.8 * (len(matrix) - 1 - row)
        look: Look = {"facecolor": STYLES[column // half].colour, "alpha": 0.3, "edgecolor": INK, "linewidth": 0.8}
        ax.add_patch(Rectangle((x, y), wide, 0.8, **look))
        say(ax, x + wide / 2, y + 0.4, f"{value:.{decimals}f}", weight="bold" if value else "normal")
    if framed is not None:
        y = corner[1] + 0.8 * (len(matrix) - 1 - framed)
        ax.add_patch(Rectangle((corner[0], y), wide * matrix.shape[1], 0.8, fill=False, edgecolor=INK, linewidth=2.5))


def _head_box(ax: Axes, number: int, name: str, lines: Sequence[str], context: np.ndarray) -> None:
    """What one head computes: its weights, and the context; the first box is that of one head with all columns."""
    x = 2.2 + 4.3 * number
    colour = STYLES[number - 1].colour if number else FAINT
    ax.add_patch(Rectangle((x - 2.0, 3.5), 4.0, 4.7, facecolor=colour, alpha=0.3, edgecolor=INK, linewidth=1.2))
    columns = "all columns" if not number else f"columns {2 * number - 2} and {2 * number - 1}"
    say(ax, x, 7.75, name, size=12, weight="bold")
    say(ax, x, 7.2, columns, size=11)
    say(ax, x, 5.85, "\n".join(["scores and weights:", *lines]), size=11)
    say(ax, x, 4.1, f"receives {context[0]:.2f}", size=12, weight="bold")
    if number:
        arrow(ax, (x, 3.45), (8.3 if number == 1 else 11.1, 2.65))


def plot_heads_at(
    weights: object,
    names: Sequence[str],
    words: Sequence[str],
    query: int,
    split: int | None = None,
    least: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw what one word attends to in several heads: one row per head, one column per word, shares in percent.

    Args:
        weights: ``(heads, T)``, from 0 to 1. names: of the rows. words: the T words.
        query: the position of the word that attends; its name is bold.
        split: a thick line is drawn above this row. least: smaller weights get no number.

    Raises:
        ValueError: if there are not as many weights as names and words, or ``query`` is none of the words.
    """
    values = as_matrix("weights", weights)
    if values.shape != (len(names), len(words)) or not 0 <= query < len(words):
        raise ValueError(f"{values.shape} weights don't fit {len(names)} names, {len(words)} words and query {query}")
    ax = new_axes(ax, (6.5, 0.3 * len(names) + 1.5))
    image = draw_cells(ax, values, (0.0, 1.0))
    ax.set_xticks(range(len(words)), words, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.get_xticklabels()[query].set_fontweight("bold")
    shares = {at: f"{100 * value:.0f}" for at, value in np.ndenumerate(values) if value >= least}
    write_in_cells(ax, image, shares, size=10)
    if split is not None:
        ax.axhline(split - 0.5, color=INK, linewidth=2.5)
    ax.set(xlabel="word that is attended to", ylabel="")
    return ax


def plot_readouts(panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]], xlabel: str) -> list[Axes]:
    """Draw the shares that models reach with several readouts: one panel per task, one row per attention.

    Args:
        panels: ``{title: {readout: {row: [one share per seed]}}}`` with the same readouts and rows in each.
        xlabel: what is measured; the shares, from 0 to 1, are drawn in percent.

    Raises:
        ValueError: if there is no panel, or the panels differ in their readouts or rows.
    """
    shapes = [{readout: list(rows) for readout, rows in panel.items()} for panel in panels.values()]
    rows = next(iter(shapes[0].values()), []) if shapes else []
    if not rows or any(shape != dict.fromkeys(shapes[0], rows) for shape in shapes):
        raise ValueError(f"panels must hold at least one panel, all with the same readouts and rows, got {shapes}")
    size = (6.5, 0.42 * len(rows) + 1.5)
    figure, grid = plt.subplots(1, len(panels), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for ax, (title, panel) in zip(grid[0], panels.items(), strict=True):
        for (readout, of), style in zip(panel.items(), (STYLES[1], STYLES[0]), strict=False):
            points = [(100 * share, row) for row, name in enumerate(rows) for share in of[name]]
            xs, ys = zip(*points, strict=True)
            ax.plot(xs, ys, linestyle="", marker=style.marker, color=style.colour, label=readout, clip_on=False)
        ax.set_title(title, loc="left", fontsize=12)
        ax.set(xlim=(0, 100), ylim=(len(rows) - 0.5, -0.5), xticks=range(0, 101, 25))
        ax.set_yticks(range(len(rows)), rows)
    figure.set_layout_engine("constrained", wspace=0.1)  # lest 100 of one axis touch 0 of the next
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    figure.supxlabel(xlabel, fontsize=12)
    return list(grid[0])


def plot_by_distance(
    curves: Mapping[str, Sequence[float]],
    distances: Sequence[float],
    trained: tuple[float, float],
    xlabel: str = "target position minus source position (words)",
    ylabel: str = "mean score (before softmax)",
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores change with the distance of query and key; the distances of training are shaded.

    Args:
        curves: ``{name: [one value per distance]}``. trained: smallest and largest distance of training.

    Raises:
        ValueError: if there is no curve, or one hasn't a value for each distance.
    """
    if not curves or any(len(values) != len(distances) for values in curves.values()):
        raise ValueError("curves must hold at least one curve, with one value for each distance")
    ax = new_axes(ax)
    ax.axvspan(*trained, zorder=0, facecolor=SAND, edgecolor="none", label="distances seen in training")
    at = as_array(distances)
    for name, style in styles_for(curves).items():
        values = as_array(curves[name])
        ax.plot(at, values, color=style.colour, linestyle=style.line, marker="", label=readable(name))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def plot_hands(
    sizes: Sequence[float], terms: Mapping[str, Sequence[float]], distances: Sequence[float], scores: Sequence[float]
) -> list[Axes]:
    """Draw the score of a query and a key hand by hand, and below it their sum over the distance.

    Args:
        sizes: the largest term of each hand, ``|q| |k|``, from the fastest hand on; grey bars.
        terms: ``{name of a distance: [the term of each hand there]}``. distances: of the lower panel.
        scores: the sum of all terms at each of them.

    Raises:
        ValueError: if there is no hand, terms do not fit the hands, or scores do not fit the distances.
    """
    if not len(sizes) or any(len(of) != len(sizes) for of in terms.values()) or len(scores) != len(distances):
        raise ValueError("give one term per hand at each named distance, and one score for each distance")
    _, (top, below) = plt.subplots(2, 1, figsize=(6.5, 5.2), layout="constrained")
    hands = range(1, len(sizes) + 1)
    height = 2 * as_array(sizes)
    top.bar(hands, height, 0.9, -height / 2, color=PALE, edgecolor=FAINT, linewidth=0.6, label="from least to most")
    for i, (name, style) in enumerate(styles_for(terms).items()):
        at = [hand + 0.4 * (i - (len(terms) - 1) / 2) for hand in hands]  # side by side, lest one hide the other
        look: Look = {"marker": style.marker, "markersize": 4.5, "color": style.colour}
        top.plot(at, as_array(terms[name]), linestyle="", label=name, **look)
    top.set(xlabel="hand, from the fastest to the slowest", ylabel="term of the score", xlim=(0.3, len(sizes) + 0.7))
    top.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(terms) + 1, fontsize=10)
    below.plot(as_array(distances), as_array(scores), marker=".", color=STYLES[0].colour)
    below.set(xlabel="position of the key minus position of the query", ylabel="score (the sum)")
    for ax in (top, below):
        ax.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    return [top, below]
