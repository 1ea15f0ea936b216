"""Figures of chapter 02: one vector or all, sums of values, which scores rise, the model, gradients, paths, kinds."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon, Rectangle

from attnpages.figures.boxes import Point, arrow, box_around, canvas, line, say
from attnpages.figures.heat import plot_heat
from attnpages.figures.palette import BLUE, DARK_GREY, FAINT, GREEN, INK, OKABE_BLUE, PAPER, READS, RUST, WRITES
from attnpages.figures.style import TRUTH_COLOUR, Look, new_axes

_STEP = 1.6  # from one annotation to the next
_HALF = 0.42  # half the height of an annotation, whose two halves are the states of the two GRUs
_PATHS = (-0.6, 2.3, 5.2, 8.1)  # the last states, three, hundred and eighty
# Heights, from the source words at the bottom to the target words at the top.
_SOURCE, _STATES, _QUERY, _SCORES, _SOFTMAX, _WEIGHTS, _SUM, _CELL, _OUTPUT, _TARGET = (
    -0.5, 0.85, 1.75, 2.45, 3.45, 4.1, 5.95, 7.3, 8.75, 9.95,
)  # fmt: skip


def draw_one_or_all(
    words: Sequence[str],
    written: Sequence[str],
    weights: Mapping[int, Sequence[float]],
    start: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw an encoder and a decoder, one box per step, twice: joined by one state, and by weighted sums of all states.

    In both drawings the last state leads to the decoder: as the one vector, which every step receives (dashed), and as
    its first state beside the sums.

    Args:
        words: the source words. written: the target words. start: the decoder's first input.
        weights: ``{step: one weight per source word}`` of the first step and of the last one; the lines below follow
            them.

    Raises:
        ValueError: if a step is not the first or the last one, or has not as many weights as there are words.
    """
    if {*weights} - {1, len(written)}:
        raise ValueError(f"weights has the steps {[*weights]}; only steps 1 and {len(written)} can be drawn")
    for row in weights.values():
        if len(words) != len(row):
            raise ValueError(f"weights has {len(row)} numbers but there are {len(words)} words; give one per word")
    first, columns = len(words) + 1, len(words) + 1 + len(written)  # the decoder's first step; an empty column before
    ax = canvas(ax, (6.5, 6.3), (-0.6, columns - 0.1), (-1.4, 6.8))
    top = 5.1  # where the states of the upper drawing stand; those of the lower one stand at 0
    for y, title, height in ((top, "one vector", top + 1.3), (0.0, "attention", 2.75)):
        say(ax, -0.5, height, title, ha="left", size=12, weight="bold")
        for column, word in enumerate(words):
            _step(ax, column, y, f"$h_{{{column + 1}}}$", READS, below=word)
        for step, (read, word) in enumerate(zip([start, *written], written, strict=False), start=1):
            _step(ax, first + step - 1, y, f"$s_{{{step}}}$", WRITES, below=read, above=word)
        for column in (*range(len(words) - 1), *range(first, columns - 1)):
            arrow(ax, (column + 0.34, y), (column + 0.66, y))
    arrow(ax, (first - 2 + 0.34, top), (first - 0.34, top), colour=BLUE, width=3.4)
    say(ax, first - 1, top + 0.35, f"$c = h_{{{len(words)}}}$", size=12, colour=BLUE)
    say(ax, (len(words) - 1) / 2, top - 1.6, "encoder")
    say(ax, (first + columns - 1) / 2, top - 1.6, "decoder")
    middle = (len(words) - 1) / 2
    for step, row in weights.items():
        if step == 1:  # a straight arrow to its state; the last state is reached over the words written, from the right
            colour, (x, y) = GREEN, (middle + 1.0, 1.3)
            arrow(ax, (x + 0.27, y), (first - 0.28, 0.34), colour=colour, width=2.4)
            say(ax, (x + first) / 2 + 0.15, 1.15, "$c_1$", size=12, colour=colour)
        else:
            colour, (x, y) = DARK_GREY, (middle - 0.5, 2.05)
            side = columns - 0.35
            line(ax, [x + 0.27, side, side], (y, y, 0), colour, 2.4)
            arrow(ax, (side, 0.0), (columns - 1 + 0.33, 0.0), colour=colour, width=2.4)
            say(ax, first - 1, y + 0.27, f"$c_{{{step}}}$", size=12, colour=colour)
        for column, weight in enumerate(row):
            line(ax, (column, x), (0.32, y), colour, 0.8 + 6 * weight)
        ax.add_patch(Circle((x, y), 0.27, facecolor="white", edgecolor=colour, linewidth=2, zorder=4))
        ax.text(x, y, "Σ", ha="center", va="center", fontsize=13, color=colour, zorder=5)
    box_around(ax, (first - 1, 0.0), 0.64, 0.64, "$s_0$", size=13, fill=WRITES, edge=INK)  # with attention, too
    for column in (first - 2, first - 1):
        arrow(ax, (column + 0.34, 0.0), (column + 0.66, 0.0))
    low, left = top - 0.56, 0.17  # of the line from c, and how far left of the word read its arrows rise
    line(ax, [first - 1, first - 1, columns - 1 - left], (top, low, low), BLUE, 1.6, dashed=True)
    for column in range(first, columns):
        arrow(ax, (column - left, low), (column - left, top - 0.34), colour=BLUE, width=1.6, dashed=True)
    return ax


