"""Figures of chapter 11 on training: what a word's vector reads, what GPT must predict, why BERT hides words, its input
and its two stages."""

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box, box_around, canvas, line, say
from attnpages.figures.palette import BLUE, FAINT, INK, LINE, PAPER, READS, RUST, WRITES
from attnpages.figures.style import with_minus

_SIZE = 11.5  # of letters
_COLUMN = 1.35  # from the middle of a word to that of the next, in the figure of contexts


def draw_contexts(words: Sequence[str], at: int) -> Axes:
    """Draw which words the vector of one word depends on, in GloVe, in the two halves of ELMo, in GPT and in BERT.

    Args:
        words: the sentence.
        at: the position of the word whose vector is asked for.

    Raises:
        ValueError: if no word stands on one of its sides.
    """
    if not 0 < at < len(words) - 1:
        raise ValueError(f"position {at} of {len(words)} words must have words on both sides")
    everything = range(len(words))
    left, right = everything[: at + 1], everything[at:]
    rows = [  # name, what it is, the words that are read, whether each is passed on by the next
        ("GloVe, 2014", "a table", everything[at : at + 1], False),
        ("ELMo, 2018", "an LSTM to the right,", left, True),
        ("", "and one to the left", right, True),
        ("GPT, 2018", "attention to the left", left, False),
        ("BERT, 2018", "attention to both sides", everything, False),
    ]
    row = 1.55
    ax = canvas(None, (6.6, 4.6), (-4.3, _COLUMN * (len(words) - 1) + 0.75), (-0.5, row * (len(rows) - 1) + 0.6))
    for y, (name, kind, read, step_by_step) in zip((row * i for i in reversed(range(len(rows)))), rows, strict=True):
        say(ax, -0.95, y + 0.28 if name else y, name, ha="right", size=_SIZE, weight="bold")
        say(ax, -0.95, y - 0.28 if name else y, kind, ha="right", size=10.5, colour=LINE)
        _words_read(ax, y, words, at, read)
        for i in read:
            side = (i < at) - (i > at)  # where the word lies whose vector is asked for
            if step_by_step and side:
                middle = (i + side / 2) * _COLUMN
                arrow(ax, (middle - 0.16 * side, y + 0.62), (middle + 0.16 * side, y + 0.62), RUST, 2.2)
            elif side:
                start, end = (i * _COLUMN, y + 0.42), (at * _COLUMN - 0.25 * side, y + 0.42)
                arrow(ax, start, end, BLUE, 1.8, bend=-0.28 * side)
    return ax


def _words_read(ax: Axes, y: float, words: Sequence[str], at: int, read: Collection[int]) -> None:
    """A row of words in boxes, those that are not read in grey; the box of the word at ``at`` is blue."""
    for i, word in enumerate(words):
        edge, thick = (BLUE, 2.4) if i == at else (FAINT, 1.2)
        fill, ink = (READS, INK) if i in read else ("white", FAINT)
        box(ax, i * _COLUMN - 0.6, y - 0.375, 1.2, 0.75, fill=fill, edge=edge, line=thick)
        say(ax, i * _COLUMN, y, word, size=_SIZE, colour=ink)


def draw_next_tokens(read: Sequence[str], came: Sequence[str], probabilities: Sequence[float]) -> Axes:
    """Draw how GPT is trained: each position attends to itself and to those before it, and predicts the next token.

    Args:
        read: the token at each position.
        came: the token that follows each of them.
        probabilities: what the model gave to each token that came.

    Raises:
        ValueError: if the three do not have the same length.
    """
    if not len(read) == len(came) == len(probabilities):
        raise ValueError(f"{len(read)} tokens must have as many next tokens and probabilities")
    column, last = 2.3, 2.3 * (len(read) - 1)
    ax = canvas(None, (5.6, 4.0), (-3.0, last + 1.1), (-0.5, 6.1))
    for i, (token, wanted, p) in enumerate(zip(read, came, probabilities, strict=True)):
        x = i * column
        box_around(ax, (x, 0), 1.7, 0.8, token, size=_SIZE)
        for j in range(i + 1):
            own = j == i
            arrow(ax, (j * column, 0.42), (x - 0.16 * (i - j), 2.05), BLUE if own else LINE, 2.0 if own else 1.3)
        box_around(ax, (x, 2.5), 1.7, 0.8, "⋮", size=_SIZE, fill=READS)
        arrow(ax, (x, 2.95), (x, 3.85), BLUE, 2.0)
        box_around(ax, (x, 4.5), 1.7, 1.2, f"{wanted}\n{Fraction(p)}", size=_SIZE, fill=WRITES)
        bits = -math.log2(p)
        say(ax, x, 5.7, f"{bits:g} bit{'s' * (bits != 1)}", size=_SIZE)
    beside = {0: "reads", 1.25: "causal mask", 2.5: "its vector", 4.5: "must predict;\nprobability", 5.7: "loss"}
    for y, text in beside.items():
        say(ax, -1.15, y, text, ha="right", size=_SIZE, colour=LINE)
    return ax


