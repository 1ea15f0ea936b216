"""Matrices as coloured cells: small ones with their numbers, several side by side, and what all such pictures share."""

import math
from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.image import AxesImage
from matplotlib.text import Text

from attnpages.figures.arrays import as_array
from attnpages.figures.palette import PALE_GREY
from attnpages.figures.style import HEAT_MAP, TRUTH_COLOUR, inches, new_axes, with_minus

_MASKED = PALE_GREY
_DOT = {"marker": "o", "markersize": 4.5, "color": TRUTH_COLOUR, "markeredgecolor": "white"}
_LINE = 0.18  # inches that a line of 11 points needs, with air
_LETTER = 0.1  # inches a letter of 11 points has, on average
_SMALL = 0.84  # what of that 10 points need, with less air


def plot_heat(
    matrix: object,
    xlabel: str,
    ylabel: str,
    annotate: bool = True,
    xticks: Sequence | None = None,
    yticks: Sequence | None = None,
    decimals: int = 2,
    colour_label: str | None = None,
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a small matrix as cells, with its numbers written into them.

    Args:
        matrix: ``(rows, columns)`` tensor, array or list of lists; booleans too. A masked score, ``−inf``,
            becomes a grey cell with −∞.
        xlabel, ylabel: what the columns and the rows are.
        annotate: write the numbers, with ``decimals`` digits after the point.
        xticks, yticks: names of the columns and rows; ``None`` numbers them from 0.
        colour_label: adds a colour bar with that label, for which the numbers are often enough.
        limits: the values of the lightest and the darkest colour; ``None`` takes the matrix's own.

    Raises:
        ValueError: if the matrix hasn't two axes, is empty, holds NaN or +inf, has another number of names
            than columns or rows, or its numbers don't fit into the cells.
    """
    values = as_matrix("matrix", matrix)
    rows, columns = values.shape
    ax = new_axes(ax, _figure_size(rows, columns, colour_label is not None))
    image = draw_cells(ax, values, limits)
    ax.set_title(title or "")
    if colour_label:
        colour_bar(ax, image, colour_label)
    cell, _ = name_places(ax, (xticks, yticks), (xlabel, ylabel), (columns, rows))
    if annotate:
        is_mask = str(getattr(matrix, "dtype", "")).endswith("bool")
        _write_numbers(ax, image, values, 0 if is_mask else decimals, cell)
    return ax


def plot_side_by_side(
    matrices: Mapping[str, object],
    xlabel: str,
    ylabel: str,
    colour_label: str = "attention weight",
    xticks: Sequence | None = None,
    yticks: Sequence | None = None,
    marks: Iterable[tuple[int, int]] = (),
    largest: float = 1.0,
) -> np.ndarray:
    """Draw matrices in a row, with one colour bar for all.

    Args:
        matrices: ``{title: (rows, columns)}``.
        xticks, yticks: names of the columns and rows; ``None`` numbers them from 1.
        marks: ``(column, row)`` of cells to mark with a dot, in each matrix.
        largest: the number with the darkest colour; 0 is white.

    Returns:
        the axes of the matrices.

    Raises:
        ValueError: if there are no matrices, or names and matrix don't fit.
    """
    if not matrices:
        raise ValueError("matrices is empty; give at least one title with its matrix")
    _, axes = plt.subplots(1, len(matrices), figsize=(6.5, 3.0), layout="constrained", squeeze=False)
    marks = list(marks)
    for ax, (title, matrix) in zip(axes[0], matrices.items(), strict=True):
        values = as_matrix(title, matrix)
        image = draw_cells(ax, values, (0.0, largest))
        rows, columns = values.shape
        _name(ax.xaxis, columns, xticks, title)
        _name(ax.yaxis, rows, yticks, title)
        for column, row in marks:
            ax.plot(column, row, **_DOT)
        ax.set(title=title, xlabel=xlabel)
    axes[0, 0].set_ylabel(ylabel)
    ax.figure.colorbar(image, ax=axes[0], label=colour_label, fraction=0.04, pad=0.02)
    return axes[0]


def _name(axis: XAxis | YAxis, count: int, names: Sequence | None, title: str) -> None:
    names = range(1, count + 1) if names is None else names
    if len(names) != count:
        raise ValueError(f"{title!r} has {count} cells along {axis.axis_name} but there are {len(names)} names")
    axis.set_ticks(range(count), [as_label(name) for name in names])


def as_matrix(name: str, matrix: object) -> np.ndarray:
    """Return a tensor, array or list of lists as a float array ``(rows, columns)``.

    Raises:
        ValueError: if it hasn't two axes, is empty, or holds NaN or +inf.
    """
    values = as_array(matrix)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"{name} must have 2 axes and at least one cell, got shape {values.shape}")
    if np.isnan(values).any() or np.isposinf(values).any():
        raise ValueError(f"{name} holds NaN or +inf, which have no colour")
    return values


def draw_cells(ax: Axes, values: np.ndarray, limits: tuple[float, float] | None) -> AxesImage:
    """Draw a matrix as cells, first row on top, thin lines between them; ``−inf`` turns grey."""
    colours = plt.get_cmap(HEAT_MAP).with_extremes(bad=_MASKED)
    low, high = limits or (None, None)
    image = ax.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=low, vmax=high, aspect="auto")
    ax.grid(False)
    ax.spines[:].set_visible(True)
    if max(values.shape) <= 40:  # with more cells there would be more line than cell
        ax.set_xticks(np.arange(values.shape[1] - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(values.shape[0] - 1) + 0.5, minor=True)
        ax.grid(which="minor", color=PALE_GREY, linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    return image


def colour_bar(ax: Axes, image: AxesImage, label: str) -> None:
    """Add a bar, as high as the axes, that says which value a colour stands for."""
    width, _ = inches(ax, settle=False)
    place = ax.inset_axes((1 + 0.12 / width, 0, 0.15 / width, 1))  # some 0.12 inches to the right, 0.15 wide
    ax.figure.colorbar(image, cax=place, label=label)


def name_places(ax: Axes, names: tuple, labels: tuple[str, str], counts: tuple[int, int]) -> tuple[float, float]:
    """Write the names of columns and rows along the axes, as many as fit, and the axes' own labels.

    Long words stand upright along the x axis. What doesn't fit is first set smaller, then thinned out; the
    label then says so. Empty names, as of four layers in five, need no room.

    Args:
        names: of the columns and of the rows, one a place; ``None`` numbers the places from 0.
        labels: what the columns and the rows are.
        counts: how many columns and rows there are.

    Returns:
        Width and height of a cell, in inches.

    Raises:
        ValueError: if there are not as many names as places.
    """
    axes: tuple[XAxis | YAxis, ...] = (ax.xaxis, ax.yaxis)
    for axis, its_names, label, count in zip(axes, names, labels, counts, strict=True):
        if its_names is not None and len(its_names) != count:
            raise ValueError(f"{axis.axis_name}ticks has {len(its_names)} names but matrix has {count} there")
        axis.set_ticks(range(count), [as_label(name) for name in (range(count) if its_names is None else its_names)])
        axis.set_label_text(label)
    width, height = inches(ax)
    cell = (width / counts[0], height / counts[1])
    for axis, its_names, room in zip(axes, names, cell, strict=True):
        _make_room(axis, its_names is not None, room)
    return cell


def _figure_size(rows: int, columns: int, bar: bool) -> tuple[float, float]:
    return min(6.5, max(3.0, 1.1 + 0.8 * columns + 1.0 * bar)), min(7.0, max(2.0, 1.2 + 0.5 * rows))


def _make_room(axis: XAxis | YAxis, named: bool, room: float) -> None:
    """Turn, shrink or thin out the names of an axis until each has its ``room`` (inches)."""
    words = [label.get_text() for label in axis.get_ticklabels()]
    letters = max(map(len, words))
    room *= len(words) / max(1, sum(word != "" for word in words))  # places without a name leave theirs to the others
    needed = _LINE
    if axis.axis_name == "x" and (letters <= 2 or 0.08 + _LETTER * letters <= room):
        needed = 0.08 + _LETTER * letters
    elif axis.axis_name == "x":
        axis.set_tick_params(labelrotation=90)
    if needed > room >= _SMALL * needed:
        axis.set_tick_params(labelsize=10)
    elif needed > room:
        step = math.ceil(needed / room)
        if not named:  # one counts in steps of 2, 5, 10, not of 3
            step = next(nice for nice in (2, 5, 10, 20, 50, 100, 1000) if nice >= step)
        axis.set_ticks(range(0, len(words), step), words[::step])
        axis.set_label_text(f"{axis.get_label_text()} (1 in {step} named)" if named else axis.get_label_text())


def as_label(name: object) -> str:
    """Return a word as a tick label shows it: a space is made visible, a dollar sign starts no formula."""
    return str(name).replace(" ", "␣").replace("$", r"\$")


def write_in_cells(ax: Axes, image: AxesImage, texts: Mapping[tuple[int, int], str], size: float = 11) -> list[Text]:
    """Write texts into cells of a drawn matrix, by row and column, in black or white: what is read on the cell."""
    colours = image.to_rgba(np.ma.masked_invalid(np.asarray(image.get_array())))  # (rows, columns, 4)
    written = []
    for (row, column), text in texts.items():
        red, green, blue, _ = colours[row, column]
        ink = "black" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "white"
        written.append(ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size))
    return written


def _write_numbers(ax: Axes, image: AxesImage, values: np.ndarray, decimals: int, cell: float) -> None:
    numbers = {at: with_minus(f"{value:.{decimals}f}".replace("-inf", "−∞")) for at, value in np.ndenumerate(values)}
    texts = write_in_cells(ax, image, numbers)
    widest = max(inches(text, settle=False)[0] for text in texts)
    if widest > 0.95 * cell:
        raise ValueError(
            f"the numbers are {widest:.2f} inches wide but the {values.shape[1]} columns only {cell:.2f}; "
            "take fewer decimals, a wider ax, or annotate=False"
        )
