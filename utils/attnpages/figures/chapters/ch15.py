"""Figures of chapter 15: attention as a learner, binding and finding, dilations, episodes, worlds."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import plot_by_length
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


def draw_circuit(tokens: Sequence[str], twin: Sequence[str] | None = None) -> Axes:
    """Draw how two layers of attention bind each token to the one before it, and find by the last token.

    Args:
        tokens: the last one, the question, stood before as well. twin: what layer 1 reads for the keys instead.

    Raises:
        ValueError: if the twin has another length, or the question stands nowhere among the tokens that are bound.
    """
    read, lift = (tokens, 0.0) if twin is None else (twin, 1.1)  # with a twin, its row stands above ours
    bound = [read[max(step - 1, 0)] for step in range(len(tokens))]  # step 0 can only attend to itself
    if len(read) != len(tokens) or tokens[-1] not in bound[1:]:
        raise ValueError(f"the last token must stand before the last, and a twin be as long, got {tokens} and {twin}")
    ax = canvas(None, (7.2, 5.0 + 0.65 * lift), (-1.75, len(tokens) - 0.5), (-1.6, 6.1 + lift))
    last, found = len(tokens) - 1, bound.index(tokens[-1], 1)
    labels = {0.4: "input" if twin is None else "our input", 2.64 + lift: "bound token", 3.9 + lift: "own token"}
    for y, label in (labels if twin is None else labels | {0.4 + lift: "the twin's\ninput"}).items():
        say(ax, -0.6, y, label, ha="right", size=10.5, colour=BLUE if label == "bound token" else INK)
    for step, token in enumerate(tokens):
        fill, before = READS if step == found else PAPER, max(step - 1, 0)
        say(ax, step, -0.15, f"step {step}", size=10)
        rows = [(0.4, token, PAPER, INK), (2.64 + lift, bound[step], fill, BLUE), (3.9 + lift, token, fill, INK)]
        if twin is not None:
            rows.append((0.4 + lift, read[step], PAPER if read[step] == token else WRITES, INK))
        for y, name, inside, colour in rows:
            box_around(ax, (step, y), 0.86, 0.56, "", fill=inside, edge=colour)
            say(ax, step, y, name, colour=colour)
        arrow(ax, (before + 0.1, 0.72 + lift), (step + (0.02 if step else 0.1), 2.33 + lift), BLUE, 2.0)
        # the residual connection, which passes behind the bound token, or beside the twin and the bound token
        if twin is None:
            line(ax, (step - 0.3, step - 0.3), (0.72, 2.33), FAINT, 1.2, dashed=True)
            arrow(ax, (step - 0.3, 2.95), (step - 0.3, 3.6), FAINT, 1.2, dashed=True)
        else:
            beside = (step - 0.3, step - 0.5, step - 0.5)
            line(ax, beside, (0.7, 0.95, 3.05 + lift), INK, 1.0, dashed=True, zorder=0.5)
            arrow(ax, (step - 0.5, 3.05 + lift), (step - 0.3, 3.6 + lift), INK, 1.0, dashed=True)
    arrow(ax, (last - 0.1, 3.6 + lift), (found + 0.2, 2.95 + lift), TRUTH_COLOUR, 2.0)
    arrow(ax, (found + 0.1, 4.2 + lift), (last - 0.46, 5.2 + lift), INK, 1.8)
    box_around(ax, (last, 5.3 + lift), 0.86, 0.56, tokens[found], fill=WRITES, edge=INK)
    say(ax, last, 5.85 + lift, "answer", size=10)
    say(ax, -1.7, -0.75, "1 bind: a head of layer 1 copies the token of the step before", ha="left", colour=BLUE)
    say(ax, -1.7, -1.3, "2 find: the query is the own token, the keys are the bound ones", ha="left",
        colour=TRUTH_COLOUR)  # fmt: skip
    return ax


def draw_pairs(words: Sequence[str], shown: Sequence[str]) -> Axes:
    """Draw how a reader of pairs binds each step to the word before, and finds by the last word. Step 0 binds nothing.

    Args:
        words: of the steps; the last one, the question, stood at an earlier step. shown: the colours beside them.

    Raises:
        ValueError: if the two have different lengths, or the question stands nowhere among the words that are bound.
    """
    if len(shown) != len(words) or words[-1] not in words[:-1]:
        raise ValueError(f"the last word must stand before, and each have a colour, got {words} and {shown}")
    ax = canvas(None, (6.5, 4.7), (-1.15, len(words) - 0.5), (-0.55, 5.85))
    last, found = len(words) - 1, words.index(words[-1]) + 1
    for y, label in {0.7: "input", 2.6: "bound word", 4.0: "own step"}.items():
        say(ax, -0.5, y, label, ha="right", size=11, colour=BLUE if label == "bound word" else INK)
    for step, (word, colour) in enumerate(zip(words, shown, strict=True)):
        fill = READS if step == found else PAPER
        say(ax, step, -0.3, f"step {step}", size=11)
        for y, name in ((0.4, word), (1.0, colour), (3.7, word), (4.3, colour)):
            box_around(ax, (step, y), 0.72, 0.56, name, fill=fill if y > 3 else PAPER, edge=INK)
        if step:
            box_around(ax, (step, 2.6), 0.72, 0.56, "", fill=fill, edge=BLUE)
            say(ax, step, 2.6, words[step - 1], colour=BLUE)
            arrow(ax, (step - 0.64, 0.5), (step - 0.2, 2.3), BLUE, 2.0)
    arrow(ax, (last - 0.1, 3.4), (found + 0.2, 2.9), TRUTH_COLOUR, 2.0)
    arrow(ax, (found + 0.1, 4.6), (last - 0.38, 5.2), INK, 1.8)
    box_around(ax, (last, 5.3), 0.72, 0.56, shown[found], fill=WRITES, edge=INK)
    say(ax, last - 0.45, 5.45, "answer", ha="right", size=11)
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
    """Draw labelled points, and what attention by distance predicts everywhere for each β.

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


