"""The texts that search.js searches: each section of each page, and each term of the glossary.

They are one script, SCRIPT, which only the page of results loads, and which a browser may read from the disk as well.
It takes the place of Sphinx's index, which knows neither sections nor how often a word stands there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from coursekit.project import is_evidence

SCRIPT = "_static/search_texts.js"
NUMBERED = re.compile(r"chapters/(\d\d)_\w+")
# By the beginning of a page's name: under which heading of the results it stands; evidence is told by its name.
KINDS = {
    "chapters/": "Chapters", "labs/": "Labs", "solutions/": "Solutions of the labs", "book/glossary": "Glossary",
    "book/quizzes/": "Quizzes", "book/teaching/": "For teachers", "book/reference/": "Reference",
    "book/": "Other pages",
}  # fmt: skip
WHAT_IS_NEW = "book/whats_new"  # names everything, and explains nothing
LABELS = ("numref", "eq")  # references whose text is a label until the book is written
TABLE_OF_NAMES = "at-a-glance"  # repeats the first sentences of a page's entries, which are found by themselves
NOT_TEXT = (nodes.math_block, nodes.literal_block, nodes.raw, nodes.Invisible, nodes.image, addnodes.desc)

SIGNS = {
    "sqrt": "√", "approx": "≈", "cdot": "·", "times": "×", "odot": "⊙", "top": "ᵀ", "sum": "Σ", "partial": "∂",
    "in": "∈", "le": "≤", "ge": "≥", "dots": "…", "infty": "∞", "alpha": "α", "beta": "β", "gamma": "γ", "epsilon": "ε",
    "varepsilon": "ε", "lambda": "λ", "sigma": "σ", "tau": "τ", "mu": "μ",
}  # fmt: skip


class Texts(NamedTuple):
    """What is searched of a page: the anchor, the title and the text of its sections, and what else it is called."""

    sections: list[tuple[str, str, str]]
    keywords: list[str] = []


def kind_of(name: str) -> str:
    """The heading under which a page's results stand."""
    if is_evidence(Path(name)):
        return "Evidence"
    return next(kind for begin, kind in KINDS.items() if name.startswith(begin))


def texts_in(node: nodes.Node) -> Iterator[str]:
    """The pieces of text in a node, without code, formulas, sections of their own and labels that are no words."""
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, nodes.math):
        yield signs(node.astext())
    elif isinstance(node, addnodes.pending_xref) and (node.get("reftype") in LABELS or node.get("refdomain") == "cite"):
        return
    elif not isinstance(node, NOT_TEXT) and not is_titled(node) and TABLE_OF_NAMES not in node.get("classes", []):
        for child in node.children:
            yield from texts_in(child)
        if isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline):
            yield " "


def signs(formula: str) -> str:
    """A short formula as letters and signs, without the commands of TeX."""
    return re.sub(r"[\\{}]", "", re.sub(r"\\([a-zA-Z]+) ?", lambda found: SIGNS.get(found[1], ""), formula))


def is_titled(node: nodes.Node) -> bool:
    """Whether a node is a section with a title; what exercises hold is one without."""
    return isinstance(node, nodes.section) and isinstance(node.next_node(), nodes.title)


def words_of(parts: Iterator[str]) -> str:
    """Pieces of text in one line."""
    return " ".join("".join(parts).replace(" ()", "").split())


def sections_of(doctree: nodes.document) -> list[tuple[str, str, str]]:
    """The anchor, the title and the text of each section and each term of a page, in its order."""
    found = []
    for section in doctree.findall(is_titled):
        title, *rest = section.children
        rest = [child for child in rest if not isinstance(child, addnodes.glossary)]
        text = words_of(part for child in rest for part in (*texts_in(child), " "))
        found.append((section["ids"][0], words_of(texts_in(title)), text))
    found += [entry for one in doctree.findall(addnodes.desc) if (entry := entry_of(one))]
    return found + [term_of(item) for glossary in doctree.findall(addnodes.glossary) for item in items_of(glossary)]


