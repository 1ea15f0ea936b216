"""How every figure of the book looks: sizes, fonts, and one colour, line, marker and hatch for each model."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from attnpages.figures.palette import (
    BLACK,
    BROWN,
    GREEN,
    GREY,
    INDIGO,
    OKABE_BLUE,
    ORANGE,
    PALE_GREY,
    PINK,
    SKY,
    VERMILION,
)

FIGURE_SIZE = (6.5, 4.0)  # inches
DPI = 150
HEAT_MAP = "Blues"  # its lightness falls steadily: it prints in grey, and 0 stays white
TRUTH_COLOUR = VERMILION

Look = dict[str, Any]  # keyword arguments that matplotlib takes


class CurveStyle(NamedTuple):
    """How one model is drawn: any one of the four is enough to tell it apart."""

    colour: str
    line: str | tuple
    marker: str
    hatch: str


STYLES = (
    CurveStyle(OKABE_BLUE, "-", "o", ""),
    CurveStyle(VERMILION, "--", "s", "///"),
    CurveStyle(GREEN, "-.", "^", "..."),
    CurveStyle(PINK, ":", "D", "xxx"),
    CurveStyle(ORANGE, (0, (5, 1)), "v", "\\\\\\"),
    CurveStyle(SKY, (0, (3, 1, 1, 1)), "P", "---"),
    CurveStyle(BLACK, (0, (1, 1)), "X", "+++"),
    CurveStyle(GREY, (0, (6, 2, 1, 2, 1, 2)), "p", "ooo"),
    CurveStyle(BROWN, (0, (8, 3)), "<", "|||"),
    CurveStyle(INDIGO, (0, (2, 2)), ">", "OO"),
)

# Which style a model has throughout the book. Models of one family that meet in a figure have different ones.
_PLACES = {
    "attention": 0, "additive": 0, "plain": 1, "location_aware": 2, "location": 3, "dot": 4, "scaled_dot": 5,
    "general": 6, "cosine": 7, "mlp": 8, "cosine_beta": 9,
    "plain_256": 3, "plain_first": 6, "plain_64": 4, "plain_32": 5, "plain_lstm": 7,
    "attention_one_way": 5, "attention_lstm": 9,
}  # fmt: skip
COLOURS = {name: STYLES[place].colour for name, place in _PLACES.items()}

_BOOK: dict[Any, Any] = {  # matplotlib's own type lists each key that there is
    "figure.figsize": FIGURE_SIZE,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.constrained_layout.use": True,
    # White whatever the page's theme: in the dark theme the book shows figures as white cards.
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on each machine
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "legend.fontsize": 11,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE_GREY,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "hatch.linewidth": 0.6,
    "image.cmap": HEAT_MAP,
}


def use_book_style() -> None:
    """Give all figures drawn from here on the book's look; call it once, after the imports."""
    plt.rcParams.update(_BOOK)
    # The line of a curve without a name: colour and dashes change together, so that grey print tells them
    # apart.
    plt.rcParams["axes.prop_cycle"] = cycler(
        color=[style.colour for style in STYLES],
        linestyle=[style.line for style in STYLES],
        marker=[style.marker for style in STYLES],
    )


def styles_for(names: Iterable[str]) -> dict[str, CurveStyle]:
    """Give each name a style of its own: the known models theirs, the others the first that is free.

    Args:
        names: as in a legend; ``"Location-aware"`` and ``"location_aware"`` are the same model.

    Raises:
        ValueError: if there are more names than styles. Nobody can read such a figure.
    """
    names = list(dict.fromkeys(names))
    if len(names) > len(STYLES):
        raise ValueError(f"a figure tells at most {len(STYLES)} curves apart, got {len(names)}; draw two figures")
    taken: dict[str, int] = {}
    for name in names:
        place = _PLACES.get(_key(name))
        if place is not None and place not in taken.values():
            taken[name] = place
    for name in names:
        if name not in taken:
            taken[name] = next(place for place in range(len(STYLES)) if place not in taken.values())
    return {name: STYLES[taken[name]] for name in names}


def readable(name: object) -> str:
    """Return a model's name as a legend writes it: ``location_aware`` becomes ``location aware``."""
    return str(name).replace("_", " ")


def with_minus(number: str) -> str:
    """A written number with a minus in place of its hyphen."""
    return number.replace("-", "−")


def new_axes(ax: Axes | None = None, size: tuple[float, float] = FIGURE_SIZE) -> Axes:
    """Return ``ax``, or the axes of a new figure of that size (inches) that makes room for its own labels."""
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def legend_above(ax: Axes, handles: list, labels: list[str], title: str | None = None) -> None:
    """Put the legend, and the title over it, above the axes, where no curve can run through them."""
    room, _ = inches(ax)
    for columns in (3, 2, 1):
        legend = ax.legend(
            handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, borderaxespad=0.2,
            handlelength=3.2, columnspacing=1.5,
        )  # fmt: skip
        width, height = inches(legend, settle=False)
        if width <= room:
            break
    if title:
        ax.set_title(title, loc="left", pad=72 * height + 4)


def inches(artist: Artist, settle: bool = True) -> tuple[float, float]:
    """Return width and height of what is drawn, in inches: that decides how many labels fit.

    Args:
        settle: first let the figure's layout find the places of its axes. That takes a while.

    Raises:
        ValueError: if it is in no figure.
    """
    figure = artist.get_figure(root=True)
    if figure is None:
        raise ValueError(f"artist {artist} is in no figure; add it to one first")
    engine = figure.get_layout_engine()
    if settle and engine is not None:
        engine.execute(figure)
    box = artist.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    return box.width, box.height


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(name).lower()).strip("_")
