"""Figures of chapter 09 for a first reading: the translator from outside and opened once, and two heads in numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from attnpages.figures.boxes import Point, arrow, box, box_around, canvas, line, say
from attnpages.figures.chapters.ch09_stream import Vector, written
from attnpages.figures.palette import BLUE, FAINT, INK, READS, RUST, WRITES
from attnpages.figures.style import HEAT_MAP, with_minus

_SIZE = 11.0  # points of the letters
_BOX_Y = 2.45  # middle of encoder and decoder
_IN, _OUT = 1.35, 3.55  # heights of the words below them, and of what leaves them
_ENCODER, _DECODER = (0.1, 3.9), (5.2, 9.5)  # from left to right

_HEADS = (2.25, 6.35)  # the left ends of two heads
_WIDE = 3.7  # of a head
_ROWS = {"query": 6.0, "keys": 5.15, "scores": 4.45, "weights": 3.85, "values": 3.15, "weighted sum": 2.25}
_JOINED = 1.2  # height of what the heads return together


class Head(NamedTuple):
    """What one head computes for the last word: its query, then per word a key, a score, a weight and a value."""

    query: Vector
    keys: Sequence[Vector]
    scores: Vector
    weights: Vector
    values: Sequence[Vector]
    total: Vector


def draw_from_outside(source: Sequence[str], given: Sequence[str], target: Sequence[str], step: int = 3) -> Axes:
    """Draw the translator as one box, and below it the two halves inside while they write one word.

    Args:
        source: the source words. given: the decoder's input in training, from BOS on. target: the next word at each
            position.
        step: which word is being written, counted from 1.

    Raises:
        ValueError: if the words don't fit one another, or there is no such step.
    """
    if len(given) != len(target) or not 0 < step < len(given):
        raise ValueError(f"{len(given)} words need as many targets, and a step below that, got {step}")
    ax = canvas(None, (6.5, 4.2), (-0.05, 10.05), (0.5, 6.75))
    say(ax, 0, 6.6, "from outside", ha="left", weight="bold")
    say(ax, 0.1, 5.75, " ".join(source), ha="left", size=_SIZE)
    arrow(ax, (2.4, 5.75), (3.3, 5.75))
    box_around(ax, (4.6, 5.75), 2.5, 0.85, "Transformer", size=_SIZE)
    arrow(ax, (5.9, 5.75), (6.45, 5.75))
    say(ax, 6.55, 5.75, " ".join(target[:-1]), ha="left", size=_SIZE)
    say(ax, 0, 4.75, f"inside, while it writes word {step}", ha="left", weight="bold")
    _encoder(ax, source)
    _decoder(ax, given, target, step)
    return ax


def _encoder(ax: Axes, source: Sequence[str]) -> None:
    """The encoder: a word enters at each position, and a vector leaves there."""
    left, right = _ENCODER
    box_around(ax, ((left + right) / 2, _BOX_Y), right - left, 0.8, "encoder", size=_SIZE, fill=READS)
    across = (right - left) / len(source)
    for number, word in enumerate(source):
        x = left + across * (number + 0.5)
        say(ax, x, _IN, word, size=_SIZE)
        arrow(ax, (x, _IN + 0.22), (x, _BOX_Y - 0.42))
        arrow(ax, (x, _BOX_Y + 0.42), (x, _OUT - 0.36))
        box(ax, x - 0.3, _OUT - 0.22, 0.6, 0.3, fill="white", edge=RUST, line=1.6)
    box(ax, left, _OUT - 0.34, right - left, 0.54, fill="none", edge=RUST, dashed=True)
    say(ax, (left + right) / 2, _OUT + 0.46, "memory: a vector per word", size=_SIZE, colour=RUST)
    side = (right + _DECODER[0]) / 2
    line(ax, (right, side, side, side + 0.3), (_OUT - 0.07, _OUT - 0.07, _BOX_Y, _BOX_Y), RUST, 2.0)
    arrow(ax, (side + 0.2, _BOX_Y), (_DECODER[0], _BOX_Y), RUST, 2.0)


def _decoder(ax: Axes, given: Sequence[str], target: Sequence[str], step: int) -> None:
    """The decoder: the words so far enter, the next one leaves, and becomes the last input of the next step."""
    left, right = _DECODER
    box_around(ax, ((left + right) / 2, _BOX_Y), right - left, 0.8, "decoder", size=_SIZE, fill=WRITES)
    across = (right - left) / (step + 1)
    at = [left + across * (t + 0.5) for t in range(step + 1)]
    for x, word in zip(at, given, strict=False):
        say(ax, x, _IN, word, size=_SIZE, weight="normal" if x < at[-1] else "bold")
    for x in at[:-1]:
        arrow(ax, (x, _IN + 0.22), (x, _BOX_Y - 0.42))
    box(ax, at[-1] - 0.5, _IN - 0.22, 1.0, 0.44, fill="white", edge=INK, dashed=True)
    out = at[step - 1]
    arrow(ax, (out, _BOX_Y + 0.42), (out, _OUT - 0.2))
    say(ax, out, _OUT, target[step - 1], size=_SIZE, weight="bold")
    end, low = right + 0.35, _IN - 0.6
    line(ax, (out + 0.62, end, end, at[-1], at[-1]), (_OUT, _OUT, low, low, low + 0.1))
    arrow(ax, (at[-1], low + 0.02), (at[-1], _IN - 0.24))


def draw_heads_by_hand(words: Sequence[str], heads: Sequence[Head], joined: Vector) -> Axes:
    """Draw what two heads compute for the last word, step by step from top to bottom, and how they are joined.

    Args:
        words: of the list, and the query is the last one's.
        heads: two of them. joined: what they return, side by side.

    Raises:
        ValueError: if there are not two heads, or one has not a key, score, weight and value per word.
    """
    if len(heads) != 2:
        raise ValueError(f"two heads are drawn, got {len(heads)}")
    for head in heads:
        if {len(head.keys), len(head.scores), len(head.weights), len(head.values)} != {len(words)}:
            raise ValueError(f"a head needs a key, a score, a weight and a value for each of {len(words)} words")
    ax = canvas(None, (6.5, 4.65), (-0.05, 10.15), (0.8, 7.2))
    for number, (name, y) in enumerate(_ROWS.items(), start=1):
        say(ax, 0, y, f"{number}  {name}", ha="left", size=_SIZE)
    say(ax, 0, _JOINED, "7  side by side", ha="left", size=_SIZE)
    for number, (left, head) in enumerate(zip(_HEADS, heads, strict=True)):
        _head(ax, left, number, words, head)
    middle = (_HEADS[0] + _HEADS[1] + _WIDE) / 2
    for left in _HEADS:
        x = left + _WIDE / 2
        arrow(ax, (x, _ROWS["weighted sum"] - 0.3), (x + 0.45 * (middle - x), _JOINED + 0.3))
    _vector(ax, (middle, _JOINED), joined, "white", 3.0, edge=BLUE)
    return ax


def _head(ax: Axes, left: float, number: int, words: Sequence[str], head: Head) -> None:
    middle = left + _WIDE / 2
    box(ax, left, _ROWS["weighted sum"] - 0.5, _WIDE, 7.05 - _ROWS["weighted sum"] + 0.45, fill="none", dashed=True)
    say(ax, middle, 6.7, f"head {number}", weight="bold", size=_SIZE)
    say(ax, middle - 0.75, _ROWS["query"], words[-1], ha="right", size=_SIZE - 1)
    _vector(ax, (middle, _ROWS["query"]), head.query, READS, 1.3)
    across = _WIDE / len(words)
    colours = plt.get_cmap(HEAT_MAP)
    for column, word in enumerate(words):
        x = left + across * (column + 0.5)
        say(ax, x, _ROWS["keys"] + 0.4, word, size=_SIZE - 1)
        _vector(ax, (x, _ROWS["keys"]), head.keys[column], READS, 1.3)
        say(ax, x, _ROWS["scores"], with_minus(f"{head.scores[column]:.2f}"), size=_SIZE)
        weight = head.weights[column]
        box(ax, x - 0.5, _ROWS["weights"] - 0.21, 1.0, 0.42, fill=to_hex(colours(weight)))
        say(ax, x, _ROWS["weights"], f"{round(weight, 3):g}", size=_SIZE, colour="white" if weight > 0.6 else "black")
        _vector(ax, (x, _ROWS["values"]), head.values[column], WRITES, 1.3)
        arrow(ax, (x, _ROWS["values"] - 0.26), (middle + 0.3 * (x - middle), _ROWS["weighted sum"] + 0.27))
    _vector(ax, (middle, _ROWS["weighted sum"]), head.total, "white", 1.9)


def _vector(ax: Axes, centre: Point, vector: Vector, fill: str, width: float, edge: str = FAINT) -> None:
    line_width = 1.2 if edge == FAINT else 1.8
    box_around(ax, centre, width, 0.46, written(vector), size=_SIZE, fill=fill, edge=edge, line=line_width)
