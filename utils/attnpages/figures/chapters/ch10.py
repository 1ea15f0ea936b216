"""Figures of chapter 10: a tree, kinds of errors, answers beside a target, rates, settings in a plane, and seconds."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import box, canvas, line, say
from attnpages.figures.curves import plot_by_length
from attnpages.figures.palette import FAINT, INK, LINE, PAPER, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, CurveStyle, Look, legend_above, new_axes, readable, styles_for

Rate = tuple[float, float, float]  # a rate, and the lower and upper end of its interval
Point = tuple[float, float]  # two measures of one group of texts
DOTS: Look = {"linestyle": "none", "alpha": 0.35}  # single groups, behind their mean


def draw_answers(
    rows: Mapping[str, Sequence[str]], ax: Axes | None = None, below: Mapping[str, str] | None = None
) -> Axes:
    """Draw answers as a table below the target; a cell that differs from the target's has an orange frame and a cross.

    Args:
        rows: ``{name: [one item per column]}``, the target first. The words of an item stand below one another.
        below: ``{item: text}``: what stands in bold below the words of an item, for example its digits. An item that
            is not in it has no such text.

    Raises:
        ValueError: if there is nothing to draw, or the rows have different lengths.
    """
    if not rows or len({len(items) for items in rows.values()}) != 1:
        raise ValueError(f"rows must have at least one row, all of one length, got {dict(rows)}")
    target = list(next(iter(rows.values())))
    tall = max(len(item.split()) for items in rows.values() for item in items)
    foot = 0.3 if below else 0.0  # inches for the text below the words
    height = 0.24 * tall + 0.25 + foot
    ax = canvas(ax, (6.5, (height + 0.12) * len(rows)), (-1.35, len(target)), (-len(rows) * (height + 0.12), 0))
    for number, (name, items) in enumerate(rows.items()):
        low = -(number + 1) * (height + 0.12) + 0.06
        say(ax, -1.3, low + height / 2, name, ha="left")
        for column, item in enumerate(items):
            wrong = item != target[column]
            look: Look = {"edge": TRUTH_COLOUR, "line": 2.4, "fill": WRITES} if wrong else {"fill": PAPER}
            box(ax, column + 0.04, low, 0.92, height, **look)
            say(ax, column + 0.5, low + (height + foot) / 2, "\n".join(item.split()))
            say(ax, column + 0.5, low + 0.2, (below or {}).get(item, ""), weight="bold")
            if wrong:
                say(ax, column + 0.88, low + height - 0.13, "×", weight="bold", colour=TRUTH_COLOUR, size=13)
    return ax


def plot_rates(rows: Mapping[str, Mapping[str, Rate]], xlabel: str, ax: Axes | None = None, gap: float = 0.24) -> Axes:
    """Draw rates as dots with their intervals, several kinds in each row, on an axis that begins at 0.

    Args:
        rows: ``{row: {kind: (rate, low, high)}}``, all rows with the same kinds in the same order.
        xlabel: what is measured, with its unit.
        gap: between the kinds of one row.

    Raises:
        ValueError: if there is nothing to draw, the kinds differ, or a rate lies outside its interval.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one row with its rates")
    kinds = list(next(iter(rows.values())))
    ax = new_axes(ax, (6.5, 1.5 + 0.55 * len(rows)))
    for y, (name, rates) in enumerate(rows.items()):
        if list(rates) != kinds or not all(low <= rate <= high for rate, low, high in rates.values()):
            raise ValueError(f"row {name!r} must have (rate, low, high) for each of {kinds}, got {dict(rates)}")
        for number, (kind, style) in enumerate(zip(kinds, STYLES, strict=False)):
            rate, low, high = rates[kind]
            at = y + gap * (number - (len(kinds) - 1) / 2)
            bars: Look = {"xerr": [[rate - low], [high - rate]], "capsize": 4, "linestyle": "none", "clip_on": False}
            look: Look = {"color": style.colour, "marker": style.marker, "markersize": 7}
            ax.errorbar([rate], [at], label=kind if y == 0 else None, zorder=3, **bars, **look)
    ax.set_yticks(range(len(rows)), [readable(name) for name in rows])
    ax.set(xlabel=xlabel, ylim=(len(rows) - 0.5, -0.5))
    ax.set_xlim(left=0)
    ax.grid(False, axis="y")
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def draw_tree(
    probabilities: Mapping[str, float],
    kept: Sequence[str] = (),
    taken: Sequence[str] = (),
    ax: Axes | None = None,
    digits: int = 2,
    framed: Sequence[str] = (),
) -> Axes:
    """Draw beginnings of sentences as a tree from left to right, each with its probability, and at the end of each
    branch the probability of its word alone.

    Args:
        probabilities: ``{"a": 0.5, "a end": 0.3, …}``: words parted by spaces, and the probability of the whole
            beginning. A beginning hangs on the one that is a word shorter; parents come before children.
        kept: beginnings on the winning path, drawn bold with a thick line. taken: those on the greedy one, dashed. A
            branch on both paths has both lines.
        digits: decimal places of all probabilities.
        framed: beginnings with a frame, such as the hypotheses that a beam keeps.

    Raises:
        ValueError: if there is nothing to draw, or a beginning comes before its parent.
    """
    if not probabilities:
        raise ValueError("probabilities is empty; give at least one beginning")
    names = list(probabilities)
    leaves = [name for name in names if not any(other.rpartition(" ")[0] == name for other in names)]
    heights: dict[str, float] = {name: -float(row) for row, name in enumerate(_in_order(names, leaves))}
    for name in sorted(set(names) - set(leaves), key=lambda name: -len(name.split())):
        below = [heights[other] for other in names if other.rpartition(" ")[0] == name]
        heights[name] = sum(below) / len(below)
    depth = max(len(name.split()) for name in names)
    ax = canvas(ax, (6.5, 0.7 + 0.5 * len(leaves)), (-0.25, depth + 0.75), (0.6 - len(leaves), 0.6))
    tops = [heights[name] for name in names if " " not in name]
    root = sum(tops) / len(tops)
    _node(ax, 0, root, "start", False)
    for number, name in enumerate(names):
        parent = name.rpartition(" ")[0]
        if parent and parent not in names[:number]:
            raise ValueError(f"{name!r} comes before its beginning {parent!r}; give the shorter ones first")
        _branch(ax, name, heights.get(parent, root), heights[name], name in kept, name in taken)
        own = probabilities[name] / probabilities[parent] if parent else probabilities[name]
        say(ax, len(name.split()) - 0.08, heights[name], f"{own:.{digits}f}", ha="right", size=9, colour=LINE)
        reached = f"{name.split()[-1]}\n{probabilities[name]:.{digits}f}"
        _node(ax, len(name.split()), heights[name], reached, name in kept, name in framed)
    return ax


def plot_plane(
    curves: Mapping[str, Mapping[str, Sequence[Point]]],
    target: Sequence[Point],
    xlabel: str,
    ylabel: str,
    target_name: str = "the author",
    ax: Axes | None = None,
) -> Axes:
    """Draw kinds of settings as curves in the plane of two measures, and a target to compare them with.

    Args:
        curves: ``{kind: {setting: [(x, y) of each group]}}``. A line joins the means in the order given, and a small
            dot is one group. Settings are written above the first curve and below the second.
        target: (x, y) of each group; its mean is a star.

    Raises:
        ValueError: if there is nothing to draw, or a setting has no group.
    """
    if not curves or not target or not all(of and all(of.values()) for of in curves.values()):
        raise ValueError("curves and target need at least one point each, and each setting a group")
    ax = new_axes(ax, (6.5, 5.0))
    for number, (name, style) in enumerate(styles_for(curves).items()):
        _settings(ax, name, curves[name], style, above=number % 2 == 0)
    ax.plot(*zip(*target, strict=True), color=LINE, marker="*", markersize=5, **DOTS)
    ax.plot(*_mean(target), color=LINE, marker="*", markersize=17, linestyle="none", label=target_name)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def _settings(ax: Axes, name: str, settings: Mapping[str, Sequence[Point]], style: CurveStyle, above: bool) -> None:
    """A line through the means of one kind of settings, its groups, and the settings above or below it."""
    means = {setting: _mean(groups) for setting, groups in settings.items()}
    look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "markersize": 7}
    ax.plot(*zip(*means.values(), strict=True), label=name, **look)
    for groups in settings.values():
        ax.plot(*zip(*groups, strict=True), color=style.colour, marker=style.marker, markersize=3, **DOTS)
    where, ha, va = ((7, 4), "left", "bottom") if above else ((-6, -4), "right", "top")
    for setting, at in means.items():
        ax.annotate(setting, at, where, textcoords="offset points", ha=ha, va=va, color=style.colour, size=10)


def _mean(points: Sequence[Point]) -> Point:
    x, y = np.mean(points, axis=0).tolist()
    return x, y


def _in_order(names: list[str], leaves: list[str]) -> list[str]:
    """Leaves so that the children of one beginning stand together, in the order of ``names``."""
    place = {name: number for number, name in enumerate(names)}

    def path(leaf: str) -> list[int]:
        words = leaf.split()
        return [place.get(" ".join(words[: n + 1]), -1) for n in range(len(words))]

    return sorted(leaves, key=path)


def _branch(ax: Axes, name: str, start: float, end: float, kept: bool, taken: bool) -> None:
    """From behind the word before to the number of this one."""
    x = len(name.split())
    across, heights = (x - 0.92, x - 0.36), (start, end)
    if kept or not taken:
        line(ax, across, heights, STYLES[0].colour if kept else FAINT, width=2.6 if kept else 1.0)
    if taken:
        line(ax, across, heights, STYLES[1].colour, width=2.6, dashed=True)


def _node(ax: Axes, x: float, y: float, text: str, bold: bool, frame: bool = False) -> None:
    say(ax, x - 0.04, y, text, ha="left", weight="bold" if bold else "normal")
    ax.texts[-1].set_bbox({"facecolor": "white", "edgecolor": INK if frame else "none", "pad": 2.0})


def plot_seconds(
    curves: Mapping[str, Mapping], xlabel: str, ylabel: str, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw seconds against a length, both axes logarithmic: equal distances are equal factors.

    Args:
        curves: ``{name: {length: [one value a run]}}``, all above 0.

    Raises:
        ValueError: as :func:`plot_by_length`, and if a value is 0 or less.
    """
    lengths = sorted({int(length) for points in curves.values() for length in points})
    low = min((min(values) for points in curves.values() for values in points.values()), default=1.0)
    if low <= 0:
        raise ValueError(f"a value is {low:g}; a logarithmic axis shows only numbers above 0")
    ax = plot_by_length(curves, xlabel, ylabel, ax=ax, trained=None, title=title)
    ax.autoscale(axis="y")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(lengths, [str(length) for length in lengths])
    ax.set_xticks([], minor=True)
    return ax


def plot_verdicts(
    rows: Mapping[str, Mapping[str, float]],
    xlabel: str = "share of lists",
    ax: Axes | None = None,
    mark: float | None = None,
) -> Axes:
    """Draw shares that add up to 1 as one bar a row, each share with a colour and a hatch of its own.

    Args:
        rows: ``{row: {verdict: share}}``, all rows with the same verdicts in the same order.
        mark: where a dashed line crosses all bars.

    Raises:
        ValueError: if there is nothing to draw, the verdicts differ, or shares don't add up to 1.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one row with its shares")
    verdicts = list(next(iter(rows.values())))
    ax = new_axes(ax, (6.5, 1.5 + 0.42 * len(rows)))
    for y, (name, shares) in enumerate(rows.items()):
        if list(shares) != verdicts or abs(sum(shares.values()) - 1) > 1e-3:
            raise ValueError(f"row {name!r} must share 1 out among {verdicts}, got {dict(shares)}")
        left = 0.0
        for verdict, style in zip(verdicts, STYLES, strict=False):
            look: Look = {"color": style.colour, "alpha": 0.5, "edgecolor": style.colour, "hatch": style.hatch}
            ax.barh(y, shares[verdict], left=left, height=0.66, label=verdict if y == 0 else None, **look)
            left += shares[verdict]
    ax.set_yticks(range(len(rows)), [readable(name) for name in rows])
    if mark is not None:
        ax.axvline(mark, color=LINE, linestyle="--", linewidth=2)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel=xlabel, xlim=(0, 1))
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax
