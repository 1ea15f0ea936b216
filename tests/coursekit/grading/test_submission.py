"""Reading what students hand in."""

import time

import nbformat
import pytest
from nbformat import v4
from small_class import (
    LAB,
    POINTS,
    RIGHT,
    SETTING,
    answered,
    changed,
    course_with,
    parts,
    solved,
    source,
    submission,
    with_cell,
)

from coursekit import CourseError
from coursekit.grading.records import digest, jobs_of
from coursekit.grading.submission import NO_PYTHON, CannotGradeError, defined, parts_of, read_submission
from coursekit.notebooks import grader, is_answer, is_graded
from coursekit.work import STUB

NAMES = ["cell setting", *(f"answer {name}" for name in RIGHT)]


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def drop(name):
    return changed(lambda notebook: notebook.cells.remove(cell(notebook, name)))


def names(found) -> list[str]:
    return [name for name, _ in found.cells]


def test_the_exercises_have_the_points_and_inputs_of_the_source():
    found = parts()
    assert {part.exercise: part.points for part in found} == POINTS
    assert {part.variants for part in found} == {(0, 2)}


def test_a_graded_cell_that_calls_no_check_is_the_authors_mistake():
    notebook = source()
    cell(notebook, "weight_sum-check").source = "assert True"
    with pytest.raises(CourseError, match="not one check"):
        parts_of(notebook)


def test_a_solved_notebook_runs_the_labs_cells_and_the_answers_and_no_checks(tmp_path):
    found = submission(tmp_path, solved())
    assert names(found) == NAMES
    assert set(found.answers) == set(RIGHT)
    assert found.notes == []


@pytest.mark.parametrize("name", [*(f"{name}-check" for name in RIGHT), "setting", "title", "closing"])
def test_a_cell_of_the_labs_may_be_deleted(name, tmp_path):
    found = submission(tmp_path, drop(name))
    assert names(found) == NAMES
    assert dict(found.cells)["cell setting"] == SETTING


def test_a_deleted_answer_is_reported(tmp_path):
    found = submission(tmp_path, drop("weight_sum"))
    assert "weight_sum" not in found.answers
    assert "weight_sum: its cell is gone" in found.notes[0]


@pytest.mark.parametrize(
    "text, said",
    [
        ("def weight_sums(weights, value):\n    return 3", "its cell defines weight_sums, and not weight_sum"),
        ("def weight_sum(weights, value:\n    return 3", "its cell is no Python, so that nothing of it runs"),
        ("print(3)", "its cell defines no function at its outermost level"),
    ],
    ids=["another name", "no Python", "nothing"],
)
def test_a_written_answer_from_which_no_function_of_its_name_comes_is_reported(text, said, tmp_path):
    found = submission(tmp_path, changed(lambda notebook: cell(notebook, "weight_sum").update(source=text)))
    assert found.answers["weight_sum"] == text
    assert found.notes == [f"weight_sum: {said}"]


def test_the_notebook_of_another_lab_cannot_be_graded(tmp_path):
    def rename(notebook):
        for one in notebook.cells:
            if is_answer(one):
                grader(one)["grade_id"] = "lab98-another"
                one.source = "def another():\n    return 3"

    with pytest.raises(CannotGradeError, match="holds no answer of this lab, and cells of lab98"):
        submission(tmp_path, changed(rename))


def test_an_answer_that_was_copied_into_the_notebook_of_another_lab_is_graded(tmp_path):
    def rename(notebook):
        for one in notebook.cells:
            if is_answer(one):
                grader(one)["grade_id"] = grader(one)["grade_id"].replace(LAB.partition("_")[0], "lab98")

    assert set(submission(tmp_path, changed(rename)).answers) == set(RIGHT)


def test_a_given_cell_that_a_student_changed_is_run_as_the_lab_has_it(tmp_path):
    found = submission(tmp_path, changed(lambda notebook: cell(notebook, "setting").update(source="import os")))
    assert dict(found.cells)["cell setting"] == SETTING
    assert names(found) == NAMES


