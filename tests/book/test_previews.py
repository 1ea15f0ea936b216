"""Previews: what stands where a link leads is found when the book is built, and shown to pointer, finger and key."""

import json
from types import SimpleNamespace

import pytest
from browser import chromium
from devtools import tab
from loaded import loaded

TERM = '<a class="reference internal" href="../book/glossary.html#term-mask"><span>mask</span></a>'
CHAPTER = f"""<nav><a class="reference internal" href="#nav-only">outside of the text</a></nav>
<article class="bd-article"><section id="masks"><span id="sec-03-masks"></span><h2>Masks<a class="headerlink"
href="#masks">#</a></h2>
<p>A {TERM} says what counts.</p><p>More.</p></section>
<figure id="fig-03-one"><img src="../_images/a.png" alt="a"><figcaption><p>Figure 3.1</p></figcaption></figure>
<div class="math notranslate" id="equation-eq-03-a">\\[x\\]</div>
<div class="exercise admonition" id="ex-03-a"><p class="admonition-title">Exercise 3.1</p>
<section id="c"><p>Show it.</p></section></div>
<table id="tab-03-a"><caption><span class="caption-number">Table 3.1</span> Captions</caption>
<tr><td>{"long " * 2000}</td></tr></table>
<a class="reference internal" href="#sec-03-masks">a</a> <a class="reference internal" href="#fig-03-one">a</a>
<a class="reference internal" href="#equation-eq-03-a">a</a> <a class="reference internal" href="#ex-03-a">a</a>
<a class="reference internal" href="#tab-03-a">a</a> <a class="reference internal" href="#gone">a</a></article>"""
GLOSSARY = """<article class="bd-article"><dl class="glossary"><dt id="term-mask">mask</dt><dd><p>Which positions count.
See <a class="reference internal" href="../chapters/03_scores.html#masks">masks</a>.</p></dd></dl></article>"""
PAGES = {"chapters/03_scores": CHAPTER, "book/glossary": GLOSSARY}


@pytest.fixture(scope="module")
def previews(root):
    return loaded(root / "book/_ext/previews.py")


@pytest.fixture(scope="module")
def pieces(previews):
    return previews.previews({name: previews.article_of(page) for name, page in PAGES.items()})


def test_what_any_page_names_is_kept_for_the_page_where_it_stands(pieces):
    assert list(pieces) == ["book/glossary", "chapters/03_scores"]
    assert list(pieces["book/glossary"]) == ["term-mask"]
    names = ["equation-eq-03-a", "ex-03-a", "fig-03-one", "masks", "sec-03-masks", "tab-03-a"]
    assert list(pieces["chapters/03_scores"]) == names


def test_a_term_comes_with_its_definition_and_without_links(pieces):
    shown = pieces["book/glossary"]["term-mask"]
    assert shown == "<dl><dt>mask</dt><dd><p>Which positions count.\nSee masks.</p></dd></dl>"


def test_a_section_shows_its_title_and_first_paragraph(pieces):
    shown = '<p class="preview-title">Masks</p><p>A <span>mask</span> says what counts.</p>'
    assert pieces["chapters/03_scores"]["sec-03-masks"] == pieces["chapters/03_scores"]["masks"] == shown


@pytest.mark.parametrize("anchor, words", [
    ("fig-03-one", 'src="/_images/a.png"'), ("equation-eq-03-a", "\\[x\\]"),
    ("ex-03-a", '<p class="preview-title">Exercise 3.1</p><p>Show it.</p>'),
])  # fmt: skip
def test_other_pieces_are_shown_as_they_are(pieces, anchor, words):
    shown = pieces["chapters/03_scores"][anchor]
    assert words in shown
    assert "id=" not in shown


def test_of_a_long_table_the_title_is_shown(pieces):
    kept = '<div><span class="caption-number">Table 3.1</span> Captions</div>'
    assert pieces["chapters/03_scores"]["tab-03-a"] == kept


def test_an_anchor_that_is_nowhere_has_no_preview(previews):
    assert previews.piece_of(CHAPTER, "gone") == ""


def test_a_book_that_failed_gets_no_scripts(previews, tmp_path):
    previews.write_previews(SimpleNamespace(outdir=tmp_path), ValueError("failed"))
    assert list(tmp_path.iterdir()) == []


# ---- the built book

LINKS = 'document.querySelectorAll(".bd-article a.reference.internal")'
PREVIEW = 'document.getElementById("preview")'


