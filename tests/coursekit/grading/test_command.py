"""`coursekit grade` as a teacher uses it."""

import csv

import pytest
from small_class import LAB, answered, course_with, solved

from coursekit import CourseError, cli
from coursekit.grading import command, isolation
from coursekit.grading.command import grade_lab, mistakes, summary
from coursekit.grading.course import Grade
from coursekit.project import Project

WRONG = answered(weight_sum="def weight_sum(weights, value):\n    return value")


def a_mark(exercise: str, mistake: str = "", likeness: str = "") -> dict:
    return {"exercise": exercise, "points": 0.0, "of": 1.0, "mistake": mistake, "likeness": likeness}


GRADES = [
    Grade("ann", LAB, marks=[a_mark("f", "rolled"), a_mark("g", likeness="imports from attnbook")]),
    Grade("bob", LAB, marks=[a_mark("f", "rolled"), a_mark("g", "values")]),
    Grade("eve", LAB, marks=[a_mark("f", "error"), a_mark("g")]),
    Grade("kim", LAB, refused="there is no notebook"),
]


def test_the_summary_says_who_was_not_graded_and_what_to_look_at():
    assert summary(GRADES).splitlines() == [
        "3 of 4 graded",
        "not graded: kim: there is no notebook",
        "look at it yourself: ann, g: the answer imports from attnbook",
    ]


def test_the_mistakes_of_a_class_come_in_the_labs_order_the_commonest_first():
    assert mistakes(GRADES) == [("f", "rolled", 2), ("f", "error", 1), ("g", "values", 1)]


def test_without_isolation_nothing_is_graded(tmp_path, monkeypatch):
    course_with(tmp_path, {"ann": solved()})
    monkeypatch.setattr(isolation, "lacking", lambda: "bubblewrap is missing")
    monkeypatch.setattr(command, "grade_all", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(CourseError, match="bubblewrap is missing"):
        grade_lab(tmp_path, LAB, 1, True, "csv")


@pytest.mark.slow
def test_a_class_gets_grades_pages_and_a_table(tmp_path, capsys, monkeypatch):
    folder = course_with(tmp_path / "autumn", {"ann": solved(), "bob": WRONG, "eve": b"broken"})
    root = course_with(tmp_path / "book", {})
    (root / "solutions" / LAB).mkdir(parents=True)
    (root / "source" / LAB / f"{LAB}.ipynb").rename(root / "solutions" / LAB / f"{LAB}.ipynb")
    assert [lab.name for lab in Project(root).labs] == [LAB]
    status = cli.main(["--root", str(root), "grade", str(folder), "lab02", "--workers", "1", "--without-isolation"])
    shown = capsys.readouterr().out.splitlines()
    assert status == 0
    assert shown[0] == "2 of 3 graded"
    assert shown[1].startswith("not graded: eve:")
    assert shown[2].startswith("  weight_sum: ")
    rows = list(csv.DictReader((folder / f"grades-{LAB}.csv").open(newline="")))
    assert [(row["student"], row["points"]) for row in rows] == [("ann", "6"), ("bob", "5"), ("eve", "")]
    assert "✗ weight_sum" in (folder / "feedback" / "bob" / f"{LAB}.html").read_text(encoding="utf-8")
    assert "could not be graded" in (folder / "feedback" / "eve" / f"{LAB}.html").read_text(encoding="utf-8")


def test_an_empty_course_is_said_on_the_command_line(project, tmp_path, capsys):
    assert cli.main(["--root", str(project.root), "grade", str(tmp_path), "lab01"]) == 1
    assert "has no source of 'lab01_sums'" in capsys.readouterr().err
