"""Figures of chapter 03: which mask forbids which cell, and what a trained model's heads do with an empty value."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from torch import Tensor

from attnpages.figures.heat import plot_heat
from attnpages.figures.palette import DARK_GREY, PALE_GREY, RUST
from attnpages.figures.style import STYLES, Look, legend_above, new_axes

# How a forbidden cell looks, by the place of its reason; a cell with two reasons has both marks.
_HATCHES = ("", "///", "...")  # the first reason is told by the fill


def plot_masks(weights: Tensor, forbidden: Mapping[str, Tensor], texts: Mapping[str, Sequence[str]]) -> list[Axes]:
    """Draw the attention weights of several texts, two in a row, and mark each masked cell by what forbids it.

    Args:
        weights: ``(B, T, T)``; a row without a key holds NaN, and is shown so.
        forbidden: ``{reason: (B, T, T)}``, True where a mask forbids the key; at most three reasons.
        texts: ``{title: words}``, one per text, T words each.

    Raises:
        ValueError: if there are more than three reasons, or weights, masks and texts differ in number or shape.
    """
    _check(weights, forbidden, len(texts))
    rows = (len(texts) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(6.5, 0.5 + 3.3 * rows), squeeze=False, layout="constrained")
    for place, (ax, (title, words)) in enumerate(zip(axes.flat, texts.items(), strict=False)):
        here, names = weights[place], ("key", "" if place % 2 else "query")
        plot_heat(here.nan_to_num(0), *names, xticks=words, yticks=words, limits=(0, 1), ax=ax, title=title)
        _cover(ax, [mask[place] for mask in forbidden.values()], here.isnan().any(dim=-1))
        ax.tick_params(axis="x", labelrotation=60)
    for ax in list(axes.flat)[len(texts) :]:
        ax.remove()
    named = [Patch(**_look([name == reason for name in forbidden]), label=reason) for reason in forbidden]
    figure.legend(handles=named, loc="outside upper center", ncols=3, handlelength=1.4, handleheight=1.4)
    return list(axes.flat)[: len(texts)]


def plot_empty_values(weights: Sequence[Sequence[float]], lengths: Sequence[Sequence[float]], even: float) -> Axes:
    """Draw one point per head: the weight that it gives to one token, and how long this token's value is.

    Args:
        weights: of the token, one row per layer, one share per head.
        lengths: of its value, divided by the mean length of the words' values, in the same order.
        even: the weight that the token would have if all keys had equal weights.

    Raises:
        ValueError: if the two have not the same layers and heads.
    """
    if [len(row) for row in weights] != [len(row) for row in lengths]:
        raise ValueError("weights and lengths differ in layers or heads; give one number of each per head")
    ax = new_axes(None, (6.5, 3.9))
    look: Look = {"linestyle": "", "markersize": 7, "markeredgecolor": "black", "markeredgewidth": 0.6, "alpha": 0.75}
    for name, layers, style in (("layer 1", slice(1), STYLES[1]), ("later layers", slice(1, None), STYLES[0])):
        points = [[number for row in of[layers] for number in row] for of in (weights, lengths)]
        ax.plot(*points, style.marker, color=style.colour, label=name, **look)
    line: Look = {"color": DARK_GREY, "marker": "", "zorder": 1}
    ax.axhline(1, linestyle="--", linewidth=1.2, **line)
    ax.text(0.99, 1.03, "as long as a word's value", ha="right", va="bottom", color=DARK_GREY)
    ax.axvline(even, linestyle=":", linewidth=1.6, **line)
    ax.text(even + 0.012, 0.62, "equal weights", color=DARK_GREY)
    ax.set(xlim=(0, 1), ylim=(0, 1.2), xlabel="weight of [CLS]", ylabel="length of its value,\ncompared to a word's")
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def _check(weights: Tensor, forbidden: Mapping[str, Tensor], texts: int) -> None:
    if len(forbidden) > len(_HATCHES):
        raise ValueError(f"forbidden has {len(forbidden)} reasons; three can be told apart")
    shapes = {tuple(mask.shape) for mask in forbidden.values()} | {tuple(weights.shape)}
    if len(shapes) > 1 or len(weights) != texts:
        raise ValueError(f"shapes {sorted(shapes)} and {texts} texts do not fit; give one matrix and mask per text")


def _look(reasons: Sequence[bool]) -> Look:
    """How a cell looks that these masks forbid."""
    fill = PALE_GREY if reasons[0] else "white"
    hatch = "".join(mark for mark, holds in zip(_HATCHES, reasons, strict=False) if holds)
    return {"facecolor": fill, "edgecolor": DARK_GREY, "hatch": hatch, "linewidth": 0.6}


def _cover(ax: Axes, masks: Sequence[Tensor], empty: Tensor) -> None:
    """Cover forbidden cells, and write NaN into the rows that have no key."""
    rows, columns = masks[0].shape
    for row, column in ((row, column) for row in range(rows) for column in range(columns)):
        reasons = [bool(mask[row, column]) for mask in masks]
        if any(reasons):
            ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, zorder=5, **_look(reasons)))
        if empty[row]:
            ground: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            ax.text(column, row, "NaN", ha="center", va="center", fontsize=10, color=RUST, zorder=6, bbox=ground)
