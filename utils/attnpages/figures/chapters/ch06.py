"""Figures of chapter 06: a photograph, a canvas and three of its cells, and a captioner."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnbook.seeding import generator
from attnpages.figures.boxes import arrow, box_around, canvas, line, pixels, say
from attnpages.figures.palette import BLUE, FAINT, INK, LINE, PAPER, READS, WRITES
from attnpages.figures.style import with_minus

_GRID = 3  # cells per side in the drawing of the model
_PAPER_GRID = 14  # cells per side of the feature map of Xu et al. (2015)
_TOWER = (0, 1, 9, 13)  # in these cells of the photograph: left, top, columns and rows of its tower
_DIGITS = {"two": "71747", "seven": "71111"}  # five rows of three bits, as in the chapter's file
_CORNERS = {"two": (9, 2), "seven": (9, 10)}  # row and column of the upper left pixel: two cells of the middle row


def example_canvas() -> Tensor:
    """The canvas of the whole chapter, *two left-of seven*, painted as the chapter's file does: ``(24, 24)``."""
    image = 0.25 * torch.rand(1, 24, 24, generator=generator(0))[0]
    for name, (top, left) in _CORNERS.items():
        bits = [[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in _DIGITS[name]]
        image[top : top + 5, left : left + 3] += 0.75 * torch.tensor(bits)
    return image


def draw_choice(photograph: Tensor, image: Tensor, probabilities: Sequence[float], rewards: Sequence[float]) -> Axes:
    """Draw a photograph and a canvas in cells, three cells of the canvas, and below each what reading it is worth.

    Args:
        photograph: ``(3, S, S)`` between 0 and 1, drawn with the paper's 14 × 14 cells. image: ``(24, 24)``.
        probabilities, rewards: of the three cells of the middle row.

    Raises:
        ValueError: if there are not three probabilities and three rewards.
    """
    if (len(probabilities), len(rewards)) != (_GRID, _GRID):
        raise ValueError(f"probabilities and rewards must be three, got {len(probabilities)} and {len(rewards)}")
    ax = canvas(None, (6.5, 3.4), (0, 11.0), (0, 5.75))
    third, middle = len(image) // _GRID, 3.9
    _photograph(ax, photograph, 0.1, middle - 1.2, 2.4)
    say(ax, 1.3, 5.45, "photograph")
    left, side = 2.75, 1.95
    low = middle - side / 2
    say(ax, left + side / 2, 5.45, "canvas")
    _picture(ax, image, left, low, side)
    for i in range(1, _GRID):
        line(ax, (left, left + side), (low + i * side / _GRID,) * 2, FAINT, width=0.8)
        line(ax, (left + i * side / _GRID,) * 2, (low, low + side), FAINT, width=0.8)
    edge: dict = {"fill": False, "edgecolor": BLUE, "linewidth": 1.8}
    ax.add_patch(Rectangle((left, low + side / _GRID), side, side / _GRID, **edge))
    arrow(ax, (left + side + 0.06, middle), (5.36, middle), BLUE)
    names = ("probability of drawing the cell", "p(seven) after reading it", "reward: the logarithm of this")
    for y, name in zip((2.0, 1.2, 0.4), names, strict=True):
        say(ax, 0.1, y, name, ha="left")
    for number, (name, probability, reward) in enumerate(
        zip(("the two", "the seven", "the empty cell"), probabilities, rewards, strict=True)
    ):
        x = 5.4 + 1.85 * number
        say(ax, x + 0.85, 5.0, name)
        _picture(ax, image[third : 2 * third, number * third : (number + 1) * third], x, 3.05, 1.7)
        ax.add_patch(Rectangle((x, 3.05), 1.7, 1.7, **edge))
        ax.add_patch(Rectangle((x, 1.75), 1.7 * probability, 0.5, facecolor=READS, edgecolor=BLUE))
        say(ax, x + 1.3, 2.0, f"{probability:.1f}")
        say(ax, x + 0.85, 1.2, f"{np.exp(reward):.2f}")
        say(ax, x + 0.85, 0.4, with_minus(f"{reward:.0f}"))
    return ax


def _photograph(ax: Axes, image: Tensor, x: float, y: float, size: float) -> None:
    """An image ``(3, S, S)`` in colours, with the lines between the cells of the paper's feature map, and a frame."""
    limits = ax.get_xlim(), ax.get_ylim()
    ax.imshow(image.permute(1, 2, 0).cpu().numpy(), extent=(x, x + size, y, y + size), aspect="equal", zorder=0)
    ax.set(xlim=limits[0], ylim=limits[1])
    for i in range(_PAPER_GRID + 1):
        line(ax, (x, x + size), (y + i * size / _PAPER_GRID,) * 2, PAPER, width=0.5)
        line(ax, (x + i * size / _PAPER_GRID,) * 2, (y, y + size), PAPER, width=0.5)
    left, top, columns, rows = (number * size / _PAPER_GRID for number in _TOWER)
    frame: dict = {"fill": False, "edgecolor": INK, "linewidth": 1.8, "linestyle": "--"}
    ax.add_patch(Rectangle((x + left, y + size - top - rows), columns, rows, **frame))


def _picture(ax: Axes, image: Tensor, x: float, y: float, size: float) -> None:
    pixels(ax, image, (x, y), size, size, edge=LINE, aspect="equal", zorder=0)


def draw_captioner(image: Tensor) -> Axes:
    """Draw canvas, feature map, annotations, and the step of the decoder that writes the third word."""
    ax = canvas(None, (6.5, 3.5), (0, 10.4), (0, 5.6))
    _picture(ax, image, 0.15, 3.3, 1.5)
    say(ax, 0.9, 5.15, "canvas")
    arrow(ax, (1.7, 4.05), (2.75, 4.05))
    say(ax, 2.2, 4.35, "CNN")
    _grid(ax, 2.8, 3.3, 1.5, _GRID, READS)
    say(ax, 3.55, 5.15, "feature map")
    arrow(ax, (4.35, 4.05), (4.95, 4.05))
    for i in range(_GRID**2):
        ax.add_patch(Rectangle((5.0 + 0.26 * i, 3.55), 0.2, 1.0, facecolor=READS, edgecolor=LINE))
    say(ax, 4.95, 5.15, "annotations: keys and values,", ha="left")
    say(ax, 4.95, 4.82, "one vector per cell", ha="left")
    _step(ax)
    return ax


def _grid(ax: Axes, x: float, y: float, size: float, cells: int, fill: str) -> None:
    side = size / cells
    for i in range(cells):
        for j in range(cells):
            ax.add_patch(Rectangle((x + i * side, y + j * side), side, side, facecolor=fill, edgecolor=LINE))


def _step(ax: Axes) -> None:
    """One step of the decoder, below the annotations."""
    box_around(ax, (6.2, 2.55), 1.8, 0.7, "attention", fill=PAPER, edge=INK)
    say(ax, 5.2, 2.65, "read: soft or hard", ha="right", size=10)
    arrow(ax, (6.2, 3.5), (6.2, 2.93), BLUE, width=2.0)
    box_around(ax, (3.4, 1.2), 1.5, 0.7, "LSTM", fill=WRITES)
    box_around(ax, (8.6, 1.2), 1.5, 0.7, "LSTM", fill=WRITES)
    arrow(ax, (4.17, 1.2), (7.83, 1.2))
    arrow(ax, (9.37, 1.2), (9.75, 1.2))
    arrow(ax, (2.0, 1.2), (2.63, 1.2))
    arrow(ax, (4.5, 1.2), (5.75, 2.18), LINE, dashed=True)
    say(ax, 4.55, 1.95, "query", size=10)
    arrow(ax, (7.12, 2.4), (8.3, 1.57), BLUE, width=2.0)
    arrow(ax, (7.12, 2.65), (7.95, 3.08), BLUE, width=2.0)  # the context also enters the choice of the word
    say(ax, 7.55, 1.8, "context", ha="right", size=10)
    line(ax, (9.0, 9.0), (1.57, 2.7))
    arrow(ax, (9.0, 2.6), (9.0, 2.95))
    say(ax, 9.0, 3.2, "next word: seven", size=10)
    arrow(ax, (8.6, 0.45), (8.6, 0.83))
    line(ax, (8.6, 10.0, 10.0), (0.58, 0.58, 2.6))
    arrow(ax, (10.0, 2.5), (10.0, 2.95))  # and so does the previous word
    say(ax, 8.6, 0.22, "previous word: left-of", size=10)
