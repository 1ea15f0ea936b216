"""The small extension of the book, piece by piece."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from loaded import loaded
from pybtex.database import Entry, Person
from sphinx import addnodes


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/paying_attention_book.py")


def handler_of(module):
    def handler():
        return None

    handler.__module__ = module
    return SimpleNamespace(handler=handler)


def test_thebe_is_silenced_and_others_are_not(extension):
    book, thebe = handler_of("sphinx_book_theme"), handler_of("sphinx_thebe")
    registry = SimpleNamespace(css_files=[("sphinx-thebe.css", {}), ("custom.css", {})])
    app = SimpleNamespace(events=SimpleNamespace(listeners={"doctree-resolved": [thebe, book]}), registry=registry)
    extension.silence_thebe(app, None)
    assert app.events.listeners == {"doctree-resolved": [book]}
    assert registry.css_files == [("custom.css", {})]


def test_as_many_processes_write_pages_as_there_are_processors(extension, monkeypatch):
    monkeypatch.setattr(extension.os, "cpu_count", lambda: 4)
    app = SimpleNamespace(parallel=1)
    assert extension.write_side_by_side(app, None) == []
    assert app.parallel == 5  # one of them hands the pages out


def test_exercises_get_ids_of_their_own(extension):
    inside = [nodes.section(ids=[name]) for name in ("exercise-content", "exercise-content", "x")]
    root = nodes.section()
    for name, section in zip(("ex-a", "ex-b", "ex-c"), inside, strict=True):
        root += nodes.container("", section, ids=[name])
    extension.unique_exercise_ids(None, root)
    assert [section["ids"] for section in inside] == [["ex-a-content"], ["ex-b-content"], ["x"]]


@pytest.mark.parametrize(
    ("page", "title"),
    [("solutions/lab01_a/lab01_a", "# Solution of Lab 01: a"), ("labs/lab01_a/lab01_a", "# Lab 01: a")],
)
def test_only_a_solution_says_that_it_is_one(extension, page, title):
    source = ['{"source": ["# Lab 01: a\\n", "see Lab 01"]}']
    extension.mark_solution(None, page, source)
    assert source == [f'{{"source": ["{title}\\n", "see Lab 01"]}}']


@pytest.mark.parametrize(
    ("page", "word"),
    [
        ("chapters/01_a", "this chapter"),
        ("chapters/01_a_evidence", "this page"),
        ("labs/lab01_a/lab01_a", "this lab"),
        ("solutions/l/l", "this solution"),
    ],
)
def test_a_notebook_is_offered_by_its_name(extension, page, word):
    button = extension.notebook_button(page, f"{page}.ipynb", f"../_sources/{page}.ipynb")
    assert word in button
    assert f'href="../_sources/{page}.ipynb" download="{page.split("/")[-1]}.ipynb"' in button


def test_a_page_that_is_no_notebook_offers_none(extension):
    assert extension.notebook_button("book/index", "book/index.md", "../_sources/book/index.md") == ""


def test_odd_letters_in_a_name_stay_text(extension):
    assert "<b>" not in extension.notebook_button("chapters/<b>", "chapters/<b>.ipynb", "<b>")


@pytest.mark.parametrize(
    ("authors", "label"),
    [
        (["Graves, Alex"], "Graves, 2014"),
        (["Och, Franz Josef", "Ney, Hermann"], "Och and Ney, 2014"),
        (["{\\~N}eco, Ram{\\'o}n"], "Ñeco, 2014"),
        (["van Dyk, Jan", "Ney, Hermann", "Och, Franz"], "van Dyk et al., 2014"),
    ],
)
def test_labels_are_the_names_that_the_text_uses(extension, authors, label):
    entry = Entry("misc", fields={"year": "2014"}, persons={"author": [Person(name) for name in authors]})
    assert list(extension.NameAndYear().format_labels([entry])) == [label]
    assert list(extension.NameAndYear().format_labels([entry] * 2)) == [f"{label}a", f"{label}b"]


def test_chinese_words_say_their_language(extension):
    written = SimpleNamespace(body=[], starttag=lambda node, tag, suffix, **more: f"<{tag} {more}>")
    (words,), problems = extension.chinese("zh", "", "查询", 1, None)
    extension.visit_chinese_words(written, words)
    extension.depart_chinese_words(written, words)
    assert written.body == ["<span {'lang': 'zh-Hans'}>", "</span>"]
    assert (words.astext(), problems) == ("查询", [])


def test_a_page_gets_its_button_under_the_title(extension):
    environment = SimpleNamespace(doc2path=lambda name, base: f"{name}.ipynb")
    context = {"body": "<h1>T</h1><p>text</p><h1>U</h1>", "pathto": lambda name, resource: f"../{name}"}
    extension.mend_page(SimpleNamespace(env=environment), "chapters/01_a", "page.html", context, object())
    assert context["body"].startswith('<h1>T</h1>\n<p class="open-notebook">')
    assert 'href="../_sources/chapters/01_a.ipynb"' in context["body"]
    assert context["body"].count("open-notebook") == 1


@pytest.mark.parametrize(
    ("fault", "cured"),
    [
        ('<div role="doc-biblioentry">', '<div role="listitem">'),
        ('<summary aria-label="Toggle hidden content">', "<summary>"),
    ],
)
def test_screen_readers_are_told_what_is_seen(extension, fault, cured):
    environment = SimpleNamespace(doc2path=lambda name, base: f"{name}.md")
    context = {"body": fault, "pathto": lambda name, resource: name}
    extension.mend_page(SimpleNamespace(env=environment), "book/bibliography", "page.html", context, object())
    assert context["body"] == cured


def test_chapters_have_the_numbers_of_their_files(extension):
    contents = nodes.bullet_list()
    for number in ((4,), (4, 1)):
        contents += addnodes.compact_paragraph("", "", nodes.reference("", "", secnumber=number))
    environment = SimpleNamespace(
        found_docs={"chapters/07_a", "book/index"},
        titles={"chapters/07_a": nodes.title(secnumber=[4]), "book/index": nodes.title()},
        tocs={"chapters/07_a": contents},
        toc_secnumbers={"chapters/07_a": {"": (4,), "#first": (4, 1), "#none": ()}},
        toc_fignumbers={"chapters/07_a": {"figure": {"fig-a": (4, 2)}, "displaymath": {"eq-a": (4, 1)}}},
    )
    assert extension.number_by_file_name(None, environment) == []
    assert environment.titles["chapters/07_a"]["secnumber"] == (7,)
    assert environment.toc_secnumbers["chapters/07_a"] == {"": (7,), "#first": (7, 1), "#none": ()}
    assert environment.toc_fignumbers["chapters/07_a"] == {"figure": {"fig-a": (7, 2)}, "displaymath": {"eq-a": (7, 1)}}
    assert [one["secnumber"] for one in contents.findall(nodes.reference)] == [(7,), (7, 1)]


def test_pages_without_a_number_count_from_one(extension):
    """Sphinx counts on from page to page, and in the order of the anchors' numbers, not of their names."""
    environment = SimpleNamespace(
        found_docs={"solutions/lab02_a/lab02_a"},
        titles={"solutions/lab02_a/lab02_a": nodes.title()},
        toc_fignumbers={"solutions/lab02_a/lab02_a": {"figure": {"a": (12,), "b": (10,), "c": (11,)}, "table": {}}},
    )
    extension.number_by_file_name(None, environment)
    found = environment.toc_fignumbers["solutions/lab02_a/lab02_a"]
    assert found == {"figure": {"b": (1,), "c": (2,), "a": (3,)}, "table": {}}


def test_the_blank_before_a_link_to_an_exercise_is_not_part_of_the_link(extension):
    title = 'Solution to<a class="reference internal" href="#ex-01-bits"> Exercise 1.1</a>'
    moved = extension.BLANK_IN_LINK.sub(r"\1 \2", title)
    assert moved == 'Solution to <a class="reference internal" href="#ex-01-bits">Exercise 1.1</a>'


def test_links_that_an_output_drew_lead_to_pages(extension):
    found = extension.PAGE_OF_NOTEBOOK.sub(
        r'href="\1.html"', '<a href="02_bahdanau.ipynb">, <a href="_sources/02_x.ipynb">'
    )
    assert found == '<a href="02_bahdanau.html">, <a href="_sources/02_x.ipynb">'