def test_of_two_cells_for_an_answer_the_last_written_one_counts(tmp_path):
    notebook = solved()
    copy = v4.new_code_cell(
        "def weight_sum(weights, value):\n    return 3", metadata=cell(notebook, "weight_sum").metadata
    )
    notebook.cells.append(copy)
    found = submission(tmp_path, notebook)
    assert found.answers["weight_sum"].endswith("return 3")
    assert "there are 2 cells" in found.notes[0]


def test_an_unwritten_copy_does_not_count(tmp_path):
    notebook = solved()
    stub = f"def weight_sum(weights, value):\n    {STUB}"
    notebook.cells.append(v4.new_code_cell(stub, metadata=cell(notebook, "weight_sum").metadata))
    assert "@" in submission(tmp_path, notebook).answers["weight_sum"]


def test_without_metadata_an_answer_is_found_by_the_functions_name(tmp_path):
    def strip(notebook):
        for one in notebook.cells:
            one.metadata = {}

    found = submission(tmp_path, changed(strip))
    assert set(found.answers) == set(RIGHT)
    assert names(found) == NAMES
    assert len(found.notes) == 3


def test_without_metadata_and_ids_too(tmp_path):
    def strip(notebook):
        for number, one in enumerate(notebook.cells):
            one.metadata, one.id = {}, f"new-{number}"

    found = submission(tmp_path, changed(strip))
    assert set(found.answers) == set(RIGHT)
    assert names(found)[:2] == NAMES[:2]


def test_points_tags_and_locks_of_a_student_do_not_count(tmp_path):
    def boast(notebook):
        for one in notebook.cells:
            one.metadata["tags"] = ["skip-execution", "needs-solution"]
            if grader(one):
                one.metadata["nbgrader"] |= {"points": 100, "grade": True, "solution": True, "locked": False}

    assert names(submission(tmp_path, changed(boast))) == NAMES


def test_cells_of_ones_own_run_where_they_stand(tmp_path):
    found = submission(tmp_path, with_cell("helper = 3"))
    assert names(found) == ["cell setting", "own cell 1", *NAMES[1:]]
    assert dict(found.cells)["own cell 1"] == "helper = 3"


def test_reordered_cells_are_put_in_order(tmp_path):
    assert names(submission(tmp_path, changed(lambda notebook: notebook.cells.reverse()))) == NAMES


def test_a_magic_is_run_as_jupyter_does_and_what_means_nothing_here_is_told(tmp_path):
    text = "%%time\n%pip install x\ndef weight_sum(weights, value):\n    return weights @ value"
    found = submission(tmp_path, answered(weight_sum=text))
    assert found.answers["weight_sum"] == text
    assert dict(found.cells)["answer weight_sum"].startswith("\nget_ipython().run_line_magic('pip', 'install x')\ndef")
    said = "answer weight_sum: there is no Jupyter where answers are run, so %pip did nothing"
    assert found.notes == [said]
    assert submission(tmp_path / "own", with_cell("!ls")).notes == [
        "own cell 1: there is no Jupyter where answers are run, so !ls did nothing"
    ]


def test_without_metadata_an_answer_below_a_magic_is_found(tmp_path):
    def strip(notebook):
        for one in notebook.cells:
            one.metadata = {}

    notebook = changed(strip)
    cell(notebook, "weight_sum").source = f"%%capture\n{cell(notebook, 'weight_sum').source}"
    assert set(submission(tmp_path, notebook).answers) == set(RIGHT)


def test_much_that_is_no_python_is_refused(tmp_path):
    with pytest.raises(CannotGradeError, match=f"are no Python; at most {NO_PYTHON} are read"):
        submission(tmp_path, with_cell("%x\n" * NO_PYTHON))


@pytest.mark.parametrize("line", ["a?", "?a", "%x", "!x", "a = !x", "a =  %x"])
def test_many_commands_of_jupyters_are_refused_before_ipython_reads_them(line, tmp_path):
    begun = time.monotonic()
    with pytest.raises(CannotGradeError, match="characters of its code are no Python; 2000 commands of Jupyter's"):
        submission(tmp_path, with_cell("\n".join([line] * 2000)))
    assert time.monotonic() - begun < 5


def test_an_honest_cell_with_some_magics_is_read(tmp_path):
    assert submission(tmp_path, with_cell("%matplotlib inline\n!ls\n" * 5 + "x = 7 % 2 != 3\n" * 300)).cells


