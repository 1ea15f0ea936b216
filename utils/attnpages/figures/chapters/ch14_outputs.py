"""Figure of chapter 14: three outputs that can be made of attention's weights."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba

from attnpages.figures.boxes import arrow, box, canvas, line, say
from attnpages.figures.palette import FAINT, FETCHED, INK, WRITES
from attnpages.figures.style import STYLES

_CELL, _HIGH = 1.12, 0.8  # of a word, in the units of the canvas
_WEIGHTS, _BLEND, _LAYER, _TOP = 1.55, 2.95, 4.35, 6.6  # lower edges
_SOURCE, _VOCABULARY = STYLES[1].colour, STYLES[0].colour  # as in the figure of both distributions
_BUS = _TOP - 0.7  # the height at which the weights' way divides between the words


def draw_three_outputs(
    weights: Mapping[str, float], p_vocab: Mapping[str, float], p_gen: float, ax: Axes | None = None
) -> Axes:
    """Draw one step of attention three times: it blends before a vocabulary, it is the output, or both are mixed.

    An arrow leads to each output whose share is not 0; the larger the share, the wider the arrow and the darker the
    word. No numbers are written: the figure of the two distributions has them.

    Args:
        weights: by source word, its attention weight. p_vocab: by word of the vocabulary, its probability.
        p_gen: how much of the mixture is written.

    Raises:
        ValueError: if there are not three different words in each, or ``p_gen`` is not from 0 to 1.
    """
    if len(weights) != 3 or len(p_vocab) != 3 or not 0 <= p_gen <= 1:
        raise ValueError(f"there must be three words each, and a probability, got {[*weights]}, {[*p_vocab]}, {p_gen}")
    ax = canvas(ax, (6.5, 4.4), (-0.15, 14.5), (-0.15, 8.35))
    written = {word: p_gen * p_vocab.get(word, 0.0) for word in {**p_vocab, **weights}}
    copied = {word: (1 - p_gen) * weights.get(word, 0.0) for word in written}
    for left, title in ((0.0, "it writes"), (4.15, "it points"), (8.3, "it does both")):
        middle = left + 1.5 * _CELL
        _words(ax, left, 0.0, weights, _SOURCE, shaded=False)
        box(ax, left, _WEIGHTS, 3 * _CELL, _HIGH, edge=_SOURCE, line=2.0)
        say(ax, middle, _WEIGHTS + _HIGH / 2, "weights")
        for n in range(3):
            x = left + (n + 0.5) * _CELL
            arrow(ax, (x, _HIGH + 0.04), (x, _WEIGHTS - 0.04))
        say(ax, left + (2.7 if left > 5 else 1.5) * _CELL, 7.9, title, size=12, weight="bold")
    _written(ax, 0.0)
    _shares(ax, 0.0, _LAYER + _HIGH, p_vocab, _VOCABULARY)
    _words(ax, 0.0, _TOP, p_vocab, _VOCABULARY)
    _shares(ax, 4.15, _WEIGHTS + _HIGH, weights, _SOURCE)
    _words(ax, 4.15, _TOP, weights, _SOURCE)
    _mixture(ax, 8.3, written, copied)
    return ax


def _words(ax: Axes, left: float, low: float, shares: Mapping[str, float], colour: str, shaded: bool = True) -> None:
    """Words side by side; if they are shaded, the darker a word, the larger its share."""
    for n, (word, share) in enumerate(shares.items()):
        x = left + n * _CELL
        box(ax, x + 0.03, low, _CELL - 0.06, _HIGH, fill=_shade(colour, share) if shaded else "white")
        say(ax, x + _CELL / 2, low + _HIGH / 2, word, size=10)


def _shares(
    ax: Axes, left: float, low: float, shares: Mapping[str, float], colour: str, wide: float = _CELL
) -> list[float]:
    """An arrow up to each word with a share, as wide as this is large; gives where they stand, from left to right."""
    ends = [(left + (n + 0.5) * wide, share) for n, share in enumerate(shares.values()) if share > 0]
    for x, share in ends:
        arrow(ax, (x, low + 0.04), (x, _TOP - 0.04), colour, _line(share))
    return [x for x, _ in ends]


def _line(share: float) -> float:
    """The width of an arrow, in points."""
    return 0.7 + 3.3 * share


def _written(ax: Axes, left: float) -> None:
    """From the weights to the output layer."""
    middle = left + 1.5 * _CELL
    for low, text, fill in ((_BLEND, "blend", FETCHED), (_LAYER, "vocabulary layer", WRITES)):
        arrow(ax, (middle, low - 0.56), (middle, low - 0.04))
        box(ax, left, low, 3 * _CELL, _HIGH, fill=fill, edge=INK if low == _LAYER else FAINT)
        say(ax, middle, low + _HIGH / 2, text, size=10)


def _mixture(ax: Axes, left: float, written: Mapping[str, float], copied: Mapping[str, float]) -> None:
    """The vocabulary's part and the weights' part go into one row of words."""
    _written(ax, left)
    wide = 5.45 * _CELL / len(written)
    _shares(ax, left, _LAYER + _HIGH, written, _VOCABULARY, wide)
    ends = _shares(ax, left, _BUS, copied, _SOURCE, wide)
    right = max(ends, default=left + 3 * _CELL)
    way = (left + 3 * _CELL + 0.04, right, right, min(ends, default=right))
    line(ax, way, (_WEIGHTS + _HIGH / 2,) * 2 + (_BUS,) * 2, _SOURCE)
    for x, y, text, ha in (
        (left + 2.5 * wide + 0.12, _LAYER + _HIGH + 0.3, r"$\times\, p_\mathrm{gen}$", "left"),
        (right - 0.15, _LAYER + _HIGH / 2, r"$\times\,(1 - p_\mathrm{gen})$", "right"),
    ):
        say(ax, x, y, text, ha=ha, size=10)
    for n, (word, share) in enumerate(written.items()):
        x, colour = left + n * wide, _SOURCE if copied[word] or not share else _VOCABULARY
        both = share + copied[word]
        box(ax, x + 0.02, _TOP, wide - 0.04, _HIGH, fill=_shade(colour, both))
        say(ax, x + wide / 2, _TOP + _HIGH / 2, word, size=10)


def _shade(colour: str, share: float) -> str:
    return to_hex(to_rgba(colour, 0.7 * share), keep_alpha=True)
