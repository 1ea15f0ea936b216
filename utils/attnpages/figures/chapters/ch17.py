"""Figures of chapter 17: a copy's two steps, hands that turn, curves by length, weights by distance, ways to read."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.heat import as_matrix
from attnpages.figures.palette import BLUE, FAINT, FETCHED, INK, OKABE_BLUE, PAPER, READS, RUST, SAND, VERMILION
from attnpages.figures.style import TRUTH_COLOUR, Look, legend_above, styles_for, with_minus

Ways = Mapping[str, Sequence[Mapping[str, float]]]  # kind of model -> {way to read it: share}, one per training


class Spread(NamedTuple):
    """One panel of :func:`plot_weights`.

    Fields:
        weights: one list per training: the mean weight at the distances 0, 1, 2 and so on.
        right: distance of the right key. rewarded: least and greatest distance that was right in training.
    """

    weights: Sequence[Sequence[float]]
    right: int
    rewarded: tuple[int, int]


def plot_panels(
    panels: Mapping[str, Curves], xlabel: str, ylabel: str, shaded: str, columns: int = 1, height: float = 1.9, **look
) -> list[Axes]:
    """Draw the same curves of several models or features by length: a panel each, and one legend above all.

    Args:
        panels: ``{title: {name: {length: [one value per seed]}}}``, row by row. shaded: what the legend calls the
            trained lengths, 2 to 12. look: further arguments of ``plot_by_length``.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its curves")
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(6.5, height * rows + 0.6), layout="constrained", squeeze=False, sharex=True, sharey=True
    )
    axes: list[Axes] = list(grid.flat)
    entries: dict[str, Artist] = {}
    for ax, (title, curves) in zip(axes, panels.items(), strict=True):
        plot_by_length(curves, "", "", ax=ax, trained=(2, 12), shaded=shaded, **look)
        if above := ax.get_legend():  # one legend serves all panels
            entries = {
                text.get_text(): of for text, of in zip(above.get_texts(), above.legend_handles, strict=True) if of
            }
            above.remove()
        ax.set_title(title, loc="left", fontsize=11)
    figure.legend(list(entries.values()), list(entries), loc="outside upper left", ncols=3)
    figure.supxlabel(xlabel, fontsize=11)
    figure.supylabel(ylabel, fontsize=11)
    return axes


def plot_two_steps(text: str, keys: Sequence[int]) -> Axes:
    """Draw how a copier finds the next letter: what its first layer brings, and which keys of the second agree.

    Args:
        text: up to the query, which is its last letter. keys: positions of letters, the right one last. A key holds
            three letters before its own, the query its own and the two before.

    Raises:
        ValueError: if there is no key, or one has no letter before it.
    """
    if not keys or min(keys) < 1:
        raise ValueError(f"give keys with a letter before them, not {list(keys)}")
    ax, last = canvas(None, (6.5, 3.0), (-0.6, len(text) + 0.1), (-2.2, 3.2)), len(text) - 1
    for i, letter in enumerate(text):
        box_around(ax, (i, 0), 0.8, 0.8, letter, size=13, fill=READS if i in (*keys, last) else PAPER)
    query = _holds(ax, text, last, 0, INK)
    for key in keys:
        held = _holds(ax, text, key, 1, INK if key == keys[-1] else FAINT)
        agree = sum(map(str.__eq__, held, query))
        _found(ax, (last, key), agree, right=key == keys[-1])
    say(ax, -0.4, 2.6, "second layer:\nletters that agree", ha="left", colour=BLUE)
    say(ax, 9.1, -1.75, "first layer:\nletters brought")
    return ax


def _holds(ax: Axes, text: str, at: int, back: int, colour: str) -> list[str]:
    """Draw the letters that a position holds, from so many positions back on, and arrows from where they stand."""
    places = [at - back - i for i in range(3)]
    held = [text[max(place, 0)] for place in places]
    for slot, place in enumerate(places):
        box_around(ax, (at - 0.56 * (slot - 1), -1.75), 0.52, 0.6, held[slot], size=11, fill=FETCHED)
        if place >= 0:
            arrow(ax, (place, -0.42), (at - 0.56 * (slot - 1), -1.43), colour=colour, width=1.0)
    return held


def _found(ax: Axes, ends: tuple[int, int], agree: int, right: bool) -> None:
    """Draw an arc from the query to a key, the thicker the more letters agree, and their number where it ends."""
    xs = np.linspace(*ends, 60)
    height = 0.3 * abs(ends[0] - ends[1]) - 0.6
    ys = 0.45 + height * (1 - ((2 * xs - sum(ends)) / (ends[0] - ends[1])) ** 2)
    line(ax, xs.tolist(), ys.tolist(), OKABE_BLUE if right else FAINT, width=1.3 * agree, dashed=not right)
    say(ax, ends[1] - 0.3, 0.85, str(agree), weight="bold", colour=BLUE if right else INK)


def plot_hands(pairs: Mapping[str, tuple[float, int]], distances: Sequence[int]) -> list[Axes]:
    """Draw how rotary positions turn query and key: a clock with two hands per pair and distance, and their cosine.

    Only the angle between both hands matters, so that the query's points upwards in each clock.

    Args:
        pairs: ``{name: (radians per position, back)}``, a row each: the query was turned back by ``back`` positions,
            where both hands agree. distances: a column each.

    Raises:
        ValueError: if there is no pair, or no distance.
    """
    if not pairs or not distances:
        raise ValueError(f"give at least one pair and one distance, not {list(pairs)} and {list(distances)}")
    size = (6.5, 1.75 * len(pairs) + 0.6)
    figure, grid = plt.subplots(len(pairs), len(distances), figsize=size, layout="constrained", squeeze=False)
    for row, (name, (speed, back)) in zip(grid, pairs.items(), strict=True):
        for ax, distance in zip(row, distances, strict=True):
            _clock(ax, speed * (distance - back))
        row[0].set_ylabel(name)
    for ax, distance in zip(grid[0], distances, strict=True):
        ax.set_title(f"{distance} back", fontsize=11)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2, handlelength=3.2)
    return list(grid.flat)


def _clock(ax: Axes, angle: float) -> None:
    """A clock with the query's hand at noon, and the key's behind it by an angle in radians: hands turn clockwise."""
    ax.add_patch(Circle((0, 0), 1, facecolor=PAPER, edgecolor=FAINT))
    ax.plot([0, 0], [0, 0.9], color=OKABE_BLUE, linewidth=5, marker="", solid_capstyle="round", label="query")
    ends = [0, -0.9 * np.sin(angle)], [0, 0.9 * np.cos(angle)]
    ax.plot(*ends, color=VERMILION, linewidth=2, linestyle=(0, (3, 1)), marker="", label="key")
    ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xticks=[], yticks=[], aspect="equal")
    ax.set_xlabel(f"cosine {with_minus(f'{np.cos(angle):.2f}')}")
    for side in ax.spines.values():
        side.set_visible(False)


def mark_right(ax: Axes, right: Mapping[str, tuple[float, float]], lift: float = 0.0) -> None:
    """Mark keys with stars and their names, ``{name: (distance, score)}``, and make room for them.

    Args:
        lift: points by which a name stands above its star, or below it where the score is negative.
    """
    for name, (x, y) in right.items():
        ax.plot([x], [y], marker="*", markersize=15, color=INK, linestyle="none", zorder=4)
        up = lift if y >= 0 else -lift
        ax.annotate(name, (x, y), xytext=(10, up), textcoords="offset points", va="center", color=INK)
    ax.set_ylim(top=max(y for _, y in right.values()) + 2)


