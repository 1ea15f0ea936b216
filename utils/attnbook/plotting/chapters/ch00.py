"""Figures of chapter 00: which words a translator needs, who may attend to what, and the map of the book."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnbook.plotting.heat import draw_cells
from attnbook.plotting.style import new_axes

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 222, 62, 18, 34  # a chapter's box, and the space between boxes, in pixels


class Chapter(NamedTuple):
    """A box of the map: its chapter's title and idea, where it stands, and its notebook once there is one."""

    title: str
    idea: str
    column: float
    row: float
    notebook: str = ""


CHAPTERS: Mapping[int, Chapter] = {
    1: Chapter("The bottleneck", "one vector for every question", 1, 0, "01_seq2seq.ipynb"),
    2: Chapter("Bahdanau attention", "the decoder queries the encoder", 1, 1, "02_bahdanau.ipynb"),
    3: Chapter("Scores", "by content or by location", 1, 2, "03_scores.ipynb"),
    4: Chapter("Global and local", "a window of keys", 0, 3, "04_luong.ipynb"),
    5: Chapter("Deep recurrent: GNMT", "attention in a deep stack", 0, 4, "05_gnmt.ipynb"),
    6: Chapter("Soft and hard", "keys are parts of a picture", 0, 5, "06_captioning.ipynb"),
    7: Chapter("Self-attention", "queries and keys: one sequence", 1, 3, "07_self_attention.ipynb"),
    8: Chapter("Heads and positions", "several at once, and order", 1, 4, "08_heads_positions.ipynb"),
    9: Chapter("The Transformer", "attention in every layer", 1, 5, "09_transformer.ipynb"),
    10: Chapter("Decoding", "from one word to a text", 1, 6, "10_decoding.ipynb"),
    11: Chapter("BERT and GPT", "one block, two masks", 1, 7),
    12: Chapter("Longer text", "fewer keys, or older ones", 1, 8),
    13: Chapter("Memory: the NTM", "a memory that is written", 2, 3, "13_ntm.ipynb"),
    14: Chapter("Pointer networks", "the weights are the output", 2, 4, "14_pointer_networks.ipynb"),
    15: Chapter("SNAIL", "keys are past experience", 2, 7),
    16: Chapter("SAGAN", "a picture attends to itself", 0, 6),
    17: Chapter("Beyond training", "longer than in training", 2, 6, "17_beyond_lengths.ipynb"),
}
ARROWS = (
    (1, 2), (2, 3), (3, 4), (3, 7), (3, 13), (4, 5), (5, 6), (6, 16), (7, 8), (8, 9), (9, 10), (10, 11), (11, 12),
    (13, 14), (14, 17), (10, 15), (10, 17),
)  # fmt: skip


class ConceptMap:
    """The chapters as boxes that lead to them. Jupyter and the book show it; its ink is the page's own."""

    def _repr_html_(self) -> str:
        width, height = 3 * _WIDTH + 2 * _GAP_X + 2, 9 * _HEIGHT + 8 * _GAP_Y + 2
        marks = [*(_arrow(*pair) for pair in ARROWS), *(_box(number) for number in CHAPTERS)]
        return (
            '<div class="concept-map" style="overflow-x:auto">'
            f'<svg viewBox="0 0 {width} {height}" style="min-width:560px;width:100%;max-width:{width}px" role="group" '
            'aria-label="The chapters of the book, each a link, with arrows from a chapter to those that build on it" '
            'fill="none" stroke="currentColor" font-family="inherit"><defs><marker id="map-tip" viewBox="0 0 8 8" '
            'refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" '
            f'fill="currentColor" stroke="none"/></marker></defs>{"".join(marks)}</svg></div>'
        )

    def __repr__(self) -> str:
        chapters = (f"{number:2} {one.title}: {one.idea}" for number, one in CHAPTERS.items())
        return "\n".join([*chapters, ", ".join(f"{a} → {b}" for a, b in ARROWS)])


