"""What diagrams are made of: boxes, arrows, lines, images and words, in the palette's colours."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from attnpages.figures.arrays import as_array
from attnpages.figures.palette import FAINT, INK, PAPER
from attnpages.figures.style import Look, new_axes

Point = tuple[float, float]


def canvas(ax: Axes | None, size: Point, x: Point, y: Point) -> Axes:
    """Axes without a frame, ``ax`` or new ones of ``size`` inches; ``x`` and ``y`` say what they span."""
    ax = new_axes(ax, size)
    ax.set(xlim=x, ylim=y)
    ax.set_axis_off()
    return ax


def box(
    ax: Axes, x: float, y: float, width: float, height: float, fill: str = PAPER, edge: str = FAINT,
    line: float = 1.2, dashed: bool = False,
) -> None:  # fmt: skip
    """Draw a box with round corners; ``(x, y)`` is its lower left one. What is written in it comes from :func:`say`."""
    look: Look = {"facecolor": fill, "edgecolor": edge, "linewidth": line, "linestyle": "--" if dashed else "-"}
    shape: Look = {"boxstyle": "round,pad=0,rounding_size=0.1", "zorder": 2}
    ax.add_patch(FancyBboxPatch((x, y), width, height, **shape, **look))


def box_around(ax: Axes, centre: Point, width: float, height: float, text: str, size: float = 11, **look) -> None:
    """Draw a box around its name; ``look`` as in :func:`box`."""
    box(ax, centre[0] - width / 2, centre[1] - height / 2, width, height, **look)
    say(ax, *centre, text, size=size)


def arrow(
    ax: Axes, start: Point, end: Point, colour: str = INK, width: float = 1.3, dashed: bool = False,
    bend: float = 0.0, gap: float = 0.0,
) -> None:  # fmt: skip
    """Draw an arrow; ``bend`` is its height over its length, ``gap`` what it keeps from both ends, in points."""
    look: Look = {"color": colour, "linewidth": width, "linestyle": "--" if dashed else "-", "zorder": 2}
    shape: Look = {"arrowstyle": "-|>", "mutation_scale": 12, "shrinkA": gap, "shrinkB": gap}
    ax.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", **shape, **look))


def line(
    ax: Axes, xs: Sequence, ys: Sequence, colour: str = INK, width: float = 1.3, dashed: bool = False, zorder: float = 1
) -> None:
    """Draw a line through points, whatever dashes and markers the book's style has next."""
    look: Look = {"color": colour, "linewidth": width, "linestyle": "--" if dashed else "-"}
    ax.plot(xs, ys, marker="", zorder=zorder, solid_capstyle="butt", **look)


def say(
    ax: Axes, x: float, y: float, text: str, ha: str = "center", va: str = "center", size: float = 11,
    weight: str = "normal", colour: str = INK,
) -> None:  # fmt: skip
    """Write words at a place."""
    ax.text(x, y, text, ha=ha, va=va, fontsize=size, fontweight=weight, color=colour, zorder=3)


def pixels(
    ax: Axes, image: object, corner: Point, width: float, height: float, edge: str = FAINT,
    aspect: Literal["auto", "equal"] = "auto", zorder: float = 3,
) -> None:  # fmt: skip
    """Draw an image ``(H, W)``, 0 = paper and 1 = ink, in a frame; ``corner`` is its lower left one.

    The limits of the axes stay as they are.
    """
    limits, (x, y) = (ax.get_xlim(), ax.get_ylim()), corner
    look: Look = {"cmap": "Greys", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    ax.imshow(as_array(image), extent=(x, x + width, y, y + height), aspect=aspect, zorder=zorder, **look)
    ax.set(xlim=limits[0], ylim=limits[1])
    ax.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=edge, zorder=zorder + 1))
