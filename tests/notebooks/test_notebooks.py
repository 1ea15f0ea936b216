"""The course's own notebooks: what `coursekit verify` says of each (nbval runs them, beside this file)."""

from pathlib import Path

import pytest

from coursekit.chapterrules import chapter_problems
from coursekit.labrules import points_of
from coursekit.notebooks import read
from coursekit.project import Lab, Project
from coursekit.unsolved import expected_failures, unsolved_problems
from coursekit.verify import course_problems, lab_problems

PROJECT = Project(Path(__file__).parents[2])
chapters = pytest.mark.parametrize("chapter", PROJECT.chapters, ids=lambda path: path.stem)
labs = pytest.mark.parametrize("lab", PROJECT.labs, ids=lambda lab: lab.name)


def test_each_chapter_has_its_lab():
    """A lab may come before its chapter: it says all that it needs in its own text."""
    numbers = [path.stem[:2] for path in PROJECT.chapters]
    assert numbers
    assert set(numbers) <= {lab.number.removeprefix("lab") for lab in PROJECT.labs}


def test_nothing_clashes_between_notebooks():
    assert course_problems(PROJECT) == []


@chapters
def test_chapters_are_complete_as_stored(chapter: Path):
    assert chapter_problems(chapter) == []


@labs
def test_labs_are_in_step_and_leak_nothing(lab: Lab):
    assert lab_problems(PROJECT, lab, run=False) == []


@labs
def test_labs_give_points(lab: Lab):
    assert points_of(read(lab.released)) == points_of(read(lab.source)) > 0


@pytest.mark.slow
@labs
def test_unsolved_labs_fail_exactly_at_their_exercises(lab: Lab):
    assert expected_failures(read(lab.released))
    assert unsolved_problems(lab) == []
