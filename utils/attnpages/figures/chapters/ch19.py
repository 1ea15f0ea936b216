"""Figures of chapter 19 and of its evidence: surprises, sinks, heads as points, what heads removed leave, a circuit."""

from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import PlainNumbers
from attnpages.figures.heat import as_label, as_matrix, draw_cells, plot_heat
from attnpages.figures.palette import BLACK, BLUE, DARK_GREY, FAINT, GREY, OKABE_BLUE, READS, RUST, VERMILION, WRITES
from attnpages.figures.style import STYLES, Look, legend_above, new_axes, with_minus


def plot_surprises(
    pieces: Sequence[str],
    nats: Sequence[float],
    marked: Mapping[str, Collection[int]],
    ax: Axes | None = None,
    beside: Mapping[str, Sequence[float]] | None = None,
) -> Axes:
    """Draw how much each token of a text surprised a model, as bars with the tokens below them.

    Args:
        pieces: the tokens. nats: −ln of the probability that each had, one number per token.
        marked: ``{name: positions}`` of tokens with a colour and a hatch of their own, two names at most.
        beside: ``{name: numbers}`` of other measurements, drawn as circles and dashes; two names at most.

    Raises:
        ValueError: if there are not as many numbers as tokens, or more than two names.
    """
    if len(pieces) != len(nats) or len(marked) > 2:
        raise ValueError(
            f"give one number per token and two marked groups at most, got {len(pieces)} tokens, {len(nats)} numbers "
            f"and {len(marked)} groups"
        )
    ax = new_axes(ax, (6.5, 3.6))
    ax.bar(range(len(nats)), nats, color=FAINT)
    for (name, at), (colour, hatch) in zip(marked.items(), ((VERMILION, "///"), (OKABE_BLUE, "...")), strict=False):
        ax.bar(list(at), [nats[i] for i in at], color=colour, hatch=hatch, edgecolor="white", label=name)
    for (name, of), (marker, size) in zip((beside or {}).items(), (("o", 5), ("_", 9)), strict=False):
        look: Look = {"linestyle": "", "marker": marker, "markersize": size, "markerfacecolor": "white"}
        ax.plot(range(len(of)), of, color=BLACK, label=name, **look)
    ax.set_xticks(range(len(pieces)), [as_label(piece) for piece in pieces], rotation=90, fontsize=10)
    ax.set(xlabel="token", ylabel="surprise (nats)", xlim=(-0.7, len(pieces) - 0.3))
    ax.grid(False, axis="x")
    if marked:
        ax.legend(loc="upper right")
    return ax


def plot_sinks(share: object, ratios: Sequence[float]) -> np.ndarray:
    """Draw the weight that each head gives to the first token, and below, how long that token's vector is.

    Args:
        share: ``(heads, layers)``. ratios: one per layer, the length of the vector that enters it over that of others.

    Raises:
        ValueError: if there are not as many ratios as layers.
    """
    layers = as_matrix("share", share).shape[1]
    if len(ratios) != layers:
        raise ValueError(f"give one ratio per layer, {layers}, got {len(ratios)}")
    _, (top, below) = plt.subplots(2, 1, figsize=(6.5, 6.6), height_ratios=(3, 2), layout="constrained")
    names = [str(layer) if layer % 5 == 0 else "" for layer in range(1, layers + 1)]
    heads = range(1, 1 + as_matrix("share", share).shape[0])
    plot_heat(share, "", "head", False, names, heads, colour_label="weight of the first token", limits=(0, 1), ax=top)
    below.bar(range(layers), ratios, color=OKABE_BLUE, width=0.7)
    below.axhline(1, color=BLACK, linestyle="--", linewidth=1.2)
    below.set_yscale("log")
    below.yaxis.set_major_formatter(PlainNumbers())
    below.set_xticks(range(layers), names)
    below.set(
        xlim=top.get_xlim(), xlabel="layer", ylabel="length of the vector\nthat enters, over others'", ylim=(0.7, 400)
    )
    below.grid(False, axis="x")
    return np.array([top, below])


def plot_strips(groups: Mapping[str, Mapping[str, object]], pieces: Sequence[str]) -> np.ndarray:
    """Draw rows of attention weights over the same tokens, in groups one above the other.

    The last column holds the weight of all later tokens together. A number stands in each cell of 0.05 or more.

    Args:
        groups: ``{title: {name of the query: its weights}}``; an empty title is left out. pieces: the tokens that are
            drawn, the first ones.

    Raises:
        ValueError: if a row has fewer weights than there are tokens.
    """
    shown, rows = len(pieces), sum(len(group) for group in groups.values())
    figure, axes = plt.subplots(
        len(groups),
        1,
        figsize=(6.5, 0.75 + 0.33 * rows + 0.26 * len(groups)),
        height_ratios=[len(group) for group in groups.values()],
        layout="constrained",
        squeeze=False,
    )
    for ax, (title, group) in zip(axes[:, 0], groups.items(), strict=True):
        strips = []
        for name, weights in group.items():
            of = np.asarray(weights, dtype=float)
            if of.ndim != 1 or len(of) < shown:
                raise ValueError(f"{name!r} needs one weight per token, at least {shown}, got the shape {of.shape}")
            strips.append([*of[:shown], of[shown:].sum()])
        draw_cells(ax, np.array(strips), (0.0, 1.0))
        ax.set_aspect("auto")
        for (row, column), weight in np.ndenumerate(np.array(strips)):
            if weight >= 0.05:
                colour = "white" if weight > 0.6 else BLACK
                ax.text(column, row, f"{weight:.2f}", ha="center", va="center", color=colour, fontsize=9)
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_yticks(range(len(group)), list(group))
        ax.set_xticks([])
    names = [*(as_label(piece.strip()) for piece in pieces), "all later\n(sum)"]
    axes[-1, 0].set_xticks(range(shown + 1), names, rotation=90, fontsize=10)
    figure.align_ylabels()
    return axes[:, 0]


