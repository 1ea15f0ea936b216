"""Figures of chapter 12: which keys a window keeps, and how news goes on to the positions that it hides."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from attnpages.figures.bars import plot_bars
from attnpages.figures.boxes import arrow, canvas, line, say
from attnpages.figures.palette import FAINT, INK, READS
from attnpages.figures.style import HEAT_MAP, STYLES, Look


def draw_band(T: int, window: int, size: int) -> Axes:
    """Draw a causal window, in blocks of queries: the pairs in it, and what each block computes besides.

    Args:
        T: number of positions. window: how many positions each attends to, itself included. size: queries per block.

    Raises:
        ValueError: if one of them is below 1.
    """
    if min(T, window, size) < 1:
        raise ValueError(f"T, window and size must be at least 1, got {T}, {window} and {size}")
    _, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
    cell: Look = {"width": 1, "height": 1, "edgecolor": "white", "linewidth": 1.5}
    kinds = {"in the window": STYLES[0].colour, "computed, then masked": FAINT, "earlier, not computed": READS}
    for first in range(0, T, size):
        last = min(first + size, T) - 1  # query
        oldest = max(0, first - window + 1)  # key
        for query in range(first, last + 1):
            for key in range(last + 1):
                inside = 0 <= query - key < window
                kind = (
                    "in the window" if inside else "computed, then masked" if key >= oldest else "earlier, not computed"
                )
                ax.add_patch(plt.Rectangle((key - 0.5, query - 0.5), facecolor=kinds[kind], **cell))
        frame: Look = {"fill": False, "edgecolor": STYLES[1].colour, "linewidth": 2.5, "zorder": 3}
        ax.add_patch(plt.Rectangle((oldest - 0.5, first - 0.5), last - oldest + 1, last - first + 1, **frame))
    ax.set(xlim=(-0.6, T - 0.4), ylim=(T - 0.4, -0.6), xlabel="key", ylabel="query", aspect="equal")
    ax.set_xticks(range(T))
    ax.set_yticks(range(T))
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=colour, label=kind) for kind, colour in kinds.items()]
    handles.append(
        plt.Rectangle((0, 0), 1, 1, fill=False, edgecolor=STYLES[1].colour, linewidth=2.5, label="one block")
    )
    ax.legend(handles=handles, loc="upper right", frameon=False, fontsize=10.5)
    return ax


def draw_relay(T: int, window: int, layers: int, ax: Axes | None = None) -> Axes:
    """Draw how the last position of a text learns of an old token through a window: one hop per layer.

    Args:
        T: number of positions. window: how many positions each attends to, itself included. layers: of the stack.
        ax: where to draw; new ones without it.

    Raises:
        ValueError: if the text is too short for the path, or ``window`` or ``layers`` too small for one.
    """
    oldest = T - 1 - layers * (window - 1)
    if min(oldest, window - 2, layers - 1) < 0:
        raise ValueError(f"a path needs a window of 2, a layer and its positions, got {T}, {window} and {layers}")
    ax = canvas(ax, (6.5, 0.55 * layers + 0.9), (-2.2, T - 0.3), (-1.0, layers + 0.5))
    back = np.arange(T)[:, None] - np.arange(T)
    draw_net(ax, (back >= 0) & (back < window), layers, range(oldest, T, window - 1))
    for position in range(T):
        say(ax, position, -0.75, str(position), size=10.5)
    return ax


def draw_net(ax: Axes, reads: np.ndarray, layers: int, path: Sequence[int]) -> None:
    """Draw a stack of layers, what its last position depends on, and a path of one hop per layer.

    Args:
        reads: ``(T, T)`` bool, for each position those that it attends to. layers: of the stack.
        path: the position on each level, the tokens first.
    """
    needed = np.arange(len(reads)) == len(reads) - 1  # on the level that is drawn, from the top down
    for layer in reversed(range(layers + 1)):
        say(ax, -2.2, layer, f"layer {layer}" if layer else "tokens", ha="left", size=10.5)
        for position, inside in enumerate(needed):
            _node(ax, position, layer, bool(inside), position == path[layer])
        for position, read in np.argwhere(reads & needed[:, None]) if layer else ():
            if (read, position) == (path[layer - 1], path[layer]):
                arrow(ax, (read, layer - 1), (position, layer), STYLES[1].colour, width=2.4, gap=9)
            else:
                line(ax, (read, position), (layer - 1, layer), colour=FAINT, width=0.8)
        needed = reads[needed].any(axis=0)


def _node(ax: Axes, position: int, layer: int, inside: bool, on_path: bool) -> None:
    """A circle; blue where the last position depends on it, orange and with its number on the path."""
    colour = STYLES[1].colour if on_path else STYLES[0].colour if inside else "white"
    edge = "white" if inside else FAINT
    ax.scatter(position, layer, s=250 if on_path else 60, color=colour, edgecolor=edge, zorder=3)
    if on_path:
        say(ax, position, layer - 0.02, str(position), size=9.5, colour="white", weight="bold")


def plot_readings(values: Mapping[str, Sequence[float]], visible: Mapping[str, np.ndarray], xlabel: str) -> list[Axes]:
    """Draw bars as :func:`plot_bars` does, and before each name a sketch of which keys its queries can see.

    Args:
        values: ``{name: [one value per group]}``. visible: ``{name: (T, T) bool}``, for each query its visible keys.
        xlabel: what is measured.

    Raises:
        ValueError: if the names differ.
    """
    if list(values) != list(visible):
        raise ValueError(f"both must have the same names, got {list(values)} and {list(visible)}")
    rows = len(values)
    figure = plt.figure(figsize=(6.5, 0.84 * rows + 0.6), layout="constrained")
    grid = figure.add_gridspec(rows, 2, width_ratios=(1, 4))
    bars = plot_bars(values, xlabel, ax=figure.add_subplot(grid[:, 1]), decimals=0)
    bars.set_ylim(rows - 0.5, -0.5)
    for bar in bars.patches:  # the sketches tell the bars apart, so a colour would mean nothing
        bar.set(facecolor=STYLES[0].colour, edgecolor=STYLES[0].colour)
    colours = ListedColormap(["white", READS, STYLES[0].colour])
    for row, seen in enumerate(visible.values()):
        ax = figure.add_subplot(grid[row, 0])
        kinds = np.tril(np.ones(seen.shape)) + (np.tril(seen) > 0)  # 0: later key, 1: hidden, 2: visible
        ax.pcolormesh(kinds[::-1], cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=0.4)
        ax.set_aspect("equal")
        ax.set_axis_off()
    return [bars, *figure.axes[1:]]


def draw_paths(ways: Mapping[str, str], kinds: Mapping[str, str]) -> Axes:
    """Draw which keys the last query of a text receives something of, one strip per way, and its number of scores.

    Args:
        ways: ``{name: one letter per key}``: ``a`` for a key that the query attends to, ``b`` for one that arrives
            through a second layer, ``c`` for one that only a search may find, and a dot for one that cannot arrive.
        kinds: what the four letters are called in the legend.

    Raises:
        ValueError: if there is no way, their numbers of keys differ, or a letter is not among ``kinds``.
    """
    lengths = {len(keys) for keys in ways.values()}
    unknown = {*"".join(ways.values())} - {*kinds}
    if len(lengths) != 1 or unknown:
        raise ValueError(f"ways must be of one length, and of the letters {[*kinds]}, got {dict(ways)}")
    (T,), rows = lengths, len(ways)
    ax = canvas(None, (6.5, 0.95 + 0.45 * rows), (-5.9, T + 2.3), (rows * 1.25 + 1.7, -1.3))
    looks: dict[str, Look] = {
        "a": {"facecolor": STYLES[0].colour},
        "b": {"facecolor": STYLES[1].colour, "hatch": "//"},
        "c": {"facecolor": READS, "hatch": ".."},
        ".": {"facecolor": "white"},
    }
    frame: Look = {"edgecolor": FAINT, "linewidth": 0.8}
    for key in range(T):
        say(ax, key + 0.5, -0.5, str(key), size=9.5)
    say(ax, T + 1.35, -0.5, "scores", size=9.5)
    for row, (name, keys) in enumerate(ways.items()):
        y = 1.25 * row
        say(ax, -0.35, y + 0.5, name, ha="right", size=10)
        for key, letter in enumerate(keys):
            ax.add_patch(plt.Rectangle((key, y), 1, 1, **frame, **looks[letter]))
        say(ax, T + 1.35, y + 0.5, str(keys.count("a")), size=10)
    handles = [plt.Rectangle((0, 0), 1, 1, **frame, **looks[letter], label=text) for letter, text in kinds.items()]
    ax.legend(handles=handles, loc="lower center", ncols=2, frameon=False, fontsize=10, handlelength=1.2)
    return ax


def plot_grid(shares: Mapping[tuple[int, int], float], reachable: Mapping[tuple[int, int], bool]) -> Axes:
    """Draw the share of right answers for each lag and memory; a thick frame where the answer is in reach on paper.

    Args:
        shares: ``{(lag, memory): share}``, one for each pair of the lags and memories that occur.
        reachable: ``{(lag, memory): bool}``, the same pairs.

    Raises:
        ValueError: if there is none, or the pairs differ or are not complete.
    """
    lags, memories = (sorted({pair[axis] for pair in shares}) for axis in (0, 1))
    wanted = {(lag, memory) for lag in lags for memory in memories}
    if not shares or set(shares) != wanted or set(reachable) != wanted:
        raise ValueError(f"shares and reachable must hold each pair of lags {lags} and memories {memories}")
    _, ax = plt.subplots(figsize=(6.5, 1.2 + 0.75 * len(lags)), layout="constrained")
    values = np.array([[shares[lag, memory] for memory in memories] for lag in lags])
    image = ax.imshow(values, cmap=HEAT_MAP, vmin=0, vmax=1, aspect="auto")
    for (row, lag), (column, memory) in ((r, c) for r in enumerate(lags) for c in enumerate(memories)):
        share = shares[lag, memory]
        ax.text(column, row, f"{share:.2f}", ha="center", va="center", color="white" if share > 0.6 else INK)
        if reachable[lag, memory]:
            frame: Look = {"fill": False, "edgecolor": STYLES[1].colour, "linewidth": 3}
            ax.add_patch(plt.Rectangle((column - 0.44, row - 0.42), 0.88, 0.84, **frame))
    ax.set_xticks(range(len(memories)), [str(memory) for memory in memories])
    ax.set_yticks(range(len(lags)), [str(lag) for lag in lags])
    ax.set(xlabel="memory (states per layer)", ylabel="lag (words)")
    ax.grid(False)
    ax.tick_params(length=0, color=FAINT)
    plt.colorbar(image, ax=ax, label="right answers (share)")
    return ax
