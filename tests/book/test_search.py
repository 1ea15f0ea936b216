"""Search: what readers type, also wrongly, leads first to the page that answers it; results stand by kind of page."""

import json

import pytest
from browser import chromium
from devtools import tab
from docutils import nodes
from loaded import loaded
from sphinx import addnodes

# What readers type, and the page that must come first below the definition, if the glossary has one.
QUERIES = {
    "beam search": "chapters/10_decoding",
    "beem serach": "chapters/10_decoding",
    "nucleus sampling": "chapters/10_decoding",
    "exposure bias": "chapters/01_seq2seq",
    "kv cache": "chapters/20_attention_today",
    "speculative decoding": "chapters/20_attention_today_evidence",
    "grouped query attention": "chapters/20_attention_today",
    "bahdanu atention": "chapters/02_bahdanau",
    "additive score": "chapters/02_bahdanau",
    "why divide by sqrt d": "chapters/03_scores",
    "luong local attention": "chapters/04_luong",
    "gnmt residual connections": "chapters/05_gnmt",
    "hard attention": "chapters/06_captioning",
    "REINFORCE gradients": "chapters/06_captioning",
    "what is self-attention?": "chapters/07_self_attention",
    "selfattention": "chapters/07_self_attention",
    "padding mask": "chapters/09_transformer",
    "transfomer": "chapters/09_transformer",
    "layer norms": "chapters/09_transformer",
    "difference between BERT and GPT": "chapters/11_bert_gpt",
    "induction heads": "chapters/11_bert_gpt",
    "online softmax": "chapters/12_longer_text",
    "neural turning machines": "chapters/13_ntm",
    "travelling salesman": "chapters/14_pointer_networks",
    "meta learning few shot": "chapters/15_snail",
    "vision transformers": "chapters/16_sagan",
    "length generalization": "chapters/17_beyond_lengths",
    "BLEU score": "chapters/18_one_corpus",
    "llama": "chapters/19_real_model",
    "seq2seq": "chapters/01_seq2seq",
    "vanishing gradients": "chapters/02_bahdanau_evidence",
    "lab 9": "labs/lab09_transformer/lab09_transformer",
    "set up on windows": "book/how_to_use",
    "google colab": "book/anywhere",
    "prerequisites": "book/ready",
    "softmax over the wrong axis": "chapters/02_bahdanau",
    "image captioning": "chapters/06_captioning",  # from here on by a page's keywords, or by another name of its words
    "flash attention": "chapters/12_longer_text",
    "sliding window attention": "chapters/12_longer_text",
    "Transformer-XL": "chapters/12_longer_text_evidence",
    "attention is all you need": "chapters/09_transformer",
    "cross-attention": "chapters/09_transformer",
    "rotary embeddings": "chapters/08_heads_positions",
    "content based addressing": "chapters/13_ntm",
    "DNC": "chapters/13_ntm",
    "LSTM": "chapters/01_seq2seq",
    "MoE": "chapters/20_attention_today",
    "MLA": "chapters/20_attention_today_evidence",
    "TSP": "chapters/14_pointer_networks",
    "sliding_window_attention": "book/reference/attention",  # names of the code
    "MultiHeadAttention": "book/reference/attention",
    "pip install": "book/reference/own_project",
    "slides": "book/teaching/guide",
}
SECTIONS = {"flash attention": "more-operations-less-time"}  # a page that is called so, at the section that explains it
TERMS = {
    "exposure bias": "term-exposure-bias",
    "convex hulls": "term-convex-hull",
    "注意力": "term-attention",
    "softmax": "term-softmax",
}


@pytest.fixture(scope="module")
def texts(root):
    return loaded(root / "book/_ext/search_texts.py")


def section(name, *children):
    return nodes.section("", nodes.title("", name), *children, ids=[name.lower()])


def test_each_section_has_its_own_text_without_code_and_labels(texts):
    sentence = nodes.paragraph("", "", nodes.Text("See ("))
    sentence += addnodes.pending_xref("", nodes.Text("fig-1"), reftype="numref")
    sentence += [nodes.Text(") and "), nodes.math("", r"\sqrt{d}"), nodes.Text(".")]
    inner = section("Inner", nodes.paragraph("", "More."), nodes.section("", nodes.paragraph("", "Held."), ids=["x"]))
    doctree = nodes.document(None, None, "", section("Outer", sentence, nodes.literal_block("", "code = 1"), inner))
    assert texts.sections_of(doctree) == [("outer", "Outer", "See and √d."), ("inner", "Inner", "More. Held.")]


