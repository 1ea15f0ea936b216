"""Figures of chapter 18: n-grams, scores with seeds, BLEU by length, losses, alignments, beams."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnpages.figures.boxes import box, canvas, line, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import BLACK, BLUE, FAINT, PALE, PALE_GREY, READS
from attnpages.figures.style import CurveStyle, Look, legend_above, new_axes, readable, styles_for

MODELS = ("plain", "Bahdanau", "Luong", "GNMT", "Transformer")  # each has one look in all figures of the chapter
_PUBLISHED: Look = {"marker": "D", "color": "black", "linestyle": "", "markersize": 8, "markerfacecolor": "white"}


def _looks(names: Iterable[str]) -> dict[str, CurveStyle]:
    return styles_for([*MODELS, *names])


class Score(NamedTuple):
    """What is drawn of one model on one test, in BLEU.

    Fields:
        seeds: the score of each seed. intervals: (low, high) of each seed's resampled test.
        lower: of each seed, in lower case. published: scores of others, which were computed in another way.
    """

    seeds: Sequence[float]
    intervals: Sequence[tuple[float, float]]
    lower: Sequence[float] = ()
    published: Sequence[float] = ()


def plot_scores(scores: Mapping[str, Score], ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a line per seed over its interval, its score as a dot, and beside it what the same model gets otherwise.

    Args:
        scores: one row per model, from top to bottom.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if there is no model, or a model has no seed or not one interval per seed.
    """
    wrong = [name for name, score in scores.items() if not score.seeds or len(score.seeds) != len(score.intervals)]
    if wrong or not scores:
        raise ValueError(f"scores needs one interval per seed, at least one, for each model; not so for {wrong}")
    ax = new_axes(ax, (6.5, 1.6 + 0.62 * len(scores)))
    looks = _looks(scores)
    for row, (name, score) in enumerate(scores.items()):
        _score_row(ax, row, score, looks[name].colour)
    ax.set_yticks(range(len(scores)), list(scores))
    ax.set(xlabel="BLEU (0 to 100)", ylim=(len(scores) - 0.4, -0.6))
    ax.grid(False, axis="y")
    handles = [
        Line2D([], [], marker="o", color="black", linestyle="-", linewidth=2),
        Line2D([], [], marker="|", color="black", linestyle="", markersize=11, markeredgewidth=2),
        Line2D([], [], **_PUBLISHED),
    ]
    names = ["as written, a seed and its interval", "in lower case, greedy", "published, computed differently"]
    there = [True, any(score.lower for score in scores.values()), any(score.published for score in scores.values())]
    kept = [number for number, is_there in enumerate(there) if is_there]
    if len(kept) == 1:
        names[0] = "a training (seed) and its interval"
    legend_above(ax, [handles[number] for number in kept], [names[number] for number in kept], title)
    return ax


def _score_row(ax: Axes, row: int, score: Score, colour: str) -> None:
    for number, (value, (low, high)) in enumerate(zip(score.seeds, score.intervals, strict=True)):
        y = row + 0.2 * (number - (len(score.seeds) - 1) / 2)
        line(ax, (low, high), (y, y), colour, width=2)
        ax.plot([value], [y], marker="o", color=colour, markersize=6, linestyle="", zorder=3)
    for number, value in enumerate(score.lower):
        y = row + 0.2 * (number - (len(score.lower) - 1) / 2)
        ax.plot([value], [y], marker="|", color="black", markersize=9, markeredgewidth=2, linestyle="", zorder=4)
    for value in score.published:
        ax.plot([value], [row], markeredgewidth=1.8, zorder=2, **_PUBLISHED)


def plot_trainings(scores: Mapping[str, Sequence[float]], xlabel: str, ax: Axes | None = None) -> Axes:
    """Draw the score of each training as a dot, a row per model, and write their mean over a bar.

    Args:
        scores: ``{model: the score of each training}``, from top to bottom.
        xlabel: which score.

    Raises:
        ValueError: if there is no model, or a model has no training.
    """
    if not scores or not all(scores.values()):
        raise ValueError(f"scores needs at least one training for each model, got {dict(scores)}")
    ax = new_axes(ax, (6.5, 1.0 + 0.62 * len(scores)))
    looks = _looks(scores)
    for row, (name, values) in enumerate(scores.items()):
        middle = mean(values)
        line(ax, (middle, middle), (row - 0.22, row + 0.22), "black", width=2, zorder=2)
        look: Look = {"marker": "o", "markersize": 7, "color": looks[name].colour, "alpha": 0.75, "linestyle": ""}
        ax.plot(values, [row] * len(values), zorder=3, **look)
        above: Look = {"textcoords": "offset points", "ha": "center", "weight": "bold", "fontsize": 10}
        ax.annotate(f"{middle:.1f}", (middle, row - 0.22), (0, 2), **above)
    labels = [f"{name} ({len(values)})" for name, values in scores.items()]
    ax.set_yticks(range(len(scores)), labels)
    ax.set(xlabel=xlabel, ylim=(len(scores) - 0.5, -0.65))
    ax.grid(False, axis="y")
    return ax


