"""Figures of chapter 00: needed words, the three steps of attention, its kinds, a training, the map of the book."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle
from torch import Tensor

from attnpages.figures.arrays import as_array
from attnpages.figures.boxes import arrow, box_around, canvas, line, say
from attnpages.figures.curves import plot_by_length
from attnpages.figures.heat import draw_cells, write_in_cells
from attnpages.figures.palette import AMBER, BLUE, FAINT, INK, LINE, READS, WRITES
from attnpages.figures.style import new_axes

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 250, 60, 14, 30  # a chapter's box, and the space between boxes, in pixels
_COLUMNS = {"query": 0.9, "key": 2.9, "score": 4.75, "weight": 7.1, "value": 9.6, "context": 12.4}  # where each stands


class Chapter(NamedTuple):
    """A box of the map: its chapter's part, title and idea, where it stands, and its notebook."""

    part: str
    title: str
    idea: str
    column: float
    row: float
    notebook: str


CHAPTERS: Mapping[int, Chapter] = {
    1: Chapter("Part I", "The bottleneck", "one vector per sentence", 1, 0, "01_seq2seq.ipynb"),
    2: Chapter("Part I", "Bahdanau attention", "the decoder queries the encoder", 1, 1, "02_bahdanau.ipynb"),
    3: Chapter("Part I", "Scores", "by content or by location", 1, 2, "03_scores.ipynb"),
    4: Chapter("Part I", "Global and local", "attention within a window", 0, 3, "04_luong.ipynb"),
    5: Chapter("Part I", "Deep recurrent: GNMT", "attention in a deep stack", 0, 2, "05_gnmt.ipynb"),
    6: Chapter("Part I", "Soft and hard", "attention to parts of a picture", 2, 2, "06_captioning.ipynb"),
    7: Chapter("Part II", "Self-attention", "within one sequence", 1, 3, "07_self_attention.ipynb"),
    8: Chapter("Part II", "Heads and positions", "parallel attentions, word order", 1, 4, "08_heads_positions.ipynb"),
    9: Chapter("Part II", "The Transformer", "attention in every layer", 1, 5, "09_transformer.ipynb"),
    10: Chapter("Part II", "Decoding", "from one word to a text", 1, 6, "10_decoding.ipynb"),
    11: Chapter("Part II", "BERT and GPT", "one architecture, two masks", 1, 7, "11_bert_gpt.ipynb"),
    12: Chapter("Part II", "Longer text", "attention at a lower cost", 1, 8, "12_longer_text.ipynb"),
    13: Chapter("Part III", "Memory: the NTM", "a memory that is written", 2, 3, "13_ntm.ipynb"),
    14: Chapter("Part III", "Pointer networks", "the weights are the output", 2, 4, "14_pointer_networks.ipynb"),
    15: Chapter("Part IV", "In-context learning", "SNAIL: attention to examples", 0, 5, "15_snail.ipynb"),
    16: Chapter("Part IV", "Images: SAGAN, ViT", "self-attention in pictures", 0, 4, "16_sagan.ipynb"),
    17: Chapter("Part IV", "Beyond training", "longer than in training", 0, 8, "17_beyond_lengths.ipynb"),
    18: Chapter("Part V", "One corpus", "five models, the same sentences", 2, 6, "18_one_corpus.ipynb"),
    19: Chapter("Part V", "A real language model", "weights of others, our block", 2, 8, "19_real_model.ipynb"),
    20: Chapter("Part V", "Attention today", "what a token costs", 2, 7, "20_attention_today.ipynb"),
}
# From what a chapter needs, as its own box says; what lies further back on the way is not repeated.
ARROWS = (
    (1, 2), (2, 3), (2, 5), (2, 6), (3, 4), (3, 7), (3, 13), (7, 8), (7, 16), (8, 9), (8, 15), (9, 10), (9, 18),
    (10, 11), (7, 14), (11, 12), (11, 17), (11, 19), (10, 20),
)  # fmt: skip


