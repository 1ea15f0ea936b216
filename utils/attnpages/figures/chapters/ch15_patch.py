"""Figure of chapter 15: a path that is exchanged in SmolLM2, with the weights and the answers that come of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from attnpages.figures.boxes import arrow, box_around, canvas, say
from attnpages.figures.palette import BLUE, FAINT, INK, PAPER, READS, WRITES
from attnpages.figures.style import TRUTH_COLOUR

KEYS, OURS, ANSWER, ASKED = 2.35, 4.65, 6.6, 4.3  # heights of the rows above the twin, and where the question stands


class Read(NamedTuple):
    """What a model does with a text, as shares: finding heads' weights on some colours, and those as the next token."""

    weights: Mapping[str, float]
    answers: Mapping[str, float]


def draw_patch(pairs: Sequence[tuple[str, str]], usual: Read, exchanged: Read) -> Axes:
    """Draw how the keys of some heads receive what other heads wrote on a twin, in which two words change places.

    Args:
        pairs: two words, each with the colour after it; the first word is asked. usual, exchanged: without and with it.

    Raises:
        ValueError: if there are not two pairs, or a colour has no number.
    """
    colours = [colour for _, colour in pairs]
    if len(pairs) != 2 or any(colour not in of for colour in colours for read in (usual, exchanged) for of in read):
        raise ValueError(f"pairs must be two, and each colour have its numbers, got {pairs}, {usual} and {exchanged}")
    ax = canvas(None, (7.2, 6.7), (-1.75, 5.05), (-2.0, 7.25))
    labels = {0.4: "the twin", KEYS: "keys of the\nfinding heads", OURS: "our lines,\nx", ANSWER: "next token"}
    for y, label in labels.items():
        say(ax, -0.55, y, label, ha="right", size=10.5, colour=BLUE if y == KEYS else INK)
    words = [word for word, _ in pairs]
    for step, (own, twin) in enumerate(zip(words, reversed(words), strict=True)):
        _draw_pair(ax, 2 * step, (own, twin), colours[step], found=step == 1)
    for y, word, fill in ((0.4, words[1], WRITES), (OURS, words[0], PAPER)):
        say(ax, 3.6, y, "…", size=13)
        box_around(ax, (ASKED, y), 0.86, 0.56, word, fill=fill, edge=INK)
    _draw_reading(ax, colours, usual, exchanged)
    for y, colour, text in (
        (-0.75, BLUE, "binding heads (layers 2 to 17) write a note w′ on the twin, and w on our lines"),
        (-1.25, TRUTH_COLOUR, "only the keys of the finding heads (layers 18 and 19) read x − w + w′"),
        (-1.75, INK, "queries, values and all other heads read x, with our own notes"),
    ):
        say(ax, -1.7, y, text, ha="left", size=10.5, colour=colour)
    return ax


def _draw_pair(ax: Axes, x: float, words: tuple[str, str], colour: str, found: bool) -> None:
    """A word and its colour, from below: in the twin, as a key with the twin's note, and in our lines with our note."""
    own, twin = words
    box_around(ax, (x, 0.4), 0.86, 0.56, twin, fill=WRITES, edge=INK)
    box_around(ax, (x + 1, 0.4), 0.86, 0.56, colour, edge=INK)
    box_around(ax, (x, OURS), 0.86, 0.56, own, edge=INK)
    for y, note, of, edge in ((KEYS, twin, BLUE, BLUE), (OURS, own, FAINT, INK)):
        box_around(ax, (x + 1, y), 0.86, 0.96, "", fill=READS if found else PAPER, edge=edge)
        say(ax, x + 1, y + 0.22, colour)
        say(ax, x + 1, y - 0.22, f"+ {note}", colour=INK if of == FAINT else of)
    arrow(ax, (x + 0.1, 0.72), (x + 0.8, KEYS - 0.52), BLUE, 2.0)
    say(ax, x + 0.28, 1.4, "w′", size=11, colour=BLUE)
    arrow(ax, (x + 0.43, OURS - 0.22), (x + 0.57, OURS - 0.22), FAINT, 1.5)
    arrow(ax, (x + 1, OURS - 0.5), (x + 1, KEYS + 0.5), FAINT, 1.3, dashed=True)
    say(ax, x + 1.08, KEYS + 0.85, "x − w", ha="left", size=10)


def _draw_reading(ax: Axes, colours: Sequence[str], usual: Read, exchanged: Read) -> None:
    """The weights from the question to both keys, and the answers, with those without the exchange in brackets."""
    for x, colour in zip((1, 3), colours, strict=True):
        share = exchanged.weights[colour]
        found, up = share > 0.1, (x + 0.1, OURS + 0.5)
        arrow(ax, (ASKED - 0.1, OURS - 0.3), (x + 0.46, KEYS + 0.3), TRUTH_COLOUR, 0.8 + 2 * share, dashed=not found)
        arrow(ax, up, (ASKED - 0.72, ANSWER + 0.2 * (2 - x)), INK if found else FAINT, 1.6, dashed=not found)
        say(ax, x + 0.5, KEYS - 0.05, _both(exchanged.weights, usual.weights, colour, "\n"), ha="left", size=10,
            colour=TRUTH_COLOUR)  # fmt: skip
    say(ax, 2.2, ANSWER - 0.45, "by other heads?", ha="right", size=10)
    lines = (f"{colour} {_both(exchanged.answers, usual.answers, colour, ' ')}" for colour in reversed(colours))
    box_around(ax, (ASKED - 0.02, ANSWER), 1.4, 0.96, "\n".join(lines), size=10, fill=WRITES, edge=INK)


def _both(after: Mapping[str, float], before: Mapping[str, float], colour: str, between: str) -> str:
    """A colour's share with the exchange and, in brackets, without it, in percent."""
    return f"{100 * after[colour]:.0f} %{between}({100 * before[colour]:.0f} %)"