def plot_weights(panels: Mapping[str, Spread], height: float = 1.75, columns: int = 2) -> list[Axes]:
    """Draw mean weights over the distance between query and key, one panel per rule and length.

    The right distance and those rewarded in training have colours of their own; the sum over the rewarded ones
    other than the right one is written above them. A thin line spans least to most of several trainings.

    Raises:
        ValueError: if there is no panel, or the trainings of one have not equally many distances.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its weights")
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(6.5, height * rows), layout="constrained", squeeze=False)
    axes = list(grid.flat[: len(panels)])
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        _bars(ax, panel, as_matrix(title, panel.weights))
        ax.set_title(title, loc="left", fontsize=10.5)
    for ax in grid.flat[len(panels) :]:
        ax.set_visible(False)
    for ax in grid[:, 0]:
        ax.set_ylabel("weight")
    figure.supxlabel("distance: position of the query minus position of the key", fontsize=11)
    return axes


def _bars(ax: Axes, panel: Spread, weights: np.ndarray) -> None:
    """One panel of :func:`plot_weights`, from ``(trainings, distances)``."""
    mean, most = weights.mean(axis=0), weights.max(axis=0)
    (first, last), distances = panel.rewarded, np.arange(len(mean))
    others = (distances >= first) & (distances <= last) & (distances != panel.right)
    colours = [OKABE_BLUE if other else FAINT for other in others]
    colours[panel.right] = TRUTH_COLOUR
    ax.axvspan(first - 0.5, last + 0.5, facecolor=SAND, zorder=0)
    ax.bar(distances, mean, width=0.8, color=colours, zorder=2)[panel.right].set_hatch("///")
    if len(weights) > 1:
        ax.vlines(distances, weights.min(axis=0), most, color=INK, linewidth=0.8, zorder=3)
    if others.any():
        _say(ax, (first + last) / 2, most[others].max(), mean[others].sum(), BLUE)
    beside = 0.06 * len(mean) if panel.right < len(mean) - 1 else 0.0  # a higher bar may stand just before
    _say(ax, panel.right + beside, most[panel.right], mean[panel.right], RUST)
    ax.set(ylim=(0, 1.2), yticks=[0, 0.5, 1], xlim=(-0.7, len(mean) - 0.3))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    ax.grid(False, axis="x")


def _say(ax: Axes, x: float, y: float, share: float, colour: str) -> None:
    """Write a share of the weight just above a point."""
    ax.text(x, y + 0.03, f"{share:.2f}", color=colour, ha="center", va="bottom", fontsize=9.5)


def plot_ways(panels: Mapping[str, Ways], ylabel: str, height: float = 3.2) -> list[Axes]:
    """Draw what trained models reach if they are read in several ways: a dot per training and way, a line per training.

    Args:
        panels: ``{title: {kind of model: [{way: share} per training]}}``, one below another; the first one says the
            ways and their order. ylabel: of the shares.

    Raises:
        ValueError: if there is no panel, or a training lacks a way.
    """
    if not panels:
        raise ValueError("panels is empty; give at least one title with its models")
    first = next(iter(panels.values()))
    ways, styles = list(next(iter(first.values()))[0]), styles_for(first)
    _, grid = plt.subplots(len(panels), 1, figsize=(6.5, height * len(panels)), layout="constrained", squeeze=False)
    axes: list[Axes] = list(grid[:, 0])
    for ax, (title, kinds) in zip(axes, panels.items(), strict=True):
        for offset, (kind, trainings) in enumerate(kinds.items()):
            for number, training in enumerate(trainings):
                if set(training) != set(ways):
                    raise ValueError(f"a training of {kind} has the ways {list(training)}, others have {ways}")
                xs = [x + 0.12 * (offset - (len(kinds) - 1) / 2) for x in range(len(ways))]
                style = styles[kind]
                look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "linewidth": 1.0}
                label = "" if number else kind  # one line per kind stands in the legend
                ax.plot(xs, [training[way] for way in ways], markersize=7, alpha=0.85, label=label, **look)
        ax.set_xticks(range(len(ways)), ways)
        ax.set(ylabel=f"{ylabel}\n({title})", ylim=(-0.03, 1.05), xlim=(-0.4, len(ways) - 0.6))
    legend_above(axes[0], *axes[0].get_legend_handles_labels())
    return axes
