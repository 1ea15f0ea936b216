"""Figure of chapter 14 on copying: two distributions, and what the next word's probability is made of."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from attnpages.figures.alignments import plot_alignment
from attnpages.figures.palette import FAINT
from attnpages.figures.style import STYLES, legend_above


def plot_written_and_copied(
    p_gen: float, p_vocab: Mapping[str, float], weights: Sequence[tuple[str, float]]
) -> list[Axes]:
    """Draw both distributions as strips of words, and below one bar per word, to which each position adds a piece.

    Args:
        p_gen: the probability of writing; the rest is left for copying.
        p_vocab: by word, the probability that the vocabulary gives it.
        weights: each source word in its order, and its attention weight.

    Raises:
        ValueError: if there is no source word, or the probabilities of all words do not sum to 1.
    """
    written = {word: p_gen * share for word, share in p_vocab.items()}
    pieces = {word: [(1 - p_gen) * share for of, share in weights if of == word] for word, _ in weights}
    total = {word: written.get(word, 0.0) + sum(pieces.get(word, ())) for word in {**written, **pieces}}
    if not weights or not np.isclose(sum(total.values()), 1):
        raise ValueError(f"the probabilities of all words must sum to 1, got {sum(total.values())}")
    order = sorted((word for word in total if total[word]), key=lambda word: -total[word])
    height = 0.38 * len(order) + 1.0
    _, axes = plt.subplots(3, 1, figsize=(6.5, height + 2.2), height_ratios=(1.0, 1.0, height), layout="constrained")
    columns = max(len(p_vocab), len(weights))
    _draw_strip(axes[0], list(p_vocab.items()), columns, STYLES[0].colour)
    axes[0].set_title(
        rf"$p_\mathrm{{gen}}$ = {p_gen:.1f}, times $p_\mathrm{{vocab}}$ of the vocabulary", loc="left", fontsize=11
    )
    _draw_strip(axes[1], weights, columns, STYLES[1].colour)
    axes[1].set_title(
        rf"$1 - p_\mathrm{{gen}}$ = {1 - p_gen:.1f}, times the attention weights of the source", loc="left", fontsize=11
    )
    _draw_bars(axes[2], order, written, pieces)
    return list(axes)


def plot_weights_and_p_gen(
    weights: object, source: Sequence[str], target: Sequence[str], p_gen: Sequence[float]
) -> list[Axes]:
    """Draw the attention weights of each output word, and beside its row how probable it was that the word is written.

    Args:
        weights: ``(T, Tk)``. source: the Tk source words. target: the T output words. p_gen: T probabilities.

    Raises:
        ValueError: if there is not one ``p_gen`` from 0 to 1 per output word.
    """
    if len(p_gen) != len(target) or not all(0 <= one <= 1 for one in p_gen):
        raise ValueError(f"p_gen must hold {len(target)} numbers from 0 to 1, got {list(p_gen)}")
    _, axes = plt.subplots(1, 2, figsize=(6.5, 4.3), width_ratios=(8, 1.5), layout="constrained")
    left, right = axes
    plot_alignment(weights, source, target, ax=left, ylabel="output word", bar=False)
    style = STYLES[0]
    right.barh(range(len(p_gen)), p_gen, 0.6, color=style.colour, hatch=style.hatch, edgecolor="white")
    for row, share in enumerate(p_gen):
        inside = share > 0.5
        x, ha = (share / 2, "center") if inside else (share + 0.08, "left")
        under = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        right.text(x, row, f"{share:.2f}", ha=ha, va="center", fontsize=10, bbox=under)
    right.set(xlim=(0, 1.05), xticks=(0, 1), ylim=left.get_ylim(), yticks=())
    right.xaxis.tick_top()
    right.xaxis.set_label_position("top")
    right.set_xlabel(r"$p_\mathrm{gen}$")
    right.grid(False)
    return [left, right]


def _draw_strip(ax: Axes, shares: Sequence[tuple[str, float]], columns: int, colour: str) -> None:
    """Words from left to right: the darker a word, the larger its share, which stands below it."""
    most = max(share for _, share in shares) or 1.0
    for position, (word, share) in enumerate(shares):
        shade = to_rgba(colour, 0.75 * share / most)
        ax.barh(0, 0.94, 0.9, position - 0.47, color=shade, edgecolor=FAINT, hatch="")
        ax.text(position, 0.18, word, ha="center", va="center", fontsize=11)
        ax.text(position, -0.2, f"{share:.1f}" if share else "0", ha="center", va="center", fontsize=11)
    ax.set(xlim=(-0.55, columns - 0.45), ylim=(-0.5, 0.5), xticks=(), yticks=())
    ax.set_axis_off()


def _draw_bars(ax: Axes, order: Sequence[str], written: Mapping[str, float], pieces: Mapping[str, list[float]]) -> None:
    """One lying bar per word: first what is written, then a piece for each position from which it is copied."""
    lengths = [written.get(word, 0.0) for word in order]
    handles = [
        ax.barh(range(len(order)), lengths, 0.62, edgecolor="white", color=STYLES[0].colour, hatch=STYLES[0].hatch)
    ]
    style = STYLES[1]
    for row, word in enumerate(order):
        for share in filter(None, pieces.get(word, ())):
            bar = ax.barh(
                row, share, 0.62, lengths[row], color=style.colour, hatch=style.hatch, edgecolor="white", linewidth=2
            )
            handles[1:] = [bar]
            lengths[row] += share
        ax.annotate(f"{lengths[row]:.2f}", (lengths[row], row), (5, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(order)), order)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlabel="probability of the next word", xlim=(0, 1.15 * max(lengths)))
    legend_above(ax, handles, ["written from the vocabulary", "copied from the source"][: len(handles)])
