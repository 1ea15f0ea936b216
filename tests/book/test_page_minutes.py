"""The minutes under a chapter's title and on the cards, computed while the book is built."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from loaded import loaded
from nbformat.v4 import new_markdown_cell, new_notebook

from coursekit.minutes import page_minutes
from coursekit.notebooks import write

CARD = (
    '<div class="sd-card"><div class="sd-card-body"><p class="sd-card-text">About.</p></div>'
    '<a class="sd-stretched-link reference internal" href="{}"></a></div>'
)


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/page_minutes.py")


@pytest.fixture
def page(extension, tmp_path):
    """page(docname, body): the body after the extension; the course has Chapter 2 and its evidence."""
    for name in ("02_line", "02_line_evidence"):
        cells = [new_markdown_cell("word " * 360 + "\n\n:::{exercise} One · pencil, ●\n:::")]
        write(new_notebook(cells=cells), tmp_path / f"chapters/{name}.ipynb")

    def make(docname, body):
        context = {"body": body}
        extension.add_minutes(SimpleNamespace(srcdir=tmp_path), docname, "page.html", context, object())
        return context["body"]

    return make


def test_a_chapter_says_its_minutes_under_its_title(page):
    body = page("chapters/02_line", "<h1>A line</h1><p>Text.</p>")
    line = BeautifulSoup(body, "html.parser").select_one("h1 + p.page-minutes")
    assert line.get_text() == "About 2 minutes to read, 5 minutes for the exercises."


def test_evidence_says_whom_it_is_for_and_leads_to_its_chapter(page):
    body = page("chapters/02_line_evidence", "<h1>Behind it</h1>")
    line = BeautifulSoup(body, "html.parser").select_one("h1 + p.page-minutes")
    assert line.get_text().startswith("For sceptics: evidence for Chapter 2. About 2 minutes to read")
    assert line.a["href"] == "02_line.html"


def test_cards_of_chapters_end_with_their_minutes_and_others_do_not(page):
    body = page("book/index", CARD.format("../chapters/02_line.html") + CARD.format("how_to_use.html"))
    first, other = (card.get_text(" ") for card in BeautifulSoup(body, "html.parser").select(".sd-card-body"))
    assert first == "About. 2 minutes to read, 5 minutes for the exercises"
    assert other == "About."


def test_other_pages_are_left_alone(page):
    assert page("labs/lab02_line/lab02_line", "<h1>A lab</h1>") == "<h1>A lab</h1>"


@pytest.mark.book
def test_the_built_book_says_the_minutes_of_each_chapter(root, html):
    from coursekit.project import Project, is_evidence

    cards = BeautifulSoup((html / "book/index.html").read_text(encoding="utf-8"), "html.parser")
    on_cards = {one["href"]: one.find_parent(class_="sd-card").get_text() for one in cards.select(".sd-stretched-link")}
    for path in Project(root).chapters:
        words = str(page_minutes(path))
        body = BeautifulSoup((html / f"chapters/{path.stem}.html").read_text(encoding="utf-8"), "html.parser")
        assert words in body.select_one("p.page-minutes").get_text().replace("\u00a0", " "), path.stem
        if not is_evidence(path):
            assert words in on_cards[f"../chapters/{path.stem}.html"].replace("\u00a0", " "), path.stem
