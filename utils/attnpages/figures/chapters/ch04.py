"""Figures of chapter 04: placements, windows, a window's Gaussian, centres and their paths."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import Point, arrow, box_around, canvas, line, say
from attnpages.figures.curves import plot_by_length
from attnpages.figures.palette import BLUE, GREY, INK, LINE, PAPER, READS, SAND, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, CurveStyle, Look, legend_above, new_axes, readable

PLACEMENTS = ("output", "input", "both", "skip")
Panels = Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]  # {title: {model: pairs of positions}}
_MIDDLE, _RIGHT = 2.2, 4.5  # columns of the decoder, and of attention


def _inner(ax: Axes, centre: Point, name: str, fill: str = PAPER, width: float = 1.5) -> None:
    box_around(ax, centre, width, 0.7, name, size=11, fill=fill, edge=INK)


def draw_placements(names: Sequence[str] = PLACEMENTS) -> np.ndarray:
    """Draw where attention sits in a decoder, one panel per placement, from the input word up to the output layer.

    Raises:
        ValueError: if a placement is unknown.
    """
    for name in names:
        if name not in PLACEMENTS:
            raise ValueError(f"placement must be one of {', '.join(PLACEMENTS)}, got {name!r}")
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    _, axes = plt.subplots(rows, columns, figsize=(6.5, 3.7 * rows), layout="constrained", squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        canvas(ax, (3.2, 3.7), (-0.6, 5.4), (-0.4, 7.0))
        ax.set_title(f'"{name}"', fontsize=12)
        say(ax, _MIDDLE, 0.0, "$y_{t-1}$")
        _inner(ax, (_MIDDLE, 6.3), "output layer", WRITES, 2.2)
        _inner(ax, (_RIGHT, 3.0), "attention", READS)
        {"skip": _stack}.get(name, _one_cell)(ax, name)
    return axes


def _one_cell(ax: Axes, name: str) -> None:
    joined = name != "input"
    cell = 2.9 if name == "output" else 1.9
    _inner(ax, (_MIDDLE, cell), "LSTM", WRITES, 1.3)
    arrow(ax, (_MIDDLE, 0.3), (_MIDDLE, cell - 0.37))
    if joined:
        _inner(ax, (_MIDDLE, 4.7), "$\\tilde{h}_t$", PAPER, 1.0)
        arrow(ax, (_MIDDLE, cell + 0.37), (_MIDDLE, 4.33))
        arrow(ax, (_MIDDLE, 5.07), (_MIDDLE, 5.93))
        line(ax, (_RIGHT, _RIGHT), (3.35, 4.7), BLUE, 1.8)
        arrow(ax, (_RIGHT, 4.7), (_MIDDLE + 0.52, 4.7), colour=BLUE, width=1.8)
    else:
        arrow(ax, (_MIDDLE, cell + 0.37), (_MIDDLE, 5.93))
    say(ax, _RIGHT + 0.1, 3.9 if joined else 1.9, "$c_t$", ha="left", colour=BLUE)
    if name == "output":
        arrow(ax, (_MIDDLE + 0.67, 2.95), (_RIGHT - 0.78, 2.95), dashed=True)
        say(ax, 3.3, 3.25, "$s_t$", size=10)
        return
    line(ax, (_RIGHT, _RIGHT), (2.65, 1.0), BLUE, 1.8)  # the context becomes an input
    arrow(ax, (_RIGHT, 1.0), (_MIDDLE + 0.25, 1.48), colour=BLUE, width=1.8)
    _inner(ax, (0.2, 3.0), "$s_{t-1}$", WRITES, 1.0)
    arrow(ax, (0.2, 2.63), (_MIDDLE - 0.67, 2.0))
    arrow(ax, (0.72, 3.0), (_RIGHT - 0.78, 3.0), dashed=True)


def _stack(ax: Axes, _name: str) -> None:
    for height, text in ((1.5, "LSTM 1"), (4.1, "LSTM 2"), (5.25, "+")):
        _inner(ax, (_MIDDLE, height), text, WRITES if height < 5 else PAPER, 1.3 if height < 5 else 0.7)
    arrow(ax, (_MIDDLE, 0.3), (_MIDDLE, 1.13))
    arrow(ax, (_MIDDLE, 1.87), (_MIDDLE, 3.73))
    arrow(ax, (_MIDDLE, 4.47), (_MIDDLE, 4.88))
    arrow(ax, (_MIDDLE, 5.62), (_MIDDLE, 5.93))
    arrow(ax, (_MIDDLE + 0.67, 1.5), (_RIGHT - 0.4, 2.63), dashed=True)
    say(ax, 4.15, 1.75, "$s_t$ of LSTM 1", size=10)
    line(ax, (_RIGHT, _RIGHT), (3.35, 4.1), BLUE, 1.8)
    arrow(ax, (_RIGHT, 4.1), (_MIDDLE + 0.67, 4.1), colour=BLUE, width=1.8)
    say(ax, _RIGHT + 0.1, 3.75, "$c_t$", ha="left", colour=BLUE)
    line(ax, (_MIDDLE, 0.7, 0.7), (2.5, 2.5, 5.25), LINE, 1.8)
    arrow(ax, (0.7, 5.25), (_MIDDLE - 0.37, 5.25), colour=LINE, width=1.8)
    say(ax, 0.55, 3.7, "skip", ha="right", size=10)


def draw_windows(
    source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]],
    centres: Mapping[str, Sequence[float] | None], half_width: float = 1,
) -> np.ndarray:  # fmt: skip
    """Draw which source words each target word may attend to, one panel per rule for the centre, two panels per row.

    Args:
        links: ``(source position, target position)`` of words with the same meaning, each drawn as a dot.
        centres: ``{title: [p of each target word]}``, drawn as crosses; ``None`` for global attention.
        half_width: D, in positions.

    Raises:
        ValueError: if a rule does not have one centre per target word.
    """
    rows = -(-len(centres) // 2)
    _, axes = plt.subplots(
        rows, 2, figsize=(6.5, 3.2 * rows), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    true = list(links)
    for ax, (title, path) in zip(axes.flat, centres.items(), strict=False):
        if path is not None and len(path) != len(target):
            raise ValueError(f"{title!r} has {len(path)} centres but there are {len(target)} target words")
        for t in range(len(target)):
            inside = [j for j in range(len(source)) if path is None or abs(j - path[t]) <= half_width]
            ax.barh(t, len(inside), left=inside[0] - 0.5, height=0.86, color=SAND, edgecolor=GREY, linewidth=0.6)
        ax.plot(*zip(*true, strict=True), linestyle="", marker="o", markersize=5, color=INK)
        if path is not None:
            ax.plot(path, range(len(target)), linestyle="", marker="x", markersize=7, color=TRUTH_COLOUR)
        ax.set_title(title, fontsize=12)
        ax.grid(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("target")
    axes[0, 0].set(xlim=(-0.6, len(source) - 0.4), ylim=(len(target) - 0.4, -0.6))
    for ax in axes[-1]:
        ax.set_xticks(range(len(source)), source, rotation=90)
        ax.set_xlabel("source")
    axes[0, 0].set_yticks(range(len(target)), target)
    return axes


def plot_window(
    words: Sequence[str], softmax: Sequence[float], gaussian: Sequence[float], centre: float, half_width: float
) -> np.ndarray:
    """Draw the weights of a window's softmax, the Gaussian, and their product, over the words of one sentence.

    Args:
        words: the source words. softmax: one weight per word. gaussian: one factor per word.
        centre: p, in positions counted from 0. half_width: D, in positions.

    Returns:
        the three axes, from top to bottom.

    Raises:
        ValueError: if there are not as many weights and factors as words.
    """
    for name, numbers in (("softmax", softmax), ("gaussian", gaussian)):
        if len(numbers) != len(words):
            raise ValueError(f"{name} has {len(numbers)} numbers but there are {len(words)} words; give one per word")
    _, axes = plt.subplots(3, 1, figsize=(6.5, 5.6), sharex=True, layout="constrained")
    weights, factors = as_array(softmax), as_array(gaussian)
    behind: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
    rows = (("softmax in\nthe window", weights), ("Gaussian", factors), ("product:\nthe weights", weights * factors))
    for ax, (label, heights), style in zip(axes, rows, STYLES, strict=False):
        ax.axvspan(centre - half_width, centre + half_width, facecolor=SAND, zorder=0)
        ax.axvline(centre, color=TRUTH_COLOUR, linestyle="--", linewidth=1.4)
        ax.bar(range(len(words)), heights, width=0.5, color=style.colour, hatch=style.hatch, edgecolor="white")
        for at, height in enumerate(map(float, heights)):
            ax.text(at, height + 0.03, f"{height:.2f}", ha="center", va="bottom", fontsize=10, bbox=behind)
        ax.set(ylabel=label, ylim=(0, 1.3), yticks=(0, 0.5, 1))
    axes[-1].set_xticks(range(len(words)), [f"{word}\n{at}" for at, word in enumerate(words)])
    axes[-1].set_xlabel("source word and its position")
    return axes


def plot_centre_paths(
    paths: Mapping[str, Sequence[float]], links: Iterable[tuple[int, int]], ax: Axes | None = None,
    title: str | None = None,
) -> Axes:  # fmt: skip
    """Draw the centre of a window at each step, over the true links.

    Args:
        paths: ``{model: [p of each target word]}``, in source positions.
        links: ``(source position, target position)``, each drawn as a dot.

    Raises:
        ValueError: if there is no path.
    """
    if not paths:
        raise ValueError("paths is empty; give at least one model with its centres")
    ax = new_axes(ax, (6.5, 4.4))
    source, target = zip(*sorted(links, key=lambda link: link[1]), strict=True)
    ax.plot(target, source, linestyle="", marker="o", markersize=4, color=GREY, label="true links")
    for (name, centres), style in zip(paths.items(), STYLES, strict=False):
        ax.plot(range(len(centres)), centres, color=style.colour, linestyle=style.line, marker="", label=readable(name))
    ax.set(xlabel="target position (words)", ylabel="source position (words)")
    legend_above(ax, *ax.get_legend_handles_labels(), title=title)
    return ax


def plot_rules(
    curves: Mapping[str, Mapping[int, Sequence[float]]], labels: Mapping[str, Point], trained: tuple[float, float]
) -> Axes:
    """Draw exact match by the number of numbers, with each model's name beside its line instead of in a legend.

    Args:
        curves: ``{model: {numbers: [one value per seed]}}``.
        labels: ``{model: (numbers, share)}``, where its name begins. A name left of its line's last point is tied to
            the line's value at the first length beyond ``trained``.
        trained: the shortest and the longest list of training, shaded.

    Raises:
        ValueError: if a curve has no label.
    """
    if missing := [name for name in curves if name not in labels]:
        raise ValueError(f"labels must say where each name stands; there is none for {', '.join(missing)}")
    ax = plot_by_length(curves, "numbers in the list", "exact match (share)", new_axes(None, (6.5, 4.2)), trained)
    if legend := ax.get_legend():
        legend.remove()
    for name, points in curves.items():
        at, share = labels[name]
        beyond = min(n for n in points if n > trained[1])
        tied = at < beyond
        end = (beyond, sum(points[beyond]) / len(points[beyond])) if tied else (at, share)
        look: Look = {"arrowstyle": "-", "color": GREY, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 4}
        ax.annotate(name, end, (at, share), fontsize=11, color=INK, va="center", arrowprops=look if tied else None)
    ax.text(sum(trained) / 2, -0.005, "trained lengths", fontsize=10, color=INK, ha="center", va="bottom")
    ax.set_xlim(trained[0] - 0.7, max(n for points in curves.values() for n in points) + 3.6)
    return ax


def plot_attended(
    panels: Panels, centres: Panels | None = None, styles: Mapping[str, CurveStyle] | None = None
) -> np.ndarray:
    """Draw where models attend against where they should: a panel per list, a colour and a mark per model.

    Args:
        panels: ``{title: {model: [(position of the true word, position attended to)]}}``. On the grey diagonal the two
            agree.
        centres: the same for the centres of the windows, which are drawn as small dots of the model's colour.
        styles: one for each model, whose colour it has in another figure; ``None`` chooses them.

    Returns:
        the axes, one per panel.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one list with what the models attend to")
    figure, axes = plt.subplots(1, len(panels), figsize=(6.5, 3.9), layout="constrained", squeeze=False)
    for ax, (title, models) in zip(axes[0], panels.items(), strict=True):
        last = max(position for pairs in models.values() for position, _ in pairs)
        ax.plot((0, last), (0, last), color=GREY, linewidth=1.2, marker="", zorder=1)
        looks = styles or dict(zip(models, STYLES, strict=False))
        for (name, pairs), marker in zip(models.items(), ("s", "o", "x"), strict=False):
            colour = looks[name].colour
            ax.plot(*zip(*pairs, strict=True), linestyle="", marker=marker, markersize=7, color=colour,
                    fillstyle="none", markeredgewidth=1.5, label=readable(name))  # fmt: skip
            if of_window := (centres or {}).get(title, {}).get(name):
                ax.plot(*zip(*of_window, strict=True), linestyle="", marker=".", markersize=7, color=colour,
                        alpha=0.6)  # fmt: skip
        ends = (-1, last + 1 + last / 40)  # the marks of the last word are whole
        ax.set(title=title, xlabel="position of the true word", xlim=ends, ylim=ends)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(7, integer=True))
    axes[0, 0].set_ylabel("position attended to")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if centres:
        handles += [plt.Line2D([], [], linestyle="", marker=".", markersize=7, color=GREY)]
        labels += ["centre of the window"]
    figure.legend(handles, labels, loc="outside upper center", ncols=4, columnspacing=1.2, handletextpad=0.3)
    return axes[0]