def _step(ax: Axes, x: float, y: float, name: str, fill: str, below: str, above: str = "") -> None:
    """A state, the word that it reads and the word that is written from it."""
    box_around(ax, (x, y), 0.64, 0.64, name, size=13, fill=fill, edge=INK)
    ax.text(x, y - 1.1, below, ha="center", va="center", fontstyle="italic")
    arrow(ax, (x, y - 0.85), (x, y - 0.34))
    if above:
        ax.text(x, y + 1.1, above, ha="center", va="center", fontstyle="italic", fontweight="bold")
        arrow(ax, (x, y + 0.34), (x, y + 0.88))


def draw_weighted_sums(
    words: Sequence[str],
    values: Sequence[Sequence[float]],
    features: Sequence[str],
    weights: Mapping[str, Sequence[float]],
    steps: Sequence[int],
    ax: Axes | None = None,
) -> Axes:
    """Draw one panel per target word: the same values as columns of cells, its weights as bars, and the weighted sum.

    Args:
        words: the source words. values: one vector per word. features: the names of its numbers.
        weights: ``{target word: one weight per source word}``. steps: the step of each target word, which its sum is
            named after.

    Raises:
        ValueError: if a word has no value, a value or a target word not as many numbers as it needs.
    """
    sizes = {len(value) for value in values}
    if len(steps) != len(weights):
        raise ValueError(f"steps has {len(steps)} numbers but there are {len(weights)} target words; give one per word")
    if len(values) != len(words) or sizes != {len(features)} or {len(row) for row in weights.values()} != {len(words)}:
        raise ValueError("give one value per word, one name per feature, and one weight per word for each target word")
    wide, count = len(words) + 2.4, len(features)  # of a panel, whose last column is the sum
    ax = canvas(ax, (6.5, 3.5), (-2.0, wide * len(weights) - 1.2), (-0.95 - 0.7 * count, 2.75))
    most = [max(abs(value[row]) for value in values) or 1 for row in range(count)]
    for row, name in enumerate(features):
        say(ax, -0.75, -0.35 - 0.7 * row, name, ha="right", size=10)
    say(ax, -0.75, 0.6, "weight", ha="right", size=10)
    for panel, (step, (target, of_words)) in enumerate(zip(steps, weights.items(), strict=True)):
        left = wide * panel
        say(ax, left + (len(words) - 1) / 2, 2.5, f"the step of {target}", weight="bold")
        total = [
            sum(weight * value[row] for weight, value in zip(of_words, values, strict=True)) for row in range(count)
        ]
        for column, (word, value, weight) in enumerate(zip(words, values, of_words, strict=True)):
            ax.add_patch(Rectangle((left + column - 0.3, 0.15), 0.6, 1.6 * weight, facecolor=BLUE, linewidth=0))
            say(ax, left + column, 0.42 + 1.6 * weight, f"{weight:.2f}", size=10)
            _cells(ax, left + column, value, most, BLUE)
            say(ax, left + column, -0.4 - 0.7 * count, word, size=10)
        last = left + len(words) + 0.35
        say(ax, last - 0.68, -0.7 * count / 2, "→", size=12)
        _cells(ax, last, total, most, RUST, decimals=1)
        say(ax, last, -0.4 - 0.7 * count, f"$c_{{{step}}}$", size=12)
    return ax