def plot_needed(words: Sequence[str], needed: Mapping[str, Iterable[str]], ax: Axes | None = None) -> Axes:
    """Draw which words of a sentence are needed to translate some of its words: one row per translated word.

    Args:
        words: the sentence. needed: for each word to translate, the words that are needed; those get a dark cell.

    Raises:
        ValueError: if a needed word is not in the sentence, or nothing is translated.
    """
    chosen = {word: set(those) for word, those in needed.items()}
    missing = sorted(set().union(*chosen.values()) - set(words))
    if not chosen or missing:
        raise ValueError(f"needed must name at least one word, and only words of the sentence; got also {missing}")
    ax = new_axes(ax, (6.5, 1.2 + 0.42 * len(chosen)))
    marks = [[0.75 * (word in those) for word in words] for those in chosen.values()]
    draw_cells(ax, np.asarray(marks), (0, 1))
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
    ax.set_yticks(range(len(chosen)), list(chosen))
    ax.set(xlabel="word of the sentence", ylabel="translated")
    return ax


def plot_who_attends(panels: Mapping[str, object], names: Mapping[str, tuple[list[str], list[str]]]) -> list[Axes]:
    """Draw masks side by side, two in a row: a dark cell where a query (row) may attend to a key (column).

    Args:
        panels: ``{title: (Tq, Tk) booleans}``, True = may attend.
        names: for each title the words of the queries and of the keys.

    Raises:
        KeyError: if a panel has no names.
    """
    rows = (len(panels) + 1) // 2
    _, grid = plt.subplots(rows, 2, figsize=(6.5, 3.1 * rows), squeeze=False)
    for ax, (title, mask) in zip(grid.flat, panels.items(), strict=False):
        queries, keys = names[title]
        draw_cells(ax, np.asarray(mask, dtype=float) * 0.75, (0, 1))
        ax.set_xticks(range(len(keys)), keys, rotation=45, ha="right")
        ax.set_yticks(range(len(queries)), queries)
        ax.set(title=title, xlabel="key", ylabel="query")
    return list(grid.flat)


def _corner(number: int) -> tuple[float, float]:
    chapter = CHAPTERS[number]
    return 1 + chapter.column * (_WIDTH + _GAP_X), 1 + chapter.row * (_HEIGHT + _GAP_Y)


def _box(number: int) -> str:
    """A chapter's box; dashed and without a link while the chapter is planned."""
    (x, y), one = _corner(number), CHAPTERS[number]
    planned = "" if one.notebook else "<title>planned</title>"
    dashes = "" if one.notebook else ' stroke-dasharray="5 4"'
    text = f'<text x="{x + _WIDTH / 2}" text-anchor="middle" fill="currentColor" stroke="none" y="'
    box = (
        f'{planned}<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8" stroke-width="1.5"{dashes}/>'
        f'{text}{y + 26}" font-size="17" font-weight="bold">{number}. {escape(one.title)}</text>'
        f'{text}{y + 48}" font-size="14">{escape(one.idea)}</text>'
    )
    return f'<a href="{one.notebook}">{box}</a>' if one.notebook else f"<g>{box}</g>"


def _arrow(start: int, end: int) -> str:
    """From the bottom of one box to the top of another; straight down, or with one bend between the rows."""
    (x0, y0), (x1, y1) = _corner(start), _corner(end)
    x0, x1, y0 = x0 + _WIDTH / 2, x1 + _WIDTH / 2, y0 + _HEIGHT
    if CHAPTERS[start].row == CHAPTERS[end].row:  # side by side: from edge to edge, at half the height
        sign = 1 if x1 > x0 else -1
        path = f"M{x0 + sign * _WIDTH / 2} {y0 - _HEIGHT / 2}H{x1 - sign * _WIDTH / 2}"
    elif x0 == x1:
        path = f"M{x0} {y0}V{y1}"
    else:
        path = f"M{x0} {y0}V{y0 + _GAP_Y / 2}H{x1}V{y1}"
    return f'<path d="{path}" marker-end="url(#map-tip)"/>'
