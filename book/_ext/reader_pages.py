"""What a reader of a built page sees of a notebook's cells: text first, code on demand, proofs as one quiet mark.

A notebook is also worked with, so it holds more than a reader needs. Each step below changes the HTML of one page.
"""

from __future__ import annotations

import re
import struct
from itertools import groupby
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, Tag
from folds import join_folds
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

# What a line should not end with: a number and its unit, or the two numbers of a product, belong together.
BEFORE_UNIT, BESIDE_TIMES = re.compile(r"(?<=\d) (?=%|minutes?\b)"), re.compile(r"(?<=\d) × (?=\d)")
VERBATIM = ("pre", "code", "script", "style", "textarea")
# Comments that only a tool reads, with the line that they stand on.
TOOLS = re.compile(
    r'(?m)^(.*<pre><span></span>)?(?: |<span class="w"> *</span>)*'
    r'<span class="c1">(?:#+ (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS)|# NBVAL_\w+)</span>\n'
)
CODE = re.compile(r'(<div class="cell_input docutils container">(?:(?!</div>).)*?)(<pre\b.*?</pre>)', re.DOTALL)
CODE_KEPT = re.compile(r'<pre data-code="(\d+)">.*?</pre>', re.DOTALL)
# Words of a caption that are wrong once a figure's lightness is turned round.
LIGHTNESS = re.compile(r"(?i)\b(?:dark|black|white|light|pale|bright)(?:er|est)?\b")
# An exercise has a title, and no link to itself as figures have.
EXERCISE = re.compile(r'(<div class="exercise admonition" id="([^"]+)">\s*<p class="admonition-title">.*?)</p>')
LINK_TO_IT = r'\1<a class="headerlink" href="#\2" title="Link to this exercise">#</a></p>'
CLAIM = "✓ claim: "  # how `attnpages.teaching.claim` begins its line
MODE = '<button type="button" class="reading-mode" aria-pressed="false" hidden>Reading mode</button>'


def for_readers(body: str) -> str:
    """The HTML of a notebook's page as a reader wants it; pages without cells stay as they are."""
    body = EXERCISE.sub(LINK_TO_IT, body)
    if 'class="cell ' not in body:
        return body
    body, codes = without_code(TOOLS.sub(lambda found: found[1] or "", body))
    page = BeautifulSoup(body, "html.parser")
    for step in (show_sources_in_the_theme, fold_claims, say_once, join_folds, keep_lightness):
        step(page)
    add_reading_mode(page)
    return CODE_KEPT.sub(lambda found: codes[int(found[1])], str(page))


def without_code(body: str) -> tuple[str, list[str]]:
    """A page whose cells hold their code without its colours, and each cell's code as it was.

    No step changes code, and its colours are two thirds of a page's elements, so parsing them would take longest."""
    codes: list[str] = []

    def kept(cell: re.Match[str]) -> str:
        codes.append(cell[2])
        return f'{cell[1]}<pre data-code="{len(codes) - 1}">{re.sub("<[^>]*>", "", cell[2])}</pre>'

    return CODE.sub(kept, body), codes


def keep_numbers_together(body: str) -> str:
    """Put spaces that do not break between a number and what belongs to it; code and formulas stay as they are.

    The body is cut into tags and texts instead of parsed, because it holds SVG, whose names a parser might change.
    """
    parts, inside = re.split(r"(<[^>]*>)", body), []
    for at, part in enumerate(parts):
        tag = re.match(r"<(/?)(\w+)", part)
        if tag and tag[2] in VERBATIM:
            inside = inside[:-1] if tag[1] else [*inside, tag[2]]
        elif not part.startswith("<") and not inside:
            parts[at] = BESIDE_TIMES.sub("\u00a0×\u00a0", BEFORE_UNIT.sub("\u00a0", part))
    return "".join(parts)


