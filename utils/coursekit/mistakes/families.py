"""Kinds of mistakes that come back from lab to lab, told by the mistakes' short names: `templates/mistakes.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Entry = tuple[str, str, str]  # lab, exercise, a mistake's short name


@dataclass(frozen=True)
class Family:
    """A kind of mistake.

    Fields:
        title, about: its name, and what lies behind it and what helps. names: a pattern of its members' names.
        read: chapter and heading of the section that explains it, or nothing.
    """

    title: str
    about: str
    names: re.Pattern[str]
    read: tuple[str, ...] = ()


@cache
def families() -> tuple[Family, ...]:
    """All kinds, the narrower ones first."""
    text = (files("coursekit") / "templates" / "mistakes.toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text)["family"]
    return tuple(
        Family(f["title"], f["about"], re.compile("|".join(f["names"]), re.IGNORECASE), tuple(f.get("read", ())))
        for f in listed
    )


def family_of(name: str) -> Family | None:
    """The first family to which a mistake's short name belongs, or None."""
    return next((family for family in families() if family.names.search(name)), None)


def widespread(entries: Iterable[Entry], most: int = 20) -> list[tuple[Family, list[Entry]]]:
    """The families that occur in most exercises, each with its members; then those with most members come first."""
    members: dict[str, list[Entry]] = {}
    for entry in entries:
        if family := family_of(entry[2]):
            members.setdefault(family.title, []).append(entry)
    found = [(family, members[family.title]) for family in families() if family.title in members]
    return sorted(found, key=lambda pair: (-exercises(pair[1]), -len(pair[1])))[:most]


def exercises(entries: Iterable[Entry]) -> int:
    """In how many exercises these mistakes are listed."""
    return len({entry[:2] for entry in entries})
