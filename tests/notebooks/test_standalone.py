"""The chapters' models in one file each: with torch alone they print what the chapters show, within a minute."""

import sys
from pathlib import Path

import pytest
from torch_alone import run_alone

from coursekit.notebooks import read
from coursekit.project import Project
from coursekit.standalone import printed, tagged, write_standalone

PROJECT = Project(Path(__file__).parents[2])
CHAPTERS = [path for path in PROJECT.chapters if tagged(read(path))]
MOST_SECONDS = 60


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_the_model_in_one_file_prints_what_its_chapter_shows(chapter, tmp_path):
    """Bit for bit on the system that stored the chapters; others round their sums in another way."""
    alone = run_alone(write_standalone(PROJECT, chapter, tmp_path), tmp_path)
    shown = printed(read(chapter))
    if sys.platform == "linux":
        assert alone.printed == shown
    else:
        assert len(alone.printed.splitlines()) == len(shown.splitlines())
    assert alone.seconds <= MOST_SECONDS
