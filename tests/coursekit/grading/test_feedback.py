"""The page that a student gets."""

import pytest

from coursekit.grading.course import Grade, Job
from coursekit.grading.feedback import LONGEST, page, write_feedback

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def a_mark(**changes) -> dict:
    plain = {
        "exercise": "double",
        "points": 2.0,
        "of": 3.0,
        "message": "✓ double",
        "mistake": "",
        "helpers": (),
        "likeness": "",
    }
    return plain | changes


def test_points_and_messages_are_on_the_page():
    text = page(
        Grade("ann", "lab02", marks=[a_mark(), a_mark(exercise="square", points=0.0, of=1.0, message="✗ square")])
    )
    for part in ("2 of 4 points", "2 of 3", "0 of 1", "✗ square"):
        assert part in text


@pytest.mark.parametrize("where", ["student", "refused", "notes", "errors", "message", "helpers", "exercise"])
def test_nothing_of_a_students_becomes_html(where):
    own = {"student": EVIL, "refused": EVIL, "notes": [EVIL], "errors": {EVIL: EVIL}}
    found = (
        {where: own[where]} if where in own else {"marks": [a_mark(**{where: (EVIL,) if where == "helpers" else EVIL})]}
    )
    text = page(Grade(**{"student": "ann", "lab": "lab02", "marks": [a_mark()], **found}))
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script" in text
    assert "default-src 'none'" in text


def test_braces_are_text():
    assert "{0.__class__} {total}" in page(Grade("ann", "lab02", marks=[a_mark(message="{0.__class__} {total}")]))


def test_long_messages_are_cut():
    long = "x" * 10**6
    marks = [a_mark(message=long)]
    text = page(Grade("ann", "lab02", notes=[long], errors={"a": long}, marks=marks))
    assert len(text) < 4 * LONGEST


def test_a_helper_that_was_replaced_is_named():
    assert "the right version of square" in page(Grade("ann", "lab02", marks=[a_mark(helpers=("square",))]))


def test_what_could_not_be_graded_says_why_and_gives_no_points():
    text = page(Grade("ann", "lab02", refused="there is no notebook"))
    assert "there is no notebook" in text
    assert "points" not in text


def test_the_page_lies_in_the_feedback_of_the_student(tmp_path):
    job = Job("ann", tmp_path, tmp_path / "lab02.ipynb", tmp_path / "graded" / "ann" / "lab02.json")
    assert write_feedback(job, Grade("ann", "lab02")) == tmp_path / "feedback" / "ann" / "lab02.html"
