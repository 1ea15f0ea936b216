"""Drawings of chapter 03: the library with its numbers, curves over the number of features, runs, and counts."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from attnbook.plotting.curves import plot_by_length
from attnbook.plotting.style import STYLES, new_axes

_INK = "#24292F"
_PAPER = "#F6F8FA"


def draw_library(
    titles: Sequence[str],
    query: Sequence[float],
    keys: Sequence[Sequence[float]],
    scores: Sequence[float],
    weights: Sequence[float],
    values: Sequence[Sequence[float]],
    ax: Axes | None = None,
) -> Axes:
    """Draw attention as a visit to a library: one row a book, from the label on its spine to its share of the
    sum.

    Args:
        titles: one a book. ``query``: what is sought.
        keys, values: one vector a book. ``scores``, ``weights``: one number a book.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there isn't one key, score, weight and value a title.
    """
    for name, given in (("keys", keys), ("scores", scores), ("weights", weights), ("values", values)):
        if len(given) != len(titles):
            raise ValueError(f"{name} has {len(given)} entries but there are {len(titles)} titles; give one a book")
    rows = list(zip(titles, keys, scores, weights, values, strict=True))
    ax = new_axes(ax, (6.5, 1.55 + 0.95 * len(rows)))
    ax.set(xlim=(0, 10), ylim=(-0.95, len(rows) + 0.75))
    ax.axis("off")
    _headings(ax, len(rows), query)
    for row, (book, style) in enumerate(zip(rows, STYLES, strict=False)):
        _book(ax, len(rows) - 1 - row, *book, colour=style.colour)
    context = [sum(w * v[i] for w, v in zip(weights, values, strict=True)) for i in range(len(values[0]))]
    _box(ax, 7.3, -0.85, 2.6, 0.7, "#FFFFFF")
    _say(ax, 8.6, -0.5, _vector(context, 2), weight="bold")
    _say(ax, 7.1, -0.5, "context: what you carry home =", ha="right")
    return ax


def plot_against_features(
    panels: Mapping[str, Mapping], xlabel: str = "features of query and key, $d_k$"
) -> list[Axes]:
    """Draw several measured things against the number of features, one panel each, below one another.

    Args:
        panels: ``{label of the y axis: {curve: {features: [one value a seed]}}}``. A label that holds "(log)"
            gets a logarithmic axis.
        xlabel: of the lowest panel.

    Raises:
        ValueError: if there is no panel, or a curve is not as :func:`plot_by_length` takes it.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one label with its curves")
    _, axes = plt.subplots(len(panels), 1, figsize=(6.5, 0.6 + 2.3 * len(panels)), sharex=True, layout="constrained")
    axes = [axes] if len(panels) == 1 else list(axes)
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        plot_by_length(curves, xlabel="", ylabel=label, ax=ax, trained=None)
        ax.autoscale(axis="y")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log" if "(log)" in label else "linear")
        if ax is not axes[0]:
            ax.get_legend().remove()
    features = sorted({x for curves in panels.values() for points in curves.values() for x in points})
    axes[-1].set_xticks(features, [str(x) for x in features])
    axes[-1].set_xlabel(xlabel)
    return axes


