"""Figure of chapter 14 on search: how long the best trip still is, over the number of trips that were tried."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from attnpages.figures.palette import INK
from attnpages.figures.style import STYLES, Look, new_axes

_BESIDE: Look = {"textcoords": "offset points", "va": "center", "fontsize": 11}


def plot_gap_by_trips(
    drawn: Mapping[int, Sequence[float]],
    others: Mapping[str, tuple[int, float]],
    rules: Mapping[str, float],
    ax: Axes | None = None,
) -> Axes:
    """Draw the gap of the shortest of N drawn trips, with the range of the seeds, and other ways beside it.

    Args:
        drawn: by the number of trips, one mean gap per seed, in percent.
        others: by name, how many trips a way tries, and its mean gap in percent: named points.
        rules: by name, the mean gap in percent of a rule without a network: named horizontal lines.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if nothing was drawn, or a gap is not positive: both axes are logarithmic.
    """
    gaps = [gap for seeds in drawn.values() for gap in seeds] + [gap for _, gap in others.values()]
    gaps += rules.values()
    if not drawn or not all(drawn.values()) or min(gaps) <= 0:
        found = (dict(drawn), dict(others), dict(rules))
        raise ValueError(f"there must be drawn trips, and gaps above 0, got {found}")
    ax = new_axes(ax, (6.5, 3.9))
    counts, colour = sorted(drawn), STYLES[0].colour
    middles = [sum(drawn[count]) / len(drawn[count]) for count in counts]
    spread = [[mid - min(drawn[n]) for n, mid in zip(counts, middles, strict=True)]]
    spread.append([max(drawn[n]) - mid for n, mid in zip(counts, middles, strict=True)])
    ax.errorbar(counts, middles, yerr=spread, color=colour, marker="o", linewidth=2, capsize=4)
    ax.annotate("shortest drawn trip", (counts[-1], middles[-1]), (-14, -7), color=colour, **_BESIDE, ha="right")
    for name, (count, gap) in others.items():
        ax.plot(count, gap, marker="D", markersize=8, color=INK, linestyle="")
        ax.annotate(name, (count, gap), (10, 0), **_BESIDE)
    for name, gap in rules.items():
        ax.axhline(gap, color=INK, linestyle="--", linewidth=1.2)
        ax.annotate(name, (counts[0], gap), (-4, 9), **_BESIDE)
    ax.set(xscale="log", yscale="log", xlabel="trips compared", ylabel="longer than the shortest trip (%)")
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    return ax