def show_sources_in_the_theme(page: BeautifulSoup) -> None:
    """Give each piece of the package's source the page's own colours; in the notebook its colours are fixed ones."""
    for pre in page.find_all("pre", attrs={"aria-label": re.compile("^Source: ")}):
        if not pre.find_parent(class_="cell_output"):
            continue
        code = highlight(pre.get_text(), PythonLexer(), HtmlFormatter(nowrap=True)).rstrip()
        caption = pre["aria-label"].removeprefix("Source: ")
        shown = new(page, "div", "package-source")
        shown.append(new(page, "p", "package-source-path", caption))
        block = new(page, "div", "highlight")
        block.append(BeautifulSoup(f"<pre>{code}\n</pre>", "html.parser"))
        shown.append(block)
        pre.parent.replace_with(shown)


def fold_claims(page: BeautifulSoup) -> None:
    """Take the claims out of each cell's output; one mark says how many there are, and opens to show them."""
    for cell in page.select("div.cell"):
        claims = [claim for pre in cell.select(".output.stream pre") for claim in claims_taken_out(pre)]
        if not claims:
            continue
        fold = claims_fold(page, claims)
        output = cell.find("div", class_="cell_output")
        if output.get_text(strip=True) or output.find("img"):
            cell.append(fold)
        elif is_only_proof(cell):
            fold.append(cell.find("div", class_="cell_input").extract())
            cell.clear()
            cell["class"] = ["cell"]
            cell.append(fold)
        else:
            output.decompose()
            (cell.find("details", class_="hide") or cell).append(fold)


def claims_taken_out(pre: Tag) -> list[str]:
    """The claims among the lines of an output; they are removed from it, and it is, too, if nothing is left."""
    lines = pre.get_text().splitlines()
    claims = [line.removeprefix(CLAIM) for line in lines if line.startswith(CLAIM)]
    if claims:
        others = "\n".join(line for line in lines if not line.startswith(CLAIM)).strip("\n")
        pre.clear()
        pre.append(NavigableString(f"{others}\n"))
        if not others.strip():
            pre.find_parent("div", class_="output").decompose()
    return claims


def claims_fold(page: BeautifulSoup, claims: list[str]) -> Tag:
    """What holds some claims until `join_folds` joins it with its neighbours."""
    fold = new(page, "details", "claims")
    listed = new(page, "ul", "claims-said")
    for claim in claims:
        listed.append(new(page, "li", None, claim))
    fold.append(listed)
    return fold


def is_only_proof(cell: Tag) -> bool:
    """Whether a cell does nothing for a reader but to check: it is hidden, or it begins with a claim."""
    code = cell.find("div", class_="cell_input").get_text().lstrip()
    return "tag_hide-cell" in cell["class"] or code.startswith("claim(")


def say_once(page: BeautifulSoup) -> None:
    """Show what a check says once, where a solution's cell runs it on several variants and each says the same."""
    for pre in page.select("div.cell .output.stream pre"):
        runs = [(line, len(list(same))) for line, same in groupby(pre.get_text().splitlines())]
        if any(line.startswith("✓ ") and count > 1 for line, count in runs):
            pre.clear()
            pre.append(NavigableString("".join(f"{line}\n" for run in runs for line in said(*run))))


def said(line: str, count: int) -> list[str]:
    """The lines that stand for one that comes `count` times in a row."""
    if count == 1 or not line.startswith("✓ "):
        return [line] * count
    return [line, "  (The next call says the same.)" if count == 2 else f"  (The next {count - 1} calls say the same.)"]


def keep_lightness(page: BeautifulSoup) -> None:
    """Mark the figures whose words speak of dark or light: in the dark theme they stay as they were drawn."""
    for figure in page.select("figure"):
        words = [figure.get_text(), *(image.get("alt", "") for image in figure.select("img"))]
        if LIGHTNESS.search(" ".join(words)):
            figure["class"] = [*figure.get("class", []), "as-drawn"]


def add_reading_mode(page: BeautifulSoup) -> None:
    """Offer, under the title, the switch that hides folded code and claims; reading.js makes it work."""
    if button := page.find("p", class_="open-notebook"):
        button.append(BeautifulSoup(MODE, "html.parser"))


def new(page: BeautifulSoup, name: str, cls: str | None, text: str = "") -> Tag:
    """A new element with a class and a text."""
    element = page.new_tag(name, attrs={"class": cls} if cls else {})
    if text:
        element.append(text)
    return element


