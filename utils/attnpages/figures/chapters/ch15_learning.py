"""Figures of chapter 15 about learning: its two loops, readers while they train, and letters found by SNAIL."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import arrow, box_around, canvas, say
from attnpages.figures.chapters.ch15 import plot_episodes
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import BLUE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR

Pairs = Sequence[tuple[str, str]]  # a word and its colour; the last one is the query and its answer


def draw_loops(training: Sequence[Pairs], test: Pairs) -> Axes:
    """Draw the two loops of meta-learning: each episode is read from left to right, and weights change between them.

    Args:
        training: episodes. test: an episode after the last change of the weights.

    Raises:
        ValueError: if there is no episode of training, or one has another length than that of the test.
    """
    if not training or len(test) < 2 or any(len(of) != len(test) for of in training):
        raise ValueError(f"episodes must be as long as that of the test, at least 2, got {training} and {test}")
    rows, steps = [*training, test], len(test)
    ax = canvas(None, (7.2, 0.95 * len(rows) + 1.0), (-1.75, steps + 0.75), (-0.75, 1.25 * len(rows) + 0.35))
    for number, pairs in enumerate(rows):
        y, last = 1.25 * (len(rows) - 1 - number) + 0.3, pairs is test
        say(ax, -0.65, y, "test" if last else f"episode {number + 1}", ha="right")
        _draw_episode(ax, y, pairs)
        if not last:
            arrow(ax, (-1.1, y - 0.3), (-1.1, y - 0.95), TRUTH_COLOUR, 2.4)
    arrow(ax, (-0.5, -0.3), (steps + 0.6, -0.3), BLUE, 2.4)
    say(ax, steps / 2, -0.58, "inner loop: reads and answers, no weight changes", colour=BLUE)
    outer = "outer loop (downwards): the weights change after each batch of episodes"
    say(ax, -1.7, 1.25 * len(rows) + 0.1, outer, ha="left", colour=TRUTH_COLOUR)
    return ax


def _draw_episode(ax: Axes, y: float, pairs: Pairs) -> None:
    """Labelled examples in a row, then the query and its answer."""
    for step, (word, colour) in enumerate(pairs):
        asked = step == len(pairs) - 1
        box_around(ax, (step, y), 0.92, 0.72, f"{word}\n{'?' if asked else colour}", fill=PAPER if asked else READS)
        if asked:
            arrow(ax, (step + 0.47, y), (step + 0.83, y))
            box_around(ax, (step + 1.25, y), 0.8, 0.5, colour, fill=WRITES)


def plot_training(right: Curves, weight: Curves) -> list[Axes]:
    """Draw what readers name while they train, and below it, on the same steps, the weight that a head must learn."""
    _, (above, below) = plt.subplots(
        2, 1, figsize=(6.5, 6.2), layout="constrained", sharex=True, gridspec_kw={"height_ratios": (3, 2)}
    )
    plot_by_length(right, "", "right colours (share)", ax=above, trained=None)
    styles = dict.fromkeys(weight, STYLES[1])  # that of the learned head, which stands second above
    plot_by_length(weight, "training step", "weight", ax=below, trained=None, styles=styles)
    return [above, below]


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
