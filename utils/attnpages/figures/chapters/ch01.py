"""Drawings of chapter 01: an encoder and a decoder with one vector between them, two ways to use it, a decoder in
training and in use, what a decoder can receive instead of c, a GRU's cell, and what vectors of several widths carry."""

from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.curves import plot_by_length
from attnpages.figures.heat import as_label
from attnpages.figures.palette import FAINT, INK, READS, RUST, WRITES
from attnpages.figures.style import STYLES

_READER, _VECTOR, _WRITER = (READS, STYLES[0].colour), ("white", INK), (WRITES, STYLES[1].colour)  # (fill, edge)
_HALF = 0.31  # half the side of a box, in columns
_BUS = -0.66  # the line that carries c to every step
_LOW, _MIDDLE, _HIGH = -0.4, 0.55, 1.5  # of a GRU's cell: the row of the candidate, the gate, the row of the old state
_ROW = 2.15  # from one row of states to the next
_BOLD = 3.4  # points: the path that a drawing is about


def draw_encoder_decoder(
    source: Sequence[str], target: Sequence[str], context: str = "first", ax: Axes | None = None, bos: str = "<bos>"
) -> Axes:
    """Draw an encoder that reads ``source``, the vector c, and a decoder that writes ``target`` in steps.

    Args:
        source: the Tk source words.
        target: the T target words, the end symbol included if it is to be drawn.
        context: ``"first"`` draws c as the decoder's first state only, ``"every"`` also into every step.
        ax: where to draw; ``None`` makes a figure of a fitting size.
        bos: the decoder's first input.

    Raises:
        ValueError: if there is no word on a side, or ``context`` is neither of the two.
    """
    _check(source, target, context)
    columns, middle = len(source) + 1 + len(target), len(source)
    ax = canvas(ax, (min(7.0, 0.95 * columns), 2.6), (-0.55, columns - 0.45), (-1.45, 1.5))
    for column, word in enumerate(source):
        _cell(ax, column, f"$h_{{{column + 1}}}$", _READER, below=word)
    _cell(ax, middle, "$c$", _VECTOR)
    for step, (read, written) in enumerate(zip([bos, *target], target, strict=False), start=1):
        _cell(ax, middle + step, f"$s_{{{step}}}$", _WRITER, below=read, above=written)
    for column in range(columns - 1):
        arrow(ax, (column + _HALF + 0.02, 0), (column + 1 - _HALF - 0.02, 0))
    if context == "every":
        _carry_to_every_step(ax, middle, len(target))
    _name_halves(ax, middle, len(target))
    return ax


