"""The built pages: nothing from outside, no dead link, nothing that keeps a reader out."""

import json
import re
from collections import Counter
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.book

LOADS = dict.fromkeys(["script", "img", "iframe", "source", "video", "audio", "embed"], "src") | {"object": "data"}
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "icon", "manifest"}
OUTSIDE = re.compile(r"^(?:https?:)?//", flags=re.IGNORECASE)


def loads_of(page):
    for tag, attributes in page.elements:
        if tag in LOADS and attributes.get(LOADS[tag]):
            yield attributes[LOADS[tag]]
        if tag == "link" and LOADING_LINKS & set(attributes.get("rel", "").split()):
            yield attributes["href"]
        yield from (part.split()[0] for part in attributes.get("srcset", "").split(",") if part.strip())


def target_of(page, link, html):
    """The file and the anchor to which a link inside the book leads."""
    address, anchor = urldefrag(link)
    path = (page.path.parent / unquote(address.split("?")[0])).resolve() if address else page.path
    path = path / "index.html" if path.is_dir() else path
    return path.relative_to(html).as_posix(), unquote(anchor)


def test_every_page_of_the_contents_is_built(pages, toc_files):
    assert {f"{name}.html" for name in toc_files} <= set(pages)


def test_pages_load_nothing_from_outside(pages):
    outside = {(name, load) for name, page in pages.items() for load in loads_of(page) if OUTSIDE.match(load)}
    assert outside == set()


def test_scripts_written_into_pages_name_no_outside_address(pages):
    for name, page in pages.items():
        addresses = re.findall(r"(?:https?:)?//[\w.-]+\.\w{2,}/", "\n".join(page.scripts))
        assert [address for address in addresses if "w3.org" not in address] == [], name


def test_styles_load_nothing_from_outside(html):
    for path in html.rglob("*.css"):
        style = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", style), path.name
        assert not re.search(r"@import\s+(?:url\()?['\"]?(?:https?:)?//", style), path.name


def test_what_pages_load_is_there(pages, html):
    for name, page in pages.items():
        for load in loads_of(page):
            if not load.startswith("data:") and not OUTSIDE.match(load):
                assert (html / target_of(page, load, html)[0]).is_file(), f"{name} loads {load}"


def test_links_inside_the_book_are_alive(pages, html):
    dead = []
    for name, page in pages.items():
        for link in (attributes["href"] for attributes in page.all("a") if attributes.get("href")):
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link, flags=re.IGNORECASE) or link == "#":
                continue
            file, anchor = target_of(page, link, html)
            if not (html / file).is_file() or (anchor and file in pages and anchor not in pages[file].ids):
                dead.append((name, link))
    assert dead == []


def test_every_notebook_page_offers_its_notebook(pages, html, root, toc_files):
    for name in toc_files:
        if (root / f"{name}.ipynb").exists() and f"{name}.html" in pages:
            page = pages[f"{name}.html"]
            offered = [attributes["href"] for attributes in page.all("a") if "download" in attributes]
            files = [html / target_of(page, link, html)[0] for link in offered]
            copies = [file.read_bytes() for file in files if file.suffix == ".ipynb" and file.is_file()]
            assert (root / f"{name}.ipynb").read_bytes() in copies, name


def test_every_picture_has_words_for_those_who_do_not_see_it(pages):
    for name, page in pages.items():
        for picture in page.all("img"):
            alternative = picture.get("alt", "")
            assert alternative.strip(), f"{name}: {picture.get('src')}"
            assert not re.search(r"\.(png|svg|jpe?g)$|_images/", alternative), f"{name}: {picture.get('src')}"


def test_every_stored_figure_is_one_with_a_caption(pages, root, toc_files):
    """Chapters and solutions: at least as many captions as stored pictures."""
    counted = 0
    for name in toc_files:
        if name.startswith(("chapters/", "solutions/")):
            cells = json.loads((root / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
            outputs = [output for cell in cells for output in cell.get("outputs", ())]
            figures = sum("image/png" in output.get("data", {}) for output in outputs)
            assert len(pages[f"{name}.html"].all("figcaption")) >= figures, name
            counted += figures
    assert counted > 0


@pytest.mark.parametrize("name", ["how_to_use", "anywhere", "part1", "notation"])
def test_tables_of_reader_pages_have_captions(pages, name):
    page = pages[f"book/{name}.html"]
    assert len(page.all("caption")) == len(page.all("table")) > 0


def test_every_table_of_a_chapter_has_a_caption_or_stands_in_a_titled_box(pages, toc_files):
    counted = 0
    for name in toc_files:
        if name.startswith("chapters/"):
            page = BeautifulSoup(pages[f"{name}.html"].path.read_text(encoding="utf-8"), "html.parser")
            tables = [table for table in page.select("article table") if table.find_parent(class_="admonition") is None]
            instead = [
                table for table in tables if table.find_parent(class_="live")
            ]  # where no script draws the figure
            assert all(table.find_previous_sibling("p") or table.parent.find_previous_sibling("p") for table in instead)
            tables = [table for table in tables if table not in instead]
            assert [table.get_text(" ")[:60] for table in tables if table.find("caption") is None] == [], name
            counted += len(tables)
    assert counted > 0


def test_no_page_shows_what_only_tests_and_authors_need(pages, toc_files):
    scaffolding = re.compile(
        r"NBVAL_CHECK_OUTPUT|✓ claim:|Show code cell|BEGIN SOLUTION|HIDDEN TESTS|[0-9a-f]{7}-dirty"
    )
    found = {
        name: set(scaffolding.findall(pages[f"{name}.html"].path.read_text(encoding="utf-8"))) for name in toc_files
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_pages_without_formulas_load_no_mathjax(pages, toc_files):
    for name in toc_files:
        page = pages[f"{name}.html"]
        formulas = any("math" in attributes.get("class", "").split() for _, attributes in page.elements)
        assert formulas or not any("mathjax" in load for load in loads_of(page)), name


def test_no_id_stands_twice_on_a_page(pages, toc_files):
    for name in toc_files:
        twice = [one for one, times in Counter(pages[f"{name}.html"].ids).items() if times > 1]
        assert twice == [], name


def test_thebe_is_gone(pages):
    for name, page in pages.items():
        assert not any("thebe" in load for load in loads_of(page)), name
        assert "thebe" not in "\n".join(page.scripts).lower(), name


def test_pages_say_their_language(pages, toc_files):
    assert all(pages[f"{name}.html"].all("html")[0]["lang"] == "en" for name in toc_files)
    glossary = pages["book/glossary.html"]
    assert sum(attributes.get("lang") == "zh-Hans" for attributes in glossary.all("span")) >= 60
