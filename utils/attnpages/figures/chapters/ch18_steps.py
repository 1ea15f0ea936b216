"""Figures of chapter 18: differences between models, on two tests with intervals, and in each pair of trainings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from statistics import mean
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from attnbook.measure.translation import Interval
from attnpages.figures.boxes import line
from attnpages.figures.palette import BLUE, DARK_GREY, LINE, RUST
from attnpages.figures.style import Look, legend_above, new_axes, with_minus

_FIRST: Look = {"marker": "s", "markersize": 4, "color": DARK_GREY, "markerfacecolor": "white", "linestyle": ""}
_SECOND: Look = {"marker": "o", "markersize": 4, "color": BLUE, "linestyle": ""}
_PAIR: Look = {"marker": "o", "markersize": 6, "color": BLUE, "linestyle": ""}
_MARKED: Look = {"marker": "s", "markersize": 5.5, "color": RUST, "markerfacecolor": "white", "linestyle": ""}
_TESTS: tuple[Look, Look] = (
    {"marker": "o", "markersize": 8, "color": BLUE},
    {"marker": "s", "markersize": 7.5, "color": RUST, "markerfacecolor": "white", "markeredgewidth": 1.8},
)


class Step(NamedTuple):
    """From one model to another on one test.

    Fields:
        ahead: how far the second model's mean is ahead, with its interval.
        first, second: the score of each training.
    """

    ahead: Interval
    first: Sequence[float]
    second: Sequence[float]


def decided(low: float, high: float) -> bool:
    """The rule of the chapter: a difference is decided if its interval leaves out 0."""
    return low > 0 or high < 0


def plot_steps(
    tests: Mapping[str, Mapping[str, Step]],
    xlabel: str,
    labels: tuple[str, str] = ("trainings of the first model", "of the second"),
) -> list[Axes]:
    """Draw each difference as a dot on its interval, filled if it leaves out 0, and both models' trainings below it.

    Their scores are drawn less the mean of the first model, so that its own lie around 0.

    Args:
        tests: a panel per test: ``{name of the step: Step}``, the same steps, from top to bottom.
        xlabel: what is drawn, with its unit.
        labels: what the legend calls the trainings of both models.

    Raises:
        ValueError: if there is no step, the tests differ in their steps, or a difference lies outside its interval.
    """
    names = [list(steps) for steps in tests.values()]
    inside = all(of.ahead.low <= of.ahead.value <= of.ahead.high for steps in tests.values() for of in steps.values())
    if not names or not names[0] or any(of != names[0] for of in names) or not inside:
        raise ValueError(f"tests need the same steps, at least one, each difference within its interval; got {names}")
    size = (7.5, 1.5 + 0.62 * len(names[0]))
    figure, axes = plt.subplots(
        1, len(tests), figsize=size, sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for ax, (title, steps) in zip(axes[0], tests.items(), strict=True):
        ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
        for row, step in enumerate(steps.values()):
            _draw_step(ax, row, step)
        ax.set_title(title, loc="left")
        ax.set(xlabel=xlabel, ylim=(len(steps) - 0.4, -0.6))
        ax.grid(False, axis="y")
    axes[0, 0].set_yticks(range(len(names[0])), names[0])
    handles = [Line2D([], [], **look) for look in (_FIRST, _SECOND)]
    figure.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False)
    return list(axes[0])


def _draw_step(ax: Axes, row: int, step: Step) -> None:
    (value, low, high), sure = step.ahead, decided(step.ahead.low, step.ahead.high)
    colour, y = BLUE if sure else DARK_GREY, row - 0.16
    line(ax, (low, high), (y, y), colour, width=2.4 if sure else 1.6, zorder=2)
    look: Look = {"color": colour, "markerfacecolor": colour if sure else "white", "markeredgewidth": 1.8}
    ax.plot([value], [y], marker="o", markersize=8, linestyle="", zorder=3, **look)
    if not sure:
        ax.annotate("undecided", (high, y), (5, 0), textcoords="offset points", va="center", fontsize=9)
    for scores, kind in ((step.first, _FIRST), (step.second, _SECOND)):
        ax.plot([score - mean(step.first) for score in scores], [row + 0.16] * len(scores), zorder=3, **kind)


def plot_bought(steps: Mapping[str, Sequence[Interval]], tests: Sequence[str], xlabel: str) -> Axes:
    """Draw what each step bought: a row per step, in it a mark on its interval per test, and its numbers in words.

    An interval that contains 0 is thin, and "undecided" stands beside it.

    Args:
        steps: ``{name of the step: its difference on each test}``, from top to bottom.
        tests: what the legend calls them, one or two.
        xlabel: what is drawn, with its unit.

    Raises:
        ValueError: if there is no step, there are more than two tests, or a step has not one difference per test.
    """
    if not steps or not 1 <= len(tests) <= len(_TESTS) or any(len(of) != len(tests) for of in steps.values()):
        raise ValueError(f"steps need one difference for each of one or two tests; got {list(steps)} and {list(tests)}")
    ax = new_axes(None, (6.5, 1.1 + 0.66 * len(steps)))
    ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
    for row, of in enumerate(steps.values()):
        for number, one in enumerate(of):
            y, look = row + 0.34 * (number - (len(tests) - 1) / 2), _TESTS[number]
            sure = decided(one.low, one.high)
            line(ax, (one.low, one.high), (y, y), str(look["color"]), width=2.4 if sure else 1.0, zorder=2)
            ax.plot([one.value], [y], linestyle="", zorder=3, **look)
            said = with_minus(f"{one.value:.1f} ± {one.high - one.value:.1f}") + ("" if sure else " (undecided)")
            right = one.value > 0 or not sure  # where there is more room
            end, away, side = (one.high, 8, "left") if right else (one.low, -8, "right")
            look_of_text: Look = {"textcoords": "offset points", "va": "center", "ha": side, "fontsize": 10}
            ax.annotate(said, (end, y), (away, 0), **look_of_text)
    ax.set_yticks(range(len(steps)), list(steps))
    ax.set(xlabel=xlabel, ylim=(len(steps) - 0.45, -0.55))
    ax.margins(x=0.34)
    ax.xaxis.set_major_locator(MultipleLocator(2))
    ax.grid(False, axis="y")
    legend_above(ax, [Line2D([], [], **look) for look in _TESTS[: len(tests)]], list(tests))
    return ax


class Pairs(NamedTuple):
    """The lead of one model over another in each pair of single trainings.

    Fields:
        leads: most pairs. marked: the pairs that are drawn as hollow squares.
    """

    leads: Sequence[float]
    marked: Sequence[float] = ()


def plot_pairs(rows: Mapping[str, Pairs], xlabel: str, labels: tuple[str, str], width: float = 0.1) -> list[Axes]:
    """Draw each pair of trainings as a dot over its lead, stacked where they are close, and write how many are below 0.

    Args:
        rows: a panel per comparison, from top to bottom.
        xlabel: what is drawn, with its unit.
        labels: what the legend calls the dots and the hollow squares.
        width: of the bins in which dots are stacked.

    Raises:
        ValueError: if there is no comparison, or one without a pair.
    """
    if not rows or not all(of.leads or of.marked for of in rows.values()):
        raise ValueError(f"rows need at least one pair of trainings each; got {list(rows)}")
    size = (6.5, 1.0 + 1.45 * len(rows))
    _, axes = plt.subplots(len(rows), 1, figsize=size, sharex=True, sharey=True, layout="constrained", squeeze=False)
    for ax, (title, of) in zip(axes[:, 0], rows.items(), strict=True):
        ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
        _stack(ax, of, width)
        behind, number = sum(lead < 0 for lead in (*of.leads, *of.marked)), len(of.leads) + len(of.marked)
        ax.annotate(f"{behind} of {number} below 0", (0.01, 0.9), xycoords="axes fraction", va="top", fontsize=11)
        ax.set_title(title, loc="left")
        ax.set_yticks([])
        ax.grid(False, axis="y")
        ax.spines["left"].set_visible(False)
    axes[0, 0].set_ylim(bottom=0)
    axes[-1, 0].set_xlabel(xlabel)
    handles = [Line2D([], [], **look) for look in (_PAIR, _MARKED)]
    axes[0, 0].figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return list(axes[:, 0])


def _stack(ax: Axes, of: Pairs, width: float) -> None:
    heights: Counter[int] = Counter()
    for leads, look in ((of.marked, _MARKED), (of.leads, _PAIR)):
        for lead in sorted(leads):
            place = floor(lead / width)
            heights[place] += 1
            ax.plot([(place + 0.5) * width], [heights[place]], **look)
