"""Answers that are alike are shown, and what a lab gives doesn't count."""

import builtins
import csv

import pytest
from small_class import LAB, RIGHT, answered, course_with, solved, source

from coursekit import CourseError
from coursekit.grading.likeness import BOOK, answers_of, own_lines, write_likeness
from coursekit.grading.records import jobs_of

LONG = """\
def alignment_error_rate(sure, possible, predicted):
    # count what was found, and what should have been found
    hits_sure = sum(1 for link in predicted if link in sure)
    hits_possible = sum(1 for link in predicted if link in possible)
    everything = len(predicted) + len(sure)
    if everything == 0:
        return 0.0
    return 1.0 - (hits_sure + hits_possible) / everything"""
RENAMED = LONG.replace("hits_sure", "a").replace("hits_possible", "b").replace("everything", "n").replace("link", "x")
OTHER = """\
def alignment_error_rate(sure, possible, predicted):
    good = set(predicted)
    if not good and not sure:
        return 0.0
    return (len(good) + len(sure) - len(good.intersection(sure)) - len(good.intersection(possible))) / float(
        len(good) + len(sure)
    )"""


def classmates(folder, **answers: str):
    notebooks = {name: answered(alignment_error_rate=text) for name, text in answers.items()}
    return jobs_of(course_with(folder, notebooks), LAB)


def test_only_what_a_student_wrote_is_compared():
    given = {"weight_sum": "def weight_sum(weights, value):\n    # mine\n    raise NotImplementedError()\n    return 1"}
    assert own_lines(source(), given) == "# weight_sum\n    # mine\n    return 1"
    assert own_lines(source(), {"weight_sum": "def weight_sum(weights, value):\n    # YOUR CODE HERE"}) == ""


def test_the_books_solution_takes_part_and_who_cannot_be_read_does_not(tmp_path):
    found = answers_of(jobs_of(course_with(tmp_path, {"ann": solved(), "eve": b"broken"}), LAB))
    assert list(found) == [BOOK, "ann"]
    assert found["ann"] == found[BOOK]
    assert "BEGIN SOLUTION" in RIGHT["weight_sum"]
    assert "SOLUTION" not in found[BOOK]


def test_a_copy_and_a_renamed_copy_come_first(tmp_path):
    pytest.importorskip("copydetect", reason="the likeness of answers needs copydetect (extra teach)")
    pairs = write_likeness(classmates(tmp_path, ann=LONG, bob=LONG, eve=RENAMED, kim=OTHER))
    assert (pairs[0].one, pairs[0].other, pairs[0].text, pairs[0].names) == ("ann", "bob", 1.0, 1.0)
    by_names = {(pair.one, pair.other): pair for pair in pairs}
    renamed, other = by_names["ann", "eve"], by_names["ann", "kim"]
    assert renamed.names == 1.0 > renamed.text
    assert other.names < renamed.names
    assert len(pairs) == 10


def test_the_page_shows_pairs_side_by_side_and_the_table_has_all(tmp_path):
    pytest.importorskip("copydetect", reason="the likeness of answers needs copydetect (extra teach)")
    evil = LONG.replace("what was found", "<script>alert(1)</script>")
    pairs = write_likeness(classmates(tmp_path, **{"ann": evil, "=bob": evil, "kim": OTHER}))
    text = (tmp_path / f"likeness-{LAB}.html").read_text(encoding="utf-8")
    assert "<h2>=bob and ann: 100% and 100%</h2>" in text
    assert "<mark>" in text
    assert "<script" not in text
    assert "&lt;script" in text
    rows = list(csv.reader((tmp_path / f"likeness-{LAB}.csv").open(newline="")))
    assert len(rows) == 1 + len(pairs) == 7
    assert rows[1] == ["'=bob", "ann", "1.00", "1.00"]


def test_the_same_class_gives_the_same_page(tmp_path):
    pytest.importorskip("copydetect", reason="the likeness of answers needs copydetect (extra teach)")
    jobs = classmates(tmp_path, ann=LONG, bob=RENAMED)
    assert write_likeness(jobs) == write_likeness(jobs)


def test_without_copydetect_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    imported = builtins.__import__

    def without(name, *arguments, **settings):
        if name == "copydetect":
            raise ModuleNotFoundError("no", name=name)
        return imported(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CourseError, match=r"copydetect is not installed.*`pip install '\.\[teach\]'`"):
        write_likeness(classmates(tmp_path, ann=LONG))