def plot_runs(
    panels: Mapping[str, Mapping[int, Sequence[float]]],
    xlabel: str = "numbers in the list",
    ylabel: str = "exact match (share of lists)",
    trained: float = 6,
) -> list[Axes]:
    """Draw each run as a thin line of its own, one panel a model, below one another: nothing hides behind a band.

    Args:
        panels: ``{model: {length: [one value a seed]}}``; each length needs all seeds.
        xlabel, ylabel: what is drawn; the x label stands below the lowest panel.
        trained: the longest length that was trained; what lies below is shaded.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one model with its lengths")
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(6.5, 0.8 + 1.9 * len(panels)), sharex=True, sharey=True, layout="constrained"
    )
    axes = [axes] if len(panels) == 1 else list(axes)
    for ax, (name, points) in zip(axes, panels.items(), strict=True):
        lengths = sorted(points)
        for seed, (values, style) in enumerate(
            zip(zip(*(points[n] for n in lengths), strict=True), STYLES, strict=False)
        ):
            ax.plot(
                lengths,
                values,
                color=style.colour,
                linestyle=style.line,
                marker=style.marker,
                linewidth=1.2,
                markersize=4,
                label=f"seed {seed}",
            )
        ax.axvspan(min(lengths) - 0.5, trained + 0.5, zorder=0, facecolor="#F1EBDD", edgecolor="none")
        ax.set_title(name, fontsize=12)
        ax.set_ylim(-0.05, 1.05)
    axes[0].legend(fontsize=10, loc="center right")
    axes[-1].set_xticks([n for n in lengths if n in (1, 6) or n % 8 == 0 or n == 12])
    axes[-1].set_xlabel(xlabel)
    figure.supylabel(ylabel, fontsize=12)
    return axes


def plot_counts(panels: Mapping[str, Mapping[str, int]]) -> list[Axes]:
    """Draw counted things as lying bars, one panel each, below one another; the count stands behind its bar.

    Args:
        panels: ``{what is counted: {name: count}}``; panels share their names and the order of these.

    Raises:
        ValueError: if there is no panel, or a panel has other names than the first.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one thing that was counted")
    names = list(next(iter(panels.values())))
    if odd := [what for what, counts in panels.items() if list(counts) != names]:
        raise ValueError(f"panel {odd[0]!r} has other names than the first panel")
    height = 0.4 + len(panels) * (0.7 + 0.3 * len(names))
    _, axes = plt.subplots(len(panels), 1, figsize=(6.5, height), squeeze=False, layout="constrained")
    for ax, (what, counts) in zip(axes[:, 0], panels.items(), strict=True):
        bars = ax.barh(names, list(counts.values()), height=0.62, color=STYLES[0].colour, alpha=0.6)
        ax.bar_label(bars, [f"{count:,.0f}" for count in counts.values()], padding=4, fontsize=11)
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(what)
        ax.margins(x=0.13)
    return list(axes[:, 0])


def _headings(ax: Axes, rows: int, query: Sequence[float]) -> None:
    _say(ax, 0.1, rows + 0.5, f"query: what you seek = {_vector(query)}", ha="left", weight="bold")
    for x, text in (
        (1.6, "key: label on the spine"),
        (4.15, "score"),
        (5.75, "weight"),
        (8.6, "value: its content"),
    ):
        _say(ax, x, rows + 0.02, text, size=10)


def _book(ax: Axes, y: float, title: str, key, score: float, weight: float, value, colour: str) -> None:
    _box(ax, 0.1, y + 0.1, 3.1, 0.74, _PAPER)
    ax.add_patch(plt.Rectangle((0.1, y + 0.1), 0.16, 0.74, color=colour))
    _say(ax, 1.72, y + 0.64, title, weight="bold")
    _say(ax, 1.72, y + 0.3, _vector(key))
    _arrow(ax, 3.3, 3.8, y)
    _say(ax, 4.15, y + 0.47, f"{score:.3g}")
    _arrow(ax, 4.5, 4.95, y)
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5, 0.26, facecolor="white", edgecolor="#767676", linewidth=0.8))
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5 * weight, 0.26, color=colour))
    _say(ax, 5.75, y + 0.16, f"{weight:.3f}")
    _say(ax, 6.9, y + 0.47, "×")
    _box(ax, 7.3, y + 0.12, 2.6, 0.7, _PAPER)
    _say(ax, 8.6, y + 0.47, _vector(value))
    if y:
        _say(ax, 8.6, y - 0.03, "+")


def _box(ax: Axes, x: float, y: float, width: float, height: float, face: str) -> None:
    style = "round,pad=0,rounding_size=0.06"
    ax.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=face, edgecolor="#767676", linewidth=1)
    )


def _arrow(ax: Axes, start: float, end: float, y: float) -> None:
    ax.annotate("", (end, y + 0.47), (start, y + 0.47), arrowprops={"arrowstyle": "->", "color": "#57606A"})


def _say(ax: Axes, x: float, y: float, text: str, ha: str = "center", size: float = 11, weight: str = "normal") -> None:
    ax.text(x, y, text, ha=ha, va="center", fontsize=size, fontweight=weight, color=_INK)


def _vector(numbers: Sequence[float], decimals: int = 0) -> str:
    return "(" + ", ".join(f"{float(x):.{decimals}f}" for x in numbers) + ")"
