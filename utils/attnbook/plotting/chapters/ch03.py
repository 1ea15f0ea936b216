"""Figures of chapter 03: the library with its numbers, runs, and counts."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnbook.plotting.boxes import FAINT, LINE, arrow, box, canvas, say
from attnbook.plotting.style import STYLES


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
    ax = canvas(ax, (6.5, 1.55 + 0.95 * len(rows)), (0, 10), (-0.95, len(rows) + 0.75))
    _headings(ax, len(rows), query)
    for row, (book, style) in enumerate(zip(rows, STYLES, strict=False)):
        _book(ax, len(rows) - 1 - row, *book, colour=style.colour)
    context = [sum(w * v[i] for w, v in zip(weights, values, strict=True)) for i in range(len(values[0]))]
    box(ax, 7.3, -0.85, 2.6, 0.7, fill="white")
    say(ax, 8.6, -0.5, _vector(context, 2), weight="bold")
    say(ax, 7.1, -0.5, "context: what you carry home =", ha="right")
    return ax


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
    say(ax, 0.1, rows + 0.5, f"query: what you seek = {_vector(query)}", ha="left", weight="bold")
    for x, text in ((1.6, "key: label on the spine"), (4.15, "score"), (5.75, "weight"), (8.6, "value: its content")):
        say(ax, x, rows + 0.02, text, size=10)


def _book(ax: Axes, y: float, title: str, key, score: float, weight: float, value, colour: str) -> None:
    box(ax, 0.1, y + 0.1, 3.1, 0.74)
    ax.add_patch(plt.Rectangle((0.1, y + 0.1), 0.16, 0.74, color=colour, zorder=2))
    say(ax, 1.72, y + 0.64, title, weight="bold")
    say(ax, 1.72, y + 0.3, _vector(key))
    arrow(ax, (3.3, y + 0.47), (3.8, y + 0.47), LINE)
    say(ax, 4.15, y + 0.47, f"{score:.3g}")
    arrow(ax, (4.5, y + 0.47), (4.95, y + 0.47), LINE)
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5, 0.26, facecolor="white", edgecolor=FAINT, linewidth=0.8))
    ax.add_patch(plt.Rectangle((5.0, y + 0.34), 1.5 * weight, 0.26, color=colour))
    say(ax, 5.75, y + 0.16, f"{weight:.3f}")
    say(ax, 6.9, y + 0.47, "×")
    box(ax, 7.3, y + 0.12, 2.6, 0.7)
    say(ax, 8.6, y + 0.47, _vector(value))
    if y:
        say(ax, 8.6, y - 0.03, "+")


def _vector(numbers: Sequence[float], decimals: int = 0) -> str:
    return "(" + ", ".join(f"{float(x):.{decimals}f}" for x in numbers) + ")"
