"""Figures of chapter 20: which heads share keys and values, and bytes by length."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import Curves, plot_by_length
from attnpages.figures.palette import FAINT, INK, PAPER, READS, WRITES

_APART, _ROW = 1.15, 1.7  # between the heads of a row, and between rows


def draw_shared_heads(heads: int, groups: Mapping[str, int], latent: str | None = None) -> Axes:
    """Draw heads of queries over the keys and values that they share, one panel below the other; kept boxes are filled.

    Args:
        heads: H, of queries. groups: ``{title: G}``, of keys and values; each must divide H.
        latent: title of a last panel, where one short vector c stands for all heads' keys and values, which need never
            be made (dashed); beside c the rotated key r, which all heads share, is kept.

    Raises:
        ValueError: if there is no panel, or a number of groups does not divide the heads.
    """
    wrong = {title: count for title, count in groups.items() if count < 1 or heads % count}
    if wrong or not groups:
        raise ValueError(f"groups must name at least one number that divides {heads} heads, got {wrong or groups}")
    height = _ROW * (2 * len(groups) + (3 if latent else 0))
    ax = canvas(None, (6.5, 0.42 * height), (-4.6, _APART * heads), (-height + 0.6, 0.7))
    y = 0.0
    for title, count in groups.items():
        say(ax, -4.5, y - 0.4 * _ROW, title, ha="left")
        _queries(ax, y, heads, [(head // (heads // count) + 0.5) * heads / count - 0.5 for head in range(heads)])
        for group in range(count):
            box_around(ax, (_APART * ((group + 0.5) * heads / count - 0.5), y - _ROW), 0.85, 0.8, "k, v", fill=WRITES)
        y -= 2 * _ROW
    if latent:
        say(ax, -4.5, y - 0.9 * _ROW, latent, ha="left")
        _latent(ax, y, heads)
    return ax


def _queries(ax: Axes, y: float, heads: int, below: list[float]) -> None:
    """A row of queries, each joined to what stands below it, at these heads' places."""
    for head, place in enumerate(below):
        line(ax, (_APART * head, _APART * place), (y - 0.4, y - _ROW + 0.4), FAINT)
        box_around(ax, (_APART * head, y), 0.7, 0.7, "q", fill=READS)


def _latent(ax: Axes, y: float, heads: int) -> None:
    """Each head has a key and a value of its own, dashed because only c, from which they follow, and r are kept."""
    middle = _APART * (heads - 1) / 2
    _queries(ax, y, heads, [float(head) for head in range(heads)])
    for head in range(heads):
        arrow(ax, (middle, y - 2 * _ROW + 0.4), (_APART * head, y - _ROW - 0.4), colour=FAINT)
        box_around(ax, (_APART * head, y - _ROW), 0.85, 0.8, "k, v", fill=PAPER, edge=INK, dashed=True)
    box_around(ax, (middle, y - 2 * _ROW), 0.85, 0.7, "c", fill=WRITES)
    box_around(ax, (_APART * (heads - 1), y - 2 * _ROW), 0.85, 0.7, "r", fill=WRITES)


def plot_bytes(curves: Curves, ylabel: str, xlabel: str = "length of the text (tokens)") -> Axes:
    """Draw bytes or seconds over the length of a text, as :func:`~attnpages.figures.plot_by_length`, in logarithms.

    Args:
        curves: ``{name: {length: [values in the unit of ylabel]}}``, all above 0.
    """
    ax = plot_by_length(curves, xlabel, ylabel, trained=None)
    ax.autoscale(axis="y")
    ax.set(xscale="log", yscale="log")
    lengths = sorted({int(length) for points in curves.values() for length in points})
    ax.set_xticks(lengths, [f"{length:,}" for length in lengths])
    ax.minorticks_off()
    return ax
