"""Made sentences about people whose names no vocabulary holds, to be told the other way round (CC BY 4.0, our own).

*on monday Tarolim sold a boat to Vesku .* becomes *Vesku bought a boat from Tarolim .* Names are made of syllables by
chance, so hardly any comes twice. Within an instance the first name that appears has the number V, the next one V + 1,
and so on, with V words in the vocabulary.
"""

from typing import NamedTuple

import torch

from attnbook.data.batching import Batch, pad_rows
from attnbook.data.texts.vocabulary import EOS, Vocabulary
from attnbook.seeding import generator

THINGS = ("boat", "lamp", "goat", "violin", "clock", "kite", "barrel", "map")
WHEN = ("", "on monday", "last summer", "before the storm came", "to the surprise of all")
WHO_SAYS = ("", "C says that", "as C told us")
AFTER = ("", "and A was glad", "and then B went home", "while C looked on")
EVENTS = (
    ("A sold a thing to B", "B bought a thing from A"),
    ("B bought a thing from A", "A sold a thing to B"),
    ("A lent B a thing", "B borrowed a thing from A"),
    ("B borrowed a thing from A", "A lent B a thing"),
    ("a thing was given to B by A", "A gave B a thing"),
    ("A gave B a thing", "a thing was given to B by A"),
)
SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")
PEOPLE = ("A", "B", "C")


def _all_words() -> list[str]:
    parts = [*WHEN, *WHO_SAYS, *AFTER, *(side for event in EVENTS for side in event)]
    used = {word for part in parts for word in part.split()} - {*PEOPLE, "thing"}
    return sorted(used | {*THINGS, "."})


UNKNOWN = "<unk>"
WORDS = Vocabulary([UNKNOWN, *_all_words()])
UNK = WORDS.encode([UNKNOWN])[0]
SIZE = len(WORDS) + len(PEOPLE)  # numbers that a word of an instance can have


class Story(NamedTuple):
    """A sentence and how it is told the other way round, both as words."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def make_name(generator: torch.Generator) -> str:
    """Two or three syllables and perhaps a last letter: 70² · (1 + 70) · 4 ≈ 1.4 million names."""
    count = 2 + int(torch.randint(2, (), generator=generator))
    picked = torch.randint(len(SYLLABLES), (count,), generator=generator).tolist()
    last = ("", "n", "l", "s")[int(torch.randint(4, (), generator=generator))]
    return ("".join(SYLLABLES[number] for number in picked) + last).capitalize()


def make_story(generator: torch.Generator) -> Story:
    """Draw one sentence; its people have three different names."""

    def pick(options):
        return options[int(torch.randint(len(options), (), generator=generator))]

    names: dict[str, str] = {}
    while len(set(names.values())) < len(PEOPLE):
        names = {person: make_name(generator) for person in PEOPLE}
    told, retold = pick(EVENTS)
    named = names | {"thing": pick(THINGS)}
    whole = " ".join([pick(WHEN), pick(WHO_SAYS), told, pick(AFTER), "."])
    return Story(*(tuple(named.get(word, word) for word in text.split()) for text in (whole, f"{retold} .")))


def encode_story(story: Story) -> tuple[list[int], list[int]]:
    """Numbers of both sides; names get theirs in the order in which the source has them.

    Raises:
        ValueError: if the target has a name that the source has not, or there are more names than numbers for them.
    """
    known = set(WORDS.words)
    new = [word for word in dict.fromkeys(story.source) if word not in known]
    missing = [word for word in story.target if word not in known and word not in new]
    if missing or len(new) > len(PEOPLE):
        raise ValueError(f"the source {story.source} must have {missing or new}, and at most {len(PEOPLE)} names")
    source, target = (
        [len(WORDS) + new.index(word) if word in new else WORDS.encode([word])[0] for word in side] for side in story
    )
    return source, [*target, EOS]


def name_batch(count: int, seed: int = 0) -> Batch:
    """``count`` sentences and what they become: source ``(B, Tk)``, lengths ``(B,)``, target ``(B, T)``.

    Raises:
        ValueError: if ``count`` is not positive.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    source = generator(seed)
    rows = [encode_story(make_story(source)) for _ in range(count)]
    lengths = torch.tensor([len(told) for told, _ in rows])
    return Batch(pad_rows([told for told, _ in rows]), lengths, pad_rows([retold for _, retold in rows]))


def without_names(words: torch.Tensor) -> torch.Tensor:
    """What a model without copying is shown: every name is the unknown word."""
    return words.masked_fill(words >= len(WORDS), UNK)
