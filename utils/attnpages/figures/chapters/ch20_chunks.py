"""A figure of chapter 20: which part of an answer comes from the state, and which from within the chunk."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from attnpages.figures.boxes import box_around, canvas, say
from attnpages.figures.palette import INK, READS, WRITES

STEP, TALL = 1.3, 0.9  # from column to column, and how tall a box is


def draw_chunks(parts: Sequence[Sequence[float]], size: int) -> Axes:
    """Draw what each query of a linear attention reads: one box per pair of its chunk, and one for the state before it.

    Args:
        parts: per query, what each pair adds to its answer (score times value), up to its own. size: tokens per chunk.

    Raises:
        ValueError: if a row does not end with the pair of its own token, or ``size`` is not positive.
    """
    if size < 1 or [len(row) for row in parts] != list(range(1, len(parts) + 1)):
        raise ValueError(f"rows of 1, 2, … parts and a positive size are needed, got {list(map(len, parts))}, {size}")
    ax = canvas(None, (6.5, 0.6 * len(parts) + 0.9), (-1.7, STEP * len(parts) + 1.5), (-len(parts) + 0.4, 1.3))
    for column in range(len(parts)):
        say(ax, STEP * column, 0.9, f"pair {column + 1}")
    say(ax, STEP * len(parts) + 0.1, 0.9, "answer")
    for place, row in enumerate(parts):
        before = place // size * size  # tokens of earlier chunks
        say(ax, -1.65, -place, f"query {place + 1}", ha="left")
        if before:
            middle, width = STEP * (before - 1) / 2, STEP * before - 0.2
            box_around(ax, (middle, -place), width, TALL, f"state: {sum(row[:before]):.3g}", fill=WRITES, dashed=True)
        for column in range(before, place + 1):
            box_around(ax, (STEP * column, -place), STEP - 0.2, TALL, f"{row[column]:.3g}", fill=READS, edge=INK)
        say(ax, STEP * len(parts) + 0.1, -place, f"{sum(row):.3g}")
    return ax
