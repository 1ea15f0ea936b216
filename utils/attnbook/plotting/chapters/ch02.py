"""Figures of chapter 02: the decoder that looks back, a gradient's way, a soft choice, and two shares of each thing."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from torch import Tensor

from attnbook.plotting.boxes import BLUE, FAINT, INK, READS, WRITES, arrow, box_around, canvas, line
from attnbook.plotting.style import STYLES, TRUTH_COLOUR, Look, legend_above, readable

_STEP = 1.5  # from one annotation to the next
_SUM = 3.75  # height of the weighted sum


def draw_attention_decoder(
    words: Sequence[str], weights: Sequence[float], before: str, after: str, ax: Axes | None = None
) -> Axes:
    """Draw one step of a decoder with attention: annotations below, weights, their sum, two decoder states.

    Args:
        words: the source words. ``weights``: one weight a word; lines and bars follow them.
        before: the target word written before. ``after``: the one written now.

    Raises:
        ValueError: if there are not as many weights as words.
    """
    if len(words) != len(weights):
        raise ValueError(f"weights has {len(weights)} numbers but there are {len(words)} words; one a word")
    ax = canvas(ax, (6.5, 5.7), (-2.1, _STEP * len(words) - 0.1), (-0.7, 6.75))
    ax.set_aspect("equal")
    middle = _STEP * (len(words) - 1) / 2
    for place, (word, weight) in enumerate(zip(words, weights, strict=True), start=1):
        _annotation(ax, _STEP * (place - 1), place, word, weight, middle)
    for place in range(len(words) - 1):
        for height, ends in ((1.0, (0.42, 1.08)), (0.7, (1.08, 0.42))):
            arrow(ax, (_STEP * place + ends[0], height), (_STEP * place + ends[1], height))
    ax.add_patch(Circle((middle, _SUM), 0.34, facecolor="white", edgecolor=BLUE, linewidth=2, zorder=4))
    ax.text(middle, _SUM, "Σ", ha="center", va="center", fontsize=15, color=BLUE, zorder=5)
    ax.text(middle + 0.5, _SUM + 0.1, "context $c_t$", ha="left", va="bottom")
    _decoder(ax, middle, before, after)
    for height, text in ((2.2, "weights\n$\\alpha_{tj}$"), (0.85, "annota-\ntions $h_j$"), (-0.35, "source")):
        ax.text(-0.75, height, text, ha="right", va="center")
    return ax


def _annotation(ax: Axes, x: float, place: int, word: str, weight: float, middle: float) -> None:
    box_around(ax, (x, 0.85), 0.8, 0.66, f"$h_{place}$", size=12, fill=READS, edge=INK)
    ax.text(x, -0.35, word, ha="center", va="center", fontstyle="italic")
    arrow(ax, (x, -0.1), (x, 0.5))
    frame: Look = {"edgecolor": FAINT, "linewidth": 0.8, "zorder": 3}
    ax.add_patch(Rectangle((x - 0.3, 1.75), 0.6, 0.9, facecolor="white", **frame))
    ax.add_patch(Rectangle((x - 0.3, 1.75), 0.6, 0.9 * weight, facecolor=BLUE, linewidth=0, zorder=4))
    ax.text(x + 0.36, 2.45, f"{weight:.2f}", ha="left", va="center", fontsize=10)
    width = 0.8 + 6 * weight
    line(ax, (x, x), (1.2, 1.75), BLUE, width)
    line(ax, (x, middle), (2.65, _SUM), BLUE, width)


def _decoder(ax: Axes, middle: float, before: str, after: str) -> None:
    look: Look = {"size": 12, "fill": WRITES, "edge": INK}
    box_around(ax, (0.0, 5.2), 1.0, 0.75, "$s_{t-1}$", **look)
    box_around(ax, (middle, 5.2), 1.0, 0.75, "$s_t$", **look)
    arrow(ax, (0.52, 5.2), (middle - 0.52, 5.2))
    arrow(ax, (middle, _SUM + 0.36), (middle, 4.8))
    for x, word in ((0.0, before), (middle, after)):
        ax.text(x, 6.35, word, ha="center", va="center", fontstyle="italic")
        arrow(ax, (x, 5.6), (x, 6.1))
    arrow(ax, (0.25, 6.1), (middle - 0.52, 5.45), bend=0.12)  # the word just written is fed back
    arrow(ax, (-0.3, 4.8), (-0.42, 2.75), dashed=True, bend=0.25)
    for height, text in ((3.8, "query"), (5.2, "decoder"), (6.35, "target")):
        ax.text(-0.85, height, text, ha="right", va="center")


def draw_attention_backward(ax: Axes | None = None) -> Axes:
    """Draw the attention layer as two boxes, with the shapes that go forward and the gradients that return."""
    ax = canvas(ax, (6.5, 3.3), (-0.2, 10.2), (-0.1, 4.4))
    box_around(ax, (3.05, 3.0), 2.1, 0.95, "softmax", size=12, fill=READS, edge=INK)
    box_around(ax, (7.0, 3.0), 2.1, 0.95, "weight sum", size=12, fill=WRITES, edge=INK)
    stations = (("scores $e$", "g_e", (0.1, 1.95)), ("weights $α$", "g_α", (4.15, 5.9)),
                ("context $c$", "g_c", (8.1, 10.05)))  # fmt: skip
    for (name, gradient, (start, end)), shape in zip(stations, ("(Tq, Tk)", "(Tq, Tk)", "(Tq, Dv)"), strict=True):
        arrow(ax, (start, 3.2), (end, 3.2))
        _return(ax, (end, 2.8), (start, 2.8))
        middle = (start + end) / 2
        ax.text(middle, 3.55, f"{name}\n{shape}", ha="center", va="bottom", fontsize=11)
        ax.text(middle, 2.6, f"${gradient}$", ha="center", va="top", color=TRUTH_COLOUR, fontsize=13)
    arrow(ax, (6.8, 1.2), (6.8, 2.5))
    _return(ax, (7.2, 2.5), (7.2, 1.2))
    ax.text(6.65, 1.75, "values $V$\n(Tk, Dv)", ha="right", va="center", fontsize=11)
    ax.text(7.4, 1.75, "$g_V$", ha="left", va="center", color=TRUTH_COLOUR, fontsize=13)
    for height, colour, back, text in ((0.75, INK, False, "forward"), (0.15, TRUTH_COLOUR, True, "backward")):
        line(ax, (0.2, 0.9), (height, height), colour, 1.6, dashed=back)
        ax.text(1.05, height, text, va="center", color=colour)
    return ax


def _return(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """The way of a gradient."""
    arrow(ax, start, end, colour=TRUTH_COLOUR, width=1.6, dashed=True)


def plot_soft_choice(values: Sequence[float] = (0.0, 1.0, 0.0), width: float = 5.0) -> np.ndarray:
    """Draw what is read when the score of the second place rises past the others: by argmax and by softmax.

    Above stands what is read, below its slope, which is all that a gradient can tell.

    Args:
        values: what stands at the places; all scores but the second are 0.
        width: the second score goes from ``-width`` to ``width``.

    Returns:
        the two axes, above and below.

    Raises:
        ValueError: if there are fewer than two places.
    """
    if len(values) < 2:
        raise ValueError(f"values must hold at least 2 places, one of which moves; got {len(values)}")
    moving = torch.linspace(-width, width, 401, dtype=torch.float64, requires_grad=True)  # (N,)
    scores = torch.stack([moving if place == 1 else 0 * moving for place in range(len(values))], dim=-1)
    read = scores.softmax(dim=-1) @ torch.tensor(values, dtype=torch.float64)  # (N, places) -> (N,)
    (slope,) = torch.autograd.grad(read.sum(), moving)
    x = moving.detach()
    hard = torch.where(x > 0, values[1], values[0])
    _, axes = plt.subplots(2, 1, figsize=(6.5, 4.4), sharex=True, layout="constrained")
    _two_lines(axes[0], x, hard, read.detach(), "what is read")
    _two_lines(axes[1], x, torch.zeros_like(x), slope, "its slope")
    axes[1].set_xlabel("score of the second place (all others 0)")
    legend_above(axes[0], *axes[0].get_legend_handles_labels())
    return axes


def _two_lines(ax: Axes, x: Tensor, hard: Tensor, soft: Tensor, ylabel: str) -> None:
    for name, y, style in (("argmax: one place", hard, STYLES[1]), ("softmax: all, weighted", soft, STYLES[0])):
        ax.plot(x.numpy(), y.numpy(), color=style.colour, linestyle=style.line, marker="", label=name)
    ax.set_ylabel(ylabel)


def plot_two_shares(rows: Mapping[str, tuple[float, float]], left: str, right: str) -> np.ndarray:
    """Draw two shares of each thing as bars, back to back in two panels that name the things once.

    Args:
        rows: ``{name: (share on the left, share on the right)}``, from top to bottom, each 0 to 1.
        left, right: what the two shares are.

    Returns:
        the two axes.

    Raises:
        ValueError: if there is nothing to draw, or a share lies outside 0 to 1.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one name with its two shares")
    shares = np.array(list(rows.values()), dtype=float)  # (names, 2)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"shares must lie between 0 and 1, got {shares.min():g} to {shares.max():g}")
    _, axes = plt.subplots(1, 2, figsize=(6.5, 1.2 + 0.42 * len(rows)), sharey=True, layout="constrained")
    for ax, column, style, xlabel in zip(axes, shares.T, (STYLES[1], STYLES[0]), (left, right), strict=True):
        look = {"color": style.colour, "alpha": 0.45, "edgecolor": style.colour, "hatch": style.hatch}
        ax.barh(range(len(rows)), column, height=0.62, **look)
        for row, share in enumerate(column):
            ax.text(1.03, row, f"{share:.2f}", transform=ax.get_yaxis_transform(), va="center")
        ax.set(xlabel=xlabel, xlim=(0, 1), xticks=(0, 0.5, 1))
        ax.grid(False, axis="y")
    axes[0].set_yticks(range(len(rows)), [readable(name) for name in rows])
    axes[0].invert_yaxis()
    return axes
