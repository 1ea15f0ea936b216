"""Figures of chapter 11: next tokens, losses, heads that copy, two blocks; those on training are in `ch11_training`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import Curves, PlainNumbers, plot_by_length
from attnpages.figures.heat import as_label, as_matrix, draw_cells
from attnpages.figures.palette import BLUE, FAINT, PAPER, READS, RUST, VERMILION, WRITES
from attnpages.figures.style import STYLES, Look

_STREAM, _BESIDE, _SIZE = 1.0, 3.6, 10.5  # where the stream runs and its sublayers stand; of letters


class Part(NamedTuple):
    """A box of a block.

    Fields:
        text: what is written in it.
        changed: drawn in another colour and with a thicker edge.
    """

    text: str
    changed: bool = False


def draw_blocks() -> list[Axes]:
    """Draw the block of 2017, in pre-norm, beside the block of later language models; changed parts stand out."""
    then = {
        "words": Part("word vector + sinusoid"),
        "norm": Part("layer norm"),
        "attention": Part("attention: H heads of\nqueries, keys, values"),
        "feed_forward": Part("feed-forward:\n2 matrices, ReLU"),
        "output": Part("logits"),
    }
    now = {
        "words": Part("word vector", changed=True),
        "norm": Part("RMSNorm", changed=True),
        "attention": Part("attention: H heads of queries,\nrotated; H/2 of keys and values", changed=True),
        "feed_forward": Part("feed-forward: 3 matrices,\nSwiGLU, no biases", changed=True),
        "output": Part("logits"),
    }
    _, axes = plt.subplots(1, 2, figsize=(8.4, 5.4), layout="constrained")
    for ax, (title, parts) in zip(axes, {"2017 (pre-norm)": then, "later": now}.items(), strict=True):
        _draw_block(canvas(ax, (4.2, 5.4), (0, 6.1), (0, 8.6)), parts)
        ax.set_title(title, fontweight="bold")
    return list(axes)


def _draw_block(ax: Axes, parts: Mapping[str, Part]) -> None:
    """One stream from the bottom to the top, with both sublayers beside it."""
    frame: Look = {"facecolor": "none", "edgecolor": FAINT, "linestyle": "--", "linewidth": 1.2}
    ax.add_patch(Rectangle((0.25, 1.05), 5.8, 5.75, **frame))
    say(ax, 5.95, 6.62, "L ×", ha="right", va="top", weight="bold", size=_SIZE)
    line(ax, (_STREAM, _STREAM), (0.65, 7.95), BLUE, 2.6)
    _box(ax, (1.5, 0.4), 2.7, 0.55, parts["words"])
    for bottom, name in ((1.45, "attention"), (4.2, "feed_forward")):
        line(ax, (_STREAM, _BESIDE), (bottom, bottom))
        arrow(ax, (_BESIDE, bottom), (_BESIDE, bottom + 0.25))
        _box(ax, (_BESIDE, bottom + 0.5), 1.7, 0.5, parts["norm"])
        arrow(ax, (_BESIDE, bottom + 0.75), (_BESIDE, bottom + 1.1))
        _box(ax, (_BESIDE, bottom + 1.55), 4.3, 0.9, parts[name])
        line(ax, (_BESIDE, _BESIDE), (bottom + 2.0, bottom + 2.3))
        arrow(ax, (_BESIDE, bottom + 2.3), (_STREAM + 0.16, bottom + 2.3))
        plus: Look = {"boxstyle": "circle,pad=0.05", "facecolor": "white", "edgecolor": BLUE}
        ax.text(_STREAM, bottom + 2.3, "+", ha="center", va="center", bbox=plus, zorder=3)
    _box(ax, (1.3, 7.25), 1.7, 0.5, parts["norm"])
    _box(ax, (1.3, 8.2), 1.7, 0.5, parts["output"])


def _box(ax: Axes, centre: tuple[float, float], width: float, height: float, part: Part) -> None:
    look: Look = {"fill": WRITES, "line": 2.2} if part.changed else {"fill": PAPER}
    box_around(ax, centre, width, height, part.text, size=_SIZE, **look)


def draw_induction() -> Axes:
    """Draw how two heads copy: after ``A B C D A`` one notes in *B* that it follows *A*, another searches for it."""
    ax = canvas(None, (7.8, 4.0), (-3.1, 9.9), (-0.6, 6.3))
    words, column, rows = "ABCDA", 2.2, (0.0, 2.6, 5.6)
    for i, word in enumerate(words):
        x, follows = i * column, i > 0
        line(ax, (x, x), (rows[0], rows[1]), FAINT, 1.0)
        box_around(ax, (x, rows[0]), 1.0, 0.7, word, size=12)
        note = f"{word}\n“I follow {words[i - 1]}”" if follows else word
        box_around(ax, (x, rows[1]), 1.85 if follows else 1.0, 1.0, note, fill=WRITES if i == 1 else PAPER, size=_SIZE)
        if follows:
            start, end = (x - column + 0.5, rows[0] + 0.35), (x - 0.25, rows[1] - 0.52)
            arrow(ax, start, end, RUST if i == 1 else FAINT, 2.4 if i == 1 else 1.1)
    last = (len(words) - 1) * column
    line(ax, (last, last), (rows[1] + 0.5, rows[2] - 0.5), FAINT, 1.0)
    arrow(ax, (column + 0.6, rows[1] + 0.52), (last - 0.95, rows[2] - 0.1), BLUE, 2.4)
    box_around(ax, (last, rows[2]), 1.85, 1.0, "A\nnext: B", fill=READS, size=_SIZE)
    say(ax, -3.0, 1.3, "layer 1:\nprevious-\ntoken head", ha="left", colour=RUST, size=_SIZE)
    say(ax, -3.0, 4.6, "layer 2: induction head,\nwhose query is “who follows A?”", ha="left", colour=BLUE, size=_SIZE)
    return ax


def plot_next_words(
    panels: Mapping[str, Sequence[float]], words: Sequence[str], ylabel: str = "next piece"
) -> list[Axes]:
    """Draw probabilities of the next word, one panel per way of drawing it; a word of probability 0 has no bar.

    Args:
        panels: ``{title: one probability per word}``.
        words: their names, from top to bottom.

    Returns:
        the panels' axes.

    Raises:
        ValueError: if there is no panel, or one has not one probability per word.
    """
    if not panels or any(len(values) != len(words) for values in panels.values()):
        raise ValueError(f"panels must hold at least one panel, each with {len(words)} probabilities, one per word")
    count = len(panels)
    size = (min(8, 2.0 * count), 1.4 + 0.3 * len(words))
    _, (axes,) = plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False)
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        ax.barh(range(len(words)), values, color=STYLES[0].colour)
        for row, value in enumerate(values):
            ax.text(value + 0.02, row, f"{value:.2f}" if value else "–", va="center", fontsize=10)
        ax.set_title(title, fontsize=11)
        ax.set(xlabel="probability", xlim=(0, 1), xticks=[0, 0.5, 1])
        ax.set_yticks(range(len(words)), words if ax is axes[0] else [""] * len(words))
        ax.grid(False, axis="y")
        ax.invert_yaxis()
    axes[0].set_ylabel(ylabel)
    return list(axes)


def plot_task_route(tokens: Sequence[str], weights: Sequence[float], curves: Curves) -> list[Axes]:
    """Draw to which tokens of a prompt the last one attends, beside what an exchange of vectors brings by block.

    Args:
        tokens: of the prompt, from top to bottom.
        weights: of the last token's attention, one per token.
        curves: ``{position: {block: probability}}``, as :func:`plot_by_length` draws them.

    Raises:
        ValueError: unless each token has a weight.
    """
    if len(tokens) != len(weights):
        raise ValueError(f"{len(tokens)} tokens must have as many weights, got {len(weights)}")
    _, (left, right) = plt.subplots(1, 2, figsize=(7.8, 4.2), layout="constrained", width_ratios=(2, 3))
    left.barh(range(len(tokens)), weights, color=STYLES[0].colour)
    left.set_yticks(range(len(tokens)), tokens)
    left.set(xlabel="attention at the last ->", xlim=(0, 1), xticks=[0, 0.5, 1])
    left.grid(False, axis="y")
    left.invert_yaxis()
    plot_by_length(curves, "block after which they are exchanged", "probability of woman", right, trained=None)
    right.set(ylim=(0, 1), xlim=(0, 30))
    return [left, right]


def plot_scaling(
    panels: Mapping[str, Mapping[float, Sequence[float]]],
    laws: Mapping[str, tuple[float, Sequence[float]]],
    ylabel: str,
) -> list[Axes]:
    """Draw how a loss falls, one panel per cause, on logarithmic axes: there a power law is a straight line.

    Args:
        panels: ``{label of the x axis: {x: one loss per seed}}``.
        laws: ``{label of the x axis: (exponent, the x that it was fitted to)}``; a panel may have none.
        ylabel: of the losses, with their unit.

    Returns:
        the panels' axes.

    Raises:
        ValueError: if there is no panel, or a law for a panel that there is not.
    """
    if not panels or not laws.keys() <= panels.keys():
        raise ValueError(f"panels must hold at least one panel, and one for each of {', '.join(laws) or 'no laws'}")
    _, axes = plt.subplots(1, len(panels), figsize=(2.9 * len(panels), 3.6), layout="constrained", squeeze=False)
    for ax, (xlabel, points) in zip(axes[0], panels.items(), strict=True):
        means = {x: as_array(losses).mean() for x, losses in points.items()}
        seeds = [(x, loss) for x, losses in points.items() for loss in losses]
        ax.plot(*zip(*seeds, strict=True), "o", color=STYLES[0].colour, markersize=4)
        if xlabel in laws:
            exponent, (*xs,) = laws[xlabel]
            centre = np.exp(np.mean([np.log([x, means[x]]) for x in xs], axis=0))  # through it goes the fitted line
            line = [centre[1] * (x / centre[0]) ** exponent for x in means]
            ax.plot(list(means), line, "--", color=VERMILION, marker="", label=f"loss $\\propto x^{{{exponent:.2f}}}$")
            ax.legend(loc="lower left", fontsize=10)
        else:
            ax.plot(list(means), list(means.values()), color=STYLES[0].colour, marker="")
        ax.set(xscale="log", yscale="log", xlabel=xlabel)
        ax.xaxis.set_minor_formatter("")
        for formatted in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            formatted(PlainNumbers(minor_thresholds=(2, 0.5)))
    axes[0][0].set_ylabel(ylabel)
    return list(axes[0])


def plot_while_training(panels: Mapping[str, Curves]) -> list[Axes]:
    """Draw what changes during training, one panel per quantity, each with a mean and a range per training step.

    Args:
        panels: ``{quantity: {model: {step: [one value per seed]}}}``; a model keeps its colour in all panels if it
            stands in the same order.

    Returns:
        the panels' axes.

    Raises:
        ValueError: if there is no panel.
    """
    if not panels:
        raise ValueError("panels must hold at least one panel")
    _, axes = plt.subplots(1, len(panels), figsize=(4 * len(panels), 4.2), layout="constrained", squeeze=False)
    for ax, (quantity, curves) in zip(axes[0], panels.items(), strict=True):
        plot_by_length(curves, "training step", quantity, ax=ax, trained=None)
        last = max(int(step) for points in curves.values() for step in points)
        ax.set_xticks(range(0, last + 1, 100 if last >= 100 else 1))
        ax.set_xticklabels([f"{step:.0f}" for step in ax.get_xticks()])
    return list(axes[0])


def plot_copying_maps(models: Mapping[str, tuple[Sequence[str], Mapping[str, object]]]) -> np.ndarray:
    """Draw the attention of heads that copy, one row of panels per model, each with the tokens that it read.

    Args:
        models: ``{name: (tokens, {name of a head: (T, T)})}``, with equally many heads for each model.

    Returns:
        the axes, one row per model.

    Raises:
        ValueError: if there is no model, models have different numbers of heads, or a map has not one row per token.
    """
    counts = {len(maps) for _, maps in models.values()}
    if len(counts) != 1:
        raise ValueError(f"models must hold at least one, all with equally many heads, got {sorted(counts)}")
    columns = counts.pop()
    size = (3.2 * columns + 0.5, 3.3 * len(models))
    _, axes = plt.subplots(len(models), columns, figsize=size, layout="constrained", squeeze=False)
    for row, (name, (tokens, maps)) in zip(axes, models.items(), strict=True):
        for ax, (head, weights) in zip(row, maps.items(), strict=True):
            values = as_matrix(head, weights)
            if values.shape != (len(tokens), len(tokens)):
                raise ValueError(f"{head} must have one row and one column per token of {name}, got {values.shape}")
            image = draw_cells(ax, values, (0.0, 1.0))
            ax.set_title(f"{name}, {head}", fontsize=11)
            ax.set_xticks(range(len(tokens)), [as_label(token[:1]) for token in tokens], fontsize=10)
            ax.set_yticks(range(len(tokens)), [as_label(token) for token in tokens], fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("attends")
    for ax in axes.flat:
        ax.set_xlabel("is attended to (initials)")
    axes[0, 0].figure.colorbar(image, ax=axes, label="attention weight", fraction=0.03, pad=0.02)
    return axes


def plot_heads(models: Mapping[str, Mapping[str, Mapping[int, Sequence[float]]]], ylabel: str) -> list[Axes]:
    """Draw scores of all heads by their layer, one panel per model, one mark per head and seed.

    Args:
        models: ``{name: {score: {layer: values}}}``, layers from 1 on.
        ylabel: of the scores, which lie between 0 and 1.

    Returns:
        the panels' axes.

    Raises:
        ValueError: if there is no model.
    """
    if not models:
        raise ValueError("models must hold at least one model")
    widths = [1 + 0.1 * max(max(layers) for layers in scores.values()) for scores in models.values()]
    _, axes = plt.subplots(
        1, len(models), figsize=(7.8, 3.8), layout="constrained", squeeze=False, sharey=True, width_ratios=widths
    )
    for ax, (name, scores) in zip(axes[0], models.items(), strict=True):
        last = max(max(layers) for layers in scores.values())
        for i, (score, layers) in enumerate(scores.items()):
            apart = (i - (len(scores) - 1) / 2) * 0.24  # beside each other
            points = [(layer + apart, value) for layer, values in layers.items() for value in values]
            look = STYLES[i]
            ax.plot(*zip(*points, strict=True), look.marker, color=look.colour, markersize=4.5, alpha=0.75, label=score)
        ax.set(title=name, xlabel="layer", ylim=(-0.03, 1.03), xlim=(0.4, last + 0.6))
        ax.set_xticks(range(1, last + 1) if last < 8 else range(5, last + 1, 5))
    axes[0][0].set_ylabel(ylabel)
    axes[0][-1].legend(loc="upper left", fontsize=10)
    return list(axes[0])
