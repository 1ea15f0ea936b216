"""Figures of chapter 19 and of its evidence: surprises, sinks, heads as points, what heads removed leave, a circuit."""

from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import PlainNumbers
from attnpages.figures.heat import as_label, as_matrix, plot_heat
from attnpages.figures.palette import BLACK, BLUE, FAINT, GREY, OKABE_BLUE, READS, RUST, VERMILION, WRITES
from attnpages.figures.style import Look, new_axes


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


def plot_removed(shares: Mapping[str, Sequence[float]], named: str, xlabel: str, ax: Axes | None = None) -> Axes:
    """Draw one row of dots per ablation, one per measurement, with a diamond at their mean, which is written beside.

    Args:
        shares: ``{what was removed: [one share per measurement]}``, from top to bottom.
        named: the row whose diamond has a colour of its own.

    Raises:
        ValueError: if ``named`` is no row.
    """
    if named not in shares:
        raise ValueError(f"named is {named!r}, which is not among the rows {list(shares)}")
    ax = new_axes(ax, (6.5, 1.2 + 0.5 * len(shares)))
    for row, (name, of) in enumerate(shares.items()):
        colour = VERMILION if name == named else OKABE_BLUE
        high = np.linspace(-0.27, 0.27, len(of)) if len(of) > 1 else np.zeros(1)  # so that equal shares stay visible
        ax.plot(of, row + high, linestyle="", marker="o", markersize=4, color=GREY, alpha=0.6, clip_on=False)
        ax.plot([np.mean(of)], [row], linestyle="", marker="D", markersize=9, color=colour, clip_on=False, zorder=4)
        ax.text(1.03, row, f"{np.mean(of):.2f}", transform=ax.get_yaxis_transform(), va="center")
    ax.text(1.03, 1.0, "mean", transform=ax.transAxes, va="bottom")
    ax.set_yticks(range(len(shares)), list(shares))
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel=xlabel, xlim=(0, 1))
    return ax


def draw_circuit(
    before: str,
    copied: str,
    marks: float,
    finds: float,
    writes: float,
    positions: tuple[int, int, int] = (13, 14, 29),
    ax: Axes | None = None,
) -> Axes:
    """Draw how heads copy a token: one changes its key, one finds it by this key, and later ones write it.

    Args:
        before, copied: the token that occurs twice, and the one after it.
        marks: the attention weight of head 17.1, from ``copied`` to ``before``.
        finds, writes: the weights of 19.7 and 24.3, from the second ``before`` to ``copied``.
        positions: where ``before``, ``copied`` and the second ``before`` stand, written below them.
    """
    ax = canvas(ax, (6.5, 5.0), (-0.2, 10.2), (-0.4, 7.8))
    first, then, last = 2.2, 4.8, 9.3  # where the three tokens stand
    tokens = ((first, before, 2.0), (then, copied, 5.9), (last, before, 6.75))
    for (x, token, top), position in zip(tokens, positions, strict=True):
        line(ax, (x, x), (0.9, top), FAINT, 2.6)
        box_around(ax, (x, 0.55), 1.3, 0.7, token, fill=READS)
        say(ax, x, -0.1, str(position))
    say(ax, -0.2, -0.1, "position", ha="left")
    say(ax, (then + last) / 2, 0.55, "…", size=14)
    arrow(ax, (first, 2.0), (then, 2.0), BLUE, 2.2)
    say(ax, (first + then) / 2, 2.45, f"17.1, weight {marks:.2f}", colour=BLUE)
    say(ax, then + 0.2, 2.15, f"changes the keys of “{copied}”", ha="left", colour=BLUE)
    say(ax, then + 0.2, 1.65, "in layers 18, 19 (K-composition)", ha="left", colour=BLUE)
    arrow(ax, (then, 3.6), (last, 3.6), RUST, 2.2)
    say(ax, (then + last) / 2, 4.05, f"19.7, weight {finds:.3g}", colour=RUST)
    say(ax, (then + last) / 2, 3.2, "finds the position by its key", colour=RUST)
    say(ax, (then + last) / 2, 4.95, "with four other finders it", colour=RUST)
    say(ax, (then + last) / 2, 4.5, "changes a query (Q-composition)", colour=RUST)
    arrow(ax, (last, 3.6), (last, 5.85), RUST, 2.2)
    arrow(ax, (then, 5.9), (last, 5.9), GREY, 2.2, dashed=True)
    say(ax, (then + last) / 2, 6.3, f"24.3, weight {writes:.2f}", colour=BLACK)
    say(ax, (then + last) / 2, 5.5, f"writes “{copied}”", colour=BLACK)
    box_around(ax, (last, 7.1), 1.3, 0.7, copied, fill=WRITES)
    for y, layer in ((2.0, "layer 17"), (3.6, "layers 18, 19"), (5.9, "layer 24")):
        say(ax, -0.2, y, layer, ha="left")
    return ax
