"""Drawings of chapter 01: an encoder and a decoder with one vector between them, and what gates keep."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnbook.plotting.boxes import INK, READS, WRITES, arrow, box, canvas, line, say
from attnbook.plotting.heat import as_label
from attnbook.plotting.style import STYLES, Look, legend_above, new_axes, readable, styles_for

_READER, _VECTOR, _WRITER = (READS, STYLES[0].colour), ("white", INK), (WRITES, STYLES[1].colour)  # (fill, edge)
_HALF = 0.31  # half the side of a box, in columns
_BUS = -0.66  # the line that carries c to every step


def draw_encoder_decoder(
    source: Sequence[str], target: Sequence[str], context: str = "first", ax: Axes | None = None, bos: str = "<bos>"
) -> Axes:
    """Draw an encoder that reads ``source``, the vector c, and a decoder that writes ``target`` in steps.

    Args:
        source: the Tk source words.
        target: the T target words, the end symbol included if it shall be seen.
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


def _check(source: Sequence[str], target: Sequence[str], context: str) -> None:
    if not source or not target:
        raise ValueError(f"source and target need at least one word each, got {len(source)} and {len(target)}")
    if context not in ("first", "every"):
        raise ValueError(f'context must be "first" or "every", got {context!r}')


def _name_halves(ax: Axes, middle: int, steps: int) -> None:
    say(ax, (middle - 1) / 2, 0.7, "encoder", size=12, colour=_READER[1])
    say(ax, middle, 0.7, "one vector", size=12)
    say(ax, middle + (1 + steps) / 2, 1.34, "decoder", size=12, colour="#A84800")  # the writer's orange, legible


def _cell(ax: Axes, column: float, name: str, look: tuple[str, str], below: str = "", above: str = "") -> None:
    fill, edge = look
    width = 2.4 if look is _VECTOR else 1.5
    box(ax, column - _HALF, -_HALF, 2 * _HALF, 2 * _HALF, fill=fill, edge=edge, line=width)
    say(ax, column, -0.01, name, size=14)
    if below:
        say(ax, column, -1.14, as_label(below))
        arrow(ax, (column, -0.97), (column, -_HALF - 0.03))
    if above:
        say(ax, column, 0.9, as_label(above), weight="bold")
        arrow(ax, (column, _HALF + 0.03), (column, 0.74))


def _carry_to_every_step(ax: Axes, middle: int, steps: int) -> None:
    """A line from c below the decoder's boxes, with an arrow up into each, left of the word that it reads."""
    offset = 0.17
    xs = [middle, middle, middle + steps - offset]
    line(ax, xs, (-_HALF, _BUS, _BUS), dashed=True)
    for step in range(1, steps + 1):
        arrow(ax, (middle + step - offset, _BUS), (middle + step - offset, -_HALF - 0.03), dashed=True)


def plot_gates(gates: Mapping[str, object], xlabel: str, ylabel: str, ax: Axes | None = None, bins: int = 20) -> Axes:
    """Draw how the values of gates, each between 0 and 1, are spread: one outline with its hatch a name.

    Args:
        gates: ``{name: values}``, any shape; each name's bars sum to 1.
        xlabel, ylabel: what is counted, with its unit.
        bins: number of bars from 0 to 1.

    Raises:
        ValueError: if there is nothing to draw, or a value lies outside 0 to 1.
    """
    if not gates:
        raise ValueError("gates is empty; give at least one name with its values")
    ax = new_axes(ax, (6.5, 3.4))
    for name, style in styles_for(gates).items():
        share, edges = np.histogram(_flat(name, gates[name]), bins=bins, range=(0.0, 1.0))
        look: Look = {"facecolor": style.colour + "40", "edgecolor": style.colour, "linewidth": 1.6}
        ax.stairs(share / share.sum(), edges, fill=True, hatch=style.hatch, label=readable(name), **look)
    ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, 1), ylim=(0, None))
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def _flat(name: str, values: object) -> np.ndarray:
    flat = np.asarray(values, dtype=float).ravel()
    if flat.size == 0 or not ((flat >= 0) & (flat <= 1)).all():
        raise ValueError(f"gates of {name!r} must lie between 0 and 1, at least one of them")
    return flat
