"""The ePub, held to the rules of its standard that pages of this book could break."""

import io
import zipfile

import pytest
from lxml import etree

from coursekit import CourseError
from coursekit.printing.epub import make_epub

OPF = "{http://www.idpf.org/2007/opf}"


@pytest.fixture
def book(tiny_book, html) -> dict[str, bytes]:
    """The files of the ePub, by name, in their order."""
    content, _ = make_epub(tiny_book, html, "1.2.3")
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def test_its_first_file_says_uncompressed_what_it_is(tiny_book, html):
    content, _ = make_epub(tiny_book, html, "1.2.3")
    assert content[30:38] == b"mimetype"
    assert content[38:58] == b"application/epub+zip"


def test_the_same_pages_give_the_same_file(tiny_book, html):
    assert make_epub(tiny_book, html, "1.2.3") == make_epub(tiny_book, html, "1.2.3")


def test_the_package_names_title_author_language_cover_and_version(book):
    package = etree.fromstring(book["EPUB/package.opf"])
    said = {etree.QName(node).localname: node.text for node in package.iter("{http://purl.org/dc/elements/1.1/}*")}
    assert said["title"] == "Paying Attention"
    assert said["creator"] == "the authors of Paying Attention"
    assert said["language"] == "en"
    assert "1.2.3" in said["description"]
    covers = [item.get("href") for item in package.iter(f"{OPF}item") if item.get("properties") == "cover-image"]
    assert covers == ["cover.svg"]
    assert b"Paying Attention" in book["EPUB/cover.svg"]
    assert etree.fromstring(book["EPUB/cover.svg"]).xpath("count(//*[local-name()='rect'])") > 20  # the book's sign


def test_pages_that_hold_formulas_or_drawings_say_so_in_the_manifest(book):
    package = etree.fromstring(book["EPUB/package.opf"])
    properties = {item.get("href"): item.get("properties") for item in package.iter(f"{OPF}item")}
    assert properties["chapters-01_one.xhtml"] == "mathml"
    assert properties["book-glossary.xhtml"] == "svg"
    assert properties["book-quizzes-part1.xhtml"] is None


def test_the_contents_have_parts_pages_and_sections(book):
    nav = etree.fromstring(book["EPUB/nav.xhtml"])
    words = [" ".join(node.text.split()) for node in nav.iter("{*}span", "{*}a")]
    start = ["Part I. The beginning", "The beginning", "1. One", "Two", "Quizzes", "Quizzes on Part I"]
    assert words[:6] == start
    assert "Proof of one" in words
    assert "Guide" not in words


def test_links_lead_to_files_of_the_book_and_a_chinese_word_says_its_language(book):
    page = etree.fromstring(book["EPUB/chapters-01_one.xhtml"])
    links = {link.get("href") for link in page.iter("{*}a")}
    assert "book-glossary.xhtml#book-glossary--term-word" in links
    assert "chapters-01_one_evidence.xhtml#chapters-01_one_evidence--proof" in links
    assert page.xpath("string(//*[@xml:lang='zh-Hans'])") == "注意力"


def test_the_style_has_the_colours_of_code_on_white(book):
    assert ".highlight .k { color: red }" in book["EPUB/style.css"].decode()


def test_without_built_pages_it_says_how_to_build_them(tiny_book, html):
    (html / "book/glossary.html").unlink()
    with pytest.raises(CourseError, match=r"no .*glossary\.html\. Build it first"):
        make_epub(tiny_book, html, "1.2.3")
