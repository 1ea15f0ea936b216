"""A figure of chapter 10: where top-k and a nucleus cut the next tokens of several beginnings."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.palette import LINE
from attnpages.figures.style import STYLES, CurveStyle, Look, legend_above, new_axes

Point = tuple[float, float]


def plot_cuts(
    distributions: Mapping[str, Sequence[float]],
    top_k: int,
    top_p: float,
    ax: Axes | None = None,
    between: Mapping[str, str] | None = None,
) -> Axes:
    """Draw the added-up probability of the next tokens of several beginnings by their rank, and where two rules cut.

    A nucleus cuts where a curve reaches the horizontal line, top-k where it crosses the vertical one. At each of these
    points stands what the other axis can only be read from roughly: how many tokens, or how much probability.

    Args:
        distributions: ``{beginning: probabilities of all next tokens, largest first}``.
        top_k: how many tokens top-k keeps. top_p: what a nucleus reaches together.
        between: ``{beginning: words}``, written below the curve, between its two cuts.

    Raises:
        ValueError: if there is nothing to draw, or probabilities do not fall.
    """
    if not distributions:
        raise ValueError("distributions is empty; give at least one beginning")
    ax = new_axes(ax, (6.5, 4.2))
    ax.axhline(top_p, color=LINE, linestyle="--", linewidth=1.4)
    ax.axvline(top_k, color=LINE, linestyle=":", linewidth=1.8)
    for (beginning, falling), style in zip(distributions.items(), STYLES, strict=False):
        p = np.asarray(falling, dtype=float)
        if (np.diff(p) > 0).any():
            raise ValueError(f"the probabilities after {beginning!r} must fall; sort them, largest first")
        total = p.cumsum()
        look: Look = {"color": style.colour, "linestyle": style.line, "marker": ""}
        ax.plot(1 + np.arange(len(p)), total, label=f"“{beginning} …”", **look)
        kept = int((total - p < top_p).sum())  # as many as are needed to reach top_p
        _cut(ax, (kept, total[kept - 1]), f"{kept:,} token{'s' * (kept != 1)}", style)
        reached = total[min(top_k, len(p)) - 1]
        _cut(ax, (top_k, reached), f"{reached:.0%}", style)
        _words(ax, total, (kept, top_k), (between or {}).get(beginning, ""), style)
    said = {"color": LINE, "size": 10, "ha": "right"}
    ax.text(0.99, top_p - 0.02, f"nucleus of {top_p:g}", said, va="top", transform=ax.get_yaxis_transform())
    ax.text(top_k * 0.92, 0.03, f"top-k {top_k}", said)
    ax.set(xscale="log", ylim=(0, 1.04), xlabel="rank of the next token", ylabel="probability, added up")
    ax.set_xlim(left=1)
    ax.xaxis.set_major_formatter(lambda rank, _: f"{rank:,.0f}")
    legend_above(ax, *ax.get_legend_handles_labels())
    return ax


def _cut(ax: Axes, at: Point, text: str, style: CurveStyle) -> None:
    """A point of a curve where a rule cuts, and what it keeps there."""
    ax.plot(*at, color=style.colour, marker=style.marker, markersize=8, clip_on=False)
    ax.annotate(text, at, (8, -8), textcoords="offset points", va="top", color=style.colour, size=11, weight="bold")


def _words(ax: Axes, total: np.ndarray, cuts: tuple[int, int], words: str, style: CurveStyle) -> None:
    """Words that only one of two rules keeps: below the curve, in the middle between its two cuts."""
    low, high = sorted(min(len(total), cut) for cut in cuts)
    at = (float(np.sqrt(low * high)), float(total[low - 1]) - 0.11)  # below what is written at the lower cut
    ax.text(*at, words, color=style.colour, size=10, style="italic", ha="center", va="top")
