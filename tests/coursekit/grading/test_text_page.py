"""The page on which a teacher reads all answers."""

import re

import pytest
from small_class import LAB, asking

from coursekit.grading.text_page import LONGEST, page, write_page
from coursekit.grading.text_table import Entry
from coursekit.grading.written import name_of
from coursekit.textquestion import text_question

QUESTION = text_question(asking().cells)
EVIL = "<script>alert(1)</script> [x](javascript:alert(2)) <img src=x onerror=alert(3)> {lab} {0.__class__} </p></main>"


def shown(answers: dict[str, str], **entries: Entry) -> str:
    unread = {student: Entry(name_of(LAB, student, answer), None, "") for student, answer in answers.items()}
    return page(LAB, QUESTION, answers, unread | entries)


def articles(text: str) -> list[str]:
    return re.findall(r"<article>.*?</article>", text, re.DOTALL)


def test_the_question_and_all_levels_stand_above_the_answers():
    text = shown({"ann": "Because.", "bob": "No idea."})
    head, body = text.split("<main>")
    for part in (
        QUESTION.question,
        "Because it is no word.",
        "It is masked.",
        "It is zero.",
        "2 answers, 2 of them not",
    ):
        assert part in head
    assert [re.sub("<.*?>", " ", one).split()[1:] for one in articles(body)] == [["Because."], ["No", "idea."]]


def test_no_name_is_on_the_page():
    text = shown({"Ann Lee": "Because.", "Bob": ""})
    assert "Ann Lee" not in text
    assert "Bob" not in text
    assert name_of(LAB, "Ann Lee", "Because.") in text


def test_nothing_of_a_students_becomes_html():
    text = shown({"ann": EVIL, "bob": "x"}, bob=Entry(EVIL, 1.0, EVIL))
    for tag in ("<script", "<img", "</p></main>\n</article>"):
        assert tag not in text
    assert text.count("</main>") == 1
    assert "{lab} {0.__class__}" in text
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")


def test_fifty_megabytes_are_cut_off_and_counted():
    text = shown({"ann": "x" * (50 * 2**20), "bob": "& " * 2**20})
    assert len(text) < 10 * LONGEST
    assert "the answer has 52,428,800 characters" in text


def test_half_a_sign_can_be_stored(tmp_path):
    answers = {"ann": "\ud800"}
    write_page(tmp_path / "text.html", LAB, QUESTION, answers, {"ann": Entry("bcdfg", None, "")})
    assert "<p>?</p>" in (tmp_path / "text.html").read_text(encoding="utf-8")


def test_what_was_read_shows_its_points_and_what_changed_since_says_so():
    entries = {"ann": Entry(name_of(LAB, "ann", "Because."), 1.5, "Why?"), "bob": Entry("bcdfg", 2.0, "")}
    ann, bob = articles(shown({"ann": "Because.", "bob": "New."}, **entries))
    assert "Read: 1.5 points. Why?" in ann
    assert "changed after" not in ann
    assert "It was changed after it was read." in bob


def test_what_is_empty_comes_last():
    first, last = articles(shown({"ann": "", "bob": "Because."}))
    assert "Because." in first
    assert "Nothing was written." in last


@pytest.mark.parametrize("text, words", [
    ("because it is NO word", "the book’s example for 2 points"),
    ("It is masked", "the book’s example for 1 point"),
])  # fmt: skip
def test_the_books_own_words_are_named(text, words):
    (found,) = articles(shown({"ann": text}))
    assert f"The same words as {words}." in found


def test_words_that_several_have_are_named_and_empty_answers_are_not_alike():
    answers = {
        "ann": "Padding, no.",
        "bob": "padding no",
        "eve": "PADDING: NO!",
        "joe": "padding no",
        "kim": "",
        "zoe": "",
    }
    found = articles(shown(answers))
    assert f"The same words as {name_of(LAB, 'bob', 'padding no')}," in found[0]
    assert ["The same words" in one for one in found] == [True] * 4 + [False] * 2
    many = {f"s{number}": "same" for number in range(9)}
    assert "and 5 more." in articles(shown(many))[0]