def _cells(ax: Axes, x: float, vector: Sequence[float], most: Sequence[float], edge: str, decimals: int = 0) -> None:
    """A vector as a column of cells, each as dark as its number is large."""
    for row, number in enumerate(vector):
        corner = (x - 0.42, -0.7 * (row + 1))
        share = min(1, abs(number) / most[row])
        ax.add_patch(Rectangle(corner, 0.84, 0.7, facecolor=OKABE_BLUE, alpha=0.5 * share, linewidth=0))
        ax.add_patch(Rectangle(corner, 0.84, 0.7, facecolor="none", edgecolor=edge, linewidth=1.2))
        say(ax, x, corner[1] + 0.34, f"{number:.{decimals}f}", size=10)


def plot_pull(
    values: Mapping[str, Point],
    context: Point,
    target: Point,
    labels: tuple[str, str],
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw values, their context and where the context should be, and which scores rise under gradient descent.

    The loss is half the squared distance from context to target. A score rises where its value lies on the target's
    side of the dashed line, which passes through the context at right angles to the way to the target.

    Args:
        values: ``{name: (x, y)}``. labels: of the two axes.

    Raises:
        ValueError: if context and target are the same point, from which no way leads.
    """
    way = np.subtract(target, context)
    if not way.any():
        raise ValueError(f"context and target are both {tuple(context)}; put the target elsewhere")
    ax = new_axes(ax, (3.2, 4.2))
    ax.set(xlim=(-1.6, 5.4), ylim=(-1.2, 8.4), aspect="equal", xlabel=labels[0], ylabel=labels[1], title=title)
    ax.grid(False)
    along, ahead = 30 * np.array([-way[1], way[0]]) / np.hypot(*way), 30 * way / np.hypot(*way)
    corners = [np.add(context, shift) for shift in (along, along + ahead, ahead - along, -along)]
    ax.add_patch(Polygon(corners, facecolor=READS, edgecolor="none", zorder=0))
    line(ax, (corners[0][0], corners[3][0]), (corners[0][1], corners[3][1]), FAINT, 1.3, dashed=True)
    for name, value in values.items():
        _value(ax, name, value, rises=float(np.subtract(value, context) @ way) > 0, above=value[1] > context[1])
    ax.plot(*target, marker="o", linestyle="", color="none", markeredgecolor=RUST, markeredgewidth=2, markersize=19)
    arrow(ax, context, tuple(context + 1.5 * way / np.hypot(*way)), colour=RUST, width=2)
    ax.plot(*context, marker="o", linestyle="", color=RUST, markersize=6, zorder=4)
    return ax


def _value(ax: Axes, name: str, at: Point, rises: bool, above: bool) -> None:
    """A value, as a full triangle if its score rises, else as an empty one that points down."""
    colour, marker = (BLUE, "^") if rises else ("white", "v")
    ax.plot(*at, marker=marker, linestyle="", color=colour, markeredgecolor=INK, markersize=10)
    say(ax, at[0], at[1] + (0.85 if above else -0.85), name, weight="bold" if rises else "normal")


def draw_attention_decoder(
    words: Sequence[str], weights: Sequence[float], before: str, after: str, ax: Axes | None = None
) -> Axes:
    """Draw one step of a decoder with attention: annotations, scores, weights, weighted sum, state and output.

    Args:
        words: the source words. ``weights``: one weight per word; bars and lines follow them.
        before: the target word of the step before. ``after``: the word that this step predicts.

    Raises:
        ValueError: if there are not as many weights as words.
    """
    if len(words) != len(weights):
        raise ValueError(f"weights has {len(weights)} numbers but there are {len(words)} words; give one per word")
    last = _STEP * (len(words) - 1)
    ax = canvas(ax, (6.5, 7.6), (-2.75, last + 2.05), (-0.9, 10.3))
    middle = last / 2
    for position, (word, weight) in enumerate(zip(words, weights, strict=True), start=1):
        _annotation(ax, _STEP * (position - 1), position, word, weight, middle)
    for position in range(len(words) - 1):
        for height, ends in ((_STATES + _HALF / 2, (0.44, 1.16)), (_STATES - _HALF / 2, (1.16, 0.44))):
            arrow(ax, (_STEP * position + ends[0], height), (_STEP * position + ends[1], height))
    box_around(ax, (middle, _SOFTMAX), last + 1.1, 0.44, "softmax", size=11, fill=PAPER, edge=INK)
    ax.add_patch(Circle((middle, _SUM), 0.34, facecolor="white", edgecolor=BLUE, linewidth=2, zorder=4))
    ax.text(middle, _SUM, "Σ", ha="center", va="center", fontsize=15, color=BLUE, zorder=5)
    _values(ax, last, middle)
    _decoder(ax, middle, before, after)
    _query(ax, last)
    rows = ((_TARGET, "target"), (_CELL, "decoder\nstate"), (_WEIGHTS + 0.35, "weights\n$\\alpha_{tj}$"),
            (_SCORES, "scores\n$e_{tj}$"), (_STATES, "annota-\ntions $h_j$"), (_SOURCE, "source"))  # fmt: skip
    for height, text in rows:
        ax.text(-1.45, height, text, ha="right", va="center")
    return ax


def _annotation(ax: Axes, x: float, position: int, word: str, weight: float, middle: float) -> None:
    for side, name in ((1, "overrightarrow"), (-1, "overleftarrow")):  # one GRU reads to the right, one to the left
        centre, text = (x, _STATES + side * _HALF / 2), rf"$\{name}{{h}}_{position}$"
        box_around(ax, centre, 0.84, _HALF - 0.04, text, size=10, fill=READS, edge=INK)
    ax.text(x, _SOURCE, word, ha="center", va="center", fontstyle="italic")
    arrow(ax, (x, -0.12), (x, _STATES - _HALF - 0.02))
    arrow(ax, (x + 0.17, _STATES + _HALF), (x + 0.17, _SCORES - 0.26))  # the key
    arrow(ax, (x - 0.2, _QUERY), (x - 0.2, _SCORES - 0.26), dashed=True)  # the query
    box_around(ax, (x, _SCORES), 0.84, 0.48, "score", size=10, fill=PAPER, edge=INK)
    arrow(ax, (x, _SCORES + 0.26), (x, _SOFTMAX - 0.24))
    frame: Look = {"edgecolor": FAINT, "linewidth": 0.8, "zorder": 3}
    ax.add_patch(Rectangle((x - 0.3, _WEIGHTS), 0.6, 0.75, facecolor="white", **frame))
    ax.add_patch(Rectangle((x - 0.3, _WEIGHTS), 0.6, 0.75 * weight, facecolor=BLUE, linewidth=0, zorder=4))
    ax.text(x + 0.36, _WEIGHTS + 0.58, f"{weight:.2f}", ha="left", va="center", fontsize=10)
    arrow(ax, (x, _SOFTMAX + 0.24), (x, _WEIGHTS - 0.02))
    line(ax, (x, middle), (_WEIGHTS + 0.75, _SUM), BLUE, 0.8 + 6 * weight)


def _values(ax: Axes, last: float, middle: float) -> None:
    """The annotations once more, as values: a frame around all of them, and a line from it up to the sum."""
    start, edge, side = -0.56, last + 0.56, last + 0.95
    low, high = _STATES - _HALF - 0.12, _STATES + _HALF + 0.12
    line(ax, (edge, start, start, edge, edge), (low, low, high, high, low), BLUE, 1.6)
    line(ax, (edge, side, side), (_STATES, _STATES, _SUM), BLUE, 1.6)
    arrow(ax, (side, _SUM), (middle + 0.38, _SUM), colour=BLUE, width=1.6)
    ax.text(side + 0.12, _SCORES + 0.5, "values:\nall $h_j$", ha="left", va="center", color=BLUE)


def _query(ax: Axes, last: float) -> None:
    """From the old state down to the row of scores."""
    line(ax, (-0.52, -1.1, -1.1, last - 0.2), (_CELL, _CELL, _QUERY, _QUERY), INK, 1.3, dashed=True)
    ax.text(-1.2, 5.65, "query", ha="right", va="center")


def _decoder(ax: Axes, middle: float, before: str, after: str) -> None:
    box_around(ax, (0.0, _CELL), 1.0, 0.75, "$s_{t-1}$", size=12, fill=WRITES, edge=INK)
    box_around(ax, (middle, _CELL), 1.0, 0.75, "$s_t$", size=12, fill=WRITES, edge=INK)
    box_around(ax, (middle, _OUTPUT), 1.5, 0.62, "output", size=11, fill=WRITES, edge=INK)
    arrow(ax, (0.52, _CELL), (middle - 0.52, _CELL))
    arrow(ax, (middle, _SUM + 0.36), (middle, _CELL - 0.4))
    ax.text(middle - 0.12, _SUM + 0.62, "context $c_t$", ha="right", va="center")
    arrow(ax, (middle, _CELL + 0.4), (middle, _OUTPUT - 0.33))
    arrow(ax, (middle, _OUTPUT + 0.33), (middle, _TARGET - 0.28))
    ax.text(middle, _TARGET, f"$y_t$ = {after}", ha="center", va="center", fontstyle="italic")
    ax.text(0.0, _OUTPUT, f"$y_{{t-1}}$ = {before}", ha="center", va="center", fontstyle="italic")
    arrow(ax, (0.85, _OUTPUT), (middle - 0.77, _OUTPUT))  # the word before, to the output
    arrow(ax, (0.5, _OUTPUT - 0.25), (middle - 0.52, _CELL + 0.2))  # and to the state
    line(ax, (middle + 0.2, middle + 1.35, middle + 1.35), (_SUM + 0.28, _SUM + 0.28, _OUTPUT), INK)
    arrow(ax, (middle + 1.35, _OUTPUT), (middle + 0.77, _OUTPUT))  # the context, to the output


def draw_attention_backward(ax: Axes | None = None) -> Axes:
    """Draw score, softmax and weighted sum as boxes, with the shapes that go forward and the gradients that return."""
    ax = canvas(ax, (6.5, 3.2), (-1.3, 12.0), (-0.2, 4.4))
    for x, name, fill in ((1.0, "additive\nscore", PAPER), (5.0, "softmax", READS), (9.0, "weighted\nsum", WRITES)):
        box_around(ax, (x, 3.0), 1.9, 1.05, name, size=11, fill=fill, edge=INK)
    stations = (("scores $e$", "(Tq, Tk)", "g_e", (2.0, 4.0)), ("weights $α$", "(Tq, Tk)", "g_α", (6.0, 8.0)),
                ("context $c$", "(Tq, Dv)", "g_c", (10.0, 11.9)))  # fmt: skip
    for name, shape, gradient, (start, end) in stations:
        arrow(ax, (start, 3.2), (end, 3.2))
        _return(ax, (end, 2.8), (start, 2.8))
        _say_both(ax, (start + end) / 2, f"{name}\n{shape}", gradient)
    entries = (
        ("queries $q$\n(Tq, Dq)", "g_q", 0.3),
        ("keys $k$\n(Tk, Dk)", "g_k", 1.7),
        ("values $V$\n(Tk, Dv)", "g_V", 9.0),
    )
    for name, gradient, x in entries:
        side = -1 if gradient == "g_q" else 1  # the gradient of the queries is drawn on the left
        arrow(ax, (x - 0.13 * side, 1.3), (x - 0.13 * side, 2.45))
        _return(ax, (x + 0.13 * side, 2.45), (x + 0.13 * side, 1.3))
        look: Look = {"ha": "right" if side < 0 else "left", "va": "center", "color": TRUTH_COLOUR, "fontsize": 13}
        ax.text(x + 0.35 * side, 1.85, f"${gradient}$", **look)
        ax.text(x + 0.5 * side * (gradient != "g_V"), 1.15, name, ha="center", va="top", fontsize=10)
    for height, colour, back, text in ((0.75, INK, False, "forward"), (0.15, TRUTH_COLOUR, True, "backward")):
        line(ax, (4.2, 5.0), (height, height), colour, 1.6, dashed=back)
        ax.text(5.2, height, text, va="center", color=colour)
    return ax


def _say_both(ax: Axes, x: float, forward: str, gradient: str) -> None:
    ax.text(x, 3.75, forward, ha="center", va="bottom", fontsize=10)
    ax.text(x, 2.6, f"${gradient}$", ha="center", va="top", color=TRUTH_COLOUR, fontsize=13)


def _return(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """The path of a gradient."""
    arrow(ax, start, end, colour=TRUTH_COLOUR, width=1.6, dashed=True)


def draw_three_paths(ax: Axes | None = None) -> Axes:
    """Draw the three paths on which *hundred*, a word of the source, can reach the step that writes *hundert*."""
    ax = canvas(ax, (6.5, 4.6), (-1.75, 9.25), (-0.35, 6.1))
    last, three, hundred, eighty = _PATHS
    for x, name, word in ((three, "three", "drei"), (hundred, "hundred", "hundert")):
        ax.text(x, 0.0, name, ha="center", va="center", fontstyle="italic")
        arrow(ax, (x, 0.25), (x, 0.83))
        box_around(ax, (x, 1.25), 1.9, 0.84, f"annotation\nof {name}", size=10, fill=READS, edge=INK)
        arrow(ax, (x, 4.77), (x, 5.4))
        ax.text(x, 5.7, word, ha="center", va="center", fontstyle="italic")
    box_around(ax, (last, 1.25), 1.9, 0.84, "last states of\nthe encoder", size=10, fill=READS, edge=INK)
    ax.text(eighty, 0.0, "eighty", ha="center", va="center", fontstyle="italic")
    arrow(ax, (eighty, 0.25), (eighty, 0.83))
    box_around(ax, (eighty, 1.25), 1.9, 0.84, "annotation\nof eighty", size=10, fill=READS, edge=INK)
    arrow(ax, (eighty, 1.67), (hundred + 0.26, 2.72), colour=BLUE, width=2)  # into the same context
    for start, end in ((eighty, hundred), (hundred, three), (three, last)):
        arrow(ax, (start - 0.95, 1.25), (end + 0.95, 1.25), dashed=start != hundred)
    for x, state in ((last, "$s_0$"), (three, "$s_t$"), (hundred, "$s_{t+1}$")):
        box_around(ax, (x, 4.4), 1.1, 0.74, state, size=12, fill=WRITES, edge=INK)
    for start, end in ((last, three), (three, hundred)):
        arrow(ax, (start + 0.55, 4.4), (end - 0.55, 4.4), dashed=start == last)
    for x, number, name in (
        (hundred, 1, "context at hundert"),
        (three, 2, "annotation\nof three\nat drei"),
        (last, 3, "first\nstate"),
    ):
        arrow(ax, (x, 1.67), (x, 4.03), colour=BLUE, width=2)
        ax.add_patch(Circle((x, 2.8), 0.24, facecolor=BLUE, edgecolor="white", linewidth=2, zorder=4))
        ax.text(x, 2.79, str(number), ha="center", va="center", color="white", fontsize=11, zorder=5)
        ax.text(x + 0.36, 3.35 if number == 1 else 2.8, name, ha="left", va="center", fontsize=10)
    return ax


def plot_changes(table: Mapping[str, Mapping[str, float]]) -> Axes:
    """Draw a table of shares as cells with numbers: one row per intervention, one column per kind of word.

    Args:
        table: ``{intervention: {kind of word: share from 0 to 1}}``, each row with the same kinds.

    Raises:
        ValueError: if the table is empty, or its rows have different kinds.
    """
    if not table:
        raise ValueError("table is empty; give at least one intervention")
    kinds = list(next(iter(table.values())))
    for name, row in table.items():
        if list(row) != kinds:
            raise ValueError(f"row {name!r} has the kinds {list(row)}, but the first row has {kinds}")
    shares = [[row[kind] for kind in kinds] for row in table.values()]
    _, ax = plt.subplots(figsize=(5.4, 1.4 + 0.66 * len(table)), layout="constrained")
    names = [textwrap.fill(name, 20) for name in table]
    plot_heat(shares, "kind of German word", "", limits=(0, 1), ax=ax)
    ax.set_xticks(range(len(kinds)), [textwrap.fill(kind, 8) for kind in kinds], rotation=0)
    ax.set_yticks(range(len(names)), names)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    return ax
