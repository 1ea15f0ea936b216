"""Figures of chapter 19 and of its evidence: surprise along a text, ranks over the layers, heads as points."""

from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attnpages.figures.curves import PlainNumbers, plot_by_length
from attnpages.figures.heat import as_label
from attnpages.figures.palette import BLACK, FAINT, GREY, OKABE_BLUE, VERMILION
from attnpages.figures.style import Look, new_axes


def plot_surprises(
    pieces: Sequence[str], nats: Sequence[float], marked: Mapping[str, Collection[int]], ax: Axes | None = None
) -> Axes:
    """Draw how much each token of a text surprised a model, as bars with the tokens below them.

    Args:
        pieces: the tokens. nats: −ln of the probability that each had, one number per token.
        marked: ``{name: positions}`` of tokens with a colour and a hatch of their own, two names at most.

    Raises:
        ValueError: if there are not as many numbers as tokens, or more than two names.
    """
    if len(pieces) != len(nats) or len(marked) > 2:
        raise ValueError(
            f"give one number per token and two marked groups at most, got {len(pieces)} tokens, {len(nats)} numbers "
            f"and {len(marked)} groups"
        )
    ax = new_axes(ax, (6.5, 3.6))
    ax.bar(range(len(nats)), nats, color=FAINT)
    for (name, at), (colour, hatch) in zip(marked.items(), ((VERMILION, "///"), (OKABE_BLUE, "...")), strict=False):
        ax.bar(list(at), [nats[i] for i in at], color=colour, hatch=hatch, edgecolor="white", label=name)
    ax.set_xticks(range(len(pieces)), [as_label(piece) for piece in pieces], rotation=90, fontsize=10)
    ax.set(xlabel="token", ylabel="surprise (nats)", xlim=(-0.7, len(pieces) - 0.3))
    ax.grid(False, axis="x")
    if marked:
        ax.legend(loc="upper right")
    return ax


def plot_ranks(ranks: Mapping[str, Sequence[int]], ax: Axes | None = None) -> Axes:
    """Draw the rank of some tokens when each layer is read as if it were the last; rank 1 is the likeliest.

    Args:
        ranks: ``{name: one rank per layer}``, from before the first layer on.
    """
    curves = {name: {layer: [rank] for layer, rank in enumerate(row)} for name, row in ranks.items()}
    ax = plot_by_length(curves, "layers that have been read", "rank of the token", ax=ax, trained=None)
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.7)
    ax.yaxis.set_major_formatter(PlainNumbers())
    return ax


def plot_heads(
    points: Mapping[str, tuple[float, float]], named: Collection[str], xlabel: str, ylabel: str, ax: Axes | None = None
) -> Axes:
    """Draw one dot per head, and write the names of some beside their dots.

    Args:
        points: ``{name of the head: (x, y)}``. named: which of them have their names written, and a colour.

    Raises:
        ValueError: if one of ``named`` is no point.
    """
    if unknown := [name for name in named if name not in points]:
        raise ValueError(f"named holds {unknown}, which are not among the points")
    ax = new_axes(ax)
    dot: Look = {"linestyle": "", "marker": "o"}
    others = [at for name, at in points.items() if name not in named]
    ax.plot([x for x, _ in others], [y for _, y in others], color=GREY, markersize=4, alpha=0.6, **dot)
    middle = max(y for _, y in points.values()) / 2
    for name in named:
        ax.plot(*points[name], color=VERMILION, markersize=7, **dot)
        above = 4 if points[name][1] < middle else -13  # the crowd is at one edge, and the names stand away from it
        ax.annotate(name, points[name], xytext=(6, above), textcoords="offset points", color=BLACK, fontsize=11)
    if all(isinstance(x, int) for x, _ in points.values()):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax
