"""The figure of chapter 09 on waiting: a recurrent network, the decoder in training, and in writing."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.palette import INK, WRITES

_GAP = 0.55  # between two steps of writing, in widths of a word
_UP, _BOX = 0.95, 0.62  # from the words to the middle of the decoder, and its height
_DOWN = 2.75  # from one row to the next


def draw_training_and_writing(given: Sequence[str], target: Sequence[str], steps: int = 3) -> Axes:
    """Draw a recurrent decoder in training, and ours twice: in training, and in its first steps of writing.

    Args:
        given: the decoder's input in training, from BOS on. target: the next word at each position.
        steps: how many steps of writing are drawn.

    Raises:
        ValueError: if the words don't fit one another, or there are fewer than the steps.
    """
    if len(given) != len(target) or not 0 < steps <= len(given):
        raise ValueError(f"{len(given)} words need as many targets, and at most as many steps")
    width = steps * (steps + 1) / 2 + _GAP * (steps - 1)
    ax = canvas(None, (7.0, 6.2), (-0.05, width + 0.05), (-_DOWN - 0.3, 2.5 + _DOWN))
    _training(ax, given, target, width)
    say(ax, 0, 2.35 - _DOWN, "the Transformer writes: one word after the other", ha="left", weight="bold")
    left = 0.0
    for step in range(1, steps + 1):
        _decoder(ax, left, left + step, -_DOWN)
        for t in range(step):
            x = left + t + 0.5
            last = t == step - 1
            _up(ax, x, -_DOWN, given[t], target[t] if last else "", INK if last and step > 1 else None)
        if step < steps:  # what is written becomes the last input of the next step
            _back(ax, left + step - 0.5, left + step + _GAP, step + 0.5)
        left += step + _GAP
    return ax


def _training(ax: Axes, given: Sequence[str], target: Sequence[str], width: float) -> None:
    """Two rows: a chain of states, each of which waits for the one before, and one pass over all words."""
    across = width / len(given)
    at = [across * (t + 0.5) for t in range(len(given))]
    say(ax, 0, 2.35 + _DOWN, "a recurrent network in training: state after state", ha="left", weight="bold")
    for step, x in enumerate(at, start=1):
        box_around(ax, (x, _DOWN + _UP), 0.62 * across, _BOX, f"step {step}", size=10.5, fill=WRITES)
        if step > 1:
            arrow(ax, (x - 0.68 * across, _DOWN + _UP), (x - 0.32 * across, _DOWN + _UP), width=2.2)
    say(ax, 0, 2.35, "the Transformer in training: all tasks in one step", ha="left", weight="bold")
    _decoder(ax, 0, width, 0)
    for x, read, wanted in zip(at, given, target, strict=True):
        _up(ax, x, _DOWN, read, wanted)
        _up(ax, x, 0, read, wanted)


def _decoder(ax: Axes, left: float, right: float, y: float) -> None:
    width = right - left - 0.12
    box_around(ax, ((left + right) / 2, y + _UP), width, _BOX, "decoder", size=10.5, fill=WRITES)


def _up(ax: Axes, x: float, y: float, read: str, written: str, colour: str | None = None) -> None:
    """A word that enters the decoder, and if there is one, the word that leaves it."""
    look = {"colour": colour, "weight": "bold"} if colour else {}
    say(ax, x, y + 0.05, read, size=10.5, **look)
    arrow(ax, (x, y + 0.22), (x, y + _UP - _BOX / 2 - 0.02))
    if written:
        arrow(ax, (x, y + _UP + _BOX / 2 + 0.02), (x, y + 1.68))
        say(ax, x, y + 1.83, written, size=10.5)


def _back(ax: Axes, x: float, start: float, ahead: float) -> None:
    """The way of a written word to the input of the next step: beside its box, and under it."""
    y, side = -_DOWN, start - _GAP / 2
    end = start + ahead
    line(ax, (x + 0.33, side, side, end, end), (y + 1.83, y + 1.83, y - 0.25, y - 0.25, y - 0.22))
    arrow(ax, (end, y - 0.27), (end, y - 0.08))
