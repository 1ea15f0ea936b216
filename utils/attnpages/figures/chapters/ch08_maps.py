"""A figure of chapter 08: what each kind of positions contributes to the scores."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from attnpages.figures.heat import as_matrix
from attnpages.figures.style import HEAT_MAP


def plot_position_scores(rows: Mapping[str, Mapping[str, object]]) -> list[Axes]:
    """Draw what positions contribute to scores: one map per kind, ``(T, T)``, light where it is lowest.

    Each map has its own scale, because what counts is which of its cells are equal.

    Args:
        rows: ``{title of a row: {title of a map: (T, T)}}``, the same number of maps in each row.

    Raises:
        ValueError: if there is no map, the rows differ in length, or a map is not square.
    """
    counts = {len(maps) for maps in rows.values()}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(f"give rows with the same number of maps, at least one; got {sorted(counts)}")
    columns = counts.pop()
    figure = plt.figure(figsize=(6.5, 3.0 * len(rows)), layout="constrained")
    drawn = []
    for part, (title, maps) in zip(figure.subfigures(len(rows), 1, squeeze=False)[:, 0], rows.items(), strict=True):
        part.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
        for ax, (name, matrix) in zip(part.subplots(1, columns, squeeze=False)[0], maps.items(), strict=True):
            values = as_matrix(name, matrix)
            if values.shape[0] != values.shape[1]:
                raise ValueError(f"the map {name!r} must be square, got {values.shape}")
            ax.imshow(values, cmap=HEAT_MAP, interpolation="nearest")
            ax.grid(False)
            ax.set_title(name, fontsize=11)
            ax.set(xticks=[0, 5, 10], yticks=[0, 5, 10], xlabel="key")
            drawn.append(ax)
        drawn[-columns].set_ylabel("query")
    return drawn