def plot_heads(
    points: Mapping[str, tuple[float, float]], named: Collection[str], xlabel: str, ylabel: str, ax: Axes | None = None
) -> Axes:
    """Draw one dot per head, and write the names of some beside their dots.

    Args:
        points: ``{name of the head: (x, y)}``. named: which of them have their names written, and a colour.

    Raises:
        ValueError: if one of ``named`` is no point.
    """
    if unknown := [name for name in named if name not in points]:
        raise ValueError(f"named holds {unknown}, which are not among the points")
    ax = new_axes(ax)
    dot: Look = {"linestyle": "", "marker": "o"}
    others = [at for name, at in points.items() if name not in named]
    ax.plot([x for x, _ in others], [y for _, y in others], color=GREY, markersize=4, alpha=0.6, **dot)
    middle = max(y for _, y in points.values()) / 2
    for name in named:
        ax.plot(*points[name], color=VERMILION, markersize=7, **dot)
        above = 4 if points[name][1] < middle else -13  # the crowd is at one edge, and the names stand away from it
        ax.annotate(name, points[name], xytext=(6, above), textcoords="offset points", color=BLACK, fontsize=11)
    if all(isinstance(x, int) for x, _ in points.values()):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def plot_removed(
    rows: Mapping[str, Sequence[float]],
    named: Collection[str],
    xlabel: str,
    limits: tuple[float, float] = (0, 1),
    digits: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """Draw one row of dots per ablation, one per measurement, with a diamond at their mean, which is written beside.

    Args:
        rows: ``{what was removed: [one number per measurement]}``, from top to bottom.
        named: the rows whose diamonds have a colour of their own.
        limits: of the axis. digits: of the means, after the point.

    Raises:
        ValueError: if one of ``named`` is no row.
    """
    if unknown := [name for name in named if name not in rows]:
        raise ValueError(f"named holds {unknown}, which are not among the rows {list(rows)}")
    ax = new_axes(ax, (6.5, 1.2 + 0.5 * len(rows)))
    for row, (name, of) in enumerate(rows.items()):
        colour = VERMILION if name in named else OKABE_BLUE
        high = np.linspace(-0.27, 0.27, len(of)) if len(of) > 1 else np.zeros(1)  # so that equal numbers stay visible
        ax.plot(of, row + high, linestyle="", marker="o", markersize=4, color=GREY, alpha=0.6, clip_on=False)
        ax.plot([np.mean(of)], [row], linestyle="", marker="D", markersize=9, color=colour, clip_on=False, zorder=4)
        average = round(float(np.mean(of)), digits) + 0.0  # so that a small negative mean isn't written as -0.0
        ax.text(1.03, row, f"{average:.{digits}f}", transform=ax.get_yaxis_transform(), va="center")
    ax.text(1.03, 1.0, "mean", transform=ax.transAxes, va="bottom")
    ax.set_yticks(range(len(rows)), list(rows))
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel=xlabel, xlim=limits)
    return ax


def plot_shares(
    parts: Mapping[str, Sequence[float]], names: Sequence[str], xlabel: str, ax: Axes | None = None
) -> Axes:
    """Draw two or three bars per part, one above the other, with their numbers at their ends.

    Args:
        parts: ``{name: (number, other number, …)}`` from top to bottom. names: of the numbers, for the legend.
    """
    ax = new_axes(ax, (6.5, 1.4 + 0.26 * len(parts) * len(names)))
    bars, step = [], 0.72 / len(names)
    for i, style in enumerate(STYLES[: len(names)]):
        ends, rows = (
            [of[i] for of in parts.values()],
            [row + step * (i - (len(names) - 1) / 2) for row in range(len(parts))],
        )
        bars.append(ax.barh(rows, ends, height=0.94 * step, color=style.colour, hatch=style.hatch, edgecolor="white"))
        for row, end in zip(rows, ends, strict=True):
            ax.text(max(end, 0) + 0.08, row, with_minus(f"{round(end, 1) + 0.0:.1f}"), va="center", fontsize=9)
    ax.set_yticks(range(len(parts)), list(parts))
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set_xlabel(xlabel)
    ax.set_xlim(right=1.1 * max(max(of) for of in parts.values()))
    legend_above(ax, bars, list(names))
    return ax


def draw_circuit(before: str, copied: str, measured: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw how a token may be copied: a head adds a note to its vector, and other heads find it by this note.

    Args:
        before, copied: the token that occurs twice, and the one after it.
        measured: what was found, in words, in place of the questions: of the ``reader`` (how much 17.1 attends to
            ``before``), the ``note``, the ``match`` of query and key, the ``finders``, and who is the ``writer``.
    """
    ax = canvas(ax, (6.5, 4.3), (-0.2, 10.2), (0.1, 6.7))
    first, then, last = 2.4, 4.7, 9.3  # where the three tokens stand
    for (x, token), top in zip(((first, before), (then, copied), (last, before)), (2.0, 3.7, 5.65), strict=True):
        line(ax, (x, x), (0.9, top), FAINT, 2.6)
        box_around(ax, (x, 0.55), 1.3, 0.7, token, fill=READS)
    say(ax, (then + last) / 2, 0.55, "…", size=14)
    arrow(ax, (first, 2.0), (then, 2.0), BLUE, 2.2)
    say(ax, (first + then) / 2, 2.4, "17.1", colour=BLUE)
    say(ax, then + 0.2, 2.2, "adds a note:", ha="left", colour=BLUE, size=10)
    say(ax, then + 0.2, 1.7, f"“I follow {before}”", ha="left", colour=BLUE, size=10)
    arrow(ax, (then, 3.7), (last, 3.7), RUST, 2.2)
    say(ax, last - 0.2, 3.3, "finders", ha="right", colour=RUST)
    if measured is None:
        say(ax, then + 0.2, 3.3, f"key: “I follow {before}”", ha="left", colour=BLUE, size=10)
        say(ax, last - 0.2, 4.1, f"query: “who follows {before}?”", ha="right", colour=RUST, size=10)
        say(ax, last - 0.2, 5.0, "which part writes the answer? (step 3)", ha="right", colour=DARK_GREY, size=10)
    else:
        places = {"reader": ((first + then) / 2, 1.6, "center"), "note": (then + 0.2, 1.2, "left"),
                  "match": (then + 0.2, 3.3, "left"), "finders": (last - 0.2, 4.1, "right"),
                  "writer": (last - 0.2, 5.1, "right")}  # fmt: skip
        for part, (x, y, ha) in places.items():
            say(ax, x, y, measured[part], ha=ha, size=10, weight="bold")
    box_around(ax, (last, 6.0), 1.3, 0.7, copied, fill=WRITES)
    for y, layer in ((2.0, "layer 17"), (3.7, "18 and 19"), (5.0, "20 to 30")):
        say(ax, -0.2, y, layer, ha="left")
    return ax


STATIONS = {"note": (1.2, "note of 17.1"), "keys": (4.2, "finders' keys"), "finders": (7.2, "finders")}


def draw_cuts(rows: Mapping[str, tuple[Collection[str], str]], ax: Axes | None = None) -> Axes:
    """Draw, one above the other, which parts of the circuit an intervention changes, and what comes of it.

    Args:
        rows: ``{name: (parts, result)}`` from top to bottom. A part is ``note``, ``keys``, ``finders``, or ``rest`` for
            all other paths from the note, the finders' values among them; those named are changed, and drawn dashed.

    Raises:
        ValueError: if a row names another part.
    """
    if unknown := {part for parts, _ in rows.values() for part in parts} - {*STATIONS, "rest"}:
        raise ValueError(f"parts are {[*STATIONS, 'rest']}, got {sorted(unknown)}")
    pitch = 2.2
    ax = canvas(ax, (6.5, 0.1 + 0.6 * pitch * len(rows)), (0, 11.4), (-pitch * len(rows) + 0.4, 0.4))
    for row, (name, (changed, result)) in enumerate(rows.items()):
        y = -pitch * row - 0.75
        say(ax, 0.1, y + 0.75, name, ha="left", size=10, weight="bold")
        ends = [*(x for x, _ in STATIONS.values()), 10.4]
        for (part, (x, text)), end in zip(STATIONS.items(), ends[1:], strict=True):
            off = part in changed
            colour = RUST if off else BLUE
            box_around(ax, (x, y), 2.1, 0.6, text, size=10, fill="white" if off else READS, edge=colour, dashed=off)
            arrow(ax, (x + 1.05, y), (end - (1.05 if end < 10 else 0.9), y), colour, 1.6, dashed=off)
        off = "rest" in changed
        colour, (start, end) = RUST if off else BLUE, (STATIONS["note"][0], 8.9)
        line(ax, (start, start, end), (y - 0.3, y - 0.6, y - 0.6), colour, 1.6, dashed=off)
        arrow(ax, (end, y - 0.6), (end, y - 0.04), colour, 1.6, dashed=off)
        say(ax, (start + end) / 2, y - 0.82, "all other paths", size=9, colour=colour)
        say(ax, 10.5, y, result, size=10)
    return ax
