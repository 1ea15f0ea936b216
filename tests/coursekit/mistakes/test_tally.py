"""What a class shows, counted from stored grades."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from coursekit import CourseError, cli
from coursekit.grading.records import Grade
from coursekit.mistakes.tally import explained, graded_labs, tally

LAB = "lab02_bahdanau"
NAMES = r"\b(?:ann|bob|cid|dan|eve)\b"
OVER_QUERIES = "softmax over the queries"


def mark(exercise: str, mistake: str = "", message: str = "✓") -> dict:
    return {"exercise": exercise, "points": 0.0 if mistake else 2.0, "of": 2.0, "message": message, "mistake": mistake,
            "helpers": [], "likeness": ""}  # fmt: skip


CLASS = {
    "ann": [mark("masked_softmax", OVER_QUERIES), mark("weight_sum")],
    "bob": [mark("masked_softmax", OVER_QUERIES), mark("weight_sum", "unwritten")],
    "cid": [mark("masked_softmax"), mark("weight_sum", "error", "✗ weight_sum: stopped with ValueError\n  Line 3")],
    "dan": [mark("masked_softmax", "values", "✗ masked_softmax: other values\n  Two weights differ.\n\n  example"),
            mark("weight_sum")],
}  # fmt: skip


def course_of(folder: Path) -> Path:
    """The folder of a course in which four students were graded, and a fifth could not be."""
    grades = [Grade(name, LAB, marks=marks) for name, marks in CLASS.items()]
    grades.append(Grade("eve", LAB, refused="it is no notebook"))
    (folder / "source" / LAB).mkdir(parents=True)
    (folder / "source" / LAB / f"{LAB}.ipynb").write_text("{}")
    for grade in grades:
        (folder / "submitted" / grade.student / LAB).mkdir(parents=True)
        (folder / "graded" / grade.student).mkdir(parents=True)
        (folder / "graded" / grade.student / f"{LAB}.json").write_text(json.dumps(asdict(grade)))
    return folder


@pytest.fixture
def course(tmp_path) -> Path:
    return course_of(tmp_path / "autumn")


def test_students_are_counted_by_exercise_and_mistake(course):
    found = tally(course, LAB)
    assert (found.graded, found.not_graded, found.unwritten) == (4, 1, {"weight_sum": 1})
    assert [(one.exercise, one.name, one.students, one.share, one.known) for one in found.seen] == [
        ("masked_softmax", OVER_QUERIES, 2, 0.5, True),
        ("masked_softmax", "values", 1, 0.25, False),
        ("weight_sum", "error", 1, 0.25, False),
    ]


def test_a_known_mistake_is_told_in_the_checks_words_and_others_as_the_check_told_them(course):
    known, values, error = tally(course, LAB).seen
    assert known.message.startswith("Your weights sum to 1 over the *queries*.")
    assert values.message == "Two weights differ."
    assert error.message == "The function stops with an error. weight_sum: stopped with ValueError"


def test_each_mistake_names_the_section_to_read_again(course):
    assert tally(course, LAB).seen[0].read.title == "Padding gets no weight"


def test_a_message_of_one_line_is_told_as_it_is():
    assert explained("✗ f: there is no such function.", "gone") == "f: there is no such function"


def test_the_graded_labs_are_found(course, tmp_path):
    assert graded_labs(course) == [LAB]
    with pytest.raises(CourseError, match="holds no grades: `coursekit grade"):
        graded_labs(tmp_path)


def test_a_lab_of_which_nothing_was_graded_is_refused(course):
    for path in (course / "graded").rglob("*.json"):
        path.unlink()
    with pytest.raises(CourseError, match="no notebook of lab02_bahdanau was graded"):
        tally(course, LAB)


def test_the_command_prints_the_table_and_writes_the_page(course, capsys):
    root = Path(__file__).parents[3]
    assert cli.main(["--root", str(root), "mistakes", str(course), "lab02"]) == 0
    shown = capsys.readouterr().out
    assert f"  masked_softmax: {OVER_QUERIES}: 2 (50%)" in shown
    assert not re.search(NAMES, shown)
    page = (course / "mistakes.html").read_text(encoding="utf-8")
    assert OVER_QUERIES in page
    assert not re.search(NAMES, page)
