"""The chapters' models in one file each: with torch alone they print what the chapters show, within a minute."""

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


def alike(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1, whatever their numbers."""
    return SequenceMatcher(None, *(re.sub(r"[0-9]", "0", text) for text in (one, other)), autojunk=False).ratio()


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_the_model_in_one_file_prints_what_its_chapter_shows(chapter, tmp_path):
    """As far as processors agree: each rounds its sums in its own way, and a training makes the difference larger.

    What the numbers have to be, wherever it runs, the chapter's claims say."""
    alone = run_alone(write_standalone(PROJECT, chapter, tmp_path), tmp_path)
    shown = printed(read(chapter))
    assert len(alone.printed.splitlines()) == len(shown.splitlines())
    assert alike(alone.printed, shown) > 0.8
    assert alone.seconds <= MOST_SECONDS


def test_other_numbers_are_alike_and_other_words_are_not():
    assert alike("lists of 2: 76% correct\n", "lists of 2: 78% correct\n") == 1
    assert alike("lists of 2: 76% correct\n", "a sentence about something else\n") < 0.6
