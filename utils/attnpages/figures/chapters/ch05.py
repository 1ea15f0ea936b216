"""Figures of chapter 05: what stacks with another start, other steps or another sum learn, the whole of GNMT, when each
layer can compute each word, and how much attention words get."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from attnpages.figures.boxes import Point, arrow, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, INK, LINE, PAPER, READS, WRITES
from attnpages.figures.style import STYLES, legend_above, new_axes

_WIDTH, _HEIGHT = 2.7, 0.62  # of a layer's box
_LAYERS = {1: 1.35, 2: 2.55, 3: 3.75, 4: 5.35, 8: 7.35}  # number of a layer: height of its middle
_ENCODER, _DECODER, _CONTEXT = 1.9, 8.3, 6.15  # x of the two stacks, and of the line that carries the context
_MOST_WORDS = 12  # in a schedule; with more, the numbers in it could not be read


def draw_gnmt(ax: Axes | None = None) -> Axes:
    """Draw encoder, attention and decoder with eight layers each, of which 5 to 7 are left out."""
    ax = canvas(ax, (6.5, 6.6), (0, 10.2), (-0.6, 9.9))
    _stack(ax, _ENCODER, READS, "1   LSTM → and ←")
    _stack(ax, _DECODER, WRITES, "1   LSTM →")
    say(ax, _ENCODER, 0.25, "source words")
    say(ax, _DECODER, 0.25, "previous target word")
    say(ax, _ENCODER, 9.6, "Encoder", weight="bold", size=12)
    say(ax, _DECODER, 9.6, "Decoder", weight="bold", size=12)
    _attention(ax)
    return ax


def _stack(ax: Axes, x: float, fill: str, lowest: str) -> None:
    """One box per layer, from bottom to top; from the third on with a residual connection."""
    half = _HEIGHT / 2
    arrow(ax, (x, 0.5), (x, _LAYERS[1] - half))
    below = _LAYERS[1] + half
    for number in (2, 3, 4):
        arrow(ax, (x, below), (x, _LAYERS[number] - half))
        below = _layer(ax, x, number, fill)
    say(ax, x, 6.35, "⋮", size=16)
    line(ax, (x, x), (below, 6.12))
    arrow(ax, (x, 6.6), (x, _LAYERS[8] - half))
    _layer(ax, x, 8, fill)
    box_around(ax, (x, _LAYERS[1]), _WIDTH, _HEIGHT, lowest, fill=fill)


def _layer(ax: Axes, x: float, number: int, fill: str) -> float:
    """The box of a layer; returns the height at which what leaves it ends."""
    y = _LAYERS[number]
    box_around(ax, (x, y), _WIDTH, _HEIGHT, f"{number}   LSTM →", fill=fill)
    if number < 3:
        return y + _HEIGHT / 2
    aside, low, high = x + _WIDTH / 2 + 0.22, y - _HEIGHT / 2 - 0.17, y + _HEIGHT / 2 + 0.28
    _around(ax, x, (aside, low, high), y + _HEIGHT / 2)
    return high + 0.16


def _around(ax: Axes, x: float, bounds: tuple[float, float, float], top: float) -> None:
    """The line of a residual connection around a box, and the plus sign above ``top``, the upper edge of the box."""
    aside, low, high = bounds
    line(ax, (x, aside, aside), (low, low, high), BLUE, width=2.0)
    arrow(ax, (aside, high), (x + 0.16, high), BLUE, width=2.0)
    line(ax, (x, x), (top, high - 0.16))
    ax.text(x, high, "+", ha="center", va="center", fontsize=11, zorder=4, bbox=_circle())


def _circle() -> dict:
    return {"boxstyle": "circle,pad=0.08", "facecolor": "white", "edgecolor": BLUE, "linewidth": 1.6}


def _attention(ax: Axes) -> None:
    """Annotations come down from the top of the encoder; the query is what leaves the lowest layer of the decoder."""
    top, bottom, middle = _LAYERS[8] + 0.75, _LAYERS[1], 4.65
    line(ax, (_ENCODER, _ENCODER, middle), (top, top + 0.22, top + 0.22))
    arrow(ax, (middle, top + 0.22), (middle, bottom + 0.42))
    say(ax, middle - 1.1, top + 0.5, "annotations: keys and values", size=10)
    box_around(ax, (middle, bottom), 1.75, 0.84, "attention", fill=PAPER, edge=INK)
    left = _DECODER - _WIDTH / 2
    output, aside, low = (_LAYERS[1] + _LAYERS[2]) / 2, _DECODER + _WIDTH / 2 + 0.22, -0.35  # output: of layer 1
    line(ax, (_DECODER, aside, aside, middle), (output, output, low, low), LINE, dashed=True)
    arrow(ax, (middle, low), (middle, bottom - 0.42), LINE, dashed=True)
    say(ax, middle + 0.2, -0.08, "query: previous word", ha="left", size=10)
    _context(ax, (middle + 0.88, bottom), left)


def _context(ax: Axes, start: Point, left: float) -> None:
    """The context goes from the attention to each layer of the decoder above the lowest, as in the paper's figure 1."""
    above = [y for number, y in _LAYERS.items() if number > 1]
    line(ax, (start[0], _CONTEXT, _CONTEXT), (start[1], start[1], above[-1]), width=2.0)
    for y in above:
        arrow(ax, (_CONTEXT, y), (left, y), width=2.0)
    say(ax, _CONTEXT - 0.15, 4.6, "context", ha="right", size=10)
    arrow(ax, (_DECODER, _LAYERS[8] + 0.75), (_DECODER, 8.85 - _HEIGHT / 2))
    box_around(ax, (_DECODER, 8.85), _WIDTH, _HEIGHT, "softmax: next word", fill=PAPER)


