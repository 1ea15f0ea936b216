"""A figure of chapter 10: one measure of the same texts' continuations by several writers."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from attnpages.figures.palette import FAINT, INK
from attnpages.figures.style import Look, new_axes, readable, styles_for

DOTS: Look = {"markersize": 5, "alpha": 0.6, "linestyle": "none", "clip_on": False}
GROUND: Look = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5}


def plot_continuations(shares: Mapping[str, Sequence[float]], ylabel: str, ax: Axes | None = None) -> Axes:
    """Draw a share of each text by several writers, a thin line for one text, and each writer's mean as a large mark.

    Args:
        shares: ``{writer: [share of each text]}``, for all writers the same texts in the same order.
        ylabel: what is measured.

    Raises:
        ValueError: if there is nothing to draw, the writers have different numbers of texts, or a number is no share.
    """
    counts = {len(of) for of in shares.values()}
    if len(counts) != 1 or 0 in counts or not all(0 <= share <= 1 for of in shares.values() for share in of):
        raise ValueError(f"shares must hold equally many numbers from 0 to 1 per writer, got {dict(shares)}")
    ax = new_axes(ax, (6.5, 3.6))
    for text in zip(*shares.values(), strict=True):
        ax.plot(range(len(text)), text, color=FAINT, linestyle="-", marker="", linewidth=0.9)
    for x, (name, style) in enumerate(styles_for(shares).items()):
        mean = sum(shares[name]) / len(shares[name])
        ax.plot([x] * len(shares[name]), shares[name], marker=style.marker, color=style.colour, **DOTS)
        ax.plot([x], [mean], marker=style.marker, color=style.colour, markeredgecolor=INK, markersize=13, zorder=4)
        ax.text(x + 0.12, mean, f"{100 * mean:.0f} %", color=INK, weight="bold", va="center", zorder=5, bbox=GROUND)
    ax.set_xticks(range(len(shares)), [readable(name) for name in shares])
    ax.set(ylabel=ylabel, xlim=(-0.4, len(shares) - 0.5), ylim=(0, 1))
    ax.grid(False, axis="x")
    return ax