def draw_routes(words: tuple[str, str, str]) -> list[Axes]:
    """Draw how, without a causal mask, the middle word's position reads the next word, and in two layers its own."""
    _, axes = plt.subplots(1, 2, figsize=(7.4, 4.3), layout="constrained")
    routes = {
        f"predict the next word, {words[2]}": [((2, 0), (1, 1))],
        f"predict its own word, {words[1]}": [((1, 0), (2, 1)), ((2, 1), (1, 2))],
    }
    column, row = 1.6, 2.0
    for ax, (title, steps) in zip(axes, routes.items(), strict=True):
        canvas(ax, (3.7, 4.3), (-1.0, 2 * column + 0.8), (-0.5, 2 * row + 1.0))
        source = steps[0][0]
        reached = {source, *(end for _, end in steps)}  # where the answer stands
        for x in range(3):
            for y in range(3):
                found = (x, y) in reached
                text = words[x] if y == 0 else f"has\n“{words[source[0]]}”" if found else "⋮"
                box_around(ax, (x * column, y * row), 1.25, 0.85, text, size=11, fill=WRITES if found else PAPER)
                if y < 2:
                    around = len(steps) == 2 and x == 1  # what the second route does not need
                    ends = (y * row + 0.43, (y + 1) * row - 0.43)
                    line(ax, (x * column, x * column), ends, FAINT, 1.2, dashed=around)
        for (x, y), (to_x, to_y) in steps:
            side = 0.3 if to_x > x else -0.3
            arrow(ax, (x * column + side, y * row + 0.43), (to_x * column - side, to_y * row - 0.43), RUST, 2.6)
        ax.set_title(title, fontsize=_SIZE, fontweight="bold")
    for y in (1, 2):
        say(axes[0], -0.07, y * row + 0.66, f"layer {y}", ha="right", size=10.5, colour=LINE)
    return list(axes)


def draw_stages(
    hidden: Sequence[str], wanted: tuple[int, str], text: Sequence[str], vector: Sequence[float],
    rows: Mapping[str, Sequence[float]],
) -> Axes:  # fmt: skip
    """Draw BERT's pretraining beside its fine-tuning: the same blocks, a new layer on the vector of ``[CLS]``.

    Args:
        hidden: what it reads in pretraining.
        wanted: the hidden position and its word.
        text: what it reads in fine-tuning, as many tokens; the first is ``[CLS]``.
        vector: its vector at the first token of ``text``.
        rows: ``{label: the row of the new layer}``, each as long as the vector.

    Raises:
        ValueError: if the texts differ in length, or a row is not as long as the vector.
    """
    if len(hidden) != len(text):
        raise ValueError(f"both texts must have {len(hidden)} tokens")
    if any(len(row) != len(vector) for row in rows.values()):
        raise ValueError(f"each row must have {len(vector)} numbers, as the vector has")
    column, wide = 1.32, 1.32 * len(text)
    ax = canvas(None, (7.8, 5.6), (-0.75, 2 * wide + 0.35), (-0.5, 10.6))
    for start, tokens, used in ((0.0, hidden, wanted[0]), (wide + 0.9, text, 0)):
        centre = start + (wide - column) / 2
        for i, token in enumerate(tokens):
            x, read = start + i * column, i == used
            box_around(ax, (x, 0), 1.22, 0.8, token, size=10.5)
            arrow(ax, (x, 0.4), (x, 1.35))
            arrow(ax, (x, 2.7), (x, 3.5), BLUE if read else FAINT, 2.4 if read else 1.2)
            numbers = "\n".join(signed(one) for one in vector) if start and read else "⋮"
            box_around(ax, (x, 4.3), 0.95, 1.6, numbers, size=10.5, fill=READS if read else PAPER)
        box_around(ax, (centre, 2.05), wide - 0.05, 1.3, "the same weights" if start else "BERT’s blocks", fill=READS)
        x = start + used * column
        arrow(ax, (x, 5.1), (x, 5.95), BLUE, 2.4)
        written = [f"{label}: ({', '.join(signed(one) for one in row)})" for label, row in rows.items()]
        layer = "\n".join(["new layer", *written]) if start else "word vectors\n(one logit per word)"
        box_around(ax, (centre, 6.75), wide - 0.05, 1.6, layer, size=10.5, fill=WRITES if start else READS)
        arrow(ax, (x, 7.55), (x, 8.3), BLUE, 2.4)
        result = _shares(vector, rows) if start else f"must predict: {wanted[1]}"
        box_around(ax, (centre, 8.9), wide - 0.05, 1.2, result, size=10.5)
        say(ax, centre, 10.1, "fine-tuning: labels" if start else "pretraining: plain text", size=12.5, weight="bold")
    arrow(ax, (wide - column / 2, 2.05), (wide + 0.9 - column / 2, 2.05), INK, 2.4)
    return ax


def _shares(vector: Sequence[float], rows: Mapping[str, Sequence[float]]) -> str:
    """One line per label: its logit and its share of the softmax."""
    logits = {label: float(np.dot(row, vector)) for label, row in rows.items()}
    total = sum(math.exp(logit) for logit in logits.values())
    return "\n".join(
        f"{label}: logit {signed(round(logit, 2))}, softmax {math.exp(logit) / total:.2f}"
        for label, logit in logits.items()
    )


def signed(number: float) -> str:
    """A number with a typographic minus, and no sign for zero."""
    return with_minus(f"{number + 0.0:g}")
