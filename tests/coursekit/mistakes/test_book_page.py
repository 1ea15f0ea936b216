"""The book's page of the mistakes that the checks know."""

import re
from pathlib import Path

import pytest

from coursekit.mistakes import book_page
from coursekit.mistakes.book_page import first_sentence, line, mistakes_places
from coursekit.project import Project

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def places() -> dict[str, str]:
    return mistakes_places(Project(ROOT))


def test_every_known_mistake_of_every_lab_is_listed(places):
    from attnlabs import catalogue

    known = [found for lab in catalogue().values() for listed in lab.values() for found in listed.mistakes]
    assert len(re.findall(r"^- \*\*", places["labs"], re.MULTILINE)) == len(known)
    assert places["mistakes"] == f"{len(known):,}"
    assert places["labs"].count('<details class="answer">') == places["labs"].count("</details>") == len(catalogue())


def test_the_twenty_most_widespread_kinds_come_in_order_each_with_examples(places):
    kinds = f"\n{places['kinds']}".split("\n### ")[1:]
    assert len(kinds) == 20
    for kind in kinds:
        assert 2 <= len(re.findall(r"^- Lab \d+, `\w+`: ", kind, re.MULTILINE)) <= 3, kind.splitlines()[0]
    rows = re.findall(r"\| (\d+) \| (\d+) \| (\d+) \|$", places["rows"], re.MULTILINE)
    spread = [int(exercises) for _, exercises, _ in rows]
    assert spread == sorted(spread, reverse=True)


@pytest.mark.parametrize("message, said", [
    ("You left the mask out completely. It belongs here.", "You left the mask out completely."),
    ("Too small. It is a sum over all keys. More.", "Too small. It is a sum over all keys."),
])  # fmt: skip
def test_a_first_sentence_says_what_was_done(message, said):
    assert first_sentence(message) == said


def test_signs_of_markup_in_a_message_mean_nothing():
    assert line("a < b", "You wrote `x < y`, a[0](b) and 5 $ for <b> here.") == (
        r"- **a &lt; b.** You wrote `x < y`, a[0]\(b) and 5 \$ for &lt;b&gt; here."
    )


def test_numbers_in_words():
    assert [book_page.in_words(number) for number in (20, 7)] == ["twenty", "7"]