def link(part):
    """A link of the page whose address holds these letters, as an expression."""
    return f'[...{LINKS}].find((one) => one.href.includes("{part}") && one.getClientRects().length)'


@pytest.fixture(scope="module")
def chapter(html, tmp_path_factory):
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    with tab(tmp_path_factory.mktemp("profile")) as page:
        page.size(1400, 1000)
        page.open((html / "chapters/02_bahdanau.html").as_uri())
        yield page


@pytest.mark.book
@pytest.mark.parametrize("page, anchors", [
    ("book/glossary", ["term-softmax"]), ("chapters/02_bahdanau", ["fig-02-opening", "equation-eq-02-one-line"]),
])  # fmt: skip
def test_the_built_book_has_pieces_of_what_is_named(html, page, anchors):
    script = (html / f"_static/previews/{page.replace('/', '-')}.js").read_text(encoding="utf-8")
    found = json.loads(script.removeprefix(f'PREVIEWS("{page}", ').rstrip()[:-2])
    assert [anchor for anchor in anchors if not found.get(anchor)] == []


@pytest.mark.book
@pytest.mark.slow
@pytest.mark.parametrize("part, words", [
    ("#term-softmax", "turns any numbers into positive numbers"), ("bibliography.html#", "Bahdanau et al., 2015"),
    ("#fig-02-decoder", "Figure 2.3"), ("#equation-eq-02-one-line", "(2.1)"),
    ("02_bahdanau_evidence.html#sec-02e-training", "More training for the model with one vector"),
])  # fmt: skip
def test_a_pointer_at_rest_shows_what_a_link_leads_to(chapter, part, words):
    chapter.hover(link(part))
    shown = chapter.until(f"{PREVIEW} && {PREVIEW}.textContent")
    assert chapter.run(f"return {link(part)}.getAttribute('aria-describedby')") == "preview"
    assert words.lower() in shown.lower()
    assert chapter.run(f"""
        const box = {PREVIEW}.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;""")
    assert chapter.faults("#preview") == []
    chapter.press("Escape")
    assert chapter.run(f"return {PREVIEW} === null")
    chapter.send("Input.dispatchMouseEvent", type="mouseMoved", x=700, y=2)


@pytest.mark.book
@pytest.mark.slow
def test_formulas_in_a_preview_are_drawn_and_pictures_arrive(chapter):
    chapter.hover(link("#equation-eq-02-one-line"))
    assert chapter.until(f"{PREVIEW} && {PREVIEW}.querySelector('mjx-container')") is not None
    chapter.press("Escape")
    chapter.hover(link("#fig-02-decoder"))
    assert chapter.until(f"{PREVIEW}?.querySelector('img')?.naturalWidth") > 100
    chapter.press("Escape")


@pytest.mark.book
@pytest.mark.slow
def test_the_tab_key_shows_it_too_and_going_on_closes_it(chapter):
    chapter.send("Input.dispatchMouseEvent", type="mouseMoved", x=700, y=2)
    chapter.run(f"{link('#term-softmax')}.focus({{ focusVisible: true }})")
    assert "softmax" in chapter.until(f"{PREVIEW} && {PREVIEW}.textContent")
    assert chapter.run(f"return {PREVIEW}.role") == "tooltip"
    chapter.press("Escape")
    assert chapter.run(f"return document.activeElement === {link('#term-softmax')} && {PREVIEW} === null")


@pytest.mark.book
@pytest.mark.slow
def test_a_first_tap_shows_it_with_a_link_that_leads_on(chapter):
    chapter.size(390, 800, touch=True)
    chapter.tap(link("#term-softmax"))
    shown = chapter.until(f"{PREVIEW} && [...{PREVIEW}.querySelectorAll('a, button')].map((one) => one.textContent)")
    assert shown == ["Go there", "Close"]
    assert chapter.run("return location.pathname").endswith("chapters/02_bahdanau.html")
    low = f"[...{PREVIEW}.querySelectorAll('a, button')].some((one) => one.getBoundingClientRect().height < 43.5)"
    assert not chapter.run(f"return {low} || document.documentElement.scrollWidth > 390")
    chapter.tap(f"{PREVIEW}.querySelector('button')")
    assert chapter.until(f"{PREVIEW} === null")
    chapter.tap(link("#term-softmax"))
    chapter.until(PREVIEW + " !== null")
    chapter.tap(f"{PREVIEW}.querySelector('a')")
    chapter.until("location.hash === '#term-softmax' && location.pathname.endsWith('glossary.html')")
