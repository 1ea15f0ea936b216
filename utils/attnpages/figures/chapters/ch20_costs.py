"""Figures of chapter 20: bytes that a new token reads, and what memories find of a list and keep for it."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnpages.figures.palette import DARK_GREY, FAINT, SAND
from attnpages.figures.style import legend_above, new_axes, styles_for


def plot_bytes_read(curves: Mapping[str, Mapping[int, float]], weights: float) -> Axes:
    """Draw what is read of each memory for a new token, over the tokens before it, both axes in logarithms.

    Args:
        curves: ``{memory: {tokens: gigabytes}}``, all above 0. weights: gigabytes, a broad grey line.

    Raises:
        ValueError: if there is no curve.
    """
    if not curves:
        raise ValueError("at least one memory is needed, got none")
    ax = new_axes(None, (6.5, 4.6))
    ax.axhline(weights, color=FAINT, linewidth=4.5)
    styles = styles_for(list(curves))
    for name, points in curves.items():
        colour, dashes, marker = styles[name][:3]
        ax.plot(list(points), list(points.values()), color=colour, linestyle=dashes, marker=marker, label=name)
    tokens = list(next(iter(curves.values())))
    ax.annotate("all weights", (tokens[0], weights), (0, 5), textcoords="offset points", color=DARK_GREY, fontsize=11)
    ax.set(xscale="log", yscale="log", xlabel="tokens before the new one", ylabel="read for a new token (GB)")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.minorticks_off()
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def plot_found(
    shares: Mapping[str, Mapping[int, Sequence[float]]],
    kept: Mapping[str, Mapping[int, int]],
    trained: tuple[int, int],
    untrained: Mapping[str, Mapping[int, float]] | None = None,
) -> list[Axes]:
    """Draw what share of a list's values models find, and beside it how many numbers they keep, by pairs in the list.

    A curve of the left panel goes through the means of the seeds, a band from the worst to the best.

    Args:
        shares: ``{model: {pairs: [one share per seed]}}``. kept: ``{model: {pairs: numbers}}``, of the same models.
        trained: fewest and most pairs in training, shaded. untrained: ``{name: {pairs: share}}`` of memories without
            training, grey in the left panel.

    Raises:
        ValueError: if the models differ.
    """
    if not shares or shares.keys() != kept.keys():
        raise ValueError(f"both panels need the same models: {list(shares)}, {list(kept)}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    for name, (colour, dashes, marker, _) in styles_for(list(shares)).items():
        pairs, each = list(shares[name]), list(shares[name].values())
        left.fill_between(pairs, list(map(min, each)), list(map(max, each)), color=colour, alpha=0.15, linewidth=0)
        left.plot(pairs, list(map(fmean, each)), color=colour, linestyle=dashes, marker=marker, label=name)
        right.plot(pairs, [kept[name][count] / 1000 for count in pairs], color=colour, linestyle=dashes, marker=marker)
    for name, points in (untrained or {}).items():
        look = {"color": DARK_GREY, "linestyle": "-", "linewidth": 1.2, "marker": "x"}
        left.plot(list(points), list(points.values()), label=name, **look)
    left.axvspan(*trained, facecolor=SAND, zorder=0, label="pairs in training")
    left.set(xlabel="pairs in the list", ylabel="values found (share)", ylim=(-0.03, 1.05))
    right.set(xlabel="pairs in the list", ylabel="numbers kept (thousands)", ylim=(0, None))
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return [left, right]
