"""Figures of chapter 15 about learning: its two loops, readers while they train, SNAIL, and letters that it finds."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.chapters.ch15 import plot_episodes
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import BLUE, FAINT, INK, PAPER, READS, RUST, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR

Pairs = Sequence[tuple[str, str]]  # a word and its colour; the last one is the query and its answer


def draw_loops(training: Sequence[Pairs], test: Pairs) -> Axes:
    """Draw the two loops of meta-learning: an episode is read from left to right, and weights change between batches.

    Args:
        training: one episode of each batch. test: an episode after the last change of the weights.

    Raises:
        ValueError: if there is no episode of training, or one has another length than that of the test.
    """
    if not training or len(test) < 2 or any(len(of) != len(test) for of in training):
        raise ValueError(f"episodes must be as long as that of the test, at least 2, got {training} and {test}")
    rows, steps, apart = [*training, test], len(test), 1.6
    top = apart * (len(rows) - 1) + 0.3
    ax = canvas(None, (7.2, 1.2 * len(rows) + 0.8), (-1.75, steps + 0.75), (-0.75, top + 1.1))
    for number, pairs in enumerate(rows):
        y, last = top - apart * number, pairs is test
        say(ax, -0.65, y, "test" if last else f"batch {number + 1}", ha="right")
        _draw_episode(ax, y, pairs)
        if not last:
            say(ax, (steps - 1) / 2, y - 0.68, "… more episodes, read with the same weights", size=10)
            arrow(ax, (-1.1, y - 0.3), (-1.1, y - apart + 0.3), TRUTH_COLOUR, 2.4)
    arrow(ax, (-0.5, -0.3), (steps + 0.6, -0.3), BLUE, 2.4)
    say(ax, steps / 2, -0.58, "inner loop: reads and answers, no weight changes", colour=BLUE)
    outer = "outer loop (downwards): the weights change after each batch of episodes"
    say(ax, -1.7, top + 0.8, outer, ha="left", colour=TRUTH_COLOUR)
    return ax


def _draw_episode(ax: Axes, y: float, pairs: Pairs) -> None:
    """Labelled examples in a row, then the query and its answer."""
    for step, (word, colour) in enumerate(pairs):
        asked = step == len(pairs) - 1
        box_around(ax, (step, y), 0.92, 0.72, f"{word}\n{'?' if asked else colour}", fill=PAPER if asked else READS)
        if asked:
            arrow(ax, (step + 0.47, y), (step + 0.83, y))
            box_around(ax, (step + 1.25, y), 0.8, 0.5, colour, fill=WRITES)


def plot_training(right: Curves, weight: Curves, equal: float | None = None) -> list[Axes]:
    """Draw what readers name while they train, and below it, on the same steps, the weight that a head must learn.

    Args:
        right, weight: as :func:`plot_by_length` takes them. equal: what equal weights would give, a dotted line.
    """
    _, (above, below) = plt.subplots(
        2, 1, figsize=(6.5, 6.2), layout="constrained", sharex=True, gridspec_kw={"height_ratios": (3, 2)}
    )
    plot_by_length(right, "", "right colours (share)", ax=above, trained=None)
    styles = dict.fromkeys(weight, STYLES[1])  # that of the learned head, which stands second above
    plot_by_length(weight, "training step", "weight", ax=below, trained=None, styles=styles)
    if equal is not None:
        below.axhline(equal, color=INK, linestyle=":", linewidth=1.6, marker="", zorder=1)
        below.text(
            below.get_xlim()[1], equal + 0.03, f"equal weights: {equal:.2f}", ha="right", va="bottom", fontsize=11
        )
    return [above, below]


def draw_snail(kinds: Sequence[str | int], inputs: int, appended: int, output: str) -> Axes:
    """Draw a SNAIL from left to right, with its vector at each step growing by what a block appends, and a dense block.

    Args:
        kinds: of the blocks: ``"attention"``, or the dilation of a dense block. inputs: numbers per step.
        appended: how many numbers a block adds. output: what is read from the last vector.

    Raises:
        ValueError: if there is no block, or one is of another kind.
    """
    if not kinds or any(kind != "attention" and not isinstance(kind, int) for kind in kinds):
        raise ValueError(f'kinds must hold "attention" and dilations, got {list(kinds)}')
    apart, unit = 1.5, 0.4 / appended  # between two vectors; the height of a number
    ax = canvas(None, (7.4, 5.2), (-0.75, apart * len(kinds) + 1.25), (-3.75, 0.6 + unit * inputs + 0.4 * len(kinds)))
    for at in range(len(kinds) + 1):
        x = apart * at
        box(ax, x - 0.16, 0, 0.32, unit * inputs, edge=INK)
        for below, kind in enumerate(kinds[:at]):
            fill, edge = (READS, BLUE) if kind == "attention" else (WRITES, RUST)
            box(ax, x - 0.16, unit * (inputs + appended * below), 0.32, 0.4, fill=fill, edge=edge)
        say(ax, x, unit * (inputs + appended * at) + 0.2, str(inputs + appended * at), size=10)
    for at, kind in enumerate(kinds):
        x, top, is_attention = apart * (at + 0.5), unit * (inputs + appended * at), kind == "attention"
        line(ax, (x - 0.58, x + 0.58), (0.12, 0.12), FAINT, 1.2, dashed=True)
        arrow(ax, (x - 0.58, 0.6 if at else 0.2), (x - 0.46, 1.0))
        arrow(ax, (x + 0.46, 1.1), (x + 0.6, top + 0.2))
        name = "attention" if is_attention else f"dense\nblock,\ndilation\n{kind}"
        fill, edge = (READS, BLUE) if is_attention else (WRITES, RUST)
        box_around(ax, (x, 1.1), 0.92, 1.3, name, size=10, fill=fill, edge=edge)
    last = apart * len(kinds)
    arrow(ax, (last + 0.2, 1.1), (last + 0.45, 1.1))
    say(ax, last + 0.82, 1.1, output, size=10)
    say(ax, -0.6, -0.35, "numbers per step (above each column); dashed: the whole column is kept", ha="left", size=10)
    _draw_dense_block(ax)
    return ax


def _draw_dense_block(ax: Axes) -> None:
    """What a dense block does at step t."""
    say(ax, -0.6, -1.05, "Inside a dense block, at step t:", ha="left", colour=RUST)
    for y, name in ((-1.85, "step t − dilation"), (-3.05, "step t")):
        box_around(ax, (0.35, y), 1.75, 0.6, name, size=10)
        for to in (-1.85, -3.05):
            arrow(ax, (1.25, y), (2.2, to + 0.12 * (1 if y > -2 else -1)))
    for y, name in ((-1.85, "candidate:\nconvolution, tanh"), (-3.05, "gate:\nconvolution, sigmoid")):
        box_around(ax, (3.4, y), 2.35, 0.75, name, size=10, fill=WRITES, edge=RUST)
        arrow(ax, (4.6, y), (5.33, -2.45 + 0.1 * (1 if y > -2 else -1)))
    box_around(ax, (5.58, -2.45), 0.46, 0.46, "×", size=12)
    arrow(ax, (5.83, -2.45), (6.4, -2.45))
    box_around(ax, (7.3, -2.45), 1.75, 0.75, "appended to\nx at step t", size=10, fill=WRITES, edge=RUST)


def plot_found(images: Tensor, labels: Tensor, weights: Tensor) -> list[Axes]:
    """Draw episodes as :func:`plot_episodes` does, with the weight that the query gives to each picture below it.

    Args:
        weights: ``(E, T)``, those of the last step, which is the query.

    Raises:
        ValueError: if there is not one weight per picture.
    """
    if weights.shape != labels.shape:
        raise ValueError(f"weights must be {tuple(labels.shape)}, got {tuple(weights.shape)}")
    axes = plot_episodes(images, labels)
    for ax, weight in zip(axes, weights.flatten().tolist(), strict=True):
        ax.set_xlabel(f"{100 * weight:.0f} %", fontsize=12, labelpad=11)
        bar = Rectangle((0, -0.14), weight, 0.09, transform=ax.transAxes, color=BLUE, clip_on=False)
        ax.add_patch(bar)
    return axes