class ConceptMap:
    """The chapters as boxes that lead to them. Jupyter and the book show it; its ink is the page's own."""

    def _repr_html_(self) -> str:
        rows = 1 + max(one.row for one in CHAPTERS.values())
        width, height = 3 * _WIDTH + 2 * _GAP_X + 2, rows * (_HEIGHT + _GAP_Y) - _GAP_Y + 2
        marks = [*(_arrow(*pair) for pair in ARROWS), *(_box(number) for number in CHAPTERS)]
        return (
            '<div class="concept-map" style="overflow-x:auto">'
            f'<svg viewBox="0 0 {width} {height}" style="min-width:680px;width:100%;max-width:{width}px" role="group" '
            'aria-label="The chapters of the book, each a link, with arrows from a chapter to those that need it" '
            'fill="none" stroke="currentColor" font-family="inherit"><defs><marker id="map-tip" viewBox="0 0 8 8" '
            'refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" '
            f'fill="currentColor" stroke="none"/></marker></defs>{"".join(marks)}</svg></div>'
        )

    def __repr__(self) -> str:
        chapters = (f"{number:2} ({one.part}) {one.title}: {one.idea}" for number, one in CHAPTERS.items())
        return "\n".join([*chapters, ", ".join(f"{a} → {b}" for a, b in ARROWS)])


def plot_needed(words: Sequence[str], needed: Mapping[str, Sequence[str]], ax: Axes | None = None) -> Axes:
    """Draw which words of a sentence are needed for each word of its translation: one row per word that is written.

    Args:
        words: the sentence.
        needed: for each word of the translation, in its order, the words that are needed. The first of them is the
            word that is translated and gets a dark cell; the others get a pale one with a dot.

    Raises:
        ValueError: if a needed word is not in the sentence, a row needs none, or nothing is translated.
    """
    missing = sorted({word for those in needed.values() for word in those} - set(words))
    if not needed or missing or not all(needed.values()):
        raise ValueError(f"needed must name words of the sentence, at least one in each row; got also {missing}")
    ax = new_axes(ax, (6.5, 1.2 + 0.26 * len(needed)))
    marks = np.zeros((len(needed), len(words)))
    for row, (own, *others) in enumerate(needed.values()):
        marks[row, words.index(own)] = 0.8
        for word in others:
            marks[row, words.index(word)] = 0.3
            ax.plot(words.index(word), row, "o", markersize=4, color=INK)
    draw_cells(ax, marks, (0, 1))
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
    ax.set_yticks(range(len(needed)), list(needed))
    ax.set(xlabel="word of the English sentence", ylabel="German word to write")
    return ax


def draw_three_steps(query: Tensor, key: Tensor, value: Tensor, ax: Axes | None = None) -> Axes:
    """Draw attention with the dot product for one query: score, normalise, weighted sum, each with its numbers.

    Args:
        query: ``(D,)``. key: ``(Tk, D)``. value: ``(Tk, Dv)``.

    Raises:
        ValueError: if the shapes do not fit together.
    """
    if query.dim() != 1 or key.shape[1:] != query.shape or value.dim() != 2 or len(value) != len(key):
        shapes = ", ".join(str(tuple(one.shape)) for one in (query, key, value))
        raise ValueError(f"query, key, value must have the shapes (D,), (Tk, D), (Tk, Dv); got {shapes}")
    scores = key @ query  # (Tk)
    weights = scores.softmax(dim=-1)  # (Tk)
    middle = (len(key) - 1) / 2
    ax = canvas(ax, (6.5, 1.0 + 0.65 * len(key)), (0, 13.6), (-0.6, len(key) + 0.6))
    _heads(ax, len(key))
    for j, weight in enumerate(weights.tolist()):
        y = len(key) - 1 - j
        arrow(ax, (_COLUMNS["query"] + 0.8, middle), (_COLUMNS["key"] - 0.75, y), colour=LINE)
        line(ax, (_COLUMNS["value"] + 0.8, _COLUMNS["context"] - 1.1), (y, middle), BLUE, 0.5 + 6 * weight)
        _one_key(ax, y, _as_text(key[j]), f"{scores[j].item():g}", weight, _as_text(value[j]))
    box_around(ax, (_COLUMNS["query"], middle), 1.5, 0.55, _as_text(query), fill=WRITES)
    box_around(ax, (_COLUMNS["context"], middle), 2.2, 0.55, _as_text(weights @ value, 2), fill=WRITES)
    return ax


