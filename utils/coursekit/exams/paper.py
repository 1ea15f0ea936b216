"""Which questions each exam has: slots of fixed points and minutes, filled by a seed."""

import math
import unicodedata
from dataclasses import dataclass
from random import Random

from coursekit import CourseError
from coursekit.exams.kinds import KINDS
from coursekit.exams.question import LONG, SHORT, Kind, Level, Question


@dataclass(frozen=True)
class Slot:
    """A place in an exam: one question of this level from one of these chapters."""

    level: Level
    chapters: tuple[int, ...]

    def fits(self, kind: Kind) -> bool:
        """Whether a kind of question may stand here."""
        return kind.level == self.level and kind.chapter in self.chapters


def _slots(level: Level, *chapters: tuple[int, ...]) -> tuple[Slot, ...]:
    return tuple(Slot(level, some) for some in chapters)


SLOTS = {
    "midterm": (
        *_slots(LONG, (1, 2), (2, 3), (4, 6), (7, 8)),
        *_slots(SHORT, (1,), (2, 3), (4, 6), (5,), (7,), (8,), (7, 8)),
    ),
    "final": (
        *_slots(LONG, (1, 2, 3), (4, 6), (7, 8), (9, 10), (11, 12), (13, 16)),
        *_slots(SHORT, (1, 2, 3), (4, 5), (5, 6), (7, 8), (9,), (10,), (11, 12), (13, 14), (14, 15), (16, 17)),
    ),
    "models": (*_slots(LONG, (19, 20)), *_slots(SHORT, (19, 20))),  # of their own, since not every class reads them
}
NAMES = {"midterm": "Mid-term exam", "final": "Final exam", "models": "Test on real models"}


@dataclass(frozen=True)
class Item:
    """A question in an exam."""

    number: int
    kind: Kind
    question: Question


@dataclass(frozen=True)
class Paper:
    """An exam: its questions, in the order of the chapters."""

    name: str
    seed: str
    items: tuple[Item, ...]

    @property
    def title(self) -> str:
        """`Mid-term exam`."""
        return NAMES[self.name]

    @property
    def points(self) -> int:
        """All that can be earned."""
        return sum(item.kind.level.points for item in self.items)

    @property
    def minutes(self) -> int:
        """The time of all questions and a tenth more for reading, in whole quarters of an hour."""
        return 15 * math.ceil(1.1 * sum(item.kind.level.minutes for item in self.items) / 15)


def compose(name: str, seed: str) -> Paper:
    """The exam that belongs to a seed: the same seed gives the same exam, on each machine.

    Args:
        name: a key of SLOTS. seed: any text; whoever knows it can make the solutions.

    Raises:
        CourseError: for an unknown exam, or an empty seed.
    """
    if name not in SLOTS:
        raise CourseError(f"there is no exam {name!r}; there are: {', '.join(SLOTS)}")
    if not seed.strip():
        raise CourseError("the seed is empty; take a long one, since whoever guesses it can make the solutions")
    seed = unicodedata.normalize("NFC", seed)  # ü may come as one sign or as two, which nobody sees
    draw, chosen = Random(f"{seed}/{name}"), list[Kind]()
    for slot in SLOTS[name]:
        chosen.append(draw.choice([kind for kind in KINDS.values() if slot.fits(kind) and kind not in chosen]))
    chosen.sort(key=lambda kind: kind.chapter)
    items = (Item(number, kind, kind.question(f"{seed}/{name}")) for number, kind in enumerate(chosen, start=1))
    return Paper(name, seed, tuple(items))
