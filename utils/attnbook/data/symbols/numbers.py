"""Numbers in words, English to German: the book's translation task, with alignments known by construction.

"forty two" is "zwei und vierzig": inside every number the order of units and tens swaps. Words come in
pieces, as if a compound were cut at its joints ("dreihundertzweiundvierzig": drei hundert zwei und vierzig).
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import torch

from attnbook.data.batching import Example, Link, Links, Task
from attnbook.data.splitting import split_by_size
from attnbook.data.texts.vocabulary import Vocabulary

# fmt: off
_EN = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
_DE = [
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf",
    "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
]
# fmt: on
_TENS_EN = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_TENS_DE = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_LIST_EN = [*_EN, *_TENS_EN, "hundred", "and"]
_LIST_DE = [*_DE, "eins", *_TENS_DE, "hundert", "und"]
COMMA = ","


class _Piece(NamedTuple):
    word: str
    place: str  # what the word stands for in the number; words of two languages with one place mean the same


def _below_hundred_en(n: int, group: str) -> list[_Piece]:
    if n < 20:
        return [_Piece(_EN[n], group + "units")]
    tens, units = divmod(n, 10)
    pieces = [_Piece(_TENS_EN[tens - 2], group + "tens")]
    return [*pieces, _Piece(_EN[units], group + "units")] if units else pieces


def _below_hundred_de(n: int, group: str) -> list[_Piece]:
    if n < 20:
        last = n == 1 and not group  # "eins" ends a number; before tausend or und it is "ein"
        return [_Piece("eins" if last else _DE[n], group + "units")]
    tens, units = divmod(n, 10)
    pieces = [_Piece(_TENS_DE[tens - 2], group + "tens")]
    return [_Piece(_DE[units], group + "units"), _Piece("und", group + "und"), *pieces] if units else pieces


def _pieces_en(n: int) -> list[_Piece]:
    thousands, hundreds, rest = n // 1000, n // 100 % 10, n % 100
    pieces = []
    if thousands:
        pieces += [*_below_hundred_en(thousands, "thousand "), _Piece("thousand", "thousand")]
    if hundreds:
        pieces += [_Piece(_EN[hundreds], "hundreds"), _Piece("hundred", "hundred")]
    if pieces and not rest:
        return pieces
    return [*pieces, *([_Piece("and", "and")] if pieces else []), *_below_hundred_en(rest, "")]


def _pieces_de(n: int) -> list[_Piece]:
    thousands, hundreds, rest = n // 1000, n // 100 % 10, n % 100
    pieces = []
    if thousands:
        pieces += [*_below_hundred_de(thousands, "thousand "), _Piece("tausend", "thousand")]
    if hundreds:
        pieces += [_Piece(_DE[hundreds], "hundreds"), _Piece("hundert", "hundred")]
    return pieces if pieces and not rest else [*pieces, *_below_hundred_de(rest, "")]


def _check_number(n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n is {n!r}, a {type(n).__name__}; it must be an int")
    if not 0 <= n < 100_000:
        raise ValueError(f"n is {n}; numbers in words go from 0 to 99,999")


@lru_cache(maxsize=None, typed=True)  # typed: 1.0 and True are no numbers here, though equal to 1
def number_words_en(n: int) -> tuple[str, ...]:
    """English pieces of a number, 0 to 99,999 (else ValueError; TypeError for what is no int).

    >>> number_words_en(342)
    ('three', 'hundred', 'and', 'forty', 'two')
    """
    _check_number(n)
    return tuple(piece.word for piece in _pieces_en(n))


@lru_cache(maxsize=None, typed=True)
def number_words_de(n: int) -> tuple[str, ...]:
    """German pieces of a number, 0 to 99,999 (else ValueError; TypeError for what is no int).

    >>> number_words_de(342)
    ('drei', 'hundert', 'zwei', 'und', 'vierzig')
    """
    _check_number(n)
    return tuple(piece.word for piece in _pieces_de(n))


@lru_cache(maxsize=None, typed=True)
def align_number(n: int) -> tuple[Links, Links]:
    """Links (English index, German index) between the words of a number: (sure, possible), possible ⊇ sure.

    Sure: the two words mean the same (forty – vierzig). Only possible: "und" with the tens and the units that
    it joins; the English "and", which joins hundreds and rest and has no German counterpart, with the German
    word before that joint and with "und".

    >>> sure, possible = align_number(42)  # forty two – zwei und vierzig
    >>> sorted(sure), sorted(possible - sure)
    ([(0, 2), (1, 0)], [(0, 1), (1, 1)])
    """
    _check_number(n)
    english, german = (tuple([piece.place for piece in pieces(n)]) for pieces in (_pieces_en, _pieces_de))
    return _align_places(english, german)


@cache  # numbers of one build (three-digit numbers, say) share their links
def _align_places(english: tuple[str, ...], german: tuple[str, ...]) -> tuple[Links, Links]:
    links = [(s, t) for s in range(len(english)) for t in range(len(german))]
    sure = {(s, t) for s, t in links if english[s] == german[t]}
    und = {(s, t) for s, t in links if _joined_by_und(english[s], german[t])}
    joint = {(s, t) for s, t in links if english[s] == "and" and german[t] in (english[s - 1], "und")}
    return frozenset(sure), frozenset(sure | und | joint)


def _joined_by_und(place: str, und: str) -> bool:
    return und.endswith("und") and place in (und[:-3] + "tens", und[:-3] + "units")


@cache  # a task holds millions of links, but few different ones
def _link(source: int, target: int) -> tuple[int, int]:
    return source, target


@cache
def _moved(links: Links, at: int, to: int) -> tuple[Link, ...]:
    """The links of a number whose words begin at these places of the two lists."""
    return tuple(_link(at + s, to + t) for s, t in links)


def number_list(numbers: Iterable[int]) -> Example:
    """The example of a list of numbers, joined by commas. Raises ValueError if there are none, or a bad one.

    >>> example = number_list([42, 7])
    >>> " ".join(example.source), "→", " ".join(example.target)
    ('forty two , seven', '→', 'zwei und vierzig , sieben')
    >>> sorted(example.sure)
    [(0, 2), (1, 0), (2, 3), (3, 4)]
    """
    source: list[str] = []
    target: list[str] = []
    sure: list[Link] = []
    possible: list[Link] = []
    size = 0
    for size, n in enumerate(numbers, start=1):
        if size > 1:
            for links in (sure, possible):
                links.append(_link(len(source), len(target)))
            source.append(COMMA)
            target.append(COMMA)
        at, to = len(source), len(target)
        for links, found in zip((sure, possible), align_number(n), strict=True):
            links += _moved(found, at, to)
        source += number_words_en(n)
        target += number_words_de(n)
    if not size:
        raise ValueError("numbers is empty; a list needs at least one number")
    return Example(tuple(source), tuple(target), frozenset(sure), frozenset(possible), size)


def number_lists(
    train: int = 40_000,
    validation: int = 500,
    test_per_size: int = 300,
    longest: int = 6,
    longer: Sequence[int] = (8, 10, 12, 16, 24, 32),
    longer_per_size: int = 200,
    seed: int = 0,
) -> Task:
    """Lists of 1 to `longest` numbers from 0 to 999, all sizes equally often: "forty two , seven" → German.

    Test and validation lists never occur in training. Of the 1000 lists with one number, 100 are kept for the
    test and at most 50 for validation, so a test of size 1 asks for numbers that were never seen alone. The
    lists of `longer` have sizes that training never shows.
    Raises ValueError if `longest` is under 1, a size of `longer` is trained, or a count is negative.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(size: int, count: int) -> list[tuple[int, ...]]:
        return [tuple(row) for row in torch.randint(1000, (count, size), generator=generator).tolist()]

    counts = (train, validation, test_per_size, longer_per_size)
    splits = split_by_size(draw, lambda size: 1000**size, range(1, longest + 1), longer, counts, generator)
    words = Vocabulary([*_LIST_EN, COMMA]), Vocabulary([*_LIST_DE, COMMA])
    return Task("number lists", *splits.examples(number_list), *words)


def single_numbers(
    train: int = 40_000, validation: int = 500, test: int = 2_000, below: int = 100_000, seed: int = 0
) -> Task:
    """One number below `below` an example, no number in two splits: the task that fits into a fixed vector.

    17 bits say which number it is, however many words it takes. `size` counts its decimal digits; `longer` is
    empty, and each number comes once.
    Raises ValueError if there are fewer than train + validation + test numbers, or `below` is over 100,000.
    """
    if not 0 < below <= 100_000:
        raise ValueError(f"below is {below}; it must be from 1 to 100,000")
    wanted = train + validation + test
    if min(train, validation, test) < 0:
        raise ValueError(f"train, validation, test are {train}, {validation}, {test}; none may be negative")
    if wanted > below:
        raise ValueError(f"train + validation + test is {wanted}; there are only {below} numbers")
    order = torch.randperm(below, generator=torch.Generator().manual_seed(seed)).tolist()
    examples = [
        Example(number_words_en(n), number_words_de(n), *align_number(n), size=len(str(n))) for n in order[:wanted]
    ]
    parts = examples[:train], examples[train : train + validation], examples[train + validation :]
    words = Vocabulary([*_LIST_EN, "thousand"]), Vocabulary([*_LIST_DE, "tausend"])
    return Task("single numbers", *parts, {}, *words)