def plot_pulls(value: Tensor, weights: Tensor, ax: Axes | None = None) -> Axes:
    """Draw values in the plane, their weighted sum, and for each the way in which it moves if this value's score rises.

    An arrow from the context ``c`` is as long as the derivative ``α_j (v_j − c)``: so far the context would move if the
    score rose by one and the derivative stayed as it is.

    Args:
        value: ``(Tk, 2)``. weights: ``(Tk)``, which sum to 1.

    Raises:
        ValueError: if the shapes do not fit together.
    """
    if value.dim() != 2 or value.shape[1] != 2 or weights.shape != value.shape[:1]:
        raise ValueError(f"value, weights must be (Tk, 2), (Tk); got {tuple(value.shape)}, {tuple(weights.shape)}")
    context = weights @ value  # (2)
    ax = new_axes(ax, (4.6, 4.3))
    low, high = value.min().item(), value.max().item()
    edge = 0.27 * (high - low)
    ax.set(xlim=(low - edge, high + edge), ylim=(low - edge, high + edge), aspect="equal")
    ax.set(xlabel="first number", ylabel="second number")
    ax.grid(False)
    ax.add_patch(Polygon(value.tolist(), facecolor=READS, edgecolor=FAINT, linestyle="--", zorder=0))
    x, y = context.tolist()
    for j, (weight, at) in enumerate(zip(weights.tolist(), value.tolist(), strict=True)):
        below = at[1] <= y  # its name stands outside of the triangle
        shift = (0, -0.5 * edge if below else 0.5 * edge)
        ax.plot(*at, marker="s", linestyle="", color=AMBER, markeredgecolor=INK, markersize=6 + 12 * weight**0.5)
        say(ax, at[0] + shift[0], at[1] + shift[1], f"$v_{j + 1}$, weight {weight:.3f}", size=10)
        arrow(ax, (x, y), (x + weight * (at[0] - x), y + weight * (at[1] - y)), colour=BLUE, width=2.2)
    ax.plot(x, y, marker="o", linestyle="", color=INK, markersize=7, zorder=4)
    say(ax, x - 0.35 * edge, y - 0.35 * edge, "$c$", size=12)
    return ax


def plot_who_attends(
    panels: Mapping[str, object], names: Mapping[str, tuple[list[str], list[str]]], legend: bool = False
) -> list[Axes]:
    """Draw masks side by side: a dark cell where a query (row) may attend to a key (column).

    Three stand in one row, other numbers two in a row.

    Args:
        panels: ``{title: (Tq, Tk) booleans}``, True = may attend.
        names: for each title the words of the queries and of the keys.
        legend: whether the figure says above all masks what the two colours mean.

    Raises:
        KeyError: if a panel has no names.
    """
    columns = 3 if len(panels) == 3 else 2
    rows = math.ceil(len(panels) / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(3.25 * columns, 3.1 * rows), squeeze=False)
    for ax, (title, mask) in zip(grid.flat, panels.items(), strict=False):
        queries, keys = names[title]
        image = draw_cells(ax, as_array(mask) * 0.75, (0, 1))
        ax.set_xticks(range(len(keys)), keys, rotation=45, ha="right")
        ax.set_yticks(range(len(queries)), queries)
        ax.set(title=title, xlabel="key", ylabel="query")
    if legend:
        fills = dict(zip(("may attend", "may not"), image.to_rgba(np.array([0.75, 0.0])), strict=True))
        handles = [Rectangle((0, 0), 1, 1, facecolor=fill, edgecolor=FAINT, label=of) for of, fill in fills.items()]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
    return list(grid.flat)


