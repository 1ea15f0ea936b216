"""What an exam is made of: a kind of question, and one question of this kind with its numbers drawn.

A kind is a function of a random generator, so that a seed gives the same question again. Its points and minutes belong
to the kind: other numbers make it no harder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Level:
    """How much a question is worth, and how long it takes."""

    points: int
    minutes: int


SHORT, LONG = Level(points=3, minutes=5), Level(points=6, minutes=9)


@dataclass(frozen=True)
class Table:
    """Numbers in rows and columns; every cell is text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = str | Table  # a paragraph, in which <sub> and <sup> are the only tags, or a table


@dataclass(frozen=True)
class Step:
    """One step of the worked solution, and what it is worth."""

    text: str
    points: int


@dataclass(frozen=True)
class Question:
    """One question with its numbers.

    Fields:
        text: what students read.
        given: the numbers that were drawn, for whoever wants to compute the answer in another way.
        answers: ``{name: number, list of numbers, or word}``, computed by the package.
        steps: the solution; their points are those of the kind.
    """

    text: tuple[Block, ...]
    given: Mapping[str, Any]
    answers: Mapping[str, Any]
    steps: tuple[Step, ...]


Make = Callable[[Random], Question]


@dataclass(frozen=True)
class Kind:
    """A question whose numbers are open."""

    name: str
    chapter: int
    level: Level
    title: str
    make: Make

    def question(self, seed: str) -> Question:
        """The question of this kind that belongs to a seed."""
        return self.make(Random(f"{seed}/{self.name}"))


KINDS: dict[str, Kind] = {}


def kind(chapter: int, level: Level, title: str) -> Callable[[Make], Make]:
    """Enter a function into KINDS, under its own name.

    Raises ValueError for a name that is taken."""

    def enter(make: Make) -> Make:
        name = make.__name__
        if name in KINDS:
            raise ValueError(f"two kinds of question are called {name}")
        KINDS[name] = Kind(name, chapter, level, title, make)
        return make

    return enter