def test_solutions_do_not_repeat_what_their_labs_say(texts):
    solved = [("a", "Solution", "Begin."), ("b", "Task", "Build it."), ("c", "More", "So.")]
    pages = {
        "labs/lab01_a/lab01_a": texts.Texts([("a", "Lab 01", "Begin."), ("b", "Task", "Build it.")]),
        "solutions/lab01_a/lab01_a": texts.Texts(solved),
        "chapters/01_a": texts.Texts([("t", "A title", "Text.")], ["another name"]),
    }
    listed = json.loads(texts.script(pages).removeprefix("SEARCH_TEXTS(").rstrip().removesuffix(");"))
    assert [[name, kind, title, [part[0] for part in parts]] for name, kind, title, parts, _ in listed] == [
        ["chapters/01_a", "Chapters", "Chapter 1. A title", ["t"]],
        ["labs/lab01_a/lab01_a", "Labs", "Lab 01", ["a", "b"]],
        ["solutions/lab01_a/lab01_a", "Solutions of the labs", "Solution", ["a", "c"]],
    ]
    assert [one[-1] for one in listed] == [["another name"], [], []]


@pytest.mark.parametrize("name, kind", [
    ("chapters/02_bahdanau_evidence", "Evidence"), ("book/glossary", "Glossary"), ("book/status", "Other pages"),
    ("book/teaching/guide", "For teachers"), ("book/quizzes/part1", "Quizzes"),
])  # fmt: skip
def test_a_page_has_a_kind(texts, name, kind):
    assert texts.kind_of(name) == kind


# ---- the built book, from the disk


@pytest.fixture(scope="module")
def results(html, tmp_path_factory):
    """The page of results, open for a query that is typed wrongly."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    with tab(tmp_path_factory.mktemp("profile")) as page:
        page.open((html / "search.html").as_uri() + "?q=bahdanu%20atention")
        page.until("document.querySelector('#search-results li')")
        yield page


@pytest.fixture(scope="module")
def answers(results):
    """By query: the pages and anchors of its results, in their order."""
    asked = json.dumps([*QUERIES, *TERMS])
    return results.run(f"""
        const places = (query) => SEARCH.ask(query).map((one) => [one.page, one.anchor]);
        return Object.fromEntries({asked}.map((query) => [query, places(query)]));""")


@pytest.mark.book
@pytest.mark.slow
def test_each_query_leads_first_to_the_page_that_answers_it(answers):
    first = {query: next((page for page, _ in answers[query] if page != "book/glossary"), "") for query in QUERIES}
    assert {query: page for query, page in first.items() if page != QUERIES[query]} == {}
    assert len(QUERIES) >= 30
    at = {query: answers[query][0][1] for query in SECTIONS}
    assert at == SECTIONS


@pytest.mark.book
@pytest.mark.slow
def test_a_term_leads_to_its_definition(answers):
    found = {query: [anchor for page, anchor in answers[query] if page == "book/glossary"][:1] for query in TERMS}
    assert found == {query: [anchor] for query, anchor in TERMS.items()}


@pytest.mark.book
@pytest.mark.slow
def test_results_stand_by_kind_with_an_excerpt_and_say_how_a_typo_was_read(results):
    said = results.run("return document.querySelector('.search-summary').textContent")
    assert "“bahdanu” was read as “bahdanau”. “atention” was read as “attention”." in said
    kinds = results.run("return [...document.querySelectorAll('#search-results h2')].map((one) => one.textContent)")
    assert {"Chapters", "Labs", "Glossary", "Evidence"} <= set(kinds)
    assert results.run("return document.querySelector('#search-results h2').getClientRects().length") == 1
    marked = results.run("return document.querySelector('#search-results li .context mark').textContent.toLowerCase()")
    assert marked in ("bahdanau", "attention")
    assert results.run("return document.querySelector('#search-results li a').href").startswith("file://")
    assert results.faults("#search-results") == []


@pytest.mark.book
@pytest.mark.slow
def test_what_the_book_does_not_have_is_said(results, html):
    results.open((html / "search.html").as_uri() + "?q=zzzzqqqq")
    assert "Nothing was found for “zzzzqqqq”" in results.until("document.querySelector('.search-summary')?.textContent")


@pytest.mark.book
def test_only_the_page_of_results_loads_what_searching_needs(html):
    for name in ("chapters/02_bahdanau.html", "book/index.html"):
        text = (html / name).read_text(encoding="utf-8")
        scripts = ("searchtools.js", "searchindex.js", "language_data.js", "search.js")
        assert [script for script in scripts if script in text] == []
    assert not (html / "searchindex.js").exists()
