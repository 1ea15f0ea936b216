"""The book's own text: sentences of a grammar, facts to be recalled, and some prose. Nothing is fetched.

Three kinds of lines can be asked about. In "The keys near the old cabinet are here." the verb must agree with a noun
that stands far away. In "Mira keeps a grey cat. … The cat of Mira is grey." the colour can only be known from the
beginning of the line. Where two owners have a pet each, a model must also find out whose colour is asked for. The
sentences are made by the code below, the prose was written for this book; all of it may be used like the book's text
(CC BY 4.0).
"""

import re
from typing import NamedTuple

import torch

from attnbook.data.splitting import draw_apart
from attnbook.data.symbols.agreement import Pick, agreement_sentence, other_number, picker, subject_and_verb
from attnbook.data.texts.prose import PROSE
from attnbook.seeding import generator

NAMES = ("Mira", "Tom", "Ada", "Jon", "Lena", "Omar", "Ruth", "Ivan", "Nina", "Paul", "Sara", "Karl")
PETS = ("cat", "dog", "horse", "rabbit", "goose", "pony", "goat", "mouse")
COLOURS = ("grey", "black", "white", "brown", "red", "yellow", "golden", "spotted")
KINDS = ("agreement", "recall", "two facts")
SIZES = tuple(range(3, 10))  # words between subject and verb
_NO_PLACE = re.compile(r"\b(is|are|was|were|seems?|stands?|falls?|stays?) of\b")  # "the baker stays of the king"
_HELD_OUT_PROSE = 10  # of ten sentences of prose one is for validation and one for the test


class Line(NamedTuple):
    """A line of text, and what can be asked about it.

    Fields:
        text: the whole line.
        kind: ``"agreement"``, ``"recall"``, ``"two facts"`` or ``"prose"``; nothing is asked about prose.
        beginning: the line up to the word that is asked for.
        right, wrong: this word, and one that would be a mistake: the verb in the other number, another colour, or the
            colour of the other pet.
    """

    text: str
    kind: str
    beginning: str = ""
    right: str = ""
    wrong: str = ""


class Corpus(NamedTuple):
    """Three parts of a text; no line occurs twice."""

    train: list[Line]
    validation: list[Line]
    test: list[Line]


def agreement_line(pick: Pick) -> Line:
    """A sentence whose verb agrees with a subject 3 to 9 words before it; nouns of either number stand between.

    After Linzen, Dupoux and Goldberg 2016.
    """
    example = agreement_sentence(pick, pick(SIZES))
    _, position = subject_and_verb(example)
    first, *others = example.source
    words = [first.capitalize(), *others]
    right = words[position]
    return Line(" ".join(words) + ".", "agreement", " ".join(words[:position]), right, other_number(right))


def recall_line(pick: Pick) -> Line:
    """A pet and its owner, one or two sentences about something else, and the colour of the pet."""
    owner, pet, (colour, wrong) = pick(NAMES), pick(PETS), _two(pick, COLOURS)
    between = [_short(pick) for _ in range(pick((1, 2)))]
    beginning = " ".join([f"{owner} keeps a {colour} {pet}.", *between, f"The {pet} of {owner} is"])
    return Line(f"{beginning} {colour}.", "recall", beginning, colour, wrong)


def two_facts_line(pick: Pick) -> Line:
    """Two pets and their owners, now and then a sentence about something else, and the colour of one of the pets.

    The pets may be of one kind, so the name decides. Either fact may be the one that is asked for.
    """
    owners, colours = _two(pick, NAMES), _two(pick, COLOURS)
    pets = pick(PETS), pick(PETS)
    facts = [f"{owner} keeps a {colour} {pet}." for owner, colour, pet in zip(owners, colours, pets, strict=True)]
    if pick((True, False)):
        facts.append(_short(pick))
    asked = pick((0, 1))
    beginning = " ".join([*facts, f"The {pets[asked]} of {owners[asked]} is"])
    return Line(f"{beginning} {colours[asked]}.", "two facts", beginning, colours[asked], colours[1 - asked])


def _two(pick: Pick, things: tuple[str, ...]) -> tuple[str, str]:
    first = pick(things)
    return first, pick([thing for thing in things if thing != first])


def _short(pick: Pick) -> str:
    """A sentence with nothing between subject and verb."""
    return " ".join(agreement_sentence(pick, 0).source).capitalize() + "."


def own_corpus(train: int = 6000, validation: int = 300, test: int = 600, seed: int = 0) -> Corpus:
    """The book's own text: as many lines of each of the three kinds, mixed, and some sentences of prose in each part.

    Args:
        train, validation, test: how many lines the grammar makes for each part; prose comes on top (60 lines in all).
        seed: the same lines come for the same seed.

    Raises:
        ValueError: if a count is negative or not a multiple of 3.
    """
    counts, kinds = (train, validation, test), len(KINDS)
    if min(counts) < 0 or any(count % kinds for count in counts):
        raise ValueError(f"counts of lines are {counts}; each must be a multiple of {kinds}, the kinds, and not < 0")
    random = generator(seed)
    makers = (agreement_line, recall_line, two_facts_line)

    def draw(kind: int, count: int) -> list[Line]:
        rows = torch.randint(2**31, (count, 60), generator=random).tolist()  # more numbers than a line takes
        lines = [makers[kind](picker(row)) for row in rows]
        return [line for line in lines if not _NO_PLACE.search(line.text)]

    drawn = [draw_apart(draw, kind, sum(counts) // kinds, ()) for kind in range(kinds)]
    parts, start = [], 0
    for number, count in enumerate(counts):
        lines = [line for lines in drawn for line in lines[start : start + count // kinds]] + _prose(number)
        parts.append([lines[i] for i in torch.randperm(len(lines), generator=random).tolist()])
        start += count // kinds
    return Corpus(*parts)


def _prose(part: int) -> list[Line]:
    """The sentences of prose for training (part 0), validation (1) or test (2)."""
    parts = [1 + i % _HELD_OUT_PROSE if i % _HELD_OUT_PROSE < 2 else 0 for i in range(len(PROSE))]
    return [Line(text, "prose") for text, belongs in zip(PROSE, parts, strict=True) if belongs == part]
