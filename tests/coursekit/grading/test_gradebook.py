"""Points and comments in nbgrader's gradebook."""

import json
import shutil

import pytest
from nbgrader.api import Gradebook
from small_class import LAB, POINTS, asking, course_with, solved, source, writing

from coursekit import CourseError
from coursekit.grading.command import Order, grade_lab
from coursekit.grading.gradebook import read_by_hand, write_gradebook
from coursekit.grading.records import Grade, jobs_of
from coursekit.notebooks import grader, is_answer, is_graded, write

LATE = {"handed_in": "2026-10-20T00:30:00+02:00", "known": "by x", "due": "2026-10-19T23:59:00+02:00", "days": 1}
SETTINGS = 'c = get_config()\nc.CourseDirectory.course_id = "autumn"\n'


def a_mark(exercise: str, right: bool) -> dict:
    of = float(POINTS[exercise])
    return {"exercise": exercise, "points": of if right else 0.0, "of": of, "message": f"{'✓' if right else '✗'} it"}


MARKS = [a_mark("masked_softmax", True), a_mark("weight_sum", False), a_mark("alignment_error_rate", True)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course in which ann and eve handed in, and nbgrader has made the assignment: its tables take a second."""
    folder = course_with(tmp_path_factory.mktemp("made"), {"ann": solved(), "eve": b"broken"})
    (folder / "nbgrader_config.py").write_text(SETTINGS)
    with opened(folder) as book:
        book.add_assignment(LAB)
        book.add_notebook(LAB, LAB)
        for cell in source().cells:
            name = grader(cell).get("grade_id")
            if is_graded(cell):
                book.add_grade_cell(name, LAB, LAB, max_score=grader(cell)["points"], cell_type="code")
            elif is_answer(cell):
                book.add_solution_cell(name, LAB, LAB)
    return folder


@pytest.fixture
def course(made, tmp_path):
    """A copy of that course."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


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


TEXT = "lab02-text_question"


@pytest.fixture
def asked(course):
    """The course with a text question, which ann has answered."""
    write(asking(), course / "source" / LAB / f"{LAB}.ipynb")
    write(writing("Because."), course / "submitted" / "ann" / LAB / f"{LAB}.ipynb")
    with opened(course) as book:
        book.add_grade_cell(TEXT, LAB, LAB, max_score=2, cell_type="markdown")
        book.add_solution_cell(TEXT, LAB, LAB)
    return course


def by_hand(course, points: float, comment: str = "") -> None:
    """What somebody does in formgrader."""
    with opened(course) as book:
        book.find_grade(TEXT, LAB, LAB, "ann").manual_score = points
        book.find_comment(TEXT, LAB, LAB, "ann").manual_comment = comment
        book.db.commit()


def test_an_answer_that_nobody_has_read_is_listed_in_formgrader(asked):
    write_gradebook(asked, jobs_of(asked, LAB), grades())
    with opened(asked) as book:
        assert book.find_grade(TEXT, LAB, LAB, "ann").needs_manual_grade
        assert book.find_submission(LAB, "ann").needs_manual_grade
    assert read_by_hand(asked, jobs_of(asked, LAB)) == {}


def test_points_of_the_table_are_in_the_gradebook_with_the_comment_and_lateness(asked):
    read = {"points": 2.0, "of": 2.0, "comment": "Good."}
    write_gradebook(asked, jobs_of(asked, LAB), grades(text=read))
    with opened(asked) as book:
        submission = book.find_submission(LAB, "ann")
        assert (submission.score, submission.late_submission_penalty) == (7.0, 0.7)
        assert not submission.needs_manual_grade
        assert book.find_comment(TEXT, LAB, LAB, "ann").comment == "Good."


def test_what_was_read_in_formgrader_goes_into_the_empty_table_and_never_over_a_filled_one(asked):
    step = Order(asked, LAB)
    assert next(iter(grade_lab(step, "gradebook"))).startswith("gradebook: ")
    write_gradebook(asked, jobs_of(asked, LAB), grades())
    by_hand(asked, 1.0, "Short.")
    assert read_by_hand(asked, jobs_of(asked, LAB)) == {"ann": (1.0, "Short.")}
    assert next(iter(grade_lab(step, "gradebook"))).startswith("text: points of 1 answers were taken")
    table = (asked / f"text-{LAB}.csv").read_text(encoding="utf-8-sig")
    assert table.splitlines()[1].endswith(",ann,1,Short.")
    by_hand(asked, 2.0)
    assert next(iter(grade_lab(step, "gradebook"))).startswith("gradebook: ")
    assert (asked / f"text-{LAB}.csv").read_text(encoding="utf-8-sig") == table


def test_a_name_that_nbgrader_stored_in_another_spelling_is_the_same_student(asked):
    composed, decomposed = "J\u00fcrgen", "Ju\u0308rgen"
    (asked / "submitted" / "ann").rename(asked / "submitted" / decomposed)
    with opened(asked) as book:
        book.add_student(decomposed)
    jobs = jobs_of(asked, LAB)
    named = [Grade(job.student, LAB, marks=MARKS) if job.student == composed else grades()[1] for job in jobs]
    assert write_gradebook(asked, jobs, named) == 1
    with opened(asked) as book:
        assert [one.id for one in book.students] == [decomposed]
        book.find_grade(TEXT, LAB, LAB, decomposed).manual_score = 1.0
        book.db.commit()
    assert read_by_hand(asked, jobs) == {composed: (1.0, "")}
    assert (asked / "autograded" / decomposed / LAB / f"{LAB}.ipynb").is_file()
