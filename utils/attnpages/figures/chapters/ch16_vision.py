"""Figures of chapter 16: a vision Transformer from the pixels to the class."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, pixels, say
from attnpages.figures.palette import BLUE, FAINT, LINE, PAPER, READS, RUST, WRITES
from attnpages.figures.style import Look

_TOKENS, _FIRST, _STEP = 17, 4.6, 0.86  # how many, where the first one stands, and how far they are apart


def draw_vision_transformer(image: Tensor, number: int) -> Axes:
    """Draw how an image becomes 16 patches, 17 tokens and, through the blocks, the class token's vector.

    Args:
        image: ``(8, 8)``, 0 = paper, 1 = ink; it is cut into patches of 2 × 2.
        number: its class, which stands at the end.

    Raises:
        ValueError: if the image has another size.
    """
    if tuple(image.shape) != (8, 8):
        raise ValueError(f"image must have 8 × 8 pixels, got {tuple(image.shape)}")
    ax = canvas(None, (6.5, 5.4), (-0.4, 19.4), (-0.6, 15.8))
    pixels(ax, image, (0, 11.4), 3.2, 3.2)
    for i in range(1, 4):
        line(ax, (0.8 * i,) * 2, (11.4, 14.6), BLUE, width=1.2, zorder=5)
        line(ax, (0, 3.2), (11.4 + 0.8 * i,) * 2, BLUE, width=1.2, zorder=5)
    say(ax, 1.6, 15.1, "8 × 8 pixels", size=10)
    say(ax, _FIRST + 9.0 * _STEP, 15.1, "16 patches of 2 × 2 pixels, row by row", size=10)
    for i in range(1, _TOKENS):
        row, column = divmod(i - 1, 4)
        patch = image[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        pixels(ax, patch, (_FIRST + i * _STEP - 0.33, 13.7), 0.66, 0.66)
        arrow(ax, (_FIRST + i * _STEP, 13.6), (_FIRST + i * _STEP, 12.45), colour=FAINT, width=0.9)
    arrow(ax, (3.35, 14.0), (5.0, 14.0), colour=LINE)
    say(ax, 1.6, 10.95, "class token", size=10, colour=RUST)
    arrow(ax, (3.35, 11.1), (4.3, 11.5), colour=RUST)
    _row(ax, 11.4)
    plate: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    matrix: Look = {"ha": "center", "va": "center", "fontsize": 10, "color": LINE, "bbox": plate, "zorder": 6}
    ax.text(_FIRST + 8.5 * _STEP, 13.1, "each times the same matrix", **matrix)
    say(ax, _FIRST - 0.9, 10.1, "+ positions", ha="right", size=10)
    _row(ax, 9.7, PAPER)
    for i in range(_TOKENS):
        say(ax, _FIRST + i * _STEP, 10.15, str(i), size=8.5, colour=LINE)
        arrow(ax, (_FIRST + i * _STEP, 9.6), (_FIRST + i * _STEP, 8.75), colour=FAINT, width=0.9)
    _block(ax)
    for i in range(_TOKENS):
        arrow(ax, (_FIRST + i * _STEP, 4.0), (_FIRST + i * _STEP, 3.15), colour=FAINT, width=0.9)
    _row(ax, 2.1)
    say(ax, _FIRST - 0.9, 2.6, "17 vectors", ha="right", size=10)
    arrow(ax, (_FIRST, 2.0), (_FIRST, 1.25), colour=RUST, width=1.8)
    box_around(ax, (_FIRST, 0.65), 4.0, 1.1, "norm, matrix", size=10, fill=WRITES)
    arrow(ax, (_FIRST + 2.05, 0.65), (_FIRST + 3.3, 0.65), colour=RUST, width=1.8)
    say(ax, _FIRST + 3.5, 0.65, f"ten logits: class {number}", ha="left", size=10)
    return ax


def _row(ax: Axes, low: float, fill: str = READS) -> None:
    """One vector per token; the class token's, the first, has another colour."""
    for i in range(_TOKENS):
        look: Look = {"facecolor": WRITES if i == 0 and fill == READS else fill}
        look |= {"edgecolor": RUST if i == 0 else BLUE, "linewidth": 1.2, "zorder": 2}
        ax.add_patch(Rectangle((_FIRST + i * _STEP - 0.3, low), 0.6, 0.95, **look))


def _block(ax: Axes) -> None:
    """The two sublayers, each with its norm before it and a residual connection around both."""
    box(ax, 0, 4.1, 18.9, 4.5, fill="white", edge=FAINT)
    say(ax, 0.35, 8.05, "two such blocks", ha="left", size=10, weight="bold")
    middle = 5.5
    for start, name, fill in ((1.2, "attention\namong all 17", READS), (10.2, "feed-forward\neach for itself", WRITES)):
        box_around(ax, (start + 1.5, middle), 1.7, 1.5, "norm", size=10, fill=PAPER)
        box_around(ax, (start + 5.0, middle), 3.9, 1.5, name, size=9.5, fill=fill)
        box_around(ax, (start + 8.0, middle), 0.8, 0.9, "+", size=12, fill="white")
        arrow(ax, (start - (1.0 if start < 5 else 0.55), middle), (start + 0.6, middle), colour=LINE)
        arrow(ax, (start + 2.4, middle), (start + 3.0, middle), colour=LINE)
        arrow(ax, (start + 7.0, middle), (start + 7.55, middle), colour=LINE)
        line(ax, (start - 0.3, start - 0.3, start + 8.0), (middle, 7.2, 7.2), BLUE, zorder=4)
        arrow(ax, (start + 8.0, 7.25), (start + 8.0, middle + 0.5), colour=BLUE)
    say(ax, 5.2, 7.65, "residual connection", size=9.5, colour=BLUE, ha="left")
    arrow(ax, (18.62, middle), (18.9, middle), colour=LINE)
