"""Each page says in its head what it is about; stable links lead on; an address is named only where one is given."""

import json
import re
from types import SimpleNamespace

import pytest
from loaded import loaded
from PIL import Image
from sphinx.errors import ExtensionError

from coursekit.evidence import chapter_of
from coursekit.project import Project, is_evidence


@pytest.fixture(scope="module")
def head_tags(root):
    return loaded(root / "book/_ext/head_tags.py")


@pytest.fixture(scope="module")
def cards(root):
    return loaded(root / "book/_ext/cards.py")


@pytest.mark.parametrize("page, name, card", [
    ("chapters/07_self_attention", "chapter-7", "07.png"), ("chapters/07_x_evidence", "chapter-7-evidence", "07.png"),
    ("labs/lab07_x/lab07_x", "lab-7", "07.png"), ("solutions/lab07_x/lab07_x", "lab-7-solution", "07.png"),
    ("book/glossary", "glossary", "book.png"), ("book/quizzes/part1", "quizzes-part1", "book.png"),
])  # fmt: skip
def test_a_page_has_a_stable_name_and_a_card(head_tags, page, name, card):
    assert (head_tags.stable_name(page), head_tags.card_of(page)) == (name, card)


def test_a_long_description_ends_with_a_whole_word(head_tags):
    assert head_tags.shortened("short") == "short"
    assert re.fullmatch(r"(?:word )+…", head_tags.shortened("word " * 60))


@pytest.mark.parametrize("address, wanted", [
    ("", ""), ("https://example.org/book", "https://example.org/book/"), ("http://example.org/", "http://example.org/"),
])  # fmt: skip
def test_the_address_comes_from_the_environment_or_nowhere(head_tags, address, wanted, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_ADDRESS", address)
    assert head_tags.address_of(SimpleNamespace(html_baseurl="")) == wanted


def test_what_is_no_address_is_refused(head_tags, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_ADDRESS", "example.org")
    with pytest.raises(
        ExtensionError, match=r"should be an address such as https://example\.org/book/, and not 'example"
    ):
        head_tags.address_of(SimpleNamespace(html_baseurl=""))


@pytest.mark.parametrize("base", ["", "https://example.org/"])
def test_a_sitemap_is_written_only_where_the_address_is_known(head_tags, base, tmp_path, root):
    domains = {
        "std": SimpleNamespace(anonlabels={"sec-a": ("book/a", "a-title")}),
        "math": SimpleNamespace(equations={}),
    }
    env = SimpleNamespace(found_docs={"book/a"}, get_domain=domains.get, search_texts={})
    builder, config = SimpleNamespace(format="html"), SimpleNamespace(html_baseurl=base)
    app = SimpleNamespace(outdir=tmp_path, srcdir=root, builder=builder, config=config, env=env)
    head_tags.write_files(app, None)
    assert '{"sec-a": "book/a.html#a-title", "a": "book/a.html"}' in (tmp_path / "link.html").read_text(
        encoding="utf-8"
    )
    assert (tmp_path / "sitemap.xml").exists() == bool(base)
    if base:
        assert "<loc>https://example.org/book/a.html</loc>" in (tmp_path / "sitemap.xml").read_text(encoding="utf-8")


def test_a_card_has_the_size_that_is_asked_for_with_and_without_a_figure(cards, head_tags):
    assert head_tags.CARD_SIZE == cards.SIZE
    made = cards.card("Chapter 1", "A title that is longer than one line", Image.new("RGB", (3000, 200), "red"))
    assert made.size == (1200, 630)
    assert (255, 0, 0) in {made.getpixel((x, 315)) for x in range(600, 1200, 10)}
    assert cards.card("Paying Attention", "A title", None).size == (1200, 630)


# ---- the built book


@pytest.mark.book
def test_each_page_has_its_tags_its_version_and_its_stable_link(pages, toc_files):
    for name in toc_files:
        page = pages[f"{name}.html"]
        found = {one.get("property") or one.get("name"): one["content"] for one in page.all("meta") if "content" in one}
        assert len(found["description"]) > 30, name
        assert found["og:description"] == found["description"]
        assert found["og:title"]
        assert "og:url" not in found
        assert (page.path.parent / found["og:image"]).resolve().is_file(), name
        assert any("link.html?to=" in link.get("href", "") for link in page.all("a")), name


@pytest.mark.book
def test_the_books_address_and_a_stable_link_show_the_books_card(html, pages):
    first = re.findall(
        r'<meta property="og:description" content="[^"]+">', pages["book/index.html"].path.read_text("utf-8")
    )
    for name in ("index.html", "link.html"):
        text = (html / name).read_text(encoding="utf-8")
        assert first[0] in text
        assert '<meta property="og:image" content="_static/cards/book.png">' in text
    assert 'content="0; url=book/index.html"' in (html / "index.html").read_text(encoding="utf-8")


@pytest.mark.book
def test_stable_links_lead_to_each_page_and_label(html, pages, toc_files):
    text = (html / "link.html").read_text(encoding="utf-8")
    places = json.loads(re.search(r"PLACES = (\{.*\});", text)[1])
    assert {f"{name}.html" for name in toc_files} <= set(places.values())
    dead = []
    for name, place in places.items():
        page, _, anchor = place.partition("#")
        if page in pages and anchor and anchor not in pages[page].ids:
            dead.append(name)
    assert dead == []
    assert places["fig-02-decoder"] == "chapters/02_bahdanau.html#fig-02-decoder"


@pytest.mark.book
def test_each_chapter_has_its_card_and_each_evidence_shares_it(html, root):
    for path in Project(root).chapters:
        name = (chapter_of(path) if is_evidence(path) else path).name[:2]
        with Image.open(html / f"_static/cards/{name}.png") as card:
            assert card.size == (1200, 630)
