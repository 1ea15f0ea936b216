"""The text question on its way from the notebooks to the grades."""

import csv

import nbformat
import pytest
from small_class import LAB, a_record, course_with, solved, steps, writing

from coursekit import CourseError
from coursekit.grading import command


def with_texts(tmp_path):
    """ann has answered, bob has not, eve's notebook is broken; all points of exercises are known."""
    notebooks = {"ann": writing("Because <b>."), "bob": writing(), "eve": b"broken"}
    course = course_with(tmp_path, notebooks, asks=True)
    for student in ("ann", "bob"):
        a_record(course, student)
    return course


def give(course, **points: str) -> None:
    """What a teacher fills in: the points of some students, and a comment."""
    path = course / f"text-{LAB}.csv"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    filled = [f"{line[:-1]}{points[name]},Why?" if (name := line.split(",")[1]) in points else line for line in lines]
    path.write_text("\n".join(filled), encoding="utf-8")


def test_answers_are_laid_out_and_the_points_of_a_person_come_in(tmp_path):
    course = with_texts(tmp_path)
    said = f"text: answers in text-{LAB}.html, points go into text-{LAB}.csv; not yet read: 2 of 2"
    assert said in steps(course, "mark")
    assert "Because &lt;b&gt;." in (course / f"text-{LAB}.html").read_text(encoding="utf-8")
    assert steps(course, "feedback", "export")[1] == f"export: grades-{LAB}.csv, 3 students, 1 without a grade"
    give(course, ann="1.5")
    assert said.replace("2 of 2", "1 of 2") in steps(course, "mark")
    exported = steps(course, "feedback", "export")[1]
    assert exported.endswith("1 without a grade, text question not yet read: 1 of 2")
    rows = {row["student"]: row for row in csv.DictReader((course / f"grades-{LAB}.csv").open(newline=""))}
    found = [[rows[name][title] for title in ("points", "text question", "total")] for name in ("ann", "bob", "eve")]
    assert found == [["1", "1.5", "2.5"], ["1", "", ""], ["", "", ""]]
    pages = {name: (course / f"feedback/{name}/{LAB}.html").read_text(encoding="utf-8") for name in rows}
    assert "2.5 of 4 points" in pages["ann"]
    assert "Why?" in pages["ann"]
    assert "the text question is not read yet" in pages["bob"]
    assert "text question" not in pages["eve"]


def test_an_answer_that_changed_after_it_was_read_is_said_and_its_points_stay(tmp_path):
    course = with_texts(tmp_path)
    steps(course, "mark")
    give(course, ann="2", bob="0")
    path = course / "submitted" / "ann" / LAB / f"{LAB}.ipynb"
    path.write_text(nbformat.writes(writing("Another one.")))
    table = (course / f"text-{LAB}.csv").read_text(encoding="utf-8-sig")
    assert "  ann: the answer was changed after it was read" in steps(course, "mark")
    assert (course / f"text-{LAB}.csv").read_text(encoding="utf-8-sig") == table
    path.write_text("{")
    assert f"  ann: has points in text-{LAB}.csv, but no notebook that can be read" in steps(course, "mark")


def test_a_table_of_points_that_is_wrong_is_said_before_anything_is_run(tmp_path, monkeypatch):
    course = with_texts(tmp_path)
    steps(course, "mark")
    give(course, ann="many")
    monkeypatch.setattr(command, "grade_all", lambda *_: pytest.fail("it was graded"))
    with pytest.raises(CourseError, match="the row of ann: points are 'many'"):
        steps(course, "run")


def test_a_lab_without_a_text_question_has_no_page_and_no_table(tmp_path):
    course = course_with(tmp_path, {"ann": solved()})
    a_record(course, "ann")
    assert not any("text" in line for line in steps(course, "mark", "feedback", "export"))
    assert not list(course.glob("text-*"))


@pytest.mark.slow
def test_fifty_megabytes_of_markdown_and_scripts_harm_nobody(tmp_path):
    evil = f"<script>alert(1)</script>{'x' * 50 * 2**20}"
    course = course_with(tmp_path, {"ann": writing("Because."), "eve": writing(evil)}, asks=True)
    for student in ("ann", "eve"):
        a_record(course, student)
    assert any(line.endswith("not yet read: 2 of 2") for line in steps(course, "mark"))
    page = (course / f"text-{LAB}.html").read_text(encoding="utf-8")
    assert len(page) < 20_000
    assert "<script" not in page
    assert "Because." in page
    assert (course / f"text-{LAB}.csv").stat().st_size < 200
    give(course, ann="2", eve="0")
    steps(course, "feedback", "export")
    assert (course / "feedback" / "eve" / f"{LAB}.html").stat().st_size < 20_000