def plot_learned(
    groups: Mapping[str, Mapping[str, tuple[str, Sequence[float]]]], column: str, ax: Axes | None = None
) -> Axes:
    """Draw, in groups of rows, the share that each seed of a model gets right, and beside it what it begins with.

    Args:
        groups: ``{title: {row: (beginning, shares)}}``; the beginning is a short text for the column on the right, and
            the shares lie between 0 and 1, one per seed.
        column: the title of the column on the right.

    Raises:
        ValueError: if there is no group, or a row has no share, or one that lies outside of 0 to 1.
    """
    if not groups:
        raise ValueError("groups is empty; give at least one title with its rows")
    ax = new_axes(ax, (6.5, 1.2 + 0.46 * sum(1 + len(rows) for rows in groups.values())))
    y, ticks = 0.0, {}
    for (title, rows), style in zip(groups.items(), STYLES[1::-1] + STYLES[2:], strict=False):
        ax.text(0.0, y, title, weight="bold", va="center", fontsize=11)
        for row, (beginning, shares) in rows.items():
            if not shares or not all(0 <= share <= 1 for share in shares):
                raise ValueError(f"{row!r} must have shares from 0 to 1, got {list(shares)}")
            y += 1
            ticks[y] = row
            ax.plot([100 * share for share in shares], [y] * len(shares), style.marker, color=style.colour, alpha=0.75)
            ax.text(1.05, y, beginning, transform=ax.get_yaxis_transform(), va="center", fontsize=10.5)
        y += 1.2
    ax.text(1.05, 0.0, column, transform=ax.get_yaxis_transform(), va="center", fontsize=10.5)
    ax.set(xlabel="right numbers of 200 in the test (%)", xlim=(-3, 103), ylim=(y - 0.6, -0.6))
    ax.set_yticks(list(ticks), list(ticks.values()))
    return ax


def plot_schedules(
    schedules: Mapping[str, Tensor],
    both: Mapping[str, Collection[int]] = MappingProxyType({}),
    xlabel: str = "time (steps)",
) -> list[Axes]:
    """Draw, one panel below the other, at which step each layer computes each word.

    Args:
        schedules: ``{title: (L, T)}``, whole numbers from 1 on: the step for each layer, lowest first, and word.
        both: ``{title: numbers of layers}`` that read in both directions: under their words they have a second row, in
            which the words are read from the last to the first.

    Raises:
        ValueError: if there is no schedule, or one is not ``(L, T)`` with 1 to 12 words.
    """
    if not schedules:
        raise ValueError("schedules is empty; give at least one title with its steps")
    for title, steps in schedules.items():
        if steps.ndim != 2 or not 0 < steps.shape[1] <= _MOST_WORDS or not len(steps):
            raise ValueError(f"{title!r} must be (L, T) with T from 1 to {_MOST_WORDS}, got {tuple(steps.shape)}")
    size = (6.5, 0.8 + sum(0.75 + 0.34 * len(steps) for steps in schedules.values()))
    heights = [1 + len(steps) for steps in schedules.values()]
    _, axes = plt.subplots(
        len(schedules), 1, figsize=size, sharex=True, squeeze=False, height_ratios=heights, layout="constrained"
    )
    last = max(int(steps.max()) for steps in schedules.values())
    for ax, (title, steps) in zip(axes[:, 0], schedules.items(), strict=True):
        _schedule(ax, title, steps, last, both.get(title, ()))
    axes[-1, 0].set_xlabel(xlabel)
    return list(axes[:, 0])


def _schedule(ax: Axes, title: str, steps: Tensor, last: int, both: Collection[int]) -> None:
    for layer, row in enumerate(steps.tolist(), start=1):
        if layer in both:
            _words(ax, row, bottom=layer, height=0.5)
            _words(ax, row[::-1], bottom=layer - 0.5, height=0.5)
        else:
            _words(ax, row, bottom=layer - 0.5, height=1.0)
    ax.set(xlim=(0, last), ylim=(0.5, len(steps) + 0.5), ylabel="layer", yticks=range(1, len(steps) + 1))
    ax.set_title(title, fontsize=11, loc="left")
    ax.grid(False, axis="y")


def _words(ax: Axes, row: Sequence[int], bottom: float, height: float) -> None:
    """A box per word, at its step, with the word's number."""
    for word, step in enumerate(row, start=1):
        ax.add_patch(Rectangle((step - 1, bottom), 1, height, facecolor=READS, edgecolor=LINE))
        ax.text(
            step - 0.5,
            bottom + height / 2,
            str(word),
            ha="center",
            va="center",
            fontsize=8 if height < 1 else 9,
            color=INK,
        )


def plot_coverage(words: Sequence[str], coverage: Sequence[float], ax: Axes | None = None) -> Axes:
    """Draw one bar per source word: the attention it got, summed over the target words; 1 is what a penalty wants.

    Raises:
        ValueError: if there is no word, or not one number per word.
    """
    if not len(words) or len(words) != len(coverage):
        raise ValueError(f"coverage must have one number per word, got {len(coverage)} for {len(words)} words")
    ax = new_axes(ax, (6.5, 3.6))
    positions = range(len(words))
    ax.bar(positions, list(map(float, coverage)), color=STYLES[0].colour, width=0.7)
    wanted = ax.axhline(1.0, color=STYLES[1].colour, linestyle="--", linewidth=1.6)
    ax.set_xticks(positions, list(words), rotation=45, ha="right")
    ax.set(xlabel="source word", ylabel="attention received (sum of weights)")
    ax.grid(False, axis="x")
    legend_above(ax, [wanted], ["1: from here on the penalty is zero"])
    return ax