def plot_answers(answers: Mapping[str, tuple[Tensor, str]], keys: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the weights of one query under several kinds of attention: a row per kind, and its result beside it.

    Args:
        answers: ``{kind: (weights (Tk), result)}``. A key that may not be attended to has the weight NaN; its cell is
            grey.
        keys: the names of the keys.

    Raises:
        ValueError: if there are no answers, or one has another number of weights than there are keys.
    """
    if not answers or any(weights.shape != (len(keys),) for weights, _ in answers.values()):
        raise ValueError(f"answers must hold at least one kind, each with {len(keys)} weights, one per key")
    ax = new_axes(ax, (6.5, 0.9 + 0.36 * len(answers)))
    values = np.stack([as_array(weights) for weights, _ in answers.values()])
    image = draw_cells(ax, values, (0, 1))
    texts = {at: "closed" if math.isnan(weight) else f"{weight:.2f}" for at, weight in np.ndenumerate(values)}
    write_in_cells(ax, image, texts)
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(keys)), keys)
    ax.set_yticks(range(len(answers)), list(answers))
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(range(len(answers)), [result for _, result in answers.values()])
    beside.tick_params(length=0)
    return ax


def plot_learning(
    curves: Mapping[str, Mapping[int, Sequence[float]]], rows: Mapping[int, Tensor], pairs: Sequence[str]
) -> list[Axes]:
    """Draw a training: how many answers are right at each step, and beside it the weights of one query at some steps.

    Args:
        curves: ``{way: {step: [accuracy of each seed]}}``.
        rows: ``{step: weights (T)}``.
        pairs: the names of the T pairs whose weights the rows hold.

    Raises:
        ValueError: if a row has another number of weights than there are pairs.
    """
    if any(weights.shape != (len(pairs),) for weights in rows.values()):
        raise ValueError(f"each row must hold {len(pairs)} weights, one per pair")
    _, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3.4), width_ratios=(1.15, 1))
    plot_by_length(curves, "training step", "share of right answers", left, trained=None, each=True)
    image = draw_cells(right, np.stack([as_array(weights) for weights in rows.values()]), (0, 1))
    numbers = {at: f"{weight:.2f}"[1:] if weight < 0.995 else "1" for at, weight in np.ndenumerate(image.get_array())}
    write_in_cells(right, image, numbers, size=10)
    right.set_xticks(range(len(pairs)), pairs, rotation=45, ha="right")
    right.set_yticks(range(len(rows)), [str(step) for step in rows])
    right.set(title="weights of one query", xlabel="person and digit", ylabel="training step")
    return [left, right]


def _as_text(vector: Tensor, decimals: int = 0) -> str:
    return "(" + ", ".join(f"{number:.{decimals}f}" for number in vector.tolist()) + ")"


def _heads(ax: Axes, top: float) -> None:
    """The names of the columns; the three steps are bold."""
    steps = {"score": "1. score", "weight": "2. normalise", "context": "3. sum"}
    below = {"query": "$q$", "key": "$k_j$", "value": "$v_j$", "context": "$c$"}
    below |= {"score": "$e_j = q^\\top k_j$", "weight": r"$\alpha_j$: softmax"}
    names = {"query": "query", "key": "keys", "value": "values"}
    for column, x in _COLUMNS.items():
        weight = "bold" if column in steps else "normal"
        say(ax, x, top + 0.3, steps.get(column) or names[column], weight=weight)
        say(ax, x, top - 0.15, below[column], size=10, colour=LINE)


def _one_key(ax: Axes, y: float, key: str, score: str, weight: float, value: str) -> None:
    """A row: a key, its score, its weight as a bar, and its value."""
    box_around(ax, (_COLUMNS["key"], y), 1.5, 0.55, key, fill=READS)
    say(ax, _COLUMNS["score"], y, score)
    left, width = _COLUMNS["weight"] - 0.8, 1.6
    ax.add_patch(Rectangle((left, y - 0.22), width, 0.44, facecolor="white", edgecolor=FAINT, zorder=2))
    ax.add_patch(Rectangle((left, y - 0.22), width * weight, 0.44, facecolor=AMBER, zorder=2))
    say(ax, _COLUMNS["weight"], y, f"{weight:.3f}")
    arrow(ax, (_COLUMNS["key"] + 0.75, y), (_COLUMNS["score"] - 0.3, y), colour=LINE)
    arrow(ax, (_COLUMNS["score"] + 0.3, y), (left, y), colour=LINE)
    line(ax, (left + width, _COLUMNS["value"] - 0.75), (y, y), LINE)
    box_around(ax, (_COLUMNS["value"], y), 1.5, 0.55, value, fill=READS)


def _corner(number: int) -> tuple[float, float]:
    chapter = CHAPTERS[number]
    return 1 + chapter.column * (_WIDTH + _GAP_X), 1 + chapter.row * (_HEIGHT + _GAP_Y)


def _box(number: int) -> str:
    """A chapter's box, a link to it. Its frame shows that it is one, so its words are not underlined."""
    (x, y), one = _corner(number), CHAPTERS[number]
    part = escape(one.part.removeprefix("Part "))  # its Roman number, in the corner
    text = f'<text x="{x + _WIDTH / 2}" text-anchor="middle" fill="currentColor" stroke="none" y="'
    box = (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8" stroke-width="1.5"/>'
        f'<text x="{x + 8}" y="{y + 15}" fill="currentColor" stroke="none" font-size="12">{part}</text>'
        f'{text}{y + 29}" font-size="16" font-weight="bold">{number}. {escape(one.title)}</text>'
        f'{text}{y + 50}" font-size="14">{escape(one.idea)}</text>'
    )
    return f'<a href="{one.notebook}" style="text-decoration:none">{box}</a>'


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
