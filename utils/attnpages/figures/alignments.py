"""The picture of attention: who looks where."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from attnpages.figures.heat import as_matrix, colour_bar, draw_cells, name_places
from attnpages.figures.style import TRUTH_COLOUR, Look, new_axes

_LETTER = 0.1  # inches a letter, on average


def plot_alignment(
    weights: object,
    source: Sequence[str],
    target: Sequence[str],
    truth: Iterable[tuple[int, int]] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    largest: float | None = 1.0,
    xlabel: str = "source word",
    ylabel: str = "target word",
    bar: bool = True,
) -> Axes:
    """Draw the attention weights of one sentence: target words down the side, source words along the top.

    Args:
        weights: ``(T, Tk)``: each row says how one target word spreads its attention over the source words.
        source: the Tk source words. ``target``: the T target words.
        truth: links ``(source position, target position)`` to outline, e.g. ``example.sure``.
        ax: where to draw; ``None`` makes a figure of a fitting size.
        largest: the weight with the darkest colour; ``None`` takes the largest there is.
        xlabel, ylabel: what source and target are made of.
        bar: draw the colour bar; of several pictures side by side one is enough.

    Raises:
        ValueError: if weights isn't ``(T, Tk)`` of numbers from 0 to 1, or a true link lies outside.
    """
    values = as_matrix("weights", weights)
    _check(values, source, target)
    links = _checked_links(truth, values.shape) if truth is not None else []
    if ax is None:
        ax = new_axes(None, _figure_size(source, target, bool(links)))
    image = draw_cells(ax, values, (0.0, largest if largest is not None else float(values.max())))
    if bar:
        colour_bar(ax, image, "attention weight")
    _furnish(ax, title, bool(links))
    cell = name_places(ax, (source, target), (xlabel, ylabel), (len(source), len(target)))
    _outline(ax, links, min(cell))
    return ax


def _check(values: np.ndarray, source: Sequence[str], target: Sequence[str]) -> None:
    for kind, count, name, words in zip(
        ("rows", "columns"), values.shape, ("target", "source"), (target, source), strict=True
    ):
        if count != len(words):
            raise ValueError(
                f"weights has {count} {kind} but {name} has {len(words)} words; "
                "cut weights[:len(target), :len(source)], or add the end symbol to the words"
            )
    if values.min() < 0 or values.max() > 1.001:
        raise ValueError(
            f"weights must lie between 0 and 1, got {values.min():.3g} to {values.max():.3g}; "
            "give the weights after the softmax, not the scores"
        )


def _checked_links(truth: Iterable[tuple[int, int]], shape: tuple[int, int]) -> list[tuple[int, int]]:
    links = sorted(truth)
    for source, target in links:
        if not (0 <= source < shape[1] and 0 <= target < shape[0]):
            raise ValueError(
                f"truth has the link {(source, target)}, meaning (source, target), but there are only "
                f"{shape[1]} source and {shape[0]} target words"
            )
    return links


def _figure_size(source: Sequence[str], target: Sequence[str], legend: bool) -> tuple[float, float]:
    """Cells are square while there is room; words, bar and legend get their margins."""
    left = 0.5 + _LETTER * max(map(len, map(str, target)))
    top = 0.6 + _LETTER * max(map(len, map(str, source))) + 0.3 * legend
    cell = min(0.42, (6.5 - left - 1.0) / len(source))
    return max(4.0, left + 1.0 + cell * len(source)), min(7.5, max(3.0, top + 0.2 + cell * len(target)))


def _furnish(ax: Axes, title: str | None, legend: bool) -> None:
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_title(title or "", pad=10)
    if legend:
        sample = Patch(fill=False, edgecolor=TRUTH_COLOUR, linewidth=1.8, label="true link")
        ax.legend(handles=[sample], loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=0.3)


def _outline(ax: Axes, links: list[tuple[int, int]], cell: float) -> None:
    width = min(1.8, max(0.6, 9 * cell))  # in a small cell a thick line would hide the weight
    halo = [withStroke(linewidth=1.8 * width, foreground="white")]  # a dark cell needs light around the line
    for source, target in links:
        corner = (source - 0.5, target - 0.5)
        look: Look = {"fill": False, "edgecolor": TRUTH_COLOUR, "linewidth": width, "path_effects": halo}
        ax.add_patch(Rectangle(corner, 1, 1, clip_on=False, zorder=3, **look))
