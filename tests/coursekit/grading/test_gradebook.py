"""Points and comments in nbgrader's gradebook."""

import json

import pytest
from nbgrader.api import Gradebook
from small_class import LAB, POINTS, course_with, solved, source

from coursekit import CourseError
from coursekit.grading.course import Grade, jobs_of
from coursekit.grading.gradebook import write_gradebook
from coursekit.notebooks import grader, is_answer, is_graded

LATE = {"handed_in": "2026-10-20T00:30:00+02:00", "known": "by x", "due": "2026-10-19T23:59:00+02:00", "days": 1}
SETTINGS = 'c = get_config()\nc.CourseDirectory.course_id = "autumn"\n'


def a_mark(exercise: str, right: bool) -> dict:
    of = float(POINTS[exercise])
    return {"exercise": exercise, "points": of if right else 0.0, "of": of, "message": f"{'✓' if right else '✗'} it"}


MARKS = [a_mark("masked_softmax", True), a_mark("weight_sum", False), a_mark("alignment_error_rate", True)]


@pytest.fixture
def course(tmp_path):
    """A course in which ann and eve handed in, and nbgrader has made the assignment."""
    course_with(tmp_path, {"ann": solved(), "eve": b"broken"})
    (tmp_path / "nbgrader_config.py").write_text(SETTINGS)
    with opened(tmp_path) as book:
        book.add_assignment(LAB)
        book.add_notebook(LAB, LAB)
        for cell in source().cells:
            name = grader(cell).get("grade_id")
            if is_graded(cell):
                book.add_grade_cell(name, LAB, LAB, max_score=grader(cell)["points"], cell_type="code")
            elif is_answer(cell):
                book.add_solution_cell(name, LAB, LAB)
    return tmp_path


def opened(course) -> Gradebook:
    return Gradebook(f"sqlite:///{course}/gradebook.db", "autumn")


def grades(**changes) -> list[Grade]:
    ann = Grade("ann", LAB, marks=MARKS, late=LATE | {"kept": 0.9})
    return [Grade(**(vars(ann) | changes)), Grade("eve", LAB, refused="broken")]


def test_points_comments_and_lateness_are_in_the_gradebook(course):
    assert write_gradebook(course, jobs_of(course, LAB), grades()) == 1
    with opened(course) as book:
        submission = book.find_submission(LAB, "ann")
        assert (submission.score, submission.late_submission_penalty) == (5.0, 0.5)
        assert submission.timestamp.isoformat() == "2026-10-19T22:30:00"
        assert not submission.needs_manual_grade
        assert book.find_grade("lab02-weight_sum-check", LAB, LAB, "ann").auto_score == 0.0
        assert book.find_comment("lab02-weight_sum", LAB, LAB, "ann").comment == "✗ it"
        assert [student.id for student in book.students] == ["ann"]
    shown = json.loads((course / "autograded" / "ann" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8"))
    assert all(not cell["outputs"] for cell in shown["cells"] if cell["cell_type"] == "code")


def test_points_that_were_given_by_hand_stay_and_are_to_be_looked_at_when_others_change(course):
    write_gradebook(course, jobs_of(course, LAB), grades())
    with opened(course) as book:
        book.find_grade("lab02-weight_sum-check", LAB, LAB, "ann").manual_score = 0.5
        book.db.commit()
    better = [MARKS[0], a_mark("weight_sum", True), MARKS[2]]
    for marks, look in ((MARKS, False), (better, True)):
        write_gradebook(course, jobs_of(course, LAB), grades(marks=marks))
        with opened(course) as book:
            found = book.find_grade("lab02-weight_sum-check", LAB, LAB, "ann")
            assert (found.score, found.needs_manual_grade) == (0.5, look)


def test_an_assignment_that_nbgrader_does_not_know_is_said(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    with pytest.raises(CourseError, match=f"run `nbgrader generate_assignment {LAB}`"):
        write_gradebook(tmp_path, jobs_of(tmp_path, LAB), grades()[:1])