def entry_of(one: addnodes.desc) -> tuple[str, str, str] | None:
    """The anchor, the name and the first paragraph of an entry of the reference; nothing for a part of a class."""
    first = next(iter(one.findall(nodes.paragraph)), None)
    signature = one.next_node(addnodes.desc_signature)
    if isinstance(one.parent, addnodes.desc_content) or first is None or not signature["ids"]:
        return None
    return signature["ids"][0], signature["fullname"], words_of(texts_in(first))


def items_of(glossary: addnodes.glossary) -> Iterator[nodes.definition_list_item]:
    """The entries of a glossary."""
    return glossary.findall(nodes.definition_list_item)


def term_of(item: nodes.definition_list_item) -> tuple[str, str, str]:
    """The anchor, the title and the text of an entry; a Chinese name, which begins the text, belongs to the title."""
    terms = list(item.findall(nodes.term))
    text = words_of(part for definition in item.findall(nodes.definition) for part in texts_in(definition))
    chinese = [one.astext() for one in item.findall(nodes.inline) if type(one).__name__ == "ChineseWords"][:1]
    title = " · ".join([", ".join(words_of(texts_in(term)) for term in terms), *chinese])
    return terms[0]["ids"][0], title, text.removeprefix("".join(chinese)).lstrip()


def without_index(app: Sphinx) -> None:
    """Let Sphinx make no index of its own: it takes seconds, and every page would load it."""
    if app.builder.format == "html":
        app.builder.index_page = lambda pagename, doctree, title: None
        app.builder.load_indexer = lambda docnames: None
        app.builder.dump_search_index = lambda: None


def keep(app: Sphinx, doctree: nodes.document) -> None:
    """Note the texts of a page that has been read."""
    if app.builder.format == "html":
        keywords = keywords_of(Path(app.env.doc2path(app.env.docname)))
        texts_by_page(app.env)[app.env.docname] = Texts(sections_of(doctree), keywords)


def keywords_of(path: Path) -> list[str]:
    """What readers call the subject of a page where the page itself calls it otherwise: its metadata's "keywords"."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return json.loads(text)["metadata"].get("attnbook", {}).get("keywords", [])
    front = re.match(r"---\n(.*?\n)---\n", text, flags=re.DOTALL)
    return yaml.safe_load(front[1]).get("keywords", []) if front else []


def texts_by_page(env: Any) -> dict[str, Texts]:
    """What is known of each page; kept between builds."""
    if not hasattr(env, "search_texts"):
        env.search_texts = {}
    return env.search_texts


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget a page that is read anew, or gone."""
    texts_by_page(env).pop(docname, None)


def merge(app: Sphinx, env: Any, docnames: set[str], other: Any) -> None:
    """Take over what another process has read."""
    texts_by_page(env).update({name: found for name, found in texts_by_page(other).items() if name in docnames})


def script(pages: dict[str, Texts]) -> str:
    """The script: for each page its name, its kind, its title, its sections, and its keywords."""
    listed, seen = [], set()
    for name, (sections, keywords) in sorted(pages.items()):  # a solution comes behind its lab, and repeats most of it
        sections = sections[:1] + [one for one in sections[1:] if not one[2] or one[2] not in seen]
        seen |= {text for _, _, text in sections}
        if sections and name != WHAT_IS_NEW:
            number = NUMBERED.fullmatch(name)
            title = (
                f"Chapter {int(number[1])}. {sections[0][1]}"
                if number and not is_evidence(Path(name))
                else sections[0][1]
            )
            listed.append([name, kind_of(name), title, sections, keywords])
    return f"SEARCH_TEXTS({json.dumps(listed, ensure_ascii=False, separators=(',', ':'))});\n"


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the script of a book that has been built."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / SCRIPT).write_text(script(texts_by_page(app.env)), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to call what; the extension's ids of exercises are there by then."""
    app.connect("builder-inited", without_index)
    app.connect("doctree-read", keep, priority=600)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", write)
    return {"version": "1", "env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
