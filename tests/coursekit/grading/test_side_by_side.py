"""A class is graded side by side, and an interrupted run goes on."""

import os
import sys
from types import SimpleNamespace

import pytest
from small_class import LAB, answered, course_with, solved, source, with_cell

from coursekit import CourseError
from coursekit.grading import side_by_side, wire
from coursekit.grading.records import FAULT, jobs_of, stored
from coursekit.grading.side_by_side import KILLED, grade_all, graded
from coursekit.notebooks import write

WRONG = answered(weight_sum="def weight_sum(weights, value):\n    return value")


def points(grades) -> dict[str, float | None]:
    return {grade.student: grade.points for grade in grades}


@pytest.mark.slow
def test_a_second_run_grades_nothing_and_a_changed_notebook_is_graded_again(tmp_path, in_this_process):
    course_with(tmp_path, {"ann": solved(), "bob": WRONG, "eve": b"broken"})
    wanted = {"ann": 6.0, "bob": 5.0, "eve": None}
    assert points(grade_all(jobs_of(tmp_path, LAB), isolated=False)) == wanted
    in_this_process.clear()
    assert points(grade_all(jobs_of(tmp_path, LAB), isolated=False)) == wanted
    assert in_this_process == []
    course_with(tmp_path, {"bob": solved()})
    assert points(grade_all(jobs_of(tmp_path, LAB), isolated=False)) == wanted | {"bob": 6.0}
    assert in_this_process == ["bob"]


@pytest.mark.slow
def test_after_an_interruption_what_is_done_stays_done(tmp_path, in_this_process):
    course_with(tmp_path, {"ann": solved(), "bob": WRONG})
    next(iter(grade_all(jobs_of(tmp_path, LAB), isolated=False)))
    assert points(grade_all(jobs_of(tmp_path, LAB), isolated=False)) == {"ann": 6.0, "bob": 5.0}
    assert in_this_process == ["ann", "bob"]


@pytest.mark.slow
def test_where_the_labs_own_solution_loses_points_nothing_is_graded_nor_kept_and_the_reason_is_said(
    tmp_path, in_this_process
):
    course_with(tmp_path, {"ann": solved()})
    notebook = source()
    next(cell for cell in notebook.cells if cell.id == "weight_sum").source = "def weight_sum(w, v):\n    return v"
    (job,) = jobs_of(tmp_path, LAB)
    write(notebook, job.source)
    with pytest.raises(CourseError, match=r"nothing was graded.*lost 1.0 of 6.0 points.*\n✗ weight_sum"):
        list(grade_all([job], isolated=False))
    assert in_this_process == []
    assert stored(job) is None


def test_where_no_process_for_answers_can_be_had_nothing_is_graded_nor_kept(tmp_path, in_this_process, monkeypatch):
    def refused():
        raise wire.WireError("no namespaces")

    course_with(tmp_path, {"ann": solved()})
    monkeypatch.setattr(side_by_side, "_running", lambda: SimpleNamespace(submission=refused, ended=False))
    with pytest.raises(CourseError, match=r"lost 6.0 of 6.0 points.*\n✗ masked_softmax: .*no namespaces"):
        list(grade_all(jobs_of(tmp_path, LAB), isolated=False))
    assert [stored(job) for job in jobs_of(tmp_path, LAB)] == [None]


OF_THE_GRADER = """\
import os, signal
pid = os.getppid()
for _ in range(2):  # from the fork to the warm process, and on to the grader
    pid = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the grader in /proc")
def test_who_kills_the_grader_is_named_and_left_blank_and_the_others_are_graded(tmp_path):
    course_with(tmp_path, {"ann": with_cell(OF_THE_GRADER), "bob": solved(), "eve": WRONG})
    found = {grade.student: grade for grade in grade_all(jobs_of(tmp_path, LAB), 1, isolated=False)}
    assert points(found.values()) == {"ann": None, "bob": 6.0, "eve": 5.0}
    assert found["ann"].refused == f"{FAULT} {KILLED}"


@pytest.mark.slow
def test_a_fault_of_the_grader_leaves_a_blank_stops_nobody_and_is_tried_again(tmp_path, in_this_process, monkeypatch):
    course_with(tmp_path, {"ann": solved(), "bob": solved()})

    def fails(job, warm):
        if job.student == "ann":
            raise RuntimeError("a fault")
        return graded(job, warm)

    with monkeypatch.context() as patch:
        patch.setattr(side_by_side, "graded", fails)
        found = {grade.student: grade for grade in grade_all(jobs_of(tmp_path, LAB), isolated=False)}
    assert found["ann"].refused == f"{FAULT} RuntimeError: a fault"
    assert (found["ann"].points, found["bob"].points) == (None, 6.0)
    assert points(grade_all(jobs_of(tmp_path, LAB), isolated=False)) == {"ann": 6.0, "bob": 6.0}


@pytest.mark.slow
def test_two_workers_grade_a_class(tmp_path):
    course_with(tmp_path, {"ann": solved(), "bob": WRONG, "eve": b"broken"})
    assert points(grade_all(jobs_of(tmp_path, LAB), 2, isolated=False)) == {"ann": 6.0, "bob": 5.0, "eve": None}


def test_a_link_or_a_folder_in_place_of_a_notebook_stops_nobody(tmp_path):
    course_with(tmp_path, {"ann": solved(), "bob": solved()})
    for student, make in (("ann", lambda path: path.symlink_to("/nowhere")), ("bob", os.mkdir)):
        path = tmp_path / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.unlink()
        make(path)
    assert [graded(job, None).refused for job in jobs_of(tmp_path, LAB)] == [
        "the notebook is a link to somewhere else",
        "there is no notebook",
    ]