def draw_two_ways(target: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the path from c to the last word twice, in bold: c as the first state only, c at every step.

    Args:
        target: the T target words; the bold path has T steps above, and one below.
        ax: where to draw; ``None`` makes a figure of a fitting size.

    Raises:
        ValueError: if there are fewer than two words: both paths would have the same length.
    """
    steps = len(target)
    if steps < 2:
        raise ValueError(f"target needs at least two words, got {steps}: with fewer, both paths have the same length")
    ax = canvas(ax, (min(7.0, 0.95 * (steps + 1)), 4.0), (-0.55, steps + 0.55), (-3.5, 1.65))
    below = -2.75  # the lower drawing
    _chain(ax, target, y=0.0, width=_BOLD)
    _chain(ax, target, y=below, width=1.3)
    line(ax, [0, 0, steps], [below - _HALF, below + _BUS, below + _BUS], width=_BOLD)
    for step in range(1, steps + 1):
        last = step == steps
        ends = (step, below + _BUS), (step, below - _HALF - 0.03)
        arrow(ax, *ends, width=_BOLD if last else 1.3, dashed=not last)
    say(ax, -_HALF, 1.45, f"$c$ as the first state only: {steps} steps to the last word", ha="left", size=12)
    say(ax, -_HALF, below + 1.45, "$c$ as an input of every step: 1 step to the last word", ha="left", size=12)
    return ax


def draw_training_and_use(
    target: Sequence[str], written: Sequence[str], ax: Axes | None = None, bos: str = "<bos>"
) -> Axes:
    """Draw a decoder twice: in training it reads the correct words, in use those that it wrote, errors included.

    The vector c enters every step in both (dashed).

    Args:
        target: the T target words, the end symbol included.
        written: the T words that the decoder writes in use; those that are wrong are drawn in another colour.
        ax: where to draw; ``None`` makes a figure of a fitting size.
        bos: the decoder's first input.

    Raises:
        ValueError: if there is no word, or ``written`` has another length than ``target``.
    """
    steps = len(target)
    if not steps or len(written) != steps:
        raise ValueError(f"target and written need as many words, at least one; got {steps} and {len(written)}")
    ax = canvas(ax, (min(7.0, 1.4 * (steps + 1)), 4.7), (-0.5, steps + 0.5), (-4.75, 1.85))
    below = -3.3  # the lower drawing
    for y, title in ((0.0, "in training: it reads the correct words"), (below, "in use: it reads what it wrote")):
        say(ax, -_HALF, y + 1.55, title, ha="left", size=12)
        _cell(ax, 0, "$c$", _VECTOR, y=y)
        _carry_to_every_step(ax, 0, steps, y)
    for step in range(1, steps + 1):
        for y, words in ((0.0, target), (below, written)):
            read = bos if step == 1 else words[step - 2]
            right, read_right = words[step - 1] == target[step - 1], step == 1 or read == target[step - 2]
            _cell(ax, step, f"$s_{{{step}}}$", _WRITER, y=y)
            arrow(ax, (step - 1 + _HALF + 0.02, y), (step - _HALF - 0.02, y))
            arrow(ax, (step, y + _HALF + 0.03), (step, y + 0.74))
            say(ax, step, y + 0.9, as_label(words[step - 1]), weight="bold", colour=INK if right else RUST)
            say(ax, step, y - 1.14, as_label(read), colour=INK if read_right else RUST)
            arrow(ax, (step, y - 0.97), (step, y - _HALF - 0.03))
        if step > 1:  # in use, from the word that was written to the input of the next step
            middle = step - 0.5
            line(ax, (middle - 0.2, middle, middle), (below + 0.9, below + 0.9, below - 1.14))
            arrow(ax, (middle, below - 1.14), (middle + 0.16, below - 1.14))
    return ax


def draw_received(source: Sequence[str], end: int, weights: Sequence[float], ax: Axes | None = None) -> Axes:
    """Draw four times what a decoder receives while it writes number 2 of a list, above the same encoder states.

    The last state c; a reading W_2 c; the state after the second number; and, with attention, an average of all states.
    The states that are used are filled. An average's lines are as thick as its weights.

    Args:
        source: the Tk source words, with a state each.
        end: at which word the second number ends, counted from 1.
        weights: the Tk weights of the average, at most 1.
        ax: where to draw; ``None`` makes a figure of a fitting size.

    Raises:
        ValueError: if ``end`` is no word of the source, or there isn't one weight per word.
    """
    words = len(source)
    if not 1 <= end <= words or len(weights) != words:
        raise ValueError(f"end must be in 1 to {words}, with {words} weights; got {end} and {len(weights)}")
    ax = canvas(ax, (7.0, 6.0), (-0.5, words + 2.5), (-3 * _ROW - 0.8, 1.0))
    for column, word in enumerate(source):
        say(ax, column, -_HALF - 0.28, word)
    titles = (
        "$c$: one state, the same for all numbers",
        "reading $W_2\\,c$: one state, a matrix for each number",
        "own vectors: the state after each number",
        "attention: a weighted average of all states",
    )
    used = ({words - 1}, {words - 1}, {end - 1}, set(range(words)))
    for row, (title, filled) in enumerate(zip(titles, used, strict=True)):
        _row_of_states(ax, -row * _ROW, title, words, filled)
    at = words + 1.7 - 0.62  # the decoder's left edge
    arrow(ax, (words - 1 + _HALF, 0), (at, 0))
    line(ax, (words - 1 + _HALF, at), (-_ROW, -_ROW))
    arrow(ax, (words, -_ROW), (at, -_ROW))
    box_around(ax, (words + 0.1, -_ROW), 0.8, 0.62, "$W_2$", size=13, fill=_VECTOR[0], edge=_VECTOR[1], line=1.5)
    _from_below(ax, -2 * _ROW, [end - 1], [1.3], at)
    _from_below(ax, -3 * _ROW, range(words), [0.5 + 6 * weight for weight in weights], at)
    return ax


def draw_gru_cell(ax: Axes | None = None) -> Axes:
    """Draw how a GRU makes the state h_j from h_{j-1} and the word x_j: reset gate, candidate, update gate.

    The old state takes two paths: above, scaled by z_j, directly into the new state; below, multiplied by the matrix U
    and then scaled by r_j, into the candidate. So the reset gate acts after the matrix, as in PyTorch. The biases, and
    the arrows from x_j and h_{j-1} into the gates, are left out.

    Args:
        ax: where to draw; ``None`` makes a figure of a fitting size.
    """
    ax = canvas(ax, (7.0, 3.2), (-0.6, 9.6), (-2.2, 2.0))
    for x, width, name in ((0, 0.9, "$h_{j-1}$"), (4.4, 0.9, "$n_j$"), (9.0, 0.9, "$h_j$")):
        box_around(ax, (x, _LOW), width, 0.7, name, size=13, fill=_READER[0], edge=_READER[1], line=1.5)
    for x, y, name in ((1.45, _LOW, "$U$"), (4.4, _LOW - 1.0, "$W$")):
        box_around(ax, (x, y), 0.6, 0.56, name, size=13, fill=_VECTOR[0], edge=_VECTOR[1], line=1.5)
    for x, y, name in ((2.7, _LOW - 1.2, "$r_j$"), (6.1, _MIDDLE, "$z_j$")):
        box_around(ax, (x, y), 0.7, 0.56, name, size=13, fill=_WRITER[0], edge=_WRITER[1], line=1.5)
    for x, y, name in ((2.7, _LOW, r"$\odot$"), (6.1, _LOW, r"$\odot$"), (6.1, _HIGH, r"$\odot$"), (7.6, _LOW, "$+$")):
        say(ax, x, y, name, size=17)
    for x, y, words in (
        (0, _LOW - 0.6, "old state"), (9.0, _LOW - 0.6, "new state"), (2.7, _LOW - 1.66, "reset gate"),
        (4.4, _LOW - 1.72, "word $x_j$"), (4.4, _LOW + 0.6, "candidate"), (7.05, _MIDDLE, "update\ngate"),
        (5.6, _LOW + 0.4, "$1 - z_j$"),
    ):  # fmt: skip
        say(ax, x, y, words)
    _join_cell(ax)
    return ax


def plot_by_width(shares: Mapping[str, Mapping[int, Sequence[float]]], ax: Axes | None = None) -> Axes:
    """Draw exact match against the width of the vector, one curve per length of training, on a logarithmic axis.

    Args:
        shares: ``{length of training: {entries that pass, a power of two: [exact match of each seed]}}``.
        ax: where to draw; ``None`` makes a figure.
    """
    widths = sorted({width for curve in shares.values() for width in curve})
    on_axis = {
        name: {width.bit_length() - 1: values for width, values in curve.items()} for name, curve in shares.items()
    }
    ax = plot_by_length(on_axis, "entries that pass, m", "exact match (share of lists of two)", ax, trained=None)
    ax.set_xticks([width.bit_length() - 1 for width in widths], [str(width) for width in widths])
    return ax


def _row_of_states(ax: Axes, y: float, title: str, words: int, filled: set[int]) -> None:
    """A title, the encoder's states at height ``y`` (those that are used, filled), and the decoder at number 2."""
    say(ax, -_HALF, y + 0.72, title, ha="left", size=12)
    for column in range(words):
        name = "$c$" if column == words - 1 and column in filled and len(filled) == 1 else f"$h_{{{column + 1}}}$"
        fill, edge = _READER if column in filled else ("white", FAINT)
        box_around(ax, (column, y), 2 * _HALF, 2 * _HALF, name, size=13, fill=fill, edge=edge, line=1.5)
    box_around(ax, (words + 1.7, y), 1.24, 0.9, "decoder,\nnumber 2", fill=_WRITER[0], edge=_WRITER[1], line=1.5)


def _from_below(ax: Axes, y: float, columns: Iterable[int], widths: Sequence[float], at: float) -> None:
    """Lines from some states down to one that leads along below the row and into the decoder."""
    bus = y - 0.68
    for column, width in zip(columns, widths, strict=True):
        line(ax, (column, column), (y - _HALF, bus), width=width)
    line(ax, (min(columns), at - 0.4, at - 0.4), (bus, bus, y))
    arrow(ax, (at - 0.4, y), (at, y))


def _join_cell(ax: Axes) -> None:
    """The arrows of a GRU's cell: along its two rows, and from the gates into the products."""
    for start, end in ((0.45, 1.12), (1.77, 2.5), (2.9, 3.93), (4.85, 5.9), (6.3, 7.4), (7.8, 8.53)):
        arrow(ax, (start, _LOW), (end, _LOW))
    line(ax, (0, 0), (_LOW + 0.35, _HIGH))
    arrow(ax, (0, _HIGH), (5.9, _HIGH))
    line(ax, (6.3, 7.6), (_HIGH, _HIGH))
    arrow(ax, (7.6, _HIGH), (7.6, _LOW + 0.25))
    arrow(ax, (2.7, _LOW - 0.92), (2.7, _LOW - 0.25))
    arrow(ax, (4.4, _LOW - 1.55), (4.4, _LOW - 1.29))
    arrow(ax, (4.4, _LOW - 0.72), (4.4, _LOW - 0.36))
    arrow(ax, (6.1, _MIDDLE + 0.28), (6.1, _HIGH - 0.25))
    arrow(ax, (6.1, _MIDDLE - 0.28), (6.1, _LOW + 0.25))


def _chain(ax: Axes, target: Sequence[str], y: float, width: float) -> None:
    """The vector c and the decoder's states at height ``y``, joined by arrows of ``width``; the last word is bold."""
    _cell(ax, 0, "$c$", _VECTOR, y=y)
    for step, word in enumerate(target, start=1):
        arrow(ax, (step - 1 + _HALF + 0.02, y), (step - _HALF - 0.02, y), width=width)
        _cell(ax, step, f"$s_{{{step}}}$", _WRITER, y=y)
        last = step == len(target)
        say(ax, step, y + 0.9, as_label(word), weight="bold" if last else "normal")
        arrow(ax, (step, y + _HALF + 0.03), (step, y + 0.74), width=_BOLD if last else 1.3)


def _check(source: Sequence[str], target: Sequence[str], context: str) -> None:
    if not source or not target:
        raise ValueError(f"source and target need at least one word each, got {len(source)} and {len(target)}")
    if context not in ("first", "every"):
        raise ValueError(f'context must be "first" or "every", got {context!r}')


def _name_halves(ax: Axes, middle: int, steps: int) -> None:
    say(ax, (middle - 1) / 2, 0.7, "encoder", size=12, colour=_READER[1])
    say(ax, middle, 0.7, "one vector", size=12)
    say(ax, middle + (1 + steps) / 2, 1.34, "decoder", size=12, colour=RUST)  # the writer's orange, legible


def _cell(
    ax: Axes, column: float, name: str, look: tuple[str, str], below: str = "", above: str = "", y: float = 0.0
) -> None:
    fill, edge = look
    width = 2.4 if look is _VECTOR else 1.5
    box(ax, column - _HALF, y - _HALF, 2 * _HALF, 2 * _HALF, fill=fill, edge=edge, line=width)
    say(ax, column, y - 0.01, name, size=14)
    if below:
        say(ax, column, y - 1.14, as_label(below))
        arrow(ax, (column, y - 0.97), (column, y - _HALF - 0.03))
    if above:
        say(ax, column, y + 0.9, as_label(above), weight="bold")
        arrow(ax, (column, y + _HALF + 0.03), (column, y + 0.74))


def _carry_to_every_step(ax: Axes, middle: int, steps: int, y: float = 0.0) -> None:
    """A line from c below the decoder's boxes, with an arrow up into each, left of the word that it reads."""
    offset, bus = 0.17, y + _BUS
    xs = [middle, middle, middle + steps - offset]
    line(ax, xs, (y - _HALF, bus, bus), dashed=True)
    for step in range(1, steps + 1):
        arrow(ax, (middle + step - offset, bus), (middle + step - offset, y - _HALF - 0.03), dashed=True)
