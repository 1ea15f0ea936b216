"""Pictures of chapter 08: scores over the distance of two words, and what silencing each head costs."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnbook.plotting.style import STYLES, new_axes, readable, styles_for


def plot_by_distance(
    curves: Mapping[str, Sequence[float]],
    distances: Sequence[float],
    trained: tuple[float, float],
    xlabel: str = "target place minus source place (words)",
    ylabel: str = "mean score (before softmax)",
    ax: Axes | None = None,
) -> Axes:
    """Draw how scores change with the distance of query and key; what training showed is shaded.

    Args:
        curves: ``{name: [one value a distance]}``. trained: smallest and largest distance of training.

    Raises:
        ValueError: if there is no curve, or one hasn't a value for each distance.
    """
    if not curves or any(len(values) != len(distances) for values in curves.values()):
        raise ValueError("curves must hold at least one curve, with one value for each distance")
    ax = new_axes(ax)
    ax.axvspan(*trained, zorder=0, facecolor="#F1EBDD", edgecolor="none", label="distances seen in training")
    for name, style in styles_for(curves).items():
        ax.plot(distances, curves[name], color=style.colour, linestyle=style.line, marker="", label=readable(name))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    return ax


def plot_silenced(tables: Mapping[str, Sequence[Sequence[float]]], ylabel: str = "exact match") -> list[Axes]:
    """Draw what is left when one head is silent: one panel a kind of attention, one dot a head.

    Args:
        tables: ``{kind of attention: [[one value a head], one row a layer]}``.

    Raises:
        ValueError: if there is no table.
    """
    if not tables:
        raise ValueError("tables is empty; give at least one kind of attention")
    figure, axes = plt.subplots(1, len(tables), figsize=(6.5, 3.2), sharey=True, layout="constrained", squeeze=False)
    for ax, (kind, rows) in zip(axes[0], tables.items(), strict=True):
        for layer, (row, style) in enumerate(zip(rows, STYLES, strict=False)):
            xs = [head + 0.24 * (layer - (len(rows) - 1) / 2) for head in range(len(row))]
            ax.vlines(xs, row, 1.0, color=style.colour, linewidth=1.5)
            ax.plot(xs, row, style.marker, color=style.colour, clip_on=False, label=f"layer {layer}")
        ax.set(title=kind, xlabel="silent head", xticks=range(len(rows[0])), ylim=(-0.03, 1.03))
    axes[0][0].set_ylabel(ylabel)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return list(axes[0])
