"""A figure of chapter 18: the differences between models, each with its interval and a verdict by one rule."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from attnbook.measure.translation import Interval
from attnpages.figures.boxes import line
from attnpages.figures.palette import BLUE, DARK_GREY, LINE
from attnpages.figures.style import Look, new_axes


def decided(low: float, high: float) -> bool:
    """The rule of the chapter: a difference is decided if its interval leaves out 0."""
    return low > 0 or high < 0


def plot_steps(steps: Mapping[str, Interval], xlabel: str, ax: Axes | None = None) -> Axes:
    """Draw each difference as a dot on its interval: filled if the interval leaves out 0, else hollow.

    Args:
        steps: ``{name: (difference, low, high)}``, from top to bottom.
        xlabel: what is drawn, with its unit.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there is no step, or a difference lies outside its interval.
    """
    wrong = [name for name, (value, low, high) in steps.items() if not low <= value <= high]
    if wrong or not steps:
        raise ValueError(f"steps needs at least one difference, each within its interval; not so for {wrong}")
    ax = new_axes(ax, (6.5, 1.0 + 0.5 * len(steps)))
    ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
    for row, (value, low, high) in enumerate(steps.values()):
        sure = decided(low, high)
        colour = BLUE if sure else DARK_GREY
        line(ax, (low, high), (row, row), colour, width=2.4 if sure else 1.6, zorder=2)
        look: Look = {"color": colour, "markerfacecolor": colour if sure else "white", "markeredgewidth": 1.8}
        ax.plot([value], [row], marker="o", markersize=8, linestyle="", zorder=3, **look)
        ax.annotate("" if sure else "undecided", (high, row), (8, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(steps)), list(steps))
    ax.set(xlabel=xlabel, ylim=(len(steps) - 0.4, -0.6))
    ax.grid(False, axis="y")
    return ax