_ORDERS = (1, 2, 3, 4)  # BLEU counts n-grams of these lengths
_ROW, _BETWEEN, _TOKENS = 0.42, 0.4, 1.0  # heights of a bar's row, of the space between two lengths, of the words


def draw_ngrams(translation: Sequence[str], reference: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw every n-gram of a translation as a bar under its words: filled if it counts as right, else a dashed frame.

    An n-gram counts at most as often as the reference has it; of equal ones the first count.

    Args:
        translation, reference: tokens.

    Raises:
        ValueError: if the translation has fewer than four tokens.
    """
    if len(translation) < max(_ORDERS):
        raise ValueError(f"translation needs at least {max(_ORDERS)} tokens, got {len(translation)}")
    height = _TOKENS + sum(_ORDERS) * _ROW + len(_ORDERS) * _BETWEEN
    ax = canvas(ax, (6.5, 0.62 * height), (-1.6, len(translation) + 1.5), (-height + _TOKENS, 1.5))
    say(ax, -1.5, 1.2, "reference: " + " ".join(reference), ha="left")
    for at, token in enumerate(translation):
        say(ax, at + 0.5, 0.45, token, size=11 if len(translation) < 9 else 9, weight="bold")  # so that none touch
    top = 0.0
    for order in _ORDERS:
        right = _counted(translation, reference, order)
        for at, counts in enumerate(right):
            y = top - (at % order + 1) * _ROW
            look: Look = {"fill": READS, "edge": BLUE, "line": 1.6} if counts else {"fill": "white", "dashed": True}
            box(ax, at + 0.06, y + 0.06, order - 0.12, _ROW - 0.12, **look)
        middle = top - order * _ROW / 2
        say(ax, -1.5, middle, f"{order}-grams", ha="left")
        say(ax, len(translation) + 1.45, middle, f"{sum(right)} of {len(right)}", ha="right", weight="bold")
        top -= order * _ROW + _BETWEEN
        line(ax, (-1.5, len(translation) + 1.45), (top + _BETWEEN / 2,) * 2, PALE_GREY, width=0.8)
    return ax


def _counted(translation: Sequence[str], reference: Sequence[str], order: int) -> list[bool]:
    """Of each n-gram, whether it counts as right."""
    ours, theirs = ([tuple(t[i : i + order]) for i in range(len(t) - order + 1)] for t in (translation, reference))
    left, right = Counter(theirs), []
    for gram in ours:
        right.append(left[gram] > 0)
        left[gram] -= 1
    return right


def plot_score_by_words(
    curves: Curves,
    sentences: Mapping[int, int],
    ax: Axes | None = None,
    lowest: float = 0,
    pale: Collection[str] = (),
    black: Collection[str] = (),
) -> Axes:
    """Draw BLEU by the number of words of the source; under each number stands how many sentences there are.

    Args:
        curves: ``{model: {words: [one score per seed]}}``; ``words`` stands for the range that it is the middle of.
        sentences: ``{words: how many sentences}``, the same numbers of words.
        lowest: where the axis of BLEU begins.
        pale: models whose curves stand back, thin and pale. black: models whose curves are black.

    Raises:
        ValueError: if a curve has a number of words that ``sentences`` lacks; and as :func:`plot_by_length`.
    """
    lacking = {int(words) for points in curves.values() for words in points} - set(sentences)
    if lacking:
        raise ValueError(f"sentences lacks the numbers of words {sorted(lacking)}, for which a curve has a score")
    xlabel = "words of the source (in brackets: sentences)"
    colours = {**dict.fromkeys(pale, PALE), **dict.fromkeys(black, BLACK)}
    looks = {name: look._replace(colour=colours.get(name, look.colour)) for name, look in _looks(curves).items()}
    ax = plot_by_length(curves, xlabel, "BLEU", ax, trained=None, styles=looks)
    behind = [readable(name) for name in pale]
    for curve in (curve for curve in ax.lines if curve.get_label() in behind):
        curve.set(linewidth=1.2, markersize=4.5, zorder=1)
    legend_above(ax, *ax.get_legend_handles_labels())
    ax.autoscale(axis="y")
    ax.set_ylim(bottom=lowest)
    ticks = sorted(sentences)
    ax.set_xticks(ticks, [f"{words}\n({sentences[words]})" for words in ticks])
    return ax


def plot_losses_twice(
    losses: Mapping[str, Sequence[Sequence[tuple[int, float]]]],
    minutes: float,
    ylabel: str,
    highest: float | None = None,
) -> list[Axes]:
    """Draw the same losses over the minutes of the training (left) and over its steps (right), a line per seed.

    Args:
        losses: ``{model: [of each seed [(step, loss), …]]}``; the last step ends the training.
        minutes: planned for each training on an idle core; those of a point are computed from its step.
        ylabel: which loss, with its unit.
        highest: of the losses that are shown; ``None`` shows all.

    Raises:
        ValueError: if there is no model, or a seed has no points.
    """
    if not losses or any(not seed for seeds in losses.values() for seed in seeds):
        raise ValueError(f"losses needs at least one model, and points for each seed; got {list(losses)}")
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.8), sharey=True, layout="constrained")
    handles, looks = [], _looks(losses)
    for name, seeds in losses.items():
        look: Look = {"color": looks[name].colour, "linestyle": looks[name].line, "linewidth": 1.6, "marker": ""}
        for seed in seeds:
            steps, values = zip(*seed, strict=True)
            axes[0].plot([minutes * step / steps[-1] for step in steps], values, **look)
            axes[1].plot(steps, values, **look)
        handles.append(Line2D([], [], **look))
    axes[0].set(xlabel="minutes of an idle core", ylabel=ylabel)
    axes[0].set_ylim(top=highest)
    axes[1].set(xlabel="training steps")
    figure.legend(handles, list(losses), loc="outside upper center", ncols=len(losses), frameon=False)
    return list(axes)


def plot_alignment_errors(
    errors: Mapping[str, Sequence[Sequence[float]]], ax: Axes | None = None, diagonal: float | None = None
) -> Axes:
    """Draw the alignment error rate of each layer of cross-attention: a row per layer, a dot per seed.

    Args:
        errors: ``{model: [of each seed one rate per layer]}``; a model without attention is left out.
        diagonal: the rate of links that only follow the diagonal; a dashed line.

    Raises:
        ValueError: if there is no model, or the seeds of a model have different numbers of layers.
    """
    if not errors or any(len({len(seed) for seed in seeds}) != 1 for seeds in errors.values()):
        raise ValueError(f"errors needs a rate per layer, the same layers for each seed of a model; got {dict(errors)}")
    labels, rows = [], []
    for name, seeds in errors.items():
        layers = len(seeds[0])
        labels += [name if layers == 1 else f"{name}, layer {layer + 1}" for layer in range(layers)]
        rows += [(name, [seed[layer] for seed in seeds]) for layer in range(layers)]
    ax = new_axes(ax, (6.5, 1.2 + 0.42 * len(rows)))
    looks = _looks(errors)
    for row, (name, values) in enumerate(rows):
        line(ax, (0, 1), (row, row), FAINT, width=0.8)
        look: Look = {"color": looks[name].colour, "marker": looks[name].marker, "linestyle": ""}
        ax.plot(values, [row] * len(values), clip_on=False, zorder=3, **look)
    if diagonal is not None:
        ax.axvline(diagonal, color="black", linestyle="--", linewidth=1.2, zorder=1)
        ax.annotate("diagonal", (diagonal, -0.6), (4, -10), textcoords="offset points")
    ax.set_yticks(range(len(rows)), labels)
    ax.set(xlabel="alignment error rate on 20 sentences", xlim=(0, 1), ylim=(len(rows) - 0.4, -0.6))
    ax.grid(False, axis="y")
    return ax


def plot_beams(beams: Sequence[Mapping[str, float]]) -> list[Axes]:
    """Draw BLEU, and below it the length of the translations, for each width and length penalty of a beam.

    Args:
        beams: one mapping each with ``width``, ``alpha``, ``bleu`` and ``length_ratio``.

    Raises:
        ValueError: if there is none.
    """
    if not beams:
        raise ValueError("beams is empty; give at least one setting of the beam")
    _, axes = plt.subplots(2, 1, figsize=(6.5, 4.6), sharex=True, layout="constrained")
    labels = ["greedy" if one["width"] == 1 else f"{one['width']}\nα = {one['alpha']}" for one in beams]
    for ax, key, ylabel in zip(
        axes, ("bleu", "length_ratio"), ("BLEU", "words per word\nof the reference"), strict=True
    ):
        values = [one[key] for one in beams]
        ax.plot(range(len(beams)), values, "o", color="black", markersize=7)
        for x, value in enumerate(values):
            written = f"{value:.1f}" if key == "bleu" else f"{value:.2f}"
            ax.annotate(written, (x, value), (0, 7), textcoords="offset points", ha="center")
        ax.set_ylabel(ylabel)
        ax.margins(x=0.08, y=0.35)
        ax.grid(False, axis="x")
    axes[1].axhline(1.0, color=FAINT, linestyle="--", linewidth=1.2, zorder=0)
    axes[1].set_xticks(range(len(beams)), labels)
    axes[1].set_xlabel("width of the beam, and its length penalty")
    return list(axes)
