"""What a lab's source must hold."""

import pytest
from nbformat import from_dict

from coursekit import CourseError
from coursekit.labrules import (
    points_by_exercise,
    points_of,
    repeated_grade_ids,
    source_problems,
    step_problems,
    stray_problems,
)
from coursekit.notebooks import read, write
from coursekit.project import Lab
from coursekit.release import release


@pytest.fixture
def lab(project):
    return project.labs[0]


def problems_after(lab, change, function) -> str:
    change(lab.source, function)
    return "\n".join(source_problems(lab))


def nbgrader(name: str, **values):
    """A change of one cell's nbgrader metadata."""

    def apply(cells, _):
        cells[name].metadata.nbgrader.update(values)

    return apply


def test_a_good_lab_has_no_problems(lab):
    assert source_problems(lab) == []
    assert points_of(read(lab.source)) == 5


def test_points_are_counted_by_exercise_and_an_open_one_has_none(lab, change):
    def open_last(_, notebook):
        notebook.cells = [cell for cell in notebook.cells if cell.id != "square-check"]

    assert points_by_exercise(read(lab.source)) == {"lab01-double": 2, "lab01-square": 3}
    change(lab.source, open_last)
    assert points_by_exercise(read(lab.source)) == {"lab01-double": 2, "lab01-square": 0}


@pytest.mark.parametrize("name, values, words", [
    ("double", {"grade": True}, "a graded cell needs points"),
    ("double", {"locked": True}, "no answer, test, written answer or locked cell"),
    ("double", {"points": 2}, "only graded cells have points"),
    ("double", {"grade_id": "double"}, "does not begin with lab01-"),
    ("double", {"schema_version": 2}, "schema_version 3"),
    ("double-check", {"locked": False}, "no answer, test"),
    ("double-check", {"points": 0}, "needs points above 0"),
    ("double-check", {"points": "2"}, "needs points above 0"),
    ("double-check", {"points": True}, "needs points above 0"),
    ("double-check", {"task": True}, "task false"),
])  # fmt: skip
def test_crooked_nbgrader_metadata_are_named(lab, change, name, values, words):
    found = problems_after(lab, change, nbgrader(name, **values))
    assert f"cell {name}: " in found
    assert words in found


def test_an_answer_cell_leaves_the_first_line_to_students(lab, change):
    def close_all(cells, _):
        cells["double"].source = "### BEGIN SOLUTION\ndef double(n):\n    return 2 * n\n### END SOLUTION"

    assert "students get no line" in problems_after(lab, change, close_all)


@pytest.mark.parametrize("markup", [
    "see {cite:t}`bahdanau2015`", "{numref}`fig-a`", ":::{note}\n:::", "```{note}\n```", "(label)=\n# X",
])  # fmt: skip
def test_myst_markup_in_a_lab_is_a_problem(lab, change, markup):
    assert "is MyST" in problems_after(lab, change, lambda cells, _: cells["title"].update(source=markup))


@pytest.mark.parametrize("markup", ["$$a_{ij}$$", "`{x}`", "<details><summary>Hint</summary>\n\nx\n\n</details>"])
def test_plain_markdown_is_fine(lab, change, markup):
    assert problems_after(lab, change, lambda cells, _: cells["title"].update(source=markup)) == ""


def test_a_lab_says_its_title_and_minutes(lab, change):
    found = problems_after(lab, change, lambda _, notebook: notebook.metadata.pop("attnbook"))
    assert "attnbook.title" in found
    assert "attnbook.minutes" in found


def test_a_lab_without_graded_cells_is_a_problem(lab, change):
    def keep_first(_, notebook):
        notebook.cells = notebook.cells[:2]

    assert "no cell is graded" in problems_after(lab, change, keep_first)


def test_graded_cells_of_a_source_have_their_output_compared(lab, change):
    found = problems_after(lab, change, lambda cells, _: cells["double-check"].metadata.pop("tags"))
    assert found.startswith("cell double-check: a graded cell of a source bears the tag nbval-check-output")


def test_a_grade_id_may_stand_once_in_the_whole_course(project, lab):
    other = Lab("lab02_more", project.root / "other.ipynb", project.root / "none.ipynb")
    assert repeated_grade_ids([lab]) == []
    write(from_dict(read(lab.source)), other.source)
    found = repeated_grade_ids([lab, other])
    assert len(found) == 4
    assert found[0] == "lab02_more: grade id lab01-double stands in lab01_sums already"


def test_labs_that_were_never_released_are_missing(project, lab):
    assert step_problems(project, lab) == ["labs/lab01_sums/lab01_sums.ipynb is missing: run `coursekit release`"]


def test_one_changed_byte_is_out_of_step(project, lab):
    release(lab)
    assert step_problems(project, lab) == []
    lab.released.write_bytes(lab.released.read_bytes() + b"\n")
    assert "is not what solutions/ gives" in step_problems(project, lab)[0]


def test_work_in_labs_is_told_in_the_words_in_which_release_refuses(project, lab, change):
    release(lab)
    change(lab.released, lambda cells, _: cells["double"].update(source="def double(n): return 2 * n"))
    with pytest.raises(CourseError) as refused:
        release(lab)
    assert step_problems(project, lab) == [str(refused.value)]


def test_a_stranger_in_labs_is_out_of_step(project, lab):
    release(lab)
    (lab.released.parent / "extra.py").write_text("x")
    assert step_problems(project, lab) == ["labs/lab01_sums/extra.py was not made by release"]


def test_a_source_that_cannot_be_released_says_why(project, lab, change):
    change(lab.source, lambda cells, _: cells["double"].update(source="### BEGIN SOLUTION"))
    assert "never closed" in step_problems(project, lab)[0]


def test_a_lab_without_a_source_is_stray(project):
    (project.root / "labs" / "lab05_gone").mkdir(parents=True)
    assert stray_problems(project) == ["labs/lab05_gone has no source in solutions/"]
