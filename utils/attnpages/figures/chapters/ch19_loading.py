"""Figures of chapter 19 on loading weights: two decoders side by side, and what wrong settings do at each position."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.palette import BLACK, DARK_GREY, FAINT, GREEN, GREY, OKABE_BLUE, PAPER, RUST, VERMILION, WRITES
from attnpages.figures.style import Look, legend_above, new_axes

Step = tuple[str, str]  # what a box says, and the numbers of the settings in it, such as "14"


def draw_decoders(columns: Mapping[str, Sequence[Step]], ax: Axes | None = None) -> Axes:
    """Draw decoders side by side, from word vectors to output, with a number at each setting in which they differ.

    Args:
        columns: ``{title: five steps}``, two at most: word vectors, norm, attention, feed-forward and output layer. The
            norm stands before both sublayers. Numbers are drawn at each step that has them, and in the last column in
            colour, as the steps themselves are.

    Raises:
        ValueError: if a column has not five steps, or there are more than two.
    """
    if len(columns) > 2 or any(len(steps) != 5 for steps in columns.values()):
        raise ValueError(f"give five steps per column, for two at most, got {[len(of) for of in columns.values()]}")
    ax = canvas(ax, (6.5, 5.4), (-0.1, 11.0), (-0.1, 9.4))
    for i, (title, (words, norm, attention, feed_forward, output)) in enumerate(columns.items()):
        x, own = 5.6 * i, i == len(columns) - 1
        say(ax, x + 2.7, 9.15, title, weight="bold")
        box(ax, x, 1.75, 5.3, 5.85, fill="none", dashed=True)
        line(ax, (x + 0.4, x + 0.4), (0.55, 8.3), FAINT, 2.6)
        _decoder_step(ax, (x + 2.65, 0.55), 5.1, words, own)
        for y, step in ((2.55, attention), (5.45, feed_forward)):
            _decoder_step(ax, (x + 3.1, y), 3.4, norm, own)
            _decoder_step(ax, (x + 3.1, y + 1.3), 3.8, step, own)
            arrow(ax, (x + 0.4, y), (x + 1.4, y), colour=DARK_GREY)
            arrow(ax, (x + 3.1, y + 0.3), (x + 3.1, y + 0.8), colour=DARK_GREY)
            arrow(ax, (x + 1.2, y + 1.3), (x + 0.6, y + 1.3), colour=DARK_GREY)
            box_around(ax, (x + 0.4, y + 1.3), 0.42, 0.42, "+", fill="white")
        _decoder_step(ax, (x + 2.65, 8.3), 5.1, output, own)
    return ax


def _decoder_step(ax: Axes, centre: tuple[float, float], width: float, step: Step, own: bool) -> None:
    """A box with the numbers of its settings at its upper right corner."""
    text, numbers = step
    height = 0.9 if "\n" in text else 0.6
    box_around(ax, centre, width, height, text, size=9.5, fill=WRITES if own and numbers else PAPER)
    for i, number in enumerate(reversed(numbers)):
        at = centre[0] + width / 2 - 0.05 - 0.46 * i, centre[1] + height / 2
        badge: Look = {"boxstyle": "circle,pad=0.2", "facecolor": RUST if own else DARK_GREY, "edgecolor": "white"}
        ax.text(*at, number, ha="center", va="center", fontsize=9, color="white", weight="bold", bbox=badge, zorder=5)


SMALLEST = 1e-5  # an error below it is drawn here: float32 has about seven digits
LOOKS: tuple[Look, ...] = (
    {"color": OKABE_BLUE, "linestyle": "-", "marker": "o"},
    {"color": VERMILION, "linestyle": "--", "marker": "s"},
    {"color": GREY, "linestyle": "-", "linewidth": 1.0, "marker": ""},
    {"color": GREEN, "linestyle": "-.", "marker": "^"},
    {"color": BLACK, "linestyle": ":", "marker": ""},
)


def plot_errors(errors: Mapping[str, Sequence[Sequence[float]]], ax: Axes | None = None) -> Axes:
    """Draw how far the logits of wrong models are from the right ones at each position, on a logarithmic axis.

    Args:
        errors: ``{name: curves}``, five names at most; a curve has the largest error of a logit at each position, and
            curves of one name look alike.

    Raises:
        ValueError: if there are more than five names.
    """
    if len(errors) > len(LOOKS):
        raise ValueError(f"a figure tells at most {len(LOOKS)} kinds of curves apart, got {len(errors)}")
    ax = new_axes(ax, (6.5, 3.8))
    handles = []
    for (_, curves), look in zip(errors.items(), LOOKS, strict=False):
        for curve in curves:
            heights = np.maximum(np.asarray(curve, dtype=float), SMALLEST)
            [drawn] = ax.plot(range(1, len(heights) + 1), heights, markersize=4, clip_on=False, **look)
        handles.append(drawn)
    ax.set_yscale("log")
    ax.set_ylim(SMALLEST, 100)
    ax.set_yticks([SMALLEST, 1e-4, 1e-2, 1, 100], ["0", "0.0001", "0.01", "1", "100"])
    ax.set_xticks([1, *range(5, len(heights) + 1, 5)])
    ax.minorticks_off()
    ax.set(xlabel="position", ylabel="largest error of a logit", xlim=(1, None))
    legend_above(ax, handles, list(errors))
    return ax
