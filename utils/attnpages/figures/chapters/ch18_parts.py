"""Figures of chapter 18 that split a number: an interval by what is random, and BLEU into precision and brevity."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnpages.figures.boxes import line
from attnpages.figures.chapters.ch18 import MODELS
from attnpages.figures.palette import AMBER, BLUE, DARK_GREY, LINE
from attnpages.figures.style import Look, new_axes, styles_for, with_minus

_BLEU: Look = {"marker": "o", "markersize": 7, "color": BLUE, "linestyle": ""}
_PRECISION: Look = {"marker": "s", "markersize": 7, "color": BLUE, "markerfacecolor": "white", "linestyle": ""}


class Half(NamedTuple):
    """Half the width of an interval, and what it is made of: the root of the two squares' sum.

    Fields:
        sentences, trainings: each one's part, in BLEU.
    """

    sentences: float
    trainings: float

    @property
    def both(self) -> float:
        """The hypotenuse."""
        return float((self.sentences**2 + self.trainings**2) ** 0.5)


def plot_halves(halves: Mapping[str, Half], difference: Mapping[str, float]) -> list[Axes]:
    """Draw both parts of an interval's half width, and what they make together, as bars: a panel per interval.

    A dashed line marks the difference; the interval leaves out 0 if the lowest bar ends before it.

    Args:
        halves: ``{title: Half}``.
        difference: ``{title: the difference in the interval's middle}``, the same titles.

    Raises:
        ValueError: if there is none, or the titles differ.
    """
    if not halves or set(halves) != set(difference):
        raise ValueError(
            f"halves and difference need the same titles, at least one; got {list(halves)} and {list(difference)}"
        )
    _, axes = plt.subplots(
        len(halves), 1, figsize=(6.5, 0.6 + 1.35 * len(halves)), sharex=True, layout="constrained", squeeze=False
    )
    for ax, (title, half) in zip(axes[:, 0], halves.items(), strict=True):
        widths = (half.sentences, half.trainings, half.both)
        ax.barh(range(3), widths, color=(AMBER, AMBER, BLUE), height=0.62, zorder=2)
        for row, width in enumerate(widths):
            ax.annotate(
                f"{width:.2f}", (width, row), (4, 0), textcoords="offset points", va="center", fontsize=9, zorder=4
            )
        ax.axvline(abs(difference[title]), color=LINE, linestyle="--", linewidth=1.4, zorder=3)
        ax.set_yticks(range(3), ["sentences", "trainings", "both"])
        ax.set_ylim(2.6, -0.6)
        ax.set_title(f"{title}: the difference is {difference[title]:.2f}", loc="left")
        ax.grid(False, axis="y")
        ax.margins(x=0.1)
    axes[-1, 0].set_xlabel("half the width of the interval, in BLEU")
    return list(axes[:, 0])


def plot_pairs(
    pairs: Mapping[str, Sequence[float]], halves: Mapping[str, float], xlabel: str, ax: Axes | None = None
) -> Axes:
    """Draw the difference of each pair of trainings as a dot, a row per training, and intervals around their mean.

    Args:
        pairs: ``{name of a training: its differences to the other model's trainings}``, from top to bottom.
        halves: ``{name of an interval: half its width}``, drawn below the dots.
        xlabel: what is drawn, with its unit.

    Raises:
        ValueError: if there is no pair or no interval.
    """
    if not pairs or not all(pairs.values()) or not halves:
        raise ValueError(f"pairs and halves need an entry each, got {dict(pairs)} and {dict(halves)}")
    names, middle = [*pairs, *halves], mean(value for of in pairs.values() for value in of)
    ax = new_axes(ax, (6.5, 1.0 + 0.5 * len(names)))
    ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
    ax.axvline(middle, color=BLUE, linewidth=1.2, zorder=1)
    for row, of in enumerate(pairs.values()):
        for number, value in enumerate(of):  # one above another, so that equal ones are seen
            ax.plot([value], [row + 0.2 * (number - (len(of) - 1) / 2)], zorder=3, **_BLEU)
    for row, half in enumerate(halves.values(), start=len(pairs)):
        line(ax, (middle - half, middle + half), (row, row), AMBER, width=9, zorder=2)
        ends = with_minus(f"{middle - half:.1f} to {middle + half:.1f}")
        look: Look = {"textcoords": "offset points", "va": "top", "fontsize": 10}
        ax.annotate(ends, (middle, row), (6, -7), zorder=4, **look)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel=xlabel, ylim=(len(names) - 0.3, -0.6))
    ax.grid(False, axis="y")
    return ax


def plot_precision_and_brevity(
    parts: Mapping[str, Mapping[str, Mapping[int, float]]], sentences: Mapping[int, int]
) -> list[Axes]:
    """Draw the factors of BLEU by the number of words of the source: a panel per factor, a curve per model.

    Args:
        parts: ``{title of the factor: {model: {words: its value}}}``, the same models in each.
        sentences: ``{words: how many sentences}``, the same numbers of words.

    Raises:
        ValueError: if there is none, the models differ, or a curve has other numbers of words than ``sentences``.
    """
    models = [list(curves) for curves in parts.values()]
    fit = all(list(points) == list(sentences) for curves in parts.values() for points in curves.values())
    if not models or not models[0] or any(of != models[0] for of in models) or not fit:
        raise ValueError(f"parts need the same models, at least one, with a value for each of {list(sentences)} words")
    looks = styles_for([*MODELS, *models[0]])
    figure, axes = plt.subplots(1, len(parts), figsize=(7.5, 3.7), layout="constrained", squeeze=False)
    for ax, (title, curves) in zip(axes[0], parts.items(), strict=True):
        for name, points in curves.items():
            ax.plot(list(points), list(points.values()), **_of(name, looks))
        ax.set_title(title, loc="left")
        ax.set_xticks(list(sentences), [f"{words}\n({number})" for words, number in sentences.items()])
        ax.set_xlabel("words of the source (captions)")
    handles = [Line2D([], [], **_of(name, looks)) for name in models[0]]
    figure.legend(handles, models[0], loc="outside upper center", ncols=len(models[0]), frameon=False)
    return list(axes[0])


def _of(name: str, looks: Mapping) -> Look:
    return {"color": looks[name].colour, "marker": looks[name].marker, "linestyle": looks[name].line, "markersize": 6}


class Lead(NamedTuple):
    """How far one model is ahead of another in a group of sentences.

    Fields:
        bleu, precision: (difference, half the width of its interval), with and without the brevity penalty.
    """

    bleu: tuple[float, float]
    precision: tuple[float, float]


def plot_leads(tests: Mapping[str, Mapping[str, Lead]], ylabel: str) -> list[Axes]:
    """Draw a lead with and without the brevity penalty, side by side with intervals: a panel per test.

    Args:
        tests: ``{title: {group of sentences: Lead}}``, the same groups in each.
        ylabel: what is drawn, with its unit.

    Raises:
        ValueError: if there is no group, or the tests differ in their groups.
    """
    names = [list(of) for of in tests.values()]
    if not names or not names[0] or any(of != names[0] for of in names):
        raise ValueError(f"tests need the same groups, at least one; got {names}")
    figure, axes = plt.subplots(
        1, len(tests), figsize=(7.5, 3.8), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for ax, (title, leads) in zip(axes[0], tests.items(), strict=True):
        ax.axhline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
        for at, lead in enumerate(leads.values()):
            _draw_lead(ax, at - 0.13, lead.bleu, _BLEU)
            _draw_lead(ax, at + 0.13, lead.precision, _PRECISION)
        ax.set_title(title, loc="left")
        ax.set_xticks(range(len(leads)), list(leads))
        ax.set(xlabel="tokens of the reference", xlim=(-0.5, len(leads) - 0.5))
        ax.grid(False, axis="x")
    axes[0, 0].set_ylabel(ylabel)
    handles: Sequence[Line2D] = [Line2D([], [], **look) for look in (_BLEU, _PRECISION)]
    figure.legend(handles, ["BLEU", "its precision alone"], loc="outside upper right", ncols=2, frameon=False)
    return list(axes[0])


def _draw_lead(ax: Axes, x: float, lead: tuple[float, float], look: Look) -> None:
    value, half = lead
    line(ax, (x, x), (value - half, value + half), DARK_GREY, width=1.6, zorder=2)
    ax.plot([x], [value], zorder=3, **look)
