"""The figure of chapter 19 on loading weights: two decoders side by side."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.palette import DARK_GREY, FAINT, PAPER, RUST, WRITES
from attnpages.figures.style import Look

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
