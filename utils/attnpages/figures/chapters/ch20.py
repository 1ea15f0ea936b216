"""Figures of chapter 20: smaller caches, shared keys, what states store and forget, checked guesses, measured times."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from attnpages.figures.boxes import Point, arrow, box_around, canvas, say
from attnpages.figures.palette import BLUE, FAINT, INK, ORANGE, PAPER, READS, WRITES
from attnpages.figures.style import legend_above, new_axes, styles_for


def draw_kept(
    caches: Mapping[str, Sequence[tuple[float, float, float, float]]],
    tokens: int,
    bits: int,
    sinks: Collection[str] = (),
    listed: Sequence[tuple[float, float]] = (),
) -> list[Axes]:
    """Draw with how many bits each cache keeps the numbers of which tokens, one panel per cache.

    Args:
        caches: ``{title: rectangles}``; a rectangle has its first token, its lowest bit, and how many tokens and bits
            it spans. tokens: of the full cache. bits: of its numbers. sinks: titles of the caches that keep the first
            tokens with all bits: a bar at the left, wide enough to be seen. listed: first and last token of each list
            in the text, hatched in all panels.

    Raises:
        ValueError: if a title of ``sinks`` is no cache.
    """
    if unknown := set(sinks) - set(caches):
        raise ValueError(f"sinks must be titles of caches, {list(caches)}, got {sorted(unknown)}")
    size = (6.5, 0.5 + 1.1 * len(caches))
    _, grid = plt.subplots(len(caches), 1, figsize=size, sharex=True, layout="constrained", squeeze=False)
    axes = grid[:, 0]
    for ax, (title, kept) in zip(axes, caches.items(), strict=True):
        for first, lowest, width, height in kept:
            ax.add_patch(plt.Rectangle((first, lowest), width, height, color=BLUE, linewidth=0))
        if title in sinks:
            ax.add_patch(plt.Rectangle((0, 0), tokens / 100, bits, color=ORANGE, linewidth=0, zorder=2))
        for first, last in listed:
            ax.axvspan(first, last, facecolor="none", edgecolor=INK, hatch="/////", linewidth=0)
        heights = {lowest + height for _, lowest, _, height in kept}
        end = max([tokens, *(last for _, last in listed)])
        ax.set(xlim=(0, end), ylim=(0, bits), yticks=sorted({0, bits, *heights}), ylabel="bits")
        ax.set_title(title, loc="left", fontsize=11)
        ax.grid(visible=False)
    axes[-1].set_xlabel("token in the text")
    return list(axes)


def draw_shared(panels: Mapping[str, int], heads: int, latent: Collection[str] = ()) -> Axes:
    """Draw which keys and values each head of queries reads, one panel beside the other; what is kept is filled.

    Args:
        panels: ``{title: number kept per token}``, a divisor of ``heads``. heads: of queries. latent: titles of panels
            in which each head makes its own key and value (dashed) of the one vector that is kept.

    Raises:
        ValueError: if a number is no divisor of ``heads``, or a latent panel keeps more than one vector.
    """
    for title, kept in panels.items():
        if kept < 1 or heads % kept or (title in latent and kept > 1):
            raise ValueError(f"{heads} heads cannot share {kept} ({title!r})")
    step, apart = 1.0, 1.0
    wide = heads * step + apart
    ax = canvas(None, (8.4, 2.9), (-0.6, wide * len(panels) - apart - 0.4), (-0.6, 4.3))
    for place, (title, kept) in enumerate(panels.items()):
        first = wide * place
        of_heads = [first + step * head for head in range(heads)]
        middle = first + step * (heads - 1) / 2
        say(ax, middle, 4.0, title)
        shared = heads // kept
        boxes = [first + step * (shared * group + (shared - 1) / 2) for group in range(kept)]
        if title in latent:
            box_around(ax, (middle, 0.0), 0.8, 0.75, "c", fill=READS)
            for x in of_heads:
                box_around(ax, (x, 1.5), 0.8, 0.75, "k, v", edge=INK, dashed=True)
                arrow(ax, (middle, 0.38), (x, 1.12), colour=FAINT)
        else:
            for x in boxes:
                box_around(ax, (x, 1.5), 0.8, 0.75, "k, v", fill=READS)
        for head, x in enumerate(of_heads):
            box_around(ax, (x, 3.1), 0.8, 0.75, "q")
            arrow(ax, (x if title in latent else boxes[head // shared], 1.88), (x, 2.72), colour=FAINT)
    return ax


def plot_forgetting(panels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Axes]:
    """Draw what memories recall in several tests, one panel per test with a curve per memory.

    Args:
        panels: ``{label of the axis: {memory: {setting: share}}}``.

    Raises:
        ValueError: if there is no panel, or they differ in their memories.
    """
    memories = [list(curves) for curves in panels.values()]
    if not memories or any(names != memories[0] for names in memories):
        raise ValueError(f"panels need the same memories, and at least one panel is needed; got {memories}")
    styles = styles_for(memories[0])
    columns = 2 if len(panels) == 4 else len(panels)
    rows = -(-len(panels) // columns)
    size = (8.4, 0.4 + 2.7 * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", sharey=True, squeeze=False)
    axes = list(grid.flat)
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        for name, points in curves.items():
            colour, dashes, marker, _ = styles[name]
            ax.plot(list(points), list(points.values()), color=colour, linestyle=dashes, marker=marker)
        ax.set(xlabel=label, ylim=(0, 1.05))
    for first in axes[::columns]:
        first.set_ylabel("values recalled (share)")
    figure.legend(axes[0].get_lines(), memories[0], loc="outside upper left", ncols=4)
    return axes


def plot_updates(
    panels: Mapping[str, tuple[Sequence[tuple[Point, float]], tuple[Point, float], Mapping[str, Point]]],
    start: Point,
    most: Point,
) -> list[Axes]:
    """Draw a state of two numbers as a point, and where rules move it when one more pair is stored.

    The states that answer a pair rightly form a straight line at right angles to its key.

    Args:
        panels: ``{title: (older pairs, the new pair, {rule: state after it})}``; a pair has its key and its value.
            All panels have the same rules. start: the state before. most: the largest numbers of the two axes.

    Raises:
        ValueError: if there is no panel, or they differ in their rules.
    """
    rules = [list(ends) for _, _, ends in panels.values()]
    if not rules or any(names != rules[0] for names in rules):
        raise ValueError(f"panels need the same rules, and at least one panel is needed; got {rules}")
    styles = styles_for(rules[0])
    figure, grid = plt.subplots(1, len(panels), figsize=(8.4, 5.4), layout="constrained", sharey=True, squeeze=False)
    axes = list(grid.flat)
    for ax, (title, (older, (key, value), ends)) in zip(axes, panels.items(), strict=True):
        for old_key, old_value in older:
            _answering(ax, old_key, old_value, color=FAINT, linestyle="--", label="older pair answered rightly")
        _answering(ax, key, value, color=INK, linestyle="-", label="new pair answered rightly")
        for rule, end in ends.items():
            colour, _, marker = styles[rule][:3]
            arrow(ax, start, end, colour=colour)
            ax.plot(*end, color=colour, marker=marker, markersize=9, linestyle="", label=rule)
        ax.plot(*start, color=INK, marker="o", markersize=9, linestyle="", label="state before")
        ax.set(xlim=(0, most[0]), ylim=(0, most[1]), aspect="equal", title=title, xlabel="first number of the state")
    axes[0].set_ylabel("second number of the state")
    found = [ax.get_legend_handles_labels() for ax in axes]
    named = {label: handle for handles, labels in found for handle, label in zip(handles, labels, strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside upper left", ncols=2)
    return axes


def _answering(ax: Axes, key: Point, value: float, **look) -> None:
    """Draw the line of all states from which a key reads a value."""
    square = key[0] ** 2 + key[1] ** 2
    nearest = (key[0] * value / square, key[1] * value / square)
    ax.axline(nearest, (nearest[0] - key[1], nearest[1] + key[0]), linewidth=1.5, marker="", **look)


def plot_copied(
    copied: Mapping[str, Mapping[int, Sequence[float]]],
    rises: Mapping[str, Sequence[float]],
    farthest: Mapping[str, Sequence[float]],
    widths: Mapping[str, int],
) -> list[Axes]:
    """Draw what caches copy, by how much they raise the loss, and beside it by how far back the list stands.

    The left panel has a dot per text. A curve of the right one goes through the means of its texts, and a band from the
    worst text to the best.

    Args:
        copied: ``{cache: {tokens back: [one share per text]}}``. rises: ``{cache: [nats per text]}``. farthest: the
            shares that are copied of the farthest list of these texts. All for the same caches. widths: of the windows
            of some caches, in tokens; dotted lines in the right panel.

    Raises:
        ValueError: if the caches differ.
    """
    if not copied.keys() == rises.keys() == farthest.keys() or not widths.keys() <= copied.keys():
        given = f"{list(copied)}, {list(rises)}, {list(farthest)}, widths of {list(widths)}"
        raise ValueError(f"both panels need the same caches: {given}")
    styles = styles_for(copied)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained", sharey=True)
    for name, points in copied.items():
        colour, dashes, marker = styles[name][:3]
        left.plot(rises[name], farthest[name], color=colour, marker=marker, linestyle="", markersize=7)
        back, shares = list(points), list(points.values())
        right.plot(back, list(map(fmean, shares)), color=colour, linestyle=dashes, marker=marker, label=name)
        right.fill_between(back, list(map(min, shares)), list(map(max, shares)), color=colour, alpha=0.15, linewidth=0)
        if name in widths:
            right.axvline(widths[name], color=colour, linestyle=":", linewidth=1.5)
    ticks = list(next(iter(copied.values())))
    left.set(xlabel="rise of the loss (nats)", ylabel="words copied (share)", ylim=(-0.03, 1.03))
    right.set(xscale="log", xlabel="tokens back to the list")
    right.set_xticks(ticks, [f"{back:,}" for back in ticks])
    right.minorticks_off()
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper left", ncols=min(4, len(copied)))
    return [left, right]


def draw_checked_guesses(before: Sequence[str], guesses: Sequence[str], kept: int, drawn: str) -> Axes:
    """Draw one round of speculative decoding: what the draft guesses, what the model keeps, and what is in the cache.

    Args:
        before: tokens of the text. guesses: of the draft. kept: how many the model keeps; the guess behind them is
            rejected, and what follows it is dropped. drawn: the token in its place, or behind the last guess.

    Raises:
        ValueError: if ``kept`` is negative or there are not so many guesses.
    """
    if not 0 <= kept <= len(guesses):
        raise ValueError(f"kept must be from 0 to {len(guesses)}, the number of guesses, got {kept}")
    width, first = 1.0, len(before)
    ax = canvas(None, (6.5, 4.2), (-2.7, width * (first + len(guesses)) + 0.1), (-5.9, 0.8))
    rows = {"draft guesses": 0.0, "model checks": -1.8, "text goes on": -3.6, "in the cache": -5.3}
    for title, y in rows.items():
        say(ax, -2.65, y, title, ha="left")
    for place, token in enumerate(before):
        for y in (*list(rows.values())[:3], rows["in the cache"]):
            box_around(ax, (width * (place + 0.5), y), 0.85, 0.8, token, fill=READS)
    for number, token in enumerate(guesses):
        x, stays = width * (first + number + 0.5), number < kept
        box_around(ax, (x, 0.0), 0.85, 0.8, token, edge=INK, dashed=True)
        verdict = "✓" if stays else "✗" if number == kept else "–"
        box_around(ax, (x, rows["model checks"]), 0.85, 0.8, verdict, fill=WRITES if stays else PAPER, size=13)
        arrow(ax, (x, -0.45), (x, rows["model checks"] + 0.45), colour=FAINT)
        if stays:
            arrow(ax, (x, rows["model checks"] - 0.45), (x, rows["text goes on"] + 0.45), colour=FAINT)
            for row in ("text goes on", "in the cache"):
                box_around(ax, (x, rows[row]), 0.85, 0.8, token, fill=WRITES)
        else:
            box_around(ax, (x, rows["in the cache"]), 0.85, 0.8, "cut", dashed=True)
    box_around(
        ax, (width * (first + kept + 0.5), rows["text goes on"]), 0.85, 0.8, drawn, fill=PAPER, edge=INK, line=2.2
    )
    return ax


def plot_measured_time(
    measured: Mapping[str, Mapping[int, Sequence[float]]], calculated: Mapping[str, Mapping[float, float]]
) -> Axes:
    """Draw measured times per token as dots over calculated ones as lines, both axes in logarithms.

    Args:
        measured: ``{name: {texts: one time per run}}``, in milliseconds. calculated: ``{name: {texts: milliseconds}}``,
            with the same names.

    Raises:
        ValueError: if the names differ.
    """
    if measured.keys() != calculated.keys():
        raise ValueError(f"each line needs its dots: measured {list(measured)}, calculated {list(calculated)}")
    ax = new_axes(None, (6.5, 4.0))
    styles = styles_for(list(measured))
    for name, points in measured.items():
        colour, dashes, marker = styles[name][:3]
        ax.plot(list(calculated[name]), list(calculated[name].values()), color=colour, linestyle=dashes, marker="")
        dots = [(texts, time) for texts, times in points.items() for time in times]
        ax.plot(*zip(*dots, strict=True), color=colour, marker=marker, markersize=7, linestyle="", label=name)
    ax.set(xscale="log", yscale="log", xlabel="texts that are written together", ylabel="time per token (ms)")
    ax.set_xticks(sorted({texts for points in measured.values() for texts in points}))
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.minorticks_off()
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax
