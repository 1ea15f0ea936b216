"""Sections for readers in a hurry bear a mark, on the page and in its table of contents."""

import subprocess
import sys

import pytest
from bs4 import BeautifulSoup
from loaded import loaded

SECTION = (
    '<section id="{0}"><span id="sec-02-{0}"></span><h2>{0}<a class="headerlink" href="#{0}">#</a></h2>'
    "<p>Text.</p></section>"
)
LINE = (
    '<p>You need <a href="#exercises">these</a>. <strong>In a hurry:</strong> read <a href="#idea">The idea</a> '
    'and <a href="#sec-02-today"><span>Today</span></a> (15 minutes).</p>'
)
BODY = (
    f'<section id="title"><h1>Title</h1>{LINE}{"".join(map(SECTION.format, ("idea", "today", "exercises")))}</section>'
)
CONTENTS = '<ul><li><a href="#">Title</a><ul>{}</ul></li></ul>'.format(
    "".join(
        f'<li><a class="reference internal" href="#{name}">{name}</a></li>' for name in ("idea", "today", "exercises")
    )
)


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/hurry_marks.py")


@pytest.fixture(scope="module")
def page(extension):
    return [BeautifulSoup(part, "html.parser") for part in extension.marked(BODY, CONTENTS)]


def has_mark(part):
    return part.select_one(".hurry-mark") is not None


def test_the_sections_of_the_line_bear_a_mark_and_the_others_do_not(page):
    assert [has_mark(heading) for heading in page[0].select("h1, h2")] == [False, True, True, False]


def test_so_do_their_entries_on_this_page(page):
    assert [has_mark(entry) for entry in page[1].select("a")] == [False, True, True, False]


def test_the_mark_stands_behind_the_words_of_the_heading(page):
    assert page[0].select_one("#idea h2").get_text() == "idea» (for readers in a hurry)#"


def test_a_screen_reader_hears_words_and_no_glyph(page):
    mark = page[0].select_one("h2 .hurry-mark")
    assert mark.select_one('[aria-hidden="true"]').get_text() == "»"
    assert mark.select_one(".said").get_text() == " (for readers in a hurry)"


def test_the_mark_is_explained_once_where_the_line_stands(page):
    line = page[0].find("strong", string="In a hurry:").find_parent("p")
    assert line.get_text().endswith("(15 minutes). The mark » stands at these sections.")
    assert len(page[0].select(".hurry-explained")) == 1


def test_a_page_without_the_line_stays_as_it_is(extension):
    other = BODY.replace("In a hurry:", "Slowly:")
    assert extension.marked(other, CONTENTS) == (other, CONTENTS)


def test_a_label_behind_a_closed_section_belongs_to_the_one_that_is_open(extension):
    body = '<section id="a"><section id="b"><h3>b</h3></section><p id="c">Text.</p></section>'
    assert extension.sections_of(body, ["c", "b"]) == ["a", "b"]


def test_a_line_without_links_marks_nothing(extension):
    body, contents = extension.marked("<p><strong>In a hurry:</strong> read the first section.</p>", CONTENTS)
    assert contents == CONTENTS
    assert body.count("hurry-mark") == 0


@pytest.mark.slow
def test_the_theme_shows_the_marks_in_its_own_table_of_contents(root, tmp_path):
    line = "**In a hurry:** read [The idea](#the-idea) and [Today](#sec-02-today) (15 minutes)."
    text = f"# Title\n\n{line}\n\n## The idea\n\nOne.\n\n(sec-02-today)=\n## Today\n\nTwo.\n\n## Exercises\n\nThree.\n"
    (tmp_path / "index.md").write_text(text)
    settings = {
        "extensions": ["myst_parser", "hurry_marks"],
        "html_theme": "sphinx_book_theme",
        "myst_heading_anchors": 3,
    }
    lines = [
        f"import sys; sys.path.insert(0, {str(root / 'book/_ext')!r})",
        *(f"{k} = {v!r}" for k, v in settings.items()),
    ]
    (tmp_path / "conf.py").write_text("\n".join(lines))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path), str(tmp_path / "html")]
    subprocess.run(command, check=True)
    page = BeautifulSoup((tmp_path / "html/index.html").read_text(encoding="utf-8"), "html.parser")
    assert [has_mark(heading) for heading in page.select("article :is(h1, h2)")] == [False, True, True, False]
    assert [has_mark(entry) for entry in page.select("#pst-page-toc-nav a")] == [True, True, False]


@pytest.mark.book
def test_the_built_book_marks_what_its_lines_name(root, html):
    for path in sorted((html / "chapters").glob("*.html")):
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        begin = page.find("strong", string="In a hurry:")
        links = begin.find_next_siblings("a", href=lambda to: to[:1] == "#") if begin else []
        assert len(page.select(":is(h2, h3) .hurry-mark")) == len(links), path.name
        assert len(page.select("#pst-page-toc-nav .hurry-mark")) == len(links), path.name