def plot_followed(
    blocks: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float], str]]], colours: Sequence[str]
) -> list[Axes]:
    """Draw to which colours heads attend and which colours a model names, in percent: a row of two maps per block.

    Args:
        blocks: ``{title: {name of a row: (weight on each colour, probability of each colour, colour expected)}}``.
        colours: their names, from left to right. The expected one is framed.

    Raises:
        ValueError: if there is no row, or one has not one number per colour.
    """
    rows = [row for block in blocks.values() for row in block.values()]
    if not rows or not all(blocks.values()) or any(len(of) != len(colours) for row in rows for of in row[:2]):
        raise ValueError(f"blocks must hold rows, each with {len(colours)} numbers twice, got {blocks}")
    heights = [len(block) + 1 for block in blocks.values()]
    _, grid = plt.subplots(
        len(blocks), 2, figsize=(7.2, 0.46 * sum(heights) + 0.4), layout="constrained", squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for axes, (title, block) in zip(grid, blocks.items(), strict=True):
        for part, (ax, what) in enumerate(zip(axes, ("finding heads attend to", "next token"), strict=True)):
            percent = 100 * np.array([row[part] for row in block.values()])
            names = list(block) if part == 0 else len(block) * [""]
            plot_heat(percent, "", "", annotate=False, xticks=colours, yticks=names, limits=(0, 100), ax=ax,
                      title=f"{what},\n{title}")  # fmt: skip
            for (row, column), share in np.ndenumerate(percent):
                say(ax, column, row, f"{share:.0f}", size=11, colour=PAPER if share > 50 else INK)
            for number, (_, _, expected) in enumerate(block.values()):
                corner = (colours.index(expected) - 0.47, number - 0.45)
                ax.add_patch(Rectangle(corner, 0.94, 0.9, fill=False, color=TRUTH_COLOUR, linewidth=2.5))
    return list(grid.flat)


def plot_worlds(curves: Mapping[str, Mapping[int, Sequence[float]]]) -> Axes:
    """Draw what is right over the number of words in the world, on a logarithmic axis.

    Args:
        curves: ``{name: {number of words: [one value per seed]}}``.

    Raises:
        ValueError: if there is no curve, or a number of words is not positive.
    """
    if not curves or any(words < 1 for of in curves.values() for words in of):
        raise ValueError(f"curves must hold at least one, with positive numbers of words, got {curves}")
    ax = plot_by_length(curves, "words in the world of the training (log)", "right labels (share)", trained=None)
    numbers = sorted({words for of in curves.values() for words in of})
    ax.set_xscale("log")
    ax.set_xticks(numbers, [f"{words:,}" for words in numbers])
    ax.minorticks_off()
    return ax


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
