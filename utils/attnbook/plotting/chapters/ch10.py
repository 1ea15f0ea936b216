"""Figures of chapter 10: a tree of beginnings, seconds by length, and who is to blame for a wrong answer."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from attnbook.plotting.boxes import FAINT, canvas, line, say
from attnbook.plotting.curves import plot_by_length
from attnbook.plotting.style import STYLES, Look, legend_above, new_axes, readable


def draw_tree(
    probabilities: Mapping[str, float], kept: Sequence[str] = (), taken: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """Draw beginnings of sentences as a tree from left to right, each with its probability.

    Args:
        probabilities: ``{"a": 0.5, "a end": 0.2, …}``: words parted by spaces, and the probability of the whole
            beginning. A beginning hangs on the one that is a word shorter; parents come before children.
        kept: beginnings on the winning path, drawn bold with a thick line. taken: those on the greedy one, dashed.

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
        _node(ax, len(name.split()), heights[name], f"{name.split()[-1]}  {probabilities[name]:.2f}", name in kept)
    return ax


def _in_order(names: list[str], leaves: list[str]) -> list[str]:
    """Leaves so that the children of one beginning stand together, in the order of ``names``."""
    place = {name: number for number, name in enumerate(names)}

    def path(leaf: str) -> list[int]:
        words = leaf.split()
        return [place.get(" ".join(words[: n + 1]), -1) for n in range(len(words))]

    return sorted(leaves, key=path)


def _branch(ax: Axes, name: str, start: float, end: float, kept: bool, taken: bool) -> None:
    x = len(name.split())
    style = STYLES[0] if kept else STYLES[1] if taken else None
    look: Look = {"width": 2.6 if style else 1.0, "dashed": taken and not kept}
    line(ax, (x - 0.72, x - 0.08), (start, end), style.colour if style else FAINT, **look)


def _node(ax: Axes, x: float, y: float, text: str, bold: bool) -> None:
    say(ax, x - 0.04, y, text, ha="left", weight="bold" if bold else "normal")


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
    rows: Mapping[str, Mapping[str, float]], xlabel: str = "share of lists", ax: Axes | None = None
) -> Axes:
    """Draw shares that add up to 1 as one bar a row, each share with a colour and a hatch of its own.

    Args:
        rows: ``{row: {verdict: share}}``, all rows with the same verdicts in the same order.

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
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel=xlabel, xlim=(0, 1))
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax
