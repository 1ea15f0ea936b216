"""The text question of a lab's source."""

import json
import subprocess
import sys

import pytest
from nbformat import from_dict
from small_class import MODEL, asking, source

from coursekit import CourseError
from coursekit.labrules import points_by_exercise, points_of, source_problems
from coursekit.leaks import leaks
from coursekit.notebooks import read, write
from coursekit.project import Lab
from coursekit.release import release
from coursekit.textquestion import STUB, question_of_file, text_question
from coursekit.work import holds_work


def changed(answer: str = MODEL, question: str | None = None):
    notebook = asking()
    notebook.cells[-2].source = answer
    notebook.cells[-3].source = notebook.cells[-3].source if question is None else question
    return notebook


@pytest.fixture
def lab(tmp_path):
    path = tmp_path / "solutions" / "lab02_small" / "lab02_small.ipynb"
    notebook = asking()
    for cell in notebook.cells:
        if cell.id.endswith("-check"):
            cell.metadata["tags"] = ["nbval-check-output"]
    write(notebook, path)
    return Lab("lab02_small", path, tmp_path / "labs" / "lab02_small" / "lab02_small.ipynb")


def test_question_points_and_levels_are_read_from_the_lab():
    found = text_question(asking().cells)
    assert (found.question, found.points) == ("Why does padding get no weight?", 2.0)
    assert found.levels == ((2, "Because it is no word."), (1, "It is masked."), (0, "It is zero."))
    assert found.model == "Because it is no word."


def test_a_lab_without_one_asks_none():
    assert text_question(source().cells) is None


@pytest.mark.parametrize("notebook, words", [
    (changed(question="## Why?"), "one line that begins with '> '"),
    (changed(question="> Why?\n> How?"), "one line that begins with '> '"),
    (changed("Because."), "a line '.This is a model answer"),
    (changed(MODEL.removeprefix("Because it is no word.")), "a model answer"),
    (changed(MODEL.replace("- **1 point:** It is masked.\n", "")), "must have the points 2 to 0"),
    (changed(MODEL.replace("**1 point", "**2 point")), "must have the points 2 to 0"),
])  # fmt: skip
def test_a_question_that_cannot_be_understood_says_what_is_wanted(notebook, words):
    with pytest.raises(CourseError, match=words):
        text_question(notebook.cells)


def test_a_file_is_read_without_jupyters_packages(tmp_path):
    path = tmp_path / "lab.ipynb"
    write(asking(), path)
    assert question_of_file(path) == text_question(asking().cells)
    code = (
        "import sys\nfrom pathlib import Path\nfrom coursekit.textquestion import question_of_file\n"
        f"question_of_file(Path({str(path)!r}))\nassert not {{'nbformat', 'nbgrader', 'torch'}} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_students_get_the_question_and_an_empty_cell(lab):
    release(lab)
    given = {cell.id: cell for cell in read(lab.released).cells}
    assert given["text_question"].source == asking().cells[-3].source
    assert given["lab02-text_question"].source == STUB
    assert given["lab02-text_question"].metadata.nbgrader.points == 2
    assert leaks(lab) == []


def test_a_model_answer_in_the_students_copy_is_a_leak(lab):
    notebook = asking()
    notebook.cells[-2].source = MODEL.replace("no word.", "no word, and so attention must not depend on it.")
    write(notebook, lab.source)
    release(lab)
    released = read(lab.released)
    released.cells[0].source += "\n\n" + notebook.cells[-2].source.splitlines()[0]
    write(released, lab.released)
    assert "the answer of cell lab02-text_question is in the student's copy: Because it is" in "\n".join(leaks(lab))


def test_an_answer_that_was_written_is_work(lab):
    release(lab)
    assert not holds_work(lab.released)
    notebook = read(lab.released)
    for cell in notebook.cells:
        cell.metadata.get("nbgrader", {}).pop("checksum", None)
    write(notebook, lab.released)
    assert not holds_work(lab.released)
    next(cell for cell in notebook.cells if cell.source == STUB).source = "Because."
    write(notebook, lab.released)
    assert holds_work(lab.released)


def test_points_of_checks_are_counted_without_it():
    assert points_of(asking()) == points_of(source()) == 6
    assert points_by_exercise(asking()) == points_by_exercise(source())


def problems(lab, change) -> str:
    notebook = from_dict(json.loads(lab.source.read_text()))
    change(notebook.cells)
    write(notebook, lab.source)
    return "\n".join(source_problems(lab))


def test_a_good_one_is_no_problem(lab):
    assert source_problems(lab) == []


@pytest.mark.parametrize("change, words", [
    (lambda cells: cells[-2].metadata.nbgrader.update(grade_id="lab02-why"), "grade id is lab02-text_question"),
    (lambda cells: cells.insert(-1, from_dict({**cells[-2], "id": "again"})), "there is one text question"),
    (lambda cells: cells[-2].update(source="Because."), "model answer"),
    (lambda cells: cells[-2].metadata.nbgrader.update(points=0), "needs points above 0"),
])  # fmt: skip
def test_a_crooked_one_is_a_problem(lab, change, words):
    assert words in problems(lab, change)


def test_code_is_no_written_answer(lab):
    def turn(cells):
        cells[-2].update(cell_type="code", outputs=[], execution_count=None)

    assert "an answer that a person grades is Markdown" in problems(lab, turn)
