"""Figures of chapter 10 that show single tokens: copies of a sentence, texts by probability, and a cache."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb

from attnpages.figures.boxes import box, canvas, say
from attnpages.figures.palette import AMBER, BLUE, FAINT, INK, LINE, PAPER, READS, SKY

Token = tuple[str, float]  # a token, and its probability
Marked = tuple[str, float, bool]  # and whether it has a frame


def draw_copies(rows: Mapping[str, Sequence[Token]], ax: Axes | None = None) -> Axes:
    """Draw copies of a sentence below one another, each token in a box that is the darker the more probable it is.

    Args:
        rows: ``{name: [(token, probability), …]}``, all of one length.

    Raises:
        ValueError: if there is nothing to draw, or the rows have different lengths.
    """
    if not rows or len({len(tokens) for tokens in rows.values()}) != 1:
        raise ValueError(f"rows must have at least one row, all of one length, got {dict(rows)}")
    columns = len(next(iter(rows.values())))
    ax = canvas(ax, (6.5, 0.66 * len(rows)), (-1.75, columns), (-len(rows), 0))
    for number, (name, tokens) in enumerate(rows.items()):
        say(ax, -1.7, -number - 0.5, name, ha="left")
        for column, (token, p) in enumerate(tokens):
            box(ax, column + 0.04, -number - 0.94, 0.92, 0.88, fill=_shade(p))
            say(ax, column + 0.5, -number - 0.33, token, weight="bold")
            say(ax, column + 0.5, -number - 0.7, f"{p:.2f}", size=10)
    return ax


def draw_texts(
    texts: Mapping[str, Sequence[Token]],
    framed: Mapping[str, Collection[int]],
    said: str,
    letters: int = 46,
    ax: Axes | None = None,
) -> Axes:
    """Draw texts below one another, each token on a ground that is the darker the more probable it is; some have a
    dark frame. The last line is the scale. A line break is drawn as ↵, a space that stands alone as ␣.

    Args:
        texts: ``{name: [(token, probability), …]}``; the tokens keep their spaces.
        framed: ``{name: numbers of the tokens that have a frame}``, counted from 0.
        said: what a frame means, for the scale.
        letters: how many letters fit into a line.

    Raises:
        ValueError: if there is nothing to draw, a number is no probability, or a frame belongs to no token.
    """
    if not texts or any(not tokens or not all(0 <= p <= 1 for _, p in tokens) for tokens in texts.values()):
        raise ValueError("texts must have at least one text, and its tokens' probabilities between 0 and 1")
    if any(name not in texts or not set(of) <= set(range(len(texts[name]))) for name, of in framed.items()):
        raise ValueError(f"framed must number tokens of texts, got {dict(framed)}")
    marked = {name: [(*one, i in framed.get(name, ())) for i, one in enumerate(of)] for name, of in texts.items()}
    rows = {name: _lines(tokens, letters) for name, tokens in marked.items()}
    height = sum(1 + len(lines) for lines in rows.values()) + 1.5
    ax = canvas(ax, (6.5, 0.3 * height), (0, letters), (-height, 0))
    row = 0
    for name, lines in rows.items():
        say(ax, 0, -row - 0.5, name, ha="left", weight="bold")
        for line in lines:
            row += 1
            _draw_line(ax, row, line)
        row += 1
    _draw_scale(ax, row + 0.5, said)
    return ax


def _draw_scale(ax: Axes, row: float, said: str) -> None:
    say(ax, 0, -row - 0.5, "probability:", ha="left", size=10)
    for number, p in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        box(ax, 8.1 + number * 3.6, -row - 0.92, 3.4, 0.84, fill=_shade(p), edge=FAINT)
        say(ax, 9.8 + number * 3.6, -row - 0.5, f"{p:g}", size=10)
    box(ax, 28.1, -row - 0.92, _width(said), 0.84, fill=_shade(0.0), edge=INK)
    say(ax, 28.1 + _width(said) / 2, -row - 0.5, said, size=10)


def _draw_line(ax: Axes, row: int, line: Sequence[Marked]) -> None:
    left = 0.0
    for token, p, framed in line:
        width = _width(token)
        box(ax, left + 0.1, -row - 0.92, width - 0.2, 0.84, fill=_shade(p), edge=INK if framed else FAINT)
        say(ax, left + width / 2, -row - 0.5, _seen(token), size=10)
        left += width


def _seen(token: str) -> str:
    """A token as it is written in its box, also where it is only a space or a line break."""
    return token.strip() or ("↵" if "\n" in token else "␣")


def _width(token: str) -> float:
    return len(_seen(token)) * 0.86 + 1.0


def _lines(tokens: Sequence[Marked], letters: int) -> list[list[Marked]]:
    """The tokens in lines of at most ``letters``."""
    lines: list[list[Marked]] = [[]]
    for one in tokens:
        if sum(_width(token) for token, *_ in lines[-1]) + _width(one[0]) > letters:
            lines.append([])
        lines[-1].append(one)
    return lines


def draw_cache(tokens: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw causal attention while the last of ``tokens`` enters: its row alone is computed, from all stored columns.

    Raises:
        ValueError: if there are fewer than two tokens.
    """
    count = len(tokens)
    if count < 2:
        raise ValueError(f"a cache needs at least two tokens, got {list(tokens)}")
    ax = canvas(ax, (6.5, 0.42 * (count + 4)), (-2.2, count + 1.6), (-count - 2.9, 1.1))
    for column, token in enumerate(tokens):
        newest = column == count - 1
        say(ax, column + 0.5, 0.5, token, weight="bold" if newest else "normal", size=10)
        say(ax, -0.15, -column - 0.5, token, ha="right", weight="bold" if newest else "normal", size=10)
        for row in range(count):
            if column > row:
                fill, edge = "white", PAPER
            else:
                fill, edge = (AMBER, INK) if row == count - 1 else (PAPER, FAINT)
            box(ax, column + 0.06, -row - 0.94, 0.88, 0.88, fill=fill, edge=edge)
        for below, kind in enumerate(("key", "value")):
            low = -count - 1.4 - below * 1.0
            box(ax, column + 0.06, low, 0.88, 0.88, fill=AMBER if newest else READS, edge=INK if newest else BLUE)
            say(ax, column + 0.5, low + 0.44, kind[0], size=10)
    say(ax, -2.15, 0.5, "query ↓   key →", ha="left", size=10, colour=LINE)
    say(ax, count + 0.15, -count + 0.5, "new row", ha="left", size=10)
    say(ax, -0.15, -count - 0.96, "keys", ha="right", size=10)
    say(ax, -0.15, -count - 1.96, "values", ha="right", size=10)
    say(ax, count + 0.15, -count - 1.46, "+ 1 column", ha="left", size=10)
    return ax


def _shade(p: float) -> str:
    """From white, for an improbable token, to blue, for a certain one."""
    blue = np.asarray(to_rgb(SKY))
    return to_hex(tuple(1 - p * (1 - blue)))
