"""Figure of chapter 14 on search: how long the best trip still is, over the number of trips that were tried."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from attnpages.figures.palette import INK
from attnpages.figures.style import CurveStyle, Look, new_axes, styles_for

_BESIDE: Look = {"textcoords": "offset points", "va": "center", "fontsize": 11}


def plot_gap_by_trips(
    drawn: Mapping[str, Mapping[int, Sequence[float]]],
    others: Mapping[str, tuple[int, float]],
    rules: Mapping[str, float],
    ax: Axes | None = None,
) -> Axes:
    """Draw the gap of the shortest of N drawn trips, with the range of the seeds, and other ways beside it.

    Args:
        drawn: by the name of who draws, and by the number of trips, one mean gap per seed, in percent: named lines.
        others: by name, how many trips a way tries, and its mean gap in percent: named points.
        rules: by name, the mean gap in percent of a rule without a network: named horizontal lines.
        ax: where to draw; ``None`` makes a figure.

    Raises:
        ValueError: if nothing was drawn, or a gap is not positive: both axes are logarithmic.
    """
    gaps = [gap for by_count in drawn.values() for seeds in by_count.values() for gap in seeds]
    gaps += [*(gap for _, gap in others.values()), *rules.values()]
    if not drawn or not all(by_count and all(by_count.values()) for by_count in drawn.values()) or min(gaps) <= 0:
        found = (dict(drawn), dict(others), dict(rules))
        raise ValueError(f"there must be drawn trips, and gaps above 0, got {found}")
    ax = new_axes(ax, (6.5, 3.9))
    for name, style in styles_for(drawn).items():
        _curve(ax, name, drawn[name], style)
    for name, (count, gap) in others.items():
        ax.plot(count, gap, marker="D", markersize=8, color=INK, linestyle="")
        ax.annotate(name, (count, gap), (10, -9), **_BESIDE)
    for name, gap in rules.items():
        ax.axhline(gap, color=INK, linestyle="--", linewidth=1.2)
        at_the_edge: Look = {"xycoords": ax.get_yaxis_transform(), "ha": "right"}
        ax.annotate(name, (1, gap), (-2, 8), **_BESIDE, **at_the_edge)
    ticks = sorted({count for by_count in drawn.values() for count in by_count})
    ax.set(xscale="log", yscale="log", xlabel="trips compared", ylabel="longer than the shortest trip (%)")
    ax.set_xticks(ticks, [str(count) for count in ticks])
    ax.set_xlim(right=4.5 * ticks[-1])  # room for the names
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    return ax


def _curve(ax: Axes, name: str, by_count: Mapping[int, Sequence[float]], style: CurveStyle) -> None:
    """The mean gap by the number of trips, with the range of the seeds, and its name behind the last one."""
    counts = sorted(by_count)
    middles = [sum(by_count[count]) / len(by_count[count]) for count in counts]
    spread = [[mid - min(by_count[n]) for n, mid in zip(counts, middles, strict=True)]]
    spread.append([max(by_count[n]) - mid for n, mid in zip(counts, middles, strict=True)])
    look: Look = {"color": style.colour, "linestyle": style.line, "marker": style.marker}
    ax.errorbar(counts, middles, yerr=spread, **look, linewidth=2, capsize=4)
    ax.annotate(name, (counts[-1], middles[-1]), (8, 0), color=style.colour, **_BESIDE, ha="left")
