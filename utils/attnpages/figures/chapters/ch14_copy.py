"""Figure of chapter 14 on copying: what each source word gives, and what the next word's probability is made of."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from attnpages.figures.palette import FAINT
from attnpages.figures.style import STYLES, legend_above


def plot_written_and_copied(written: Mapping[str, float], copied: Sequence[tuple[str, float]]) -> list[Axes]:
    """Draw the source words with their shares, and below one bar per word, to which each position adds a piece.

    Args:
        written: by word, the probability with which the vocabulary gives it.
        copied: each source word in its order, and the probability with which this position is copied.

    Raises:
        ValueError: if there is no source word, or the probabilities do not sum to 1.
    """
    pieces = {word: [share for of, share in copied if of == word] for word, _ in copied}
    total = {word: written.get(word, 0.0) + sum(pieces.get(word, ())) for word in {**written, **pieces}}
    if not copied or not np.isclose(sum(total.values()), 1):
        raise ValueError(f"the probabilities of all words must sum to 1, got {sum(total.values())}")
    order = sorted((word for word in total if total[word]), key=lambda word: -total[word])
    height = 0.38 * len(order) + 1.0
    _, (strip, ax) = plt.subplots(2, 1, figsize=(6.5, height + 1.1), height_ratios=(1.0, height), layout="constrained")
    _draw_strip(strip, copied)
    first = ax.barh(
        range(len(order)),
        [written.get(word, 0.0) for word in order],
        0.62,
        color=STYLES[0].colour,
        hatch=STYLES[0].hatch,
        edgecolor="white",
    )
    handles = [first]
    for row, word in enumerate(order):
        left = written.get(word, 0.0)
        for share in filter(None, pieces.get(word, ())):
            bar = ax.barh(
                row, share, 0.62, left, color=STYLES[1].colour, hatch=STYLES[1].hatch, edgecolor="white", linewidth=2
            )
            left += share
            handles[1:] = [bar]
        ax.annotate(f"{total[word]:.2f}", (total[word], row), (5, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(order)), order)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel="probability of the next word", xlim=(0, 1.15 * max(total.values())))
    legend_above(ax, handles, ["written from the vocabulary", "copied from the source"][: len(handles)])
    return [strip, ax]


def _draw_strip(ax: Axes, copied: Sequence[tuple[str, float]]) -> None:
    """The source from left to right: the darker a word, the larger its share, which stands below it."""
    most = max(share for _, share in copied) or 1.0
    for position, (word, share) in enumerate(copied):
        colour = to_rgba(STYLES[1].colour, 0.75 * share / most)
        ax.barh(0, 0.94, 0.9, position - 0.47, color=colour, edgecolor=FAINT, hatch="")
        ax.text(position, 0.18, word, ha="center", va="center", fontsize=11)
        ax.text(position, -0.2, f"{share:.2f}" if share else "0", ha="center", va="center", fontsize=11)
    ax.set(xlim=(-0.55, len(copied) - 0.45), ylim=(-0.5, 0.5))
    ax.set_axis_off()


def plot_switch(words: Sequence[str], p_gen: Sequence[float]) -> Axes:
    """Draw one full bar per output word, in their order: below the share of writing, above it that of copying.

    Args:
        words: the output words, one per step.
        p_gen: the probability of writing at each step.

    Raises:
        ValueError: if there is no word, the lengths differ, or a share is not between 0 and 1.
    """
    if not words or len(words) != len(p_gen):
        raise ValueError(f"each word needs one p_gen, got {len(words)} words and {len(p_gen)} numbers")
    if not all(0 <= share <= 1 for share in p_gen):
        raise ValueError(f"p_gen must lie between 0 and 1, got {list(p_gen)}")
    _, ax = plt.subplots(figsize=(6.5, 2.7), layout="constrained")
    steps, rests = range(len(words)), [1 - share for share in p_gen]
    bars = [
        ax.bar(steps, heights, 0.78, below, color=style.colour, hatch=style.hatch, edgecolor="white")
        for heights, below, style in ((list(p_gen), 0, STYLES[0]), (rests, list(p_gen), STYLES[1]))
    ]
    for step, share in enumerate(p_gen):
        ax.annotate(f"{share:.2f}", (step, 1), (0, 3), textcoords="offset points", ha="center")
    ax.set_xticks(steps, words)
    ax.grid(False, axis="x")
    ax.set(xlabel="output word", ylabel="probability", ylim=(0, 1.2), yticks=(0, 0.5, 1))
    legend_above(ax, bars, [r"$p_\mathrm{gen}$: writing", r"$1 - p_\mathrm{gen}$: copying"])
    return ax
