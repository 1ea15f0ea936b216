"""What a reader sees of a notebook's cells: claims as one mark, sources in the page's colours, folds with a word."""

from functools import reduce
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from loaded import loaded_beside

TITLE = '<h1>A chapter</h1><p class="open-notebook"><a>Open the notebook</a></p>'
STREAM = (
    '<div class="output stream highlight-myst-ansi"><div class="highlight"><pre><span></span>{}\n</pre></div></div>'
)
INPUT = '<div class="cell_input"><div class="highlight"><pre>{}</pre></div></div>'


@pytest.fixture(scope="module")
def reader_pages(root):
    with loaded_beside(root / "book/_ext/reader_pages.py") as module:
        yield module


@pytest.fixture
def shown(reader_pages):
    """Returns the page that a reader gets of one cell."""

    def show(code, output, tag=""):
        cell = f'{INPUT.format(code)}<div class="cell_output">{output}</div>'
        if tag:
            cell = f'<details class="admonition hide"><summary><p>Show code cell content</p></summary>{cell}</details>'
        page = f'{TITLE}<div class="cell {tag} container">{cell}</div>'
        return BeautifulSoup(reader_pages.for_readers(page), "html.parser")

    return show


def test_claims_leave_the_output_and_are_counted(shown):
    page = shown("x = 1", STREAM.format("a table\n✓ claim: it holds\n✓ claim: that too (n = 3)"))
    assert page.select_one(".output.stream pre").get_text() == "a table\n"
    assert page.select_one("details.folded summary").get_text() == "✓ 2 statements checked"
    assert [claim.get_text() for claim in page.select("details.folded li")] == ["it holds", "that too (n = 3)"]


def test_an_exercise_has_a_link_to_itself(reader_pages):
    title = '<p class="admonition-title"><span>Exercise 3.1</span> (A)</p>'
    body = f'<div class="exercise admonition" id="ex-03-beta">\n{title}'
    page = BeautifulSoup(reader_pages.for_readers(body), "html.parser")
    assert page.select_one(".admonition-title a.headerlink")["href"] == "#ex-03-beta"


def test_the_code_of_a_cell_keeps_its_colours(reader_pages):
    code = '<pre><span></span><span class="n">x</span> <span class="o">&lt;</span> 1\n</pre>'
    cell = (
        f'<div class="cell docutils container"><div class="cell_input docutils container"><div>{code}</div></div></div>'
    )
    assert code in reader_pages.for_readers(f"{TITLE}{cell}")


def test_an_output_of_claims_only_is_gone(shown):
    page = shown("x = 1\nclaim(x)", STREAM.format("✓ claim: it holds"))
    assert page.select(".cell_output") == []
    assert page.select_one(".cell > .cell_input") is not None
    assert page.select_one(".cell > details.folded summary").get_text() == "✓ 1 statement checked"


@pytest.mark.parametrize(
    "output, wanted",
    [
        ("✓ f is right (8 inputs).\n" * 3, "✓ f is right (8 inputs).\n  (The next 2 calls say the same.)\n"),
        ("a\n✓ f is right.\n✓ f is right.", "a\n✓ f is right.\n  (The next call says the same.)\n"),
        ("✓ f is right.\n✓ g is right.", "✓ f is right.\n✓ g is right.\n"),
        ("1\n1\n1", "1\n1\n1\n"),
    ],
)
def test_a_check_that_says_the_same_for_each_variant_is_shown_once(shown, output, wanted):
    page = shown("check.f(f)\ncheck.f(f, variant=2)", STREAM.format(output.rstrip("\n")))
    assert page.select_one(".output.stream pre").get_text() == wanted


@pytest.mark.parametrize("code, tag", [("claim(x)", ""), ("x = 1\nclaim(x)", "tag_hide-cell")])
def test_a_cell_that_only_proves_is_one_mark_with_its_code_inside(shown, code, tag):
    page = shown(code, STREAM.format("✓ claim: it holds"), tag)
    cell = page.select_one("div.cell")
    assert [child.name for child in cell.children] == ["details"]
    assert cell.select_one("details.folded .cell_input pre").get_text() == code


def test_a_figure_stays_beside_its_claims(shown):
    page = shown("plot()", '<img alt="a curve" src="a.png"/>' + STREAM.format("✓ claim: it rises"))
    assert page.select_one(".cell_output img") is not None
    assert page.select_one(".cell > .cell_output + details.folded") is not None


def test_a_piece_of_source_has_the_colours_of_the_page(shown):
    source = (
        '<pre aria-label="Source: attnbook/a.py" role="region" style="color:#24292f"><span>def</span> f(): ...</pre>'
    )
    page = shown(
        "show_source(f)", f'<div class="output text_html"><div style="background:#f6f8fa">{source}</div></div>'
    )
    assert page.select_one(".package-source-path").get_text() == "attnbook/a.py"
    assert page.select_one(".package-source .highlight pre").get_text() == "def f(): ...\n"
    assert page.select_one(".package-source .highlight .k").get_text() == "def"
    assert "#24292f" not in str(page)
    assert page.select("[role=region]") == []


def test_the_switch_for_reading_mode_stands_beside_the_notebook(shown):
    button = shown("x = 1", STREAM.format("1")).select_one("p.open-notebook button.reading-mode")
    assert button["aria-pressed"] == "false"
    assert button.has_attr("hidden")  # a script shows it, because without scripts it would do nothing


@pytest.mark.parametrize("first", ["", "<span></span>"])
@pytest.mark.parametrize("comment", ["# NBVAL_CHECK_OUTPUT", "### BEGIN SOLUTION", "### END HIDDEN TESTS"])
def test_comments_for_tools_are_gone_with_their_lines(reader_pages, first, comment):
    before = "<pre><span></span>" if first else "<pre><span></span>x\n    "
    after = '\n    <span class="n">y</span>\n</pre></div></div>'
    page = f'<div class="cell "><div>{before}<span class="c1">{comment}</span>{after}'
    kept = BeautifulSoup(reader_pages.for_readers(page), "html.parser").get_text()
    assert kept == ("    y\n" if first else "x\n    y\n")


def test_formulas_are_loaded_for_where_there_are_some(reader_pages, tmp_path):
    loads = (
        '<script>window.MathJax = {}</script>\n<script defer="defer" src="_static/mathjax/tex-chtml.js?v=1"></script>'
    )
    (tmp_path / "text.html").write_text(f"<head>{loads}</head>", encoding="utf-8")
    (tmp_path / "formula.html").write_text(f'<head>{loads}</head><span class="math inline">x</span>', encoding="utf-8")
    reader_pages.slim(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html")), None)
    assert (tmp_path / "text.html").read_text(encoding="utf-8") == "<head></head>"
    assert loads in (tmp_path / "formula.html").read_text(encoding="utf-8")


def test_a_page_without_cells_stays_as_it_is(reader_pages):
    page = "<h1>Notation</h1><p>a &lt; b</p>"
    assert reader_pages.for_readers(page) == page


def test_what_nobody_needs_is_taken_away(reader_pages, tmp_path):
    page = '<head>\n  <script defer src="../_static/scripts/fontawesome.js?digest=1"></script>\n<b>x</b></head>'
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    for name in ("fontawesome.js", "bootstrap.js", "bootstrap.js.map"):
        (tmp_path / "_static/scripts").mkdir(parents=True, exist_ok=True)
        (tmp_path / "_static/scripts" / name).write_text("x", encoding="utf-8")
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    reader_pages.slim(app, None)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<head>\n<b>x</b></head>"
    assert [path.name for path in (tmp_path / "_static/scripts").iterdir()] == ["bootstrap.js"]


@pytest.mark.parametrize("alt, caption, classes", [
    ("A curve.", "Darker cells are larger weights.", ["align-default", "as-drawn"]),
    ("White dots on a map.", "The map.", ["align-default", "as-drawn"]),
    ("A curve.", "Highlighted rows, in orange.", ["align-default"]),
])  # fmt: skip
def test_a_figure_whose_words_speak_of_dark_and_light_stays_as_it_was_drawn(shown, alt, caption, classes):
    image = f'<figure class="align-default"><img alt="{alt}" src="a.png"/><figcaption>{caption}</figcaption></figure>'
    assert shown("x = 1", image).select_one("figure")["class"] == classes


def test_an_image_says_how_large_it_is_unless_it_does_already(reader_pages, tmp_path):
    (tmp_path / "_images").mkdir()
    size = (992).to_bytes(4) + (617).to_bytes(4)
    (tmp_path / "_images/a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + size + b"the rest")
    page = '<p><img alt="A curve." src="../_images/a.png"/></p>'
    sized = '<p><img width="992" height="617" style="--wide: 992px" alt="A curve." src="../_images/a.png"/></p>'
    assert reader_pages.sized_images(page, tmp_path) == sized
    assert reader_pages.sized_images(sized, tmp_path) == sized
    for other in ('<img src="_images/a.png" style="width: 500px;"/>', '<img src="../_images/a.svg"/>'):
        assert reader_pages.sized_images(other, tmp_path) == other


def test_a_failed_build_is_left_alone(reader_pages, tmp_path):
    (tmp_path / "a.map").write_text("x", encoding="utf-8")
    reader_pages.slim(SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html")), ValueError("failed"))
    assert (tmp_path / "a.map").exists()


def test_a_number_keeps_its_unit_and_a_product_its_factors(reader_pages):
    body = "<p>20 minutes, 99 % of 14 × 14 cells, <code>7 % 2</code>, <pre>1 % <b>2</b> × 3</pre> and 5 % again.</p>"
    kept = reader_pages.keep_numbers_together(body)
    bound = {"20 m": "20\u00a0m", "99 %": "99\u00a0%", "14 × 14": "14\u00a0×\u00a014", "5 %": "5\u00a0%"}
    assert kept == reduce(lambda text, pair: text.replace(*pair), bound.items(), body)


def test_style_sheets_lose_the_icons_and_colours_that_no_page_names(reader_pages):
    icons = '.fa-moon:before{content:"1"}.fa-sun:before,.fa-star:before{content:"2"}.fa-cat:before{content:"3"}'
    colour = "div.highlight .-Color[class*=-C1] {\n  color: #111\n}\n\n"
    named = reader_pages.names_for_styles('<i class="fa-solid fa-star"></i><i class="fa-moon"></i>')
    assert named == {"fa-solid", "fa-star", "fa-moon"}
    kept = reader_pages.without_unused(f"{colour}{icons}a{{color:red}}", named)
    assert kept == icons.removesuffix('.fa-cat:before{content:"3"}') + "a{color:red}"
    assert reader_pages.without_unused(colour, {"-Color"}) == colour
