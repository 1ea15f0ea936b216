"""A figure of chapter 07: several heads, from the words' vectors to the output, with shapes."""

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.palette import FAINT, FETCHED, LINE, READS, WRITES

_MIDDLE = 3.2  # of the height
_ROLES = (("queries", "q", 5.3, WRITES), ("keys", "k", _MIDDLE, READS), ("values", "v", 1.1, FETCHED))


def draw_split(heads: int, dim: int, ax: Axes | None = None) -> Axes:
    """Draw how queries, keys and values are split among heads, which attend, and how their contexts are mixed.

    Args:
        heads: H, at most 4. dim: the features D. ax: where to draw; ``None`` makes a new figure.

    Raises:
        ValueError: if there are more than four heads, or they cannot share the features equally.

    After section 3.2.2 of Vaswani et al. 2017.
    """
    if not 1 <= heads <= 4 or dim % heads:
        raise ValueError(f"{dim} features cannot be drawn as {heads} equal heads")
    part = dim // heads
    ax = canvas(ax, (6.5, 3.5), (-0.05, 13.05), (-0.1, 6.85))
    box_around(ax, (0.75, _MIDDLE), 1.5, 1.1, f"$X$\n(T, {dim})", size=10)
    for name, letter, y, fill in _ROLES:
        arrow(ax, (1.5, _MIDDLE), (2.2, y), LINE)
        for head in range(heads):
            box_around(ax, (2.25 + (head + 0.5) * 2.4 / heads, y), 2.4 / heads, 0.6, str(head + 1), size=10, fill=fill)
        say(ax, 3.45, y + 0.65, f"{name} $XW_{letter}$", size=10)
        say(ax, 3.45, y - 0.6, f"{heads} × (T, {part})", size=10)
        arrow(ax, (4.7, y), (5.25, _MIDDLE + 0.5 * (y - _MIDDLE)), LINE)
    line(ax, [5.32] * 2, [_MIDDLE - 0.67 * heads + 0.12, _MIDDLE + 0.67 * heads - 0.12], LINE)  # to all heads
    for head in range(heads):
        y = _MIDDLE + 1.35 * ((heads - 1) / 2 - head)
        box(ax, 5.45, y - 0.55, 2.55, 1.1, edge=FAINT)
        say(ax, 6.72, y + 0.27, f"head {head + 1}", size=10)
        for i, (_, letter, _, fill) in enumerate(_ROLES):
            x = 6.02 + 0.7 * i
            box_around(ax, (x, y - 0.22), 0.62, 0.46, f"${letter.upper()}_{head + 1}$", size=10, fill=fill)
        arrow(ax, (8.05, y), (8.6, _MIDDLE + 0.6 * ((heads - 1) / 2 - head)), LINE)
        box_around(ax, (9.15, _MIDDLE + 0.6 * ((heads - 1) / 2 - head)), 1.0, 0.6, str(head + 1), size=10, fill=FETCHED)
    say(ax, 9.15, _MIDDLE + 0.3 * heads + 0.35, "contexts", size=10)
    say(ax, 9.15, _MIDDLE - 0.3 * heads - 0.35, f"(T, {dim})", size=10)
    arrow(ax, (9.7, _MIDDLE), (10.1, _MIDDLE), LINE)
    box_around(ax, (10.75, _MIDDLE), 1.3, 1.1, f"$\\times\\,W_o$\n({dim}, {dim})", size=10)
    arrow(ax, (11.4, _MIDDLE), (11.75, _MIDDLE), LINE)
    box_around(ax, (12.37, _MIDDLE), 1.2, 1.1, f"output\n(T, {dim})", size=10)
    for x, step in ((3.45, "1 split"), (6.72, "2 attend"), (9.15, "3 concatenate"), (11.4, "4 mix")):
        say(ax, x, 6.6, step, size=11, weight="bold")
    return ax
