"""Figures of chapter 18 that split a number: a difference by what is random, and BLEU into precision and brevity."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import line
from attnpages.figures.chapters.ch18 import MODELS
from attnpages.figures.palette import AMBER, BLUE, DARK_GREY, LINE, SAND, SKY
from attnpages.figures.style import Look, styles_for, with_minus

_FIRST: Look = {"marker": "s", "markersize": 5, "color": DARK_GREY, "markerfacecolor": "white", "linestyle": ""}
_SECOND: Look = {"marker": "o", "markersize": 6, "color": BLUE, "linestyle": ""}
_BLEU: Look = {"marker": "o", "markersize": 7, "color": BLUE, "linestyle": ""}
_PRECISION: Look = {"marker": "s", "markersize": 7, "color": BLUE, "markerfacecolor": "white", "linestyle": ""}


class Chances(NamedTuple):
    """What a difference between two models depends on.

    Fields:
        drawn: the difference on each resampled test. first, second: the score of each training of both models.
        half: half the width of the interval around the difference of both means.
    """

    drawn: object
    first: Sequence[float]
    second: Sequence[float]
    half: float


def plot_chances(panels: Mapping[str, Chances], xlabel: str) -> list[Axes]:
    """Draw under each other what other sentences change, what other trainings change, and the interval of both.

    The top row is a histogram of the resampled tests whose middle 95 % are shaded. Below are the trainings, less the
    mean of the first model, and the interval with its ends. All panels share one scale, on which a dashed line is 0.

    Args:
        panels: ``{title: Chances}``, from top to bottom.
        xlabel: what is drawn, with its unit.

    Raises:
        ValueError: if there is no panel, or a model has no training.
    """
    if not panels or any(not of.first or not of.second for of in panels.values()):
        raise ValueError(f"panels need at least one, with trainings of both models; got {list(panels)}")
    _, axes = plt.subplots(
        len(panels), 1, figsize=(6.5, 0.7 + 2.3 * len(panels)), sharex=True, layout="constrained", squeeze=False
    )
    for ax, (title, of) in zip(axes[:, 0], panels.items(), strict=True):
        ax.axvline(0, color=LINE, linestyle="--", linewidth=1.4, zorder=1)
        _draw_hill(ax, as_array(of.drawn).ravel())
        for number, (scores, look) in enumerate(((of.first, _FIRST), (of.second, _SECOND))):
            ax.plot([score - mean(of.first) for score in scores], [1.15 + 0.25 * number] * len(scores), **look)
        _draw_ends(ax, mean(of.second) - mean(of.first), of.half)
        ax.set_yticks([0.6, 1.28, 2.05], ["other captions", "trainings", "both"])
        ax.set_ylim(2.75, -0.1)
        ax.set_title(title, loc="left")
        ax.grid(False, axis="y")
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def _draw_hill(ax: Axes, drawn: np.ndarray) -> None:
    """How often which difference was drawn, 0.8 high at most, on a floor at 0.85 (the axis points downwards)."""
    often, edges = np.histogram(drawn, bins=np.linspace(drawn.min(), drawn.max(), 22))
    low, high = np.quantile(drawn, (0.025, 0.975))
    ax.fill_between((low, high), 0.02, 0.85, color=SAND, linewidth=0, zorder=0)
    look: Look = {"align": "edge", "color": SKY, "edgecolor": "white", "linewidth": 0.5, "zorder": 2}
    ax.bar(edges[:-1], -0.8 * often / often.max(), np.diff(edges), bottom=0.85, **look)


def _draw_ends(ax: Axes, middle: float, half: float) -> None:
    line(ax, (middle - half, middle + half), (2.05, 2.05), BLUE if abs(middle) > half else AMBER, width=8, zorder=2)
    ax.plot([middle], [2.05], "|", color="black", markersize=11, markeredgewidth=1.8, zorder=3)
    ends = with_minus(f"{middle - half:.1f} to {middle + half:.1f}")
    ax.annotate(ends, (middle, 2.05), (0, -8), textcoords="offset points", va="top", ha="center", fontsize=10)


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
