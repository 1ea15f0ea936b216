"""Figures of chapter 15: episodes, attention as a learner, online recall, what dilated convolutions reach, errors."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.heat import plot_heat
from attnpages.figures.palette import BLUE, FAINT, INK, PALE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, TRUTH_COLOUR, Look, legend_above, new_axes


def plot_episodes(images: Tensor, labels: Tensor) -> list[Axes]:
    """Draw episodes of few-shot classification, one per row: the labelled examples and, last, the question.

    Args:
        images: ``(E, T, 1, side, side)``, 0 = paper, 1 = ink. labels: ``(E, T)``; the last of a row is not shown.

    Raises:
        ValueError: if the shapes do not fit together, or a row has less than two pictures.
    """
    if images.dim() != 5 or labels.shape != images.shape[:2] or images.shape[1] < 2:
        shapes = f"{tuple(images.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"images and labels must be (E, T, 1, side, side) and (E, T) with T at least 2, got {shapes}")
    rows, columns = labels.shape
    size = (6.5, 1.45 * rows * 6 / columns)
    _, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for row in range(rows):
        for column, ax in enumerate(grid[row]):
            ax.imshow(as_array(images[row, column, 0]), cmap="Greys", vmin=0, vmax=1)
            asked = column == columns - 1
            ax.set_title("?" if asked else str(labels[row, column].item()), fontsize=13)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(visible=True, color=TRUTH_COLOUR if asked else FAINT, linewidth=2.5 if asked else 1)
    return list(grid.flat)


def draw_recall(keys: Sequence[str], values: Sequence[int]) -> Axes:
    """Draw a sequence of online recall, and how the last step finds its value: the same key, and one step later.

    Args:
        keys, values: of each step, the last key one that stood earlier, before the last step but one.

    Raises:
        ValueError: if the numbers of keys and values differ, or the last key cannot be found.
    """
    found = [step for step, key in enumerate(keys[:-2]) if key == keys[-1]]
    if len(keys) != len(values) or not found:
        raise ValueError(f"keys and values must be equally many and the last key stand earlier, got {keys}, {values}")
    step, last = found[-1], len(keys) - 1
    ax = canvas(None, (6.5, 3.0), (-2.3, last + 0.6), (-1.9, 3.3))
    rows = {2.0: ("key", list(keys)), 1.0: ("value of the\nstep before", ["–", *map(str, values[:-1])])}
    say(ax, -0.75, 2.9, "step", ha="right")
    for position in range(len(keys)):
        say(ax, position, 2.9, str(position), colour=FAINT)
    for y, (name, entries) in rows.items():
        say(ax, -0.75, y, name, ha="right")
        for position, entry in enumerate(entries):
            marked = (y == 2.0 and position in (step, last)) or (y == 1.0 and position == step + 1)
            look: Look = {"fill": READS if marked else PAPER, "edge": TRUTH_COLOUR if marked else FAINT}
            box_around(ax, (position, y), 0.8, 0.75, entry, size=12, **look)
    arrow(ax, (last - 0.1, 2.4), (step + 0.1, 2.4), TRUTH_COLOUR, 1.8, bend=0.1)
    arrow(ax, (step + 0.1, 1.6), (step + 0.75, 1.4), INK, 1.8)
    arrow(ax, (step + 1, 0.6), (last - 0.45, -0.75), INK, 1.8, bend=0.1)
    box_around(ax, (last, -0.8), 0.8, 0.75, str(values[-1]), size=12, fill=WRITES, edge=INK)
    say(ax, last - 0.6, -1.55, "the answer at the last step", ha="right")
    return ax


def draw_reach(stacks: Mapping[str, Sequence[int]], length: int) -> list[Axes]:
    """Draw which inputs the last position can see through stacks of causal convolutions with two taps each.

    Args:
        stacks: ``{title: dilations from the input upwards}``. length: of the sequence.

    Raises:
        ValueError: if there is no stack, one is empty, or ``length`` is not positive.
    """
    if not stacks or not all(stacks.values()) or length < 1:
        raise ValueError(f"stacks and length must be at least one layer and one position, got {stacks} and {length}")
    size = (6.5, sum(1.0 + 0.5 * len(dilations) for dilations in stacks.values()))
    heights = [1.0 + 0.5 * len(dilations) for dilations in stacks.values()]
    _, grid = plt.subplots(
        len(stacks), 1, figsize=size, layout="constrained", squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    axes = list(grid[:, 0])
    for ax, (title, dilations) in zip(axes, stacks.items(), strict=True):
        _draw_stack(canvas(ax, size, (-3.4, length - 0.5), (-1.15, len(dilations) + 0.4)), dilations, length)
        ax.set_title(title, loc="left", fontsize=12)
    axes[-1].text(length / 2 - 0.5, -1.05, "position of the input", ha="center", fontsize=11)
    return axes


def _draw_stack(ax: Axes, dilations: Sequence[int], length: int) -> None:
    """Circles for all positions of all layers, lines from the last one down to all inputs that it sees."""
    seen = {length - 1}
    for level in range(len(dilations), -1, -1):
        say(ax, -0.8, level, f"dilation {dilations[level - 1]}" if level else "input", ha="right", size=10.5)
        for position in range(length):
            look: Look = {"marker": "o", "markersize": 9 if position in seen else 6, "zorder": 3}
            ax.plot(position, level, color=BLUE if position in seen else PALE, linestyle="", **look)
            if level == 0:
                say(ax, position, -0.42, str(position), size=9.5)
        if level:
            below = {(top, top - back) for top in seen for back in (0, dilations[level - 1]) if top >= back}
            for top, bottom in below:
                line(ax, (top, bottom), (level, level - 1), BLUE, 1.4)
            seen = {bottom for _, bottom in below}


def plot_learner(points: Sequence[tuple[float, float]], query: float, betas: Sequence[float]) -> Axes:
    """Draw labelled points, what attention by distance predicts everywhere for each β, and the line of least squares.

    Args:
        points: ``(x, y)``. query: where the weights of the first β are drawn as lines to the points.

    Raises:
        ValueError: if there are less than two points, no β, or all points have one x.
    """
    if len(points) < 2 or not betas or len({x for x, _ in points}) < 2:
        raise ValueError(f"points must have two different x and betas at least one, got {points} and {betas}")
    xs, ys = np.array(points).T
    axis = np.linspace(xs.min() - 1, xs.max() + 1, 201)
    ax = new_axes(None, (6.5, 3.6))
    for beta, style in zip(betas, STYLES[1:], strict=False):
        curve = _by_distance(axis, xs, beta) @ ys
        ax.plot(axis, curve, color=style.colour, linestyle=style.line, marker="", label=f"attention, β = {beta:g}")
    slope, height = np.polyfit(xs, ys, 1)
    ax.plot(axis, slope * axis + height, color=INK, linestyle="-", marker="", linewidth=0.8, label="least squares")
    weights = _by_distance(np.array([query]), xs, betas[0])[0]
    answer = weights @ ys
    for x, y, weight in zip(xs, ys, weights, strict=True):
        ax.plot(
            [query, x], [answer, y], color=TRUTH_COLOUR, linestyle="-", marker="", linewidth=0.5 + 5 * weight, alpha=0.5
        )
    ax.plot(xs, ys, marker="o", markersize=10, color=INK, linestyle="", label="examples")
    ax.plot(
        query, answer, marker="s", markersize=10, color=TRUTH_COLOUR, linestyle="", label=f"answer at x = {query:g}"
    )
    ax.set(xlabel="x (key, query)", ylabel="y (value)")
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def _by_distance(queries: np.ndarray, keys: np.ndarray, beta: float) -> np.ndarray:
    """Softmax of −β/2 · squared distance: ``(Q, K)``."""
    scores = -beta / 2 * (queries[:, None] - keys[None]) ** 2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def plot_found(panels: Mapping[str, tuple[Tensor, Tensor]], xlabel: str, ylabel: str) -> list[Axes]:
    """Draw weights of several heads side by side, with a circle around each cell that a head should find.

    Args:
        panels: ``{title: (weights, wanted)}``, ``(rows, columns)`` each, the second bool.

    Raises:
        ValueError: if there is no panel, or the two of one have other shapes.
    """
    if not panels or any(weights.shape != wanted.shape for weights, wanted in panels.values()):
        raise ValueError("panels must have at least one, each with weights and wanted of one shape")
    _, grid = plt.subplots(1, len(panels), figsize=(6.5, 6.5 / len(panels) + 0.9), layout="constrained", squeeze=False)
    for ax, (title, (weights, wanted)) in zip(grid[0], panels.items(), strict=True):
        plot_heat(
            weights, xlabel, ylabel if ax is grid[0, 0] else "", annotate=False, limits=(0, 1), ax=ax, title=title
        )
        rows, columns = np.nonzero(as_array(wanted))
        size = 60 / len(weights)
        look: Look = {"marker": "o", "markerfacecolor": "none", "linestyle": "", "markersize": size}
        ax.plot(columns, rows, color=TRUTH_COLOUR, **look)
    return list(grid[0])


def plot_errors(curves: Mapping[str, Sequence[Sequence[float]]], ticks: Sequence[int] = (0, 4, 8, 12, 15)) -> Axes:
    """Draw errors by the number of examples, in a logarithmic scale: means over the seeds, with their ranges.

    Args:
        curves: ``{name: [errors of a seed, by the number of examples]}``. ticks: numbers of examples that are named.

    Raises:
        ValueError: if there is no curve, or more than there are styles.
    """
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(f"curves must be 1 to {len(STYLES)}, got {len(curves)}")
    ax = new_axes(None, (6.5, 4.2))
    for (name, seeds), style in zip(curves.items(), STYLES, strict=False):
        errors = np.array(seeds)  # (seeds, T)
        ks = np.arange(errors.shape[1])
        look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker, "markersize": 4}
        ax.plot(ks, errors.mean(axis=0), label=name, **look)
        ax.fill_between(ks, errors.min(axis=0), errors.max(axis=0), color=style.colour, alpha=0.2, linewidth=0)
    ax.set(yscale="log", xlabel="examples read before", ylabel="mean squared error (log)", xticks=ticks)
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax
