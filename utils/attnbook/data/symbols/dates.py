"""Dates as people write them, character by character, to ISO 8601: "3. September 1987" → "1987-09-03".

The names of months and days are those of the Unicode locale data (CLDR), read through Babel.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache

import torch

from attnbook.data.batching import Example, Links, Task
from attnbook.data.texts.vocabulary import Vocabulary
from attnbook.extras import needed_from

# (locale, CLDR pattern). Figures alone always stand in the order day, month, year or year, month, day: with
# 04/03/1987 meaning two days, no model could be right. https://unicode.org/reports/tr35/tr35-dates.html
FORMATS = (
    ("en_GB", "d MMMM y"),
    ("en_GB", "EEEE, d MMMM y"),
    ("en_GB", "dd/MM/y"),
    ("en_US", "MMMM d, y"),
    ("en_US", "EEEE, MMMM d, y"),
    ("en_US", "MMM d, y"),
    ("de", "d. MMMM y"),
    ("de", "EEEE, d. MMMM y"),
    ("de", "dd.MM.y"),
    ("fr", "d MMMM y"),
    ("fr", "EEEE d MMMM y"),
    ("es", "d 'de' MMMM 'de' y"),
    ("it", "EEEE d MMMM y"),
    ("nl", "EEEE d MMMM y"),
    ("nl", "dd-MM-y"),
    ("sv", "d MMM y"),
    ("zh", "y年M月d日"),
    ("zh", "y年M月d日EEEE"),
)
_PLACES = {"y": (0, 1, 2, 3), "M": (5, 6), "d": (8, 9)}  # where the fields stand in 1987-09-03
_HYPHENS = (4, 7)


def written_date(day: date, locale: str, pattern: str) -> Example:
    """The example of one date, written for a locale with a CLDR pattern (y, M, d, E; 'quoted' words stay).

    Sure links join equal figures. Possible ones: each letter of a month's name with both figures of the
    month, a lone figure with the zero put before it, what stands between the fields with the hyphens. `size`
    counts the characters of the source. Raises ValueError for a pattern without y, M or d, with a field twice
    or one that is none of y, M, d, E, and for a year that has not four figures.

    >>> example = written_date(date(1987, 9, 3), "de", "d. MMMM y")
    >>> "".join(example.source), "".join(example.target), sorted(example.sure)[0]
    ('3. September 1987', '1987-09-03', (0, 9))
    """
    tokens = _tokens(pattern)
    if not 1000 <= day.year <= 9999:
        raise ValueError(f"day is {day.isoformat()}; the year needs four figures, 1000 to 9999")
    texts = [value if kind == "chars" else _field(value[0], value[1], day, locale) for kind, value in tokens]
    fields = ["-" if kind == "chars" else value[0] for kind, value in tokens]
    layout = [(name, len(text), text.isdecimal()) for name, text in zip(fields, texts, strict=True)]
    links = _align(tuple(layout))
    source = tuple("".join(texts))
    return Example(source, tuple(day.isoformat()), *links, len(source))


@cache
def _tokens(pattern: str) -> list:
    with needed_from("notebooks"):
        from babel.dates import tokenize_pattern
    tokens = tokenize_pattern(pattern)
    fields = "".join([value[0] for kind, value in tokens if kind == "field"])
    if not {*"yMd"} <= {*fields} <= {*"yMdE"} or len(fields) > len({*fields}):
        raise ValueError(f"pattern is {pattern!r} with fields {fields!r}; wanted y, M, d once each")
    return tokens


def _field(letter: str, width: int, day: date, locale: str) -> str:
    if letter == "E":
        return _name("E" * width, locale, date(2001, 1, 1 + day.weekday()))  # that 1 January was a Monday
    if letter == "M" and width > 2:
        return _name("M" * width, locale, date(2001, day.month, 1))
    return str({"y": day.year, "M": day.month, "d": day.day}[letter]).zfill(width)


@cache  # asking Babel for each of 40,000 dates would take seconds
def _name(pattern: str, locale: str, day: date) -> str:
    with needed_from("notebooks"):
        from babel.dates import format_date
    return format_date(day, pattern, locale=locale)


@cache  # dates of one layout share their links
def _align(layout: tuple[tuple[str, int, bool], ...]) -> tuple[Links, Links]:
    """The links of a date whose parts are (field or "-", characters, are they figures?)."""
    sure, possible, start = set(), set(), 0
    for field, length, is_figures in layout:
        source = range(start, start + length)
        places = _PLACES.get(field, _HYPHENS if field == "-" else ())
        if field in _PLACES and is_figures:
            sure |= set(zip(reversed(source), reversed(places), strict=False))  # 3 is the last figure of 03
        if not is_figures or length < len(places):
            possible |= {(s, t) for s in source for t in places}
        start += length
    return frozenset(sure), frozenset(sure | possible)


def dates(
    train: int = 40_000,
    validation: int = 500,
    test: int = 2_000,
    years: tuple[int, int] = (1950, 2049),
    formats: Sequence[tuple[str, str]] = FORMATS,
    seed: int = 0,
) -> Task:
    """Characters of a date in one of 18 formats and eight languages → characters of the ISO date.

    No *date* is in two splits: with a mere split by string, a test date would have been seen in another
    dress. Training may write one date in several ways; validation and test take each of theirs once. `size`
    counts the characters of the source; `longer` is empty. Raises ValueError when validation and test would
    leave no date of these years for training, a count is negative, or there is no format.
    """
    if not formats:
        raise ValueError("formats is empty; it needs at least one pair (locale, pattern)")
    first, last = date(years[0], 1, 1), date(years[1], 12, 31)
    days = (last - first).days + 1
    if min(train, validation, test) < 0 or validation + test >= days:
        raise ValueError(
            f"train, validation, test are {train}, {validation}, {test}; wanted 0 or more each, and the last "
            f"two together fewer than the {max(days, 0)} dates of {years[0]} to {years[1]}"
        )
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(days, generator=generator)
    again = torch.randint(validation + test, days, (train,), generator=generator)
    which = torch.cat([order[: validation + test], order[again]]).tolist()
    how = torch.randint(len(formats), (len(which),), generator=generator).tolist()
    examples = [written_date(first + timedelta(i), *formats[j]) for i, j in zip(which, how, strict=True)]
    parts = examples[validation + test :], examples[:validation], examples[validation : validation + test]
    return Task("dates", *parts, {}, _characters(formats), Vocabulary("0123456789-"))


def _characters(formats: Sequence[tuple[str, str]]) -> Vocabulary:
    """Every character that these formats can write: one leap year holds all names of months and weekdays."""
    days = [date(2000, 1, 1) + timedelta(i) for i in range(366)]
    written = [written_date(day, *form).source for day in days for form in formats]
    return Vocabulary(sorted({*"0123456789"}.union(*written)))