def test_half_a_character_in_a_cell_is_read_as_a_question_mark(tmp_path):
    content = nbformat.writes(with_cell("x = 'HALF'")).replace("HALF", r"\ud800").encode()
    assert "x = '?'" in dict(submission(tmp_path, content).cells).values()


def test_what_a_cell_defines():
    assert defined("def f():\n    g = 1\nclass C: pass\nx = y = 2") == {"f", "C", "x", "y"}
    assert defined("%%time\ndef f(): return (7\n % 2)\nx = !ls") == {"f", "x"}
    assert defined("def f(:") == set()
    assert defined("(" * 5000) == set()


def test_another_name_is_taken_if_it_is_the_only_one(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    folder = tmp_path / "submitted" / "ann" / LAB
    (folder / f"{LAB}.ipynb").rename(folder / "final (2).ipynb")
    assert "was taken for" in read_submission(folder, source(), LAB).notes[0]


def test_the_ending_may_be_in_capitals(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    folder = tmp_path / "submitted" / "ann" / LAB
    (folder / f"{LAB}.ipynb").rename(folder / f"{LAB}.IPYNB")
    (job,) = jobs_of(tmp_path, LAB)
    before = digest(job)
    assert names(read_submission(folder, source(), LAB)) == NAMES
    (folder / f"{LAB}.IPYNB").write_bytes(b"changed")
    assert digest(job) != before


def test_of_two_notebooks_the_one_of_the_labs_name_is_taken(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    folder = tmp_path / "submitted" / "ann" / LAB
    nbformat.write(answered(weight_sum="weight_sum = 3"), folder / "a.ipynb")
    found = read_submission(folder, source(), LAB)
    assert "@" in found.answers["weight_sum"]
    assert found.notes == [f"a.ipynb lies beside {LAB}.ipynb, and was not read"]
    (folder / f"{LAB}.ipynb").rename(folder / "b.ipynb")
    with pytest.raises(CannotGradeError, match=r"none of the notebooks a\.ipynb, b\.ipynb"):
        read_submission(folder, source(), LAB)


def test_a_link_is_refused(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    path = tmp_path / "submitted" / "ann" / LAB / f"{LAB}.ipynb"
    path.unlink()
    path.symlink_to(tmp_path / "source" / LAB / f"{LAB}.ipynb")
    with pytest.raises(CannotGradeError, match="link"):
        read_submission(path.parent, source(), LAB)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(CannotGradeError, match="no notebook"):
        read_submission(tmp_path, source(), LAB)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_are_read(encoding, tmp_path):
    assert names(submission(tmp_path, nbformat.writes(solved()).encode(encoding))) == NAMES


BROKEN = {
    "empty": b"",
    "half": nbformat.writes(solved()).encode()[:500],
    "not json": b"print('hello')",
    "a list": b"[]",
    "a number": b"7",
    "bytes": bytes(range(256)),
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "cells are a word": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": "x"}',
    "deep": b"[" * 200_000,
    "deep metadata": b'{"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": ' + b'{"a":' * 100_000,
    "another format": b'{"nbformat": 99}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_what_is_no_notebook_is_refused_with_a_reason(content, tmp_path):
    with pytest.raises(CannotGradeError, match="is no notebook"):
        submission(tmp_path, content)


def test_odd_metadata_are_no_obstacle(tmp_path):
    def spoil(notebook):
        cell(notebook, "weight_sum").metadata["nbgrader"] = {"grade_id": ["x"], "points": "many"}
        cell(notebook, "setting").metadata["nbgrader"] = "yes"
        cell(notebook, "masked_softmax").metadata["nbgrader"] = None
        cell(notebook, "title").id = 7

    found = submission(tmp_path, changed(spoil))
    assert set(found.answers) == set(RIGHT)


def test_a_large_notebook_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("coursekit.grading.submission.LARGEST", 100)
    with pytest.raises(CannotGradeError, match="MiB"):
        submission(tmp_path, solved())


def test_the_source_itself_is_never_changed():
    before, notebook = nbformat.writes(source()), source()
    parts_of(notebook)
    assert nbformat.writes(notebook) == before
    assert any(map(is_answer, notebook.cells))
    assert any(map(is_graded, notebook.cells))
