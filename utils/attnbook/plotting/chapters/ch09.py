"""Figures of chapter 09: the whole Transformer, learning rates by step, and the heads of one layer side by side."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnbook.plotting.alignments import plot_alignment
from attnbook.plotting.boxes import BLUE, FAINT, PAPER, READS, WRITES, arrow, box_around, canvas, line
from attnbook.plotting.style import STYLES, TRUTH_COLOUR, Look, legend_above, new_axes

_ROW = 1.75  # from one sublayer to the next
_FIRST = 3.1  # height of the lowest sublayer


def draw_transformer(source: str, written: str, next_words: str, layers: int = 2, ax: Axes | None = None) -> Axes:
    """Draw encoder and decoder as two streams; each sublayer reads from its stream and adds to it (pre-norm).

    Args:
        source: the source words. ``written``: what the decoder reads. ``next_words``: what it is to say at each place.
        layers: how often the framed part is stacked.
    """
    ax = canvas(ax, (6.5, 7.4), (-0.1, 10.1), (-0.15, 10.6))
    left, right = (
        ["self-attention\nmask: padding", "feed-forward"],
        ["self-attention\nmask: causal", "attention to the source\nmask: padding", "feed-forward"],
    )
    ends = _column(ax, 0.8, 1, left, READS, layers), _column(ax, 9.2, -1, right, WRITES, layers)
    for x, text in ((0.8, source), (9.2, written)):
        box_around(ax, (x + 0.7 if x < 5 else x - 0.7, 1.15), 2.4, 0.7, "word vectors · √D", fill="white")
        ax.text(x - 0.7 if x < 5 else x + 0.7, 0.15, text, ha="left" if x < 5 else "right", fontstyle="italic")
        arrow(ax, (x, 0.45), (x, 0.78))
    _memory(ax, ends[0], _FIRST + _ROW)
    box_around(ax, (8.05, ends[1] + 0.85), 3.3, 0.7, "word vectors, transposed", fill="white")
    arrow(ax, (9.2, ends[1]), (9.2, ends[1] + 0.48), BLUE, 2.6)
    arrow(ax, (9.2, ends[1] + 1.2), (9.2, ends[1] + 1.62))
    ax.text(9.9, ends[1] + 1.75, next_words, ha="right", fontstyle="italic")
    ax.text(0.1, ends[0] + 1.15, "encoder", fontweight="bold", va="bottom")
    ax.text(6.6, ends[1] + 1.75, "decoder", fontweight="bold", ha="right")
    return ax


def _column(ax: Axes, x: float, side: int, sublayers: Sequence[str], face: str, layers: int) -> float:
    """One stream with its sublayers; returns the height of its upper end."""
    top = _FIRST + _ROW * (len(sublayers) - 1) + 0.95
    corner = x - 0.5 if side > 0 else x - 3.85
    frame: Look = {"facecolor": "none", "edgecolor": FAINT, "linestyle": "--", "linewidth": 1.2}
    ax.add_patch(Rectangle((corner, _FIRST - 1.05), 4.35, top - _FIRST + 1.15, **frame))
    ax.text(x + 0.3 * side, top - 0.1, f"{layers} ×", ha="left" if side > 0 else "right", va="top")
    line(ax, (x, x), (1.5, top + 0.55), BLUE, 2.6)
    for row, name in enumerate(sublayers):
        _sublayer(ax, x, side, _FIRST + _ROW * row, name, face if "attention" in name else PAPER)
    box_around(ax, (x, top + 0.6), 0.9, 0.42, "norm", fill="white")
    return top + 0.82


def _sublayer(ax: Axes, x: float, side: int, y: float, name: str, face: str) -> None:
    """A box beside the stream, its norm below it, a plus where it comes back."""
    middle = x + 2.15 * side
    box_around(ax, (middle, y + 0.1), 3.1, 0.8, name, fill=face)
    box_around(ax, (middle, y - 0.65), 0.9, 0.34, "norm", fill="white")
    line(ax, (x, middle - 0.45 * side), (y - 0.65, y - 0.65))
    arrow(ax, (middle, y - 0.48), (middle, y - 0.3))
    arrow(ax, (middle - 1.55 * side, y + 0.1), (x + 0.17 * side, y + 0.1))
    plus = {"boxstyle": "circle,pad=0.08", "facecolor": "white", "edgecolor": BLUE}
    ax.text(x, y + 0.1, "+", ha="center", va="center", bbox=plus, zorder=3)


def _memory(ax: Axes, start: float, cross: float) -> None:
    """What the encoder made of the source, led to the decoder's second sublayer."""
    line(ax, (0.8, 0.8, 5.0, 5.0), (start, start + 0.6, start + 0.6, cross + 0.1), TRUTH_COLOUR, 2.0, zorder=2)
    arrow(ax, (4.98, cross + 0.1), (5.48, cross + 0.1), TRUTH_COLOUR, 2.0)
    ax.text(3.0, start + 0.7, "memory: keys, values", ha="center", va="bottom", color=TRUTH_COLOUR)


def plot_rates(schedules: Mapping[str, Callable[[int], float]], steps: int, ax: Axes | None = None) -> Axes:
    """Draw learning rates against the step.

    Args:
        schedules: ``{name: schedule(step) -> rate}``, steps counted from 0.
        steps: how many steps to draw.

    Raises:
        ValueError: if there is no schedule.
    """
    if not schedules:
        raise ValueError("schedules is empty; give at least one name with its function of the step")
    ax = new_axes(ax)
    for (name, schedule), style in zip(schedules.items(), STYLES, strict=False):
        rates = [schedule(step) for step in range(steps)]
        ax.plot(range(1, steps + 1), rates, color=style.colour, linestyle=style.line, marker="", label=name)
    ax.set(xlabel="training step", ylabel="learning rate", ylim=(0, None))
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def plot_heads(weights: Tensor, source: Sequence[str], target: Sequence[str], xlabel: str, ylabel: str) -> list[Axes]:
    """Draw the weights of all heads of one layer, two heads a row, one scale for all.

    Args:
        weights: ``(H, T, Tk)`` with an even H. ``source``: Tk words. ``target``: T words.

    Raises:
        ValueError: if ``weights`` hasn't three axes, or there is an odd number of heads.
    """
    if weights.ndim != 3 or len(weights) % 2:
        raise ValueError(f"weights must be (H, T, Tk) with an even number of heads, got {tuple(weights.shape)}")
    rows = len(weights) // 2
    _, axes = plt.subplots(rows, 2, figsize=(6.5, 0.6 + 3.3 * rows), layout="constrained")
    for head, ax in enumerate(axes.flat):
        look: Look = {"xlabel": xlabel if head < 2 else "", "ylabel": ylabel if head % 2 == 0 else ""}
        plot_alignment(weights[head], source, target, ax=ax, title=f"head {head + 1}", bar=False, **look)
    return list(axes.flat)
