"""The real book as files: an ePub, an offline zip, and PDFs.

To print all chapters takes more than a minute, so a few pages are printed here; the whole PDFs are looked at where
`make pdf` has made them of the pages that are there.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from lxml import etree
from pypdf import PdfReader
from skips import skip_for_want_of

from coursekit import CourseError
from coursekit.printing.chromium import find_chromium
from coursekit.printing.contents import CHAPTERS, EPUB, PDFS, Volume, groups_of
from coursekit.printing.epub import make_epub
from coursekit.printing.offline import offline_zip
from coursekit.printing.pages import read_pages
from coursekit.printing.pdf import CHINESE_WANTED, make_pdf

pytestmark = pytest.mark.book
SOME = ("book/part1", "chapters/03_scores", "book/quizzes/part3")
A_FEW = Volume("paying-attention-evidence", "A few pages", lambda page: page in SOME)
LONGEST = 400  # pages of the chapters
NAME = re.compile(r"[A-Za-z_][\w.-]*")  # of a place in XML


# --- the ePub -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def epub(root, html) -> dict[str, bytes]:
    content, _ = make_epub(root, html, "1")
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name.removeprefix("EPUB/"): zipped.read(name) for name in zipped.namelist()}


@pytest.fixture(scope="module")
def documents(epub) -> dict[str, etree._Element]:
    """Its pages; each has to be well-formed."""
    return {name: etree.fromstring(content) for name, content in epub.items() if name.endswith(".xhtml")}


def test_the_manifest_lists_what_is_there_and_the_spine_every_page_in_order(root, epub, documents):
    package = etree.fromstring(epub["package.opf"])
    listed = {item.get("id"): item.get("href") for item in package.iter("{*}item")}
    assert set(listed.values()) == epub.keys() - {"package.opf", "mimetype", "META-INF/container.xml"}
    spine = [listed[one.get("idref")] for one in package.iter("{*}itemref")]
    pages = [f"{name.replace('/', '-')}.xhtml" for group in groups_of(root, EPUB) for name in group.pages]
    assert spine == ["title.xhtml", "nav.xhtml", *pages]
    assert set(spine) == documents.keys()


def test_each_link_and_picture_of_the_epub_is_there(epub, documents):
    places = {(name, node.get("id")) for name, page in documents.items() for node in page.iterfind(".//*[@id]")}
    missing = []
    for name, page in documents.items():
        for address in [*page.xpath("//@href"), *page.xpath("//@src")]:
            file, _, fragment = address.partition("#")
            if re.match(r"https?:|mailto:", address):
                continue
            file = posixpath.normpath(file) if file else name
            if file not in epub or (fragment and (file, fragment) not in places):
                missing.append(f"{name}: {address}")
    assert missing == []


def test_places_of_the_epub_have_names_of_xml_and_one_owner(documents):
    for name, page in documents.items():
        ids = [node.get("id") for node in page.iterfind(".//*[@id]")]
        assert [one for one in ids if not NAME.fullmatch(one)] == [], name
        assert len(ids) == len(set(ids)), name


def test_each_formula_of_the_epub_is_mathml_and_nothing_of_latex_or_of_a_screen_is_left(documents):
    formulas = {
        name: len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math")) for name, page in documents.items()
    }
    assert formulas["chapters-03_scores.xhtml"] > 20
    assert sum(formulas.values()) > 2000
    for name, page in documents.items():
        assert not page.xpath(
            "//*[local-name()='script' or local-name()='form' or local-name()='details' or local-name()='input']"
        ), name
        assert not re.search(r"\\\(|\\\[|\\frac|\\begin", " ".join(page.xpath("//text()"))), name


def test_the_quizzes_of_the_epub_hold_each_question_with_its_answers(root, documents):
    for number in range(1, 6):
        page = documents[f"book-quizzes-part{number}.xhtml"]
        asked = page.xpath("//*[contains(@class, 'quiz-question')]")
        answered = page.xpath("//*[contains(@class, 'quiz-solutions')]/*[contains(@class, 'quiz-answers')]")
        assert len(asked) == len(answered) > 0
        assert all("Right: " in "".join(one.itertext()) for one in answered)


# --- the zip of the pages -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages_zipped(html) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(io.BytesIO(offline_zip(html))) as zipped:
        yield zipped


def test_the_zip_holds_every_file_that_its_pages_ask_for_and_no_path_of_a_disk(pages_zipped):
    names = set(pages_zipped.namelist())
    assert not [name for name in names if name.startswith("/") or ".." in name or "\\" in name]
    missing = set()
    for name in sorted(names):
        if not name.endswith(".html") or "/_static/" in name:
            continue
        text = pages_zipped.read(name).decode()
        for address in re.findall(r"<(?:script|img|link|a)\b[^>]*?\b(?:src|href)=\"([^\"#?]+)", text):
            if re.match(r"\w+:", address):
                if not address.startswith(("http", "mailto:", "data:")):
                    missing.add(f"{name}: {address}")
                continue
            wanted = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(address)))
            if wanted not in names and f"{wanted}/index.html" not in names:
                missing.add(f"{name}: {address}")
    assert missing == set()
    assert "paying-attention/index.html" in names


# --- PDFs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few(root, html, tmp_path_factory) -> PdfReader:
    """Three pages of the book, printed."""
    try:
        find_chromium()
    except CourseError as error:
        skip_for_want_of("chromium", str(error))
    path = tmp_path_factory.mktemp("pdf") / "few.pdf"
    _, *remarks = make_pdf(root, html, A_FEW, path, "1")
    assert remarks in ([], [CHINESE_WANTED])  # nothing is wider than the page
    return PdfReader(path)


@pytest.fixture(scope="module", params=["few", *(volume.name for volume in PDFS)])
def volume(request, root, html) -> tuple[PdfReader, Volume]:
    """The few pages, or a whole PDF that was made of the pages that are there."""
    if request.param == "few":
        return request.getfixturevalue("few"), A_FEW
    return made(root, html, request.param), next(one for one in PDFS if one.name == request.param)


def made(root, html, name: str) -> PdfReader:
    """A PDF that was made of the pages that are there."""
    path = root / f"book/_build/files/{name}.pdf"
    if not path.is_file() or path.stat().st_mtime < (html / "objects.inv").stat().st_mtime:
        skip_for_want_of("pdf", f"{path.name} has not been made of these pages: make pdf")
    return PdfReader(path)


@pytest.fixture(scope="module")
def titles(root, html, volume) -> dict[str, str]:
    """The titles of a PDF's pages of the book, by their places."""
    names = [name for group in groups_of(root, volume[1]) for name in group.pages]
    return {page.top: page.title for page in read_pages(html, names)}


