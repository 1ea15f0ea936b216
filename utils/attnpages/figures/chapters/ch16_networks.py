"""Figures of chapter 16: how far its convolutions reach, its two networks, and the layer that links them."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, box_around, canvas, line, pixels, say
from attnpages.figures.palette import BLUE, FAINT, INK, LINE, PAPER, READS, RUST, WRITES
from attnpages.figures.style import TRUTH_COLOUR, Look

FIELD = {3: (11, 14), 6: (10, 16), 10: (8, 18), 14: (6, 20)}  # pixels: where the fields of one position begin and end
LAYERS = ("window 3", "window 4, stride 2", "window 3", "window 3")
# Columns of the canvas's width on which a digit, or a score, depends: the end itself, then map by map.
OF_DIGITS = (((0, 8), (0, 10), (0, 16)), ((24, 32), (22, 32), (16, 32)))  # canvas, map, noise
OF_SCORES = (((6, 8), (2, 12), (0, 14)), ((24, 26), (20, 30), (18, 32)))  # score, map, canvas
_SIDES = ((READS, BLUE), (WRITES, RUST))  # fill and edge of what belongs to the left and the right digit


def plot_reach(image: Tensor) -> Axes:
    """Draw, to scale, a canvas, the window of one local score, how it grows, and the gap between the digits.

    Args:
        image: ``(8, 32)``, one canvas, 0 = paper, 1 = ink.

    Raises:
        ValueError: if the canvas has another size.
    """
    if tuple(image.shape) != (8, 32):
        raise ValueError(f"image must be one canvas of 8 × 32 pixels, got {tuple(image.shape)}")
    _, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
    ax.set(xlim=(-0.3, 32.3), ylim=(-5.9, 11.2), aspect="equal")
    ax.set_axis_off()
    _canvas(ax, image, 0, 8)
    ax.add_patch(Rectangle((6, 0), 14, 8, fill=False, edgecolor=BLUE, linewidth=2.6, zorder=4))
    _measure(ax, 8, 24, 9.0, TRUTH_COLOUR, "16 columns lie between the digits: to touch both, a field needs 18")
    for row, ((size, (start, end)), layer) in enumerate(zip(FIELD.items(), LAYERS, strict=True)):
        y = -1.2 - 1.35 * row
        line(ax, (start, end), (y, y), BLUE, width=5)
        say(ax, 20.6, y, f"{size} pixels: {layer}", ha="left", size=10)
        say(ax, 5.4, y, f"layer {row + 1}", ha="right", size=10)
    return ax


def plot_networks(image: Tensor) -> Axes:
    """Draw generator and discriminator without their links: on which columns of each map either end depends.

    Args:
        image: ``(8, 32)``, one canvas, which the generator draws and the discriminator judges.

    Raises:
        ValueError: if the canvas has another size.
    """
    if tuple(image.shape) != (8, 32):
        raise ValueError(f"image must be one canvas of 8 × 32 pixels, got {tuple(image.shape)}")
    ax = canvas(None, (6.5, 6.3), (-9.6, 32.4), (-5.4, 37))
    rows = {"noise": 33, "drawn": 25, "canvas": 15.5, "read": 7.5, "scores": 0}  # lower edges
    height = {"noise": 2.6, "drawn": 2.6, "canvas": 4.5, "read": 2.6, "scores": 2.6}
    for name, cells, down in (("noise", 8, 2), ("drawn", 16, 4), ("read", 16, 4), ("scores", 16, 4)):
        _grid(ax, rows[name], height[name], cells, down)
    _canvas(ax, image, rows["canvas"], rows["canvas"] + height["canvas"])
    for widths, chain in ((OF_DIGITS, ("canvas", "drawn", "noise")), (OF_SCORES, ("scores", "read", "canvas"))):
        for (fill, edge), columns in zip(_SIDES, widths, strict=True):
            for name, (start, end) in zip(chain, columns, strict=True):
                if name != "canvas":
                    look: Look = {"facecolor": fill, "edgecolor": edge, "linewidth": 1.6, "alpha": 0.75, "zorder": 2}
                    ax.add_patch(Rectangle((start, rows[name]), end - start, height[name], **look))
            _cones(ax, chain, columns, rows, height, fill)
    for start, colour in ((0, BLUE), (24, RUST)):
        frame: Look = {"fill": False, "edgecolor": colour, "linewidth": 1.8, "zorder": 4}
        ax.add_patch(Rectangle((start, rows["canvas"]), 8, height["canvas"], **frame))
    _names(ax, rows, height)
    return ax


def draw_layer() -> Axes:
    """Draw the layer: queries, keys and values of all positions, weights, weighted sums, and the input added again."""
    ax = canvas(None, (6.5, 2.5), (0, 13), (-0.4, 4.6))
    middle, low = 2.0, 0.3
    box_around(ax, (0.8, middle), 1.4, 1.0, "map $x$\n$N × C$", size=10, fill=PAPER)
    projections = {3.7: ("queries\n$W_q x_j$", WRITES), middle: ("keys\n$W_k x_i$", READS),
                   low: ("values\n$W_v x_i$", READS)}  # fmt: skip
    for y, (name, fill) in projections.items():
        box_around(ax, (3.1, y), 1.6, 1.0, name, size=10, fill=fill)
        arrow(ax, (1.5, middle), (2.3, y), colour=LINE)
    box_around(ax, (5.75, 2.85), 2.2, 1.1, "weights $α$\n$N × N$, softmax", size=10, fill="white")
    arrow(ax, (3.9, 3.7), (4.65, 3.1), colour=LINE)
    arrow(ax, (3.9, middle), (4.65, 2.6), colour=LINE)
    box_around(ax, (8.35, 1.6), 1.75, 1.1, "weighted\nsum, $W_o$", size=10, fill=WRITES)
    arrow(ax, (6.85, 2.7), (7.48, 2.05), colour=LINE)
    arrow(ax, (3.9, low), (7.48, 1.3), colour=LINE)
    box_around(ax, (10.1, 1.6), 0.9, 0.9, "$× γ$", size=12, fill="white")
    box_around(ax, (11.3, 1.6), 0.7, 0.9, "$+$", size=13, fill="white")
    say(ax, 12.6, 1.6, "$y$", size=13)
    for start, end in ((9.22, 9.65), (10.55, 10.95), (11.65, 12.35)):
        arrow(ax, (start, 1.6), (end, 1.6), colour=LINE)
    line(ax, (0.8, 0.8, 11.3), (2.5, 4.45, 4.45), BLUE)
    arrow(ax, (11.3, 4.45), (11.3, 2.05), colour=BLUE)
    say(ax, 9.0, 4.1, "residual connection", size=10, colour=BLUE)
    return ax


def _canvas(ax: Axes, image: Tensor, low: float, high: float) -> None:
    pixels(ax, image, (0, low), 32, high - low, aspect="equal" if high - low == 8 else "auto")


def _measure(ax: Axes, start: float, end: float, y: float, colour: str, text: str) -> None:
    line(ax, (start, end), (y, y), colour, width=1.8)
    for x in (start, end):
        line(ax, (x, x), (0, y + 0.35), colour, width=1.2, dashed=True, zorder=5)
    say(ax, (start + end) / 2, y + 1.0, text, size=10, colour=colour)


def _grid(ax: Axes, low: float, height: float, across: int, down: int) -> None:
    ax.add_patch(Rectangle((0, low), 32, height, facecolor="white", edgecolor=FAINT, linewidth=1.2, zorder=1))
    for column in range(1, across):
        line(ax, (32 * column / across,) * 2, (low, low + height), FAINT, width=0.6, zorder=3)
    for row in range(1, down):
        line(ax, (0, 32), (low + height * row / down,) * 2, FAINT, width=0.6, zorder=3)


def _cones(ax: Axes, chain: tuple, columns: tuple, rows: dict, height: dict, fill: str) -> None:
    """What lies between two maps: the columns of the upper one on which those of the lower one depend."""
    for (below, narrow), (above, wide) in zip(
        zip(chain[:-1], columns[:-1], strict=True), zip(chain[1:], columns[1:], strict=True), strict=True
    ):
        top, bottom = rows[above], rows[below] + height[below]
        corners = [(narrow[0], bottom), (narrow[1], bottom), (wide[1], top), (wide[0], top)]
        ax.add_patch(Polygon(corners, closed=True, facecolor=fill, alpha=0.75, linewidth=0, zorder=1))


def _names(ax: Axes, rows: dict, height: dict) -> None:
    maps = {"noise": "noise\n2 × 8", "drawn": "map\n4 × 16", "canvas": "canvas\n8 × 32", "read": "map\n4 × 16",
            "scores": "local scores\n4 × 16"}  # fmt: skip
    for name, title in maps.items():
        say(ax, -0.8, rows[name] + height[name] / 2, title, ha="right", size=10)
    for name in ("drawn", "read"):
        y = rows[name] + height[name] / 2
        look: Look = {"arrowstyle": "<|-|>", "color": INK, "linewidth": 2.2, "mutation_scale": 14}
        ax.annotate("", (29, y), (4, y), arrowprops=look, zorder=5)
        plate: Look = {"facecolor": "white", "edgecolor": INK, "boxstyle": "round,pad=0.25"}
        ax.text(16, y, "link?", ha="center", va="center", fontsize=11, color=INK, bbox=plate, zorder=6)
    between = {
        "convolution, double, convolution": ("noise", "drawn"),
        "double, two convolutions": ("drawn", "canvas"),
        "two convolutions, one with stride 2": ("canvas", "read"),
        "two convolutions": ("read", "scores"),
    }
    for text, (above, below) in between.items():
        say(ax, 16, (rows[above] + rows[below] + height[below]) / 2, text, size=9.5)
    for title, (above, below) in {"generator": ("noise", "drawn"), "discriminator": ("read", "scores")}.items():
        middle = (rows[above] + height[above] + rows[below]) / 2
        ax.text(-9.2, middle, title, rotation=90, ha="center", va="center", fontsize=11, fontweight="bold")
    arrow(ax, (16, 0), (16, -2.6), colour=LINE)
    say(ax, 16, -3.9, "their sum: the score of the canvas", size=10)
