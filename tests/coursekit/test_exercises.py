"""What an exercise says of itself is what its notebook shows, and only the exercise is changed by hand."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest

from coursekit import CourseError
from coursekit.exercises import ABSENT, answer_source, exercise_problems, exercises_of, filled, write_exercises
from coursekit.notebooks import CHECK_OUTPUT, grader, read, to_text
from coursekit.project import Project, find_project
from misread.exercise import About, Exercise

LABS = find_project(Path(__file__)).labs


def halve(number):
    """Half of a number."""
    half = number / 2
    return half


def treble(number):
    return 3 * number


HALVE = Exercise(halve, cases=lambda draw: [(1,)], about=About(points=2, minutes=7, difficulty=3))
TREBLE = Exercise(treble, cases=lambda draw: [(1,)], about=About(points=1, minutes=5, difficulty=1))
TABLE = """# A lab

**You need** a pencil and about … minutes.

| | Exercise | Difficulty | Minutes | Points |
|---|---|---|---|---|
| | *How it works* | | 4 | – |
| | *A text question: 15 minutes more* | | – | 3 |"""


@pytest.fixture
def notebook(project):
    """A lab's first cell, and the text of one exercise below it."""
    source = read(project.labs[0].source)
    source.cells = source.cells[:2]
    title, text = source.cells
    title.source = TABLE
    text.cell_type, text.source = "markdown", "## Exercise: `halve`\n\nHalve it."
    return source


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_lab_is_what_its_exercises_say(lab):
    assert exercise_problems(lab) == []
    for exercise in exercises_of(lab).values():
        assert exercise.about.minutes > 0
        assert exercise.about.points >= 1
        assert 1 <= exercise.about.difficulty <= 5


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_reference_is_the_solution_of_its_notebook(lab):
    answers = {cell.id: cell.source for cell in read(lab.source).cells}
    for name, exercise in exercises_of(lab).items():
        assert answers[f"{lab.number}-{name}"] == answer_source(exercise.reference)


def test_an_exercise_of_which_only_the_text_is_there_gets_all_the_rest(notebook):
    lab = filled(notebook, "lab01", {"halve": HALVE})
    title, text, answer, check = lab.cells
    assert text.source == "## Exercise 1: `halve` · ●●● · 7 minutes\n\nHalve it."
    assert answer.source == (
        'def halve(number):\n    """Half of a number."""\n    ### BEGIN SOLUTION\n    half = number / 2\n'
        "    return half\n    ### END SOLUTION"
    )
    assert check.source == (
        "check.halve(halve)\n### BEGIN HIDDEN TESTS\ncheck.halve(halve, variant=2)\ncheck.halve(halve, variant=3)\n"
        "### END HIDDEN TESTS"
    )
    assert (grader(answer)["grade_id"], grader(check)["grade_id"]) == ("lab01-halve", "lab01-halve-check")
    assert (grader(answer)["solution"], grader(check)["grade"], grader(check)["points"]) == (True, True, 2)
    assert check.metadata["tags"] == [CHECK_OUTPUT]
    assert "|---|---|---|---|---|\n| 1 | `halve` | ●●● | 7 | 2 |\n| | *How it works*" in title.source
    assert "about 11 minutes" in title.source
    assert lab.metadata["attnbook"]["minutes"] == 11


def test_a_change_of_an_exercise_reaches_each_place_and_nothing_else(notebook):
    once = filled(notebook, "lab01", {"halve": HALVE})
    assert to_text(filled(once, "lab01", {"halve": HALVE})) == to_text(once)
    longer = replace(HALVE, about=replace(HALVE.about, minutes=20, points=4))
    again = filled(once, "lab01", {"halve": longer})
    assert [cell.id for cell in again.cells] == [cell.id for cell in once.cells]
    assert "| 1 | `halve` | ●●● | 20 | 4 |" in again.cells[0].source
    assert "about 24 minutes" in again.cells[0].source
    assert again.cells[1].source.startswith("## Exercise 1: `halve` · ●●● · 20 minutes\n")
    assert grader(again.cells[3])["points"] == 4


def test_what_is_absent_in_grading_is_said_once_where_a_lab_says_how_it_works(notebook):
    notebook.cells[1].source = "## How this lab works\n\nRun it.\n\n" + notebook.cells[1].source
    for _ in range(2):
        notebook = filled(notebook, "lab01", {"halve": HALVE})
    assert notebook.cells[1].source.count(ABSENT) == notebook.cells[1].source.count("If a teacher grades") == 1


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_lab_says_what_is_absent_in_grading(lab):
    assert sum(cell.source.count(ABSENT) for cell in read(lab.source).cells) == 1


def test_a_reference_without_a_docstring_leaves_the_answer_to_the_notebook(notebook):
    notebook.cells[1].source = "## Exercise: `treble`"
    lab = filled(notebook, "lab01", {"treble": TREBLE})
    lab.cells[2].source = "my own"
    assert filled(lab, "lab01", {"treble": TREBLE}).cells[2].source == "my own"


def test_an_exercise_that_is_taken_out_leaves_the_table(notebook):
    more = copy.deepcopy(notebook.cells[1])
    more.id, more.source = "more", "## Exercise: `treble`"
    notebook.cells.append(more)
    both = filled(notebook, "lab01", {"halve": HALVE, "treble": TREBLE})
    assert "| 2 | `treble` | ● | 5 | 1 |" in both.cells[0].source
    both.cells = [cell for cell in both.cells if "halve" not in cell.source or cell is both.cells[0]]
    one = filled(both, "lab01", {"treble": TREBLE})
    assert "| 1 | `treble` | ● | 5 | 1 |" in one.cells[0].source
    assert "halve" not in one.cells[0].source
    assert one.metadata["attnbook"]["minutes"] == 9


def test_headings_in_another_order_or_without_an_exercise_are_named(notebook):
    with pytest.raises(CourseError, match=r"are those of halve; EXERCISES in utils/attnlabs/lab01 has.*treble, halve"):
        filled(notebook, "lab01", {"treble": TREBLE, "halve": HALVE})
    notebook.cells[1].source = "# No exercise"
    with pytest.raises(CourseError, match="are those of no exercise"):
        filled(notebook, "lab01", {"halve": HALVE})


def test_a_lab_without_a_table_is_told_what_is_missing(notebook):
    notebook.cells[0].source = "# A lab"
    with pytest.raises(CourseError, match="the first cell has no table"):
        filled(notebook, "lab01", {"halve": HALVE})


def test_a_lab_of_another_course_is_left_alone(project: Project):
    before = project.labs[0].source.read_bytes()
    assert exercises_of(project.labs[0]) == {}
    assert exercise_problems(project.labs[0]) == []
    assert not write_exercises(project.labs[0])
    assert project.labs[0].source.read_bytes() == before


def test_a_lab_out_of_step_is_named_with_its_cell_and_mended(tmp_path, monkeypatch, notebook):
    lab = LABS[1]
    changed = tmp_path / lab.source.name
    changed.write_text(lab.source.read_text(encoding="utf-8").replace("· ●● · 12 minutes", "· ●● · 13 minutes"))
    copied = replace(lab, source=changed)
    monkeypatch.setattr("coursekit.exercises.exercises_of", lambda _: exercises_of(lab))
    (problem,) = exercise_problems(copied)
    assert "is not what utils/attnlabs/lab02 says: run `coursekit release`" in problem
    assert write_exercises(copied)
    assert exercise_problems(copied) == []
    assert changed.read_bytes() == lab.source.read_bytes()