def mend_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Change the page that is about to be written."""
    if "body" in context and doctree is not None:
        context["body"] = keep_numbers_together(for_readers(context["body"]))


# ---- what the theme brings and nobody needs

ICONS = re.compile(r'\s*<script defer src="[^"]*fontawesome\.js[^"]*"></script>')
MATHJAX = re.compile(
    r"\s*<script[^>]*>window\.MathJax = .*?</script>|\s*<script[^>]*mathjax/tex-chtml\.js[^>]*></script>"
)
SEARCHING = re.compile(
    r'\s*<script[^>]* src="(?:[^"]*/)?(?:searchtools|language_data|searchindex|search)\.js[^"]*"></script>'
)
INDEX = "searchindex.js"  # Sphinx's, which search_texts.py replaces
FORMULA = 'class="math '  # Sphinx loads MathJax on some pages that have none
ICON = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]*"\}')  # a style sheet's rule for one icon
TERMINAL = re.compile(r"(?m)^div\.highlight \.-Color[^{]*\{[^}]*\}\s*")  # the 256 colours of a terminal's output
UNUSED = (INDEX, "_static/scripts/fontawesome.js", "**/*.map", "_static/vendor/fontawesome/webfonts/*.ttf")


# An image that does not say how large it is.
IMAGE = re.compile(r'<img (?![^>]*(?:width|style)=)(?=[^>]*src="(?:\.\./)*(?P<path>_images/[^"]+\.png)")')


def sized_images(page: str, folder: Path) -> str:
    """A page whose images say how large they are, so that nothing moves when one arrives.

    The style sheet reads `--wide` on a phone: figures of all widths have letters of the same size there.
    """

    def sized(image: re.Match) -> str:
        with (folder / image["path"]).open("rb") as file:
            width, height = struct.unpack(">II", file.read(24)[16:])  # where a PNG has them
        return f'{image[0]}width="{width}" height="{height}" style="--wide: {width}px" '

    return IMAGE.sub(sized, page)


def slim(app: Sphinx, error: Exception | None) -> None:
    """Take away what pages load and don't use: formulas' script where there is no formula, the scripts of the page of
    results, and a second set of icons.

    The icons come from a font of 0.16 MB, which the style sheet knows; the script that draws them again weighs 1.5 MB.
    The style sheets lose the rules of icons and of colours that no page names. Images are given their sizes here,
    because they are in their folder only now.
    """
    if error is not None or app.builder.format != "html":
        return
    named = set()
    for path in app.outdir.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        slimmer = sized_images(ICONS.sub("", text), app.outdir)
        if path.name == "search.html":
            slimmer = SEARCHING.sub(lambda script: "" if INDEX in script[0] else script[0], slimmer)
        else:
            slimmer = SEARCHING.sub("", slimmer)
        if FORMULA not in slimmer:
            slimmer = MATHJAX.sub("", slimmer)
        if slimmer != text:
            path.write_text(slimmer, encoding="utf-8")
        named |= names_for_styles(slimmer)
    for pattern in UNUSED:
        for path in app.outdir.glob(pattern):
            path.unlink()
    for path in app.outdir.glob("_static/**/*.js"):
        named |= names_for_styles(path.read_text(encoding="utf-8", errors="replace"))
    for path in app.outdir.glob("_static/**/*.css"):
        sheet = path.read_text(encoding="utf-8")
        slimmer = without_unused(sheet, named)
        if slimmer != sheet:
            path.write_text(slimmer, encoding="utf-8")


def names_for_styles(text: str) -> set[str]:
    """The icons that a page or a script names, and whether it names a terminal's colour."""
    return set(re.findall(r"\bfa-[\w-]+|-Color\b", text))


def without_unused(sheet: str, named: set[str]) -> str:
    """A style sheet without the rules of icons, and of a terminal's colours, that nothing names."""
    if "-Color" not in named:
        sheet = TERMINAL.sub("", sheet)
    return ICON.sub(lambda rule: rule[0] if named & set(re.findall(r"fa-[\w-]+", rule[0])) else "", sheet)


def setup(app: Sphinx) -> dict:
    """Tell Sphinx when to call what."""
    app.connect("html-page-context", mend_page, priority=950)  # after paying_attention_book's
    app.connect("build-finished", slim)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