def test_each_page_of_the_book_begins_a_sheet_with_its_title(volume, titles):
    reader, _ = volume
    places = reader.named_destinations
    for place, title in titles.items():
        number = reader.get_destination_page_number(places[f"/{place}"])
        words = "".join(reader.pages[number].extract_text().split())
        assert "".join(title.split()) in words, place


def test_bookmarks_are_the_table_of_contents(root, volume, titles):
    reader, of = volume
    captions = [group.caption for group in groups_of(root, of)]
    entries = [entry.title for entry in reader.outline if not isinstance(entry, list)]
    if len(captions) == 1:
        assert entries == list(titles.values())
        return
    assert entries == captions
    inside = [entry for entry in reader.outline if isinstance(entry, list)]
    below = [one.title for entry in inside for one in entry if not isinstance(one, list)]
    there = {*below, *(caption.partition(". ")[2] for caption in captions)}
    assert [title for title in titles.values() if title not in there] == []


def test_no_formula_is_left_undrawn_and_no_word_begins_outside_of_the_sheet(few):
    for number, page in enumerate(few.pages, start=1):
        width, height = page.mediabox.width, page.mediabox.height
        begun = []

        def look(text, matrix, at, *_, begun=begun):
            if text.strip():
                x, y = at[4] * matrix[0] + matrix[4], at[5] * matrix[3] + matrix[5]
                begun.append((text, x, y))

        assert "\\(" not in page.extract_text(visitor_text=look), number
        assert begun
        assert [one for one in begun if not (20 < one[1] < width - 20 and 10 < one[2] < height - 10)] == [], number


def test_links_lead_to_places_that_are_there(volume):
    reader, _ = volume
    places = {name.lstrip("/") for name in reader.named_destinations}
    strange = []
    for page in reader.pages:
        for note in page.get("/Annots", []):
            action, place = note.get_object().get("/A", {}), note.get_object().get("/Dest")
            address = str(action.get("/URI", ""))
            if isinstance(place, str) and place.lstrip("/") not in places:
                strange.append(place)
            if address and not re.match(r"https?://(?!volume\.invalid)|mailto:", address):
                strange.append(address)
    assert strange == []


def test_links_between_the_pdfs_lead_to_places_that_are_there(root, html):
    paths = {f"{one.name}.pdf": root / f"book/_build/files/{one.name}.pdf" for one in PDFS}
    built = (html / "objects.inv").stat().st_mtime
    if not all(path.is_file() and path.stat().st_mtime > built for path in paths.values()):
        skip_for_want_of("pdf", "not all PDFs have been made of these pages: make pdf")
    readers = {name: PdfReader(path) for name, path in paths.items()}
    places = {name: set(reader.named_destinations) for name, reader in readers.items()}
    actions = [
        note.get_object().get("/A", {})
        for reader in readers.values()
        for page in reader.pages
        for note in page.get("/Annots", [])
    ]
    between = {(str(one["/F"]), str(one["/D"])) for one in actions if one.get("/S") == "/GoToR"}
    assert len(between) > 20
    assert [link for link in between if link[1] not in places[link[0]]] == []


def test_the_chapters_have_at_most_400_pages(root, html):
    assert 250 < len(made(root, html, CHAPTERS.name).pages) <= LONGEST


def test_a_few_pages_of_the_book_fill_as_many_sheets_as_their_words_do(few):
    """Neither is a page cut off, nor does one leave sheets empty: a full one holds some 400 words."""
    words = [len(page.extract_text().split()) for page in few.pages]
    assert 10 < len(words) < 50
    assert [number for number, count in enumerate(words, start=1) if count < 5] == []
