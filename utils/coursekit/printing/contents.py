"""Which pages of the book stand in which file, and in which order: what `book/_toc.yml` says, in groups."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coursekit import CourseError

CONTENTS = Path("book/_toc.yml")
CHAPTER, EVIDENCE, LAB = r"chapters/\d\d_\w+", r"chapters/\d\d_\w+_evidence|book/evidence", r"labs/.*"
BESIDE = r"book/(part\d|quizzes/\w+|ready|notation|glossary|bibliography)"


@dataclass(frozen=True)
class Group:
    """Some pages under one heading: a part of the book."""

    caption: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Volume:
    """One file: its name without an ending, its title, and which pages of the book are in it."""

    name: str
    title: str
    takes: Callable[[str], bool]


def _is_evidence(page: str) -> bool:
    return re.fullmatch(EVIDENCE, page) is not None


def _is_chapter(page: str) -> bool:
    return not _is_evidence(page) and re.fullmatch(f"{CHAPTER}|{BESIDE}", page) is not None


def _is_lab(page: str) -> bool:
    return re.fullmatch(LAB, page) is not None


CHAPTERS = Volume("paying-attention", "Paying Attention", _is_chapter)
PDFS = (
    CHAPTERS,
    Volume("paying-attention-evidence", "Paying Attention: evidence for the chapters", _is_evidence),
    Volume("paying-attention-labs", "Paying Attention: labs", _is_lab),
)
EPUB = Volume("paying-attention", "Paying Attention", lambda page: _is_chapter(page) or _is_evidence(page))


def groups_of(root: Path, volume: Volume) -> list[Group]:
    """The groups of a volume, without those of which it takes nothing.

    Raises CourseError where the book has no table of contents."""
    import yaml

    try:
        contents = yaml.safe_load((root / CONTENTS).read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(f"{root} has no {CONTENTS.as_posix()}, which lists the book's pages") from error
    groups: list[tuple[str, list[str]]] = []
    for part in contents["parts"]:
        if "caption" in part or not groups:
            groups.append((part.get("caption", ""), []))
        groups[-1][1].extend(entry["file"] for entry in part["chapters"] if volume.takes(entry["file"]))
    return [Group(caption, tuple(pages)) for caption, pages in groups if pages]
