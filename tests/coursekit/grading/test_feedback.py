"""The page that a student gets."""

import pytest

from coursekit.grading.feedback import LONGEST, page, write_feedback
from coursekit.grading.records import Grade, Job

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


def test_what_to_read_again_is_named_where_points_are_missing_and_linked_where_the_book_has_an_address():
    wrong = a_mark(exercise="masked_softmax", points=0.0)
    grade = Grade("ann", "lab02_bahdanau", marks=[wrong, a_mark(exercise="weight_sum", points=3.0)])
    assert page(grade).count("Read again") == 1
    assert "<p>Read again: Chapter 2, “Padding gets no weight”.</p>" in page(grade)
    link = '<a href="https://x.org/book/chapters/02_bahdanau.html#padding-gets-no-weight">Chapter 2, '
    assert link in page(grade, "https://x.org/book/")
    assert "Read again" not in page(Grade("ann", "lab02", marks=[a_mark(points=0.0)]), "https://x.org")


def test_what_lies_behind_the_mistake_is_to_be_read_again_as_well_and_no_section_twice():
    named = a_mark(exercise="additive_score", points=0.0, mistake="the softmax over the queries")
    there = "<p>Read again: Chapter 2, “The additive score”, and Chapter 2, “The attention layer, forward”.</p>"
    assert there in page(Grade("ann", "lab02", marks=[named]))
    named = a_mark(exercise="masked_softmax", points=0.0, mistake="score 0 is not closed")
    assert "<p>Read again: Chapter 2, “Padding gets no weight”.</p>" in page(Grade("ann", "lab02", marks=[named]))


def test_an_address_of_the_book_is_no_html():
    grade = Grade("ann", "lab02", marks=[a_mark(exercise="weight_sum", points=0.0)])
    assert "<script" not in page(grade, f'">{EVIL}')


def test_lateness_is_said_with_the_points_before_and_after():
    late = {"days": 1, "handed_in": "2026-10-20T00:30:00+02:00", "known": "by x", "due": "2026-10-19T23:59:00+02:00"}
    text = page(Grade("ann", "lab02", marks=[a_mark()], late=late | {"kept": 0.9}))
    for part in ("1.8 of 3 points", "(by x)", "1 started day late", "90 % of the 2 points", "2026-10-20 00:30"):
        assert part in text


def test_what_could_not_be_graded_says_why_and_gives_no_points():
    text = page(Grade("ann", "lab02", refused="there is no notebook"))
    assert "there is no notebook" in text
    assert "points" not in text


def test_the_page_lies_in_the_feedback_of_the_student(tmp_path):
    job = Job("ann", tmp_path, tmp_path / "lab02.ipynb", tmp_path / "graded" / "ann" / "lab02.json")
    assert write_feedback(job, Grade("ann", "lab02")) == tmp_path / "feedback" / "ann" / "lab02.html"


def test_points_and_comment_of_the_text_question_are_on_the_page():
    text = page(Grade("ann", "lab02", marks=[a_mark()], text={"points": 1.5, "of": 3.0, "comment": f"Why? {EVIL}"}))
    for part in ("3.5 of 6 points", "1.5 of 3", "Why? &lt;script"):
        assert part in text
    assert "<script" not in text


def test_an_answer_that_nobody_has_read_says_so_and_one_that_nobody_reads_is_not_named():
    grade = Grade("ann", "lab02", marks=[a_mark()], text={"points": None, "of": 3.0, "comment": ""})
    assert "2 of 3 points; the text question is not read yet" in page(grade)
    assert "Text question" not in page(Grade("ann", "lab02", marks=[a_mark()]))


def test_lateness_speaks_of_all_points_that_were_earned():
    late = {"days": 1, "handed_in": "2026-10-20T00:30:00+02:00", "known": "by x", "due": "2026-10-19T23:59:00+02:00"}
    read = {"points": 3.0, "of": 3.0, "comment": ""}
    text = page(Grade("ann", "lab02", marks=[a_mark()], late=late | {"kept": 0.9}, text=read))
    assert "90 % of the 5 points" in text
    assert "4.5 of 6 points" in text
