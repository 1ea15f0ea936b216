"""A figure of chapter 07: the weights of one head of a real model, and the value that is exchanged in it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnpages.figures.boxes import arrow, canvas, say
from attnpages.figures.palette import INK, PALE, RUST
from attnpages.figures.style import TRUTH_COLOUR

_OWN, _TWIN, _HALF = 1.75, 0.35, 0.19  # middles of the two rows of words, and half the height of a box


def draw_exchange(words: Sequence[str], weights: object, twin: Sequence[str]) -> Axes:
    """Draw a sentence with the weights of its last word, and below it the twin whose value one word receives.

    Args:
        words: the T words. weights: ``(T,)``, those of the last word. twin: the same words, but one.

    Raises:
        ValueError: if weights don't fit the words, or the twin does not differ from them in just one word.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(words),):
        raise ValueError(f"weights must be ({len(words)},) for as many words, got {values.shape}")
    other = [i for i, (own, its) in enumerate(zip(words, twin, strict=False)) if own != its]
    if len(twin) != len(words) or len(other) != 1:
        raise ValueError(f"the twin must differ in one of {len(words)} words, got {list(twin)}")
    widths = np.array([0.4 + 0.1 * len(word) for word in words])
    middles = widths.cumsum() - widths / 2
    ax = canvas(None, (6.5, 2.5), (0, widths.sum()), (-0.05, 2.45))
    say(ax, 0.03, _OWN + 0.45, f"weights from “{words[-1]}”", ha="left")
    blues = plt.get_cmap("Blues")
    for i, (middle, width, weight) in enumerate(zip(middles, widths, values, strict=True)):
        edge = TRUTH_COLOUR if i + 1 == len(words) else PALE
        _word(ax, middle, _OWN, width, words[i], blues(weight), edge, "white" if weight > 0.55 else INK)
        say(ax, middle, _OWN - 0.33, f"{weight:.2f}", size=10)
        _word(ax, middle, _TWIN, width, twin[i], "white", RUST if i == other[0] else PALE, INK)
    x = middles[other[0]]
    arrow(ax, (x, _TWIN + _HALF), (x, _OWN - 0.45), RUST, 2.0)
    say(ax, x + 0.12, (_TWIN + _OWN) / 2 - 0.13, f"the value vector of “{twin[other[0]]}”", ha="left", colour=RUST)
    say(ax, 0.03, _TWIN - 0.36, "the twin sentence", ha="left")
    return ax


def _word(ax: Axes, middle: float, y: float, width: float, word: str, face: object, edge: str, colour: str) -> None:
    """A word in a box."""
    corner = (middle - width / 2 + 0.03, y - _HALF)
    ax.add_patch(Rectangle(corner, width - 0.06, 2 * _HALF, facecolor=face, edgecolor=edge, linewidth=1.4, zorder=2))
    say(ax, middle, y, word, colour=colour)
