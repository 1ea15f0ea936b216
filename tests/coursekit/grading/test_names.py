"""One name, in whichever way its accents are stored."""

import csv

import pytest
from small_class import LAB, a_record, course_with, solved, steps

from coursekit import CourseError
from coursekit.grading.names import home, homes, spelt, submissions
from coursekit.grading.records import jobs_of
from coursekit.grading.roster import FILE, attendance

COMPOSED, DECOMPOSED = "J\u00fcrgen", "Ju\u0308rgen"


def test_a_spelling_is_one_sign_for_each_letter():
    assert spelt(DECOMPOSED) == spelt(COMPOSED) == COMPOSED
    assert spelt("Ann Lee") == "Ann Lee"


def test_two_folders_of_a_name_are_one_student(tmp_path):
    course = course_with(tmp_path, {DECOMPOSED: solved()})
    (course / "submitted" / COMPOSED / "lab03_other").mkdir(parents=True)
    assert {name: len(places) for name, places in homes(course).items()} == {COMPOSED: 2}
    assert submissions(course, LAB) == {COMPOSED: course / "submitted" / DECOMPOSED / LAB}
    assert [job.student for job in jobs_of(course, LAB)] == [COMPOSED]
    assert home(course, COMPOSED, "lab03_other") == course / "submitted" / COMPOSED / "lab03_other"
    assert home(course, COMPOSED, "lab04_new").parent.is_dir()
    assert home(course, "Zoe", LAB) == course / "submitted" / "Zoe" / LAB
    (course / FILE).write_text(f"student\n{COMPOSED}\n", encoding="utf-8")
    found = attendance(course, LAB)
    assert (list(found.people), found.absent, found.strangers) == ([COMPOSED], {}, [])


def test_two_folders_with_the_same_lab_are_told_and_not_guessed(tmp_path):
    course = course_with(tmp_path, {DECOMPOSED: solved(), COMPOSED: solved()})
    with pytest.raises(CourseError, match=f"two folders '{COMPOSED}' with {LAB}: .* Move what is in one"):
        jobs_of(course, LAB)


def test_one_student_has_one_row_with_the_points_and_their_own_deadline(tmp_path):
    course = course_with(tmp_path, {DECOMPOSED: solved()})
    (course / FILE).write_text(f"student\n{COMPOSED}\n", encoding="utf-8")
    lines = ["lab,due,zone,student", "lab02,2001-01-01 23:59,UTC,", f"lab02,2222-01-01 23:59,UTC,{DECOMPOSED}"]
    (course / "deadlines.csv").write_text("\n".join([*lines, "lab02,2222-01-01 23:59,UTC,Zoe"]), encoding="utf-8")
    a_record(course, COMPOSED)
    assert steps(course, "mark")[:2] == [
        "mark: late, in started days: nobody",
        "  Zoe: has a deadline of their own in deadlines.csv, and no notebook",
    ]
    steps(course, "export")
    (row,) = csv.DictReader((course / f"grades-{LAB}.csv").open(newline="", encoding="utf-8"))
    assert (row["student"], row["points"]) == (COMPOSED, "1")
