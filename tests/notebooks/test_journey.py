"""A lab's whole way through nbgrader: handed out, handed in, graded, exported."""

import csv
from pathlib import Path

import pytest
from nbformat import NotebookNode, from_dict
from nbgrader_forks import nbgrader
from tiny_course import lab_notebook

from coursekit.labrules import points_by_exercise
from coursekit.notebooks import is_answer, is_graded, normalise, read, to_text, write
from coursekit.project import Lab, Project
from coursekit.regions import MARK
from coursekit.release import released_files
from coursekit.term import make_term
from coursekit.textquestion import text_question

# One that runs quickly, as two copies of it are run, and whose exercises do without each other's answers.
LABS = [lab for lab in Project(Path(__file__).parents[2]).labs if lab.number == "lab07"]


def grades(folder: Path) -> dict[str, tuple[float, float]]:
    """student -> (points, points there are), from the CSV that nbgrader exports."""
    nbgrader(folder, "export")
    with (folder / "grades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in rows}


def solved(released: NotebookNode, source: NotebookNode, count: int | None = None) -> NotebookNode:
    """What a student hands in who has solved the first `count` exercises (all, if not given)."""
    notebook = from_dict(released)
    wanted = {cell.id: cell.source for cell in source.cells if is_answer(cell)}
    for cell in [cell for cell in notebook.cells if is_answer(cell)][:count]:
        cell.source = "\n".join(line for line in wanted[cell.id].splitlines() if not MARK.match(line))
    return notebook


def broken(notebook: NotebookNode, number: int, source: str) -> NotebookNode:
    """The notebook with other code in one answer cell."""
    notebook = from_dict(notebook)
    [cell for cell in notebook.cells if is_answer(cell)][number].source = source
    return notebook


def hand_in(folder: Path, lab: Lab, submissions: dict[str, NotebookNode]) -> None:
    """Puts each student's notebook where nbgrader looks for it."""
    for name, notebook in submissions.items():
        write(notebook, folder / "submitted" / name / lab.name / lab.source.name)


def handed_out(folder: Path, lab: Lab) -> NotebookNode:
    """Makes a course with the lab and hands it out: what students get."""
    make_term(folder, [lab])
    nbgrader(folder, "generate_assignment", lab.name)
    return read(folder / "release" / lab.name / lab.source.name)


@pytest.fixture
def tiny_lab(tmp_path: Path) -> Lab:
    project = Project(tmp_path / "book")
    write(lab_notebook(), project.root / "solutions" / "lab01_sums" / "lab01_sums.ipynb")
    return project.labs[0]


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_real_lab_gives_each_student_the_points_one_expects(lab: Lab, tmp_path: Path):
    released, source = handed_out(tmp_path, lab), read(lab.source)
    assert to_text(normalise(released)).encode() == released_files(lab)[lab.source.name]
    points = list(points_by_exercise(source).values())
    full, half = sum(points), len(points) // 2
    most = full + text_question(source.cells).points  # which a person gives
    hand_in(tmp_path, lab, {
        "perfect": solved(released, source),
        "half-right with a crash": broken(solved(released, source, half), 0, "def nothing(:"),
    })  # fmt: skip
    nbgrader(tmp_path, "autograde", lab.name, warm=True)
    assert grades(tmp_path) == {"perfect": (full, most), "half-right with a crash": (sum(points[1:half]), most)}


@pytest.mark.slow
def test_tricks_gain_nothing_and_a_dead_kernel_harms_nobody_else(tiny_lab: Lab, tmp_path: Path):
    released, source = handed_out(tmp_path, tiny_lab), read(tiny_lab.source)
    whole, erased = solved(released, source), from_dict(released)
    for cell in filter(is_graded, erased.cells):
        cell.source = "pass"
    hand_in(tmp_path, tiny_lab, {
        "erases the tests": erased,
        "guesses the visible test": broken(whole, 0, "def double(number):\n    return 4"),
        "kills the kernel": broken(whole, 1, "import os\nos._exit(1)"),
        "untouched": released,
    })  # fmt: skip
    log = nbgrader(tmp_path, "autograde", tiny_lab.name, status=1)
    assert "error processing assignment 'lab01_sums' for student 'kills the kernel'" in log
    points = {name: points for name, (points, _) in grades(tmp_path).items()}
    assert points == {"erases the tests": 0, "guesses the visible test": 3, "kills the kernel": 0, "untouched": 0}
