"""The chapters' models in one file each: with torch alone they run to their end, and print lines as the chapters do.

What the models learn, the chapters' own cells show, and their claims hold: the code is the same. So most trainings are
cut here (`tests/helpers/torch_alone.py`), and one file runs as it is."""

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from torch_alone import run_alone

from coursekit.notebooks import read
from coursekit.project import Project
from coursekit.standalone import printed, tagged, write_standalone

PROJECT = Project(Path(__file__).parents[2])
CHAPTERS = [path for path in PROJECT.chapters if tagged(read(path))]
MOST_SECONDS = 60
# It trains fast, and shows much of the order in which numbers are drawn: words and what it writes for them.
WHOLE = ("02_bahdanau",)


def alike(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1, whatever their numbers."""
    return SequenceMatcher(None, *(re.sub(r"[0-9]", "0", text) for text in (one, other)), autojunk=False).ratio()


def first_words(text: str) -> list[str]:
    """What each line begins with, whatever its numbers."""
    return [re.sub(r"[0-9]", "0", line.split(maxsplit=1)[0]) if line.strip() else "" for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [path for path in CHAPTERS if path.stem not in WHOLE], ids=lambda path: path.stem)
def test_the_model_in_one_file_runs_with_torch_alone_and_prints_lines_as_its_chapter_does(chapter, tmp_path):
    alone = run_alone(write_standalone(PROJECT, chapter, tmp_path), tmp_path, cut=True)
    assert first_words(alone.printed) == first_words(printed(read(chapter)))


@pytest.mark.slow
@pytest.mark.parametrize("stem", WHOLE)
def test_the_model_in_one_file_prints_what_its_chapter_shows_within_a_minute(stem, tmp_path):
    """As far as processors agree: each rounds its sums in its own way, and a training makes the difference larger.

    What the numbers have to be, wherever it runs, the chapter's claims say."""
    chapter = next(path for path in CHAPTERS if path.stem == stem)
    alone = run_alone(write_standalone(PROJECT, chapter, tmp_path), tmp_path)
    shown = printed(read(chapter))
    assert len(alone.printed.splitlines()) == len(shown.splitlines())
    assert alike(alone.printed, shown) > 0.8
    assert alone.seconds <= MOST_SECONDS


def test_other_numbers_are_alike_and_other_words_are_not():
    assert alike("lists of 2: 76% correct\n", "lists of 2: 78% correct\n") == 1
    assert alike("lists of 2: 76% correct\n", "a sentence about something else\n") < 0.6


def test_lines_are_told_by_their_first_words():
    assert first_words("step   0: loss 3.56\n\n42, 300 → zwei\n") == ["step", "", "00,"]
