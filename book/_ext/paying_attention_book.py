"""What this book adds to Jupyter Book: offline pages, links to notebooks, names in the bibliography.

Each function is one such addition; `setup` at the end says when Sphinx calls it.
"""

from __future__ import annotations

import html
import os
import re
from functools import cache
from pathlib import PurePosixPath

from docutils import nodes
from pybtex import plugin
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from coursekit.project import is_evidence

# What other extensions write, and what a screen reader can make sense of: entries of a list are its items, and a
# fold is named by the words that are seen on it.
CURES = {'role="doc-biblioentry"': 'role="listitem"', ' aria-label="Toggle hidden content"': ""}

# sphinx-exercise begins a link with a blank, which is then underlined: it belongs in front of the link.
BLANK_IN_LINK = re.compile(r'(Solution to)(<a class="reference internal" [^>]*>) ')

# A link that an output drew, to a chapter beside it: a notebook in JupyterLab, a page here.
PAGE_OF_NOTEBOOK = re.compile(r'href="(\d\d_\w+)\.ipynb"')


def silence_thebe(app: Sphinx, config: Config) -> None:
    """Take sphinx-thebe's handlers out: they write scripts into each page that load code from outside."""
    for name, listeners in app.events.listeners.items():
        kept = [one for one in listeners if not one.handler.__module__.startswith("sphinx_thebe")]
        app.events.listeners[name] = kept
    app.registry.css_files[:] = [one for one in app.registry.css_files if "thebe" not in one[0]]


def unique_exercise_ids(app: Sphinx, doctree: nodes.document) -> None:
    """Give the inside of each exercise its own id; sphinx-exercise writes the same one into all of them."""
    for section in doctree.findall(nodes.section):
        if section["ids"] in (["exercise-content"], ["solution-content"]) and section.parent["ids"]:
            section["ids"] = [f"{section.parent['ids'][0]}-content"]


def mark_solution(app: Sphinx, docname: str, source: list[str]) -> None:
    """Say in the title of a solution that it is one; a lab and its solution are one notebook with one title."""
    if docname.startswith("solutions/"):
        source[0] = re.sub(r'"# (Lab \d+)', r'"# Solution of \1', source[0], count=1)


def chapter_number(docname: str) -> int | None:
    """The number of a chapter, which its file name begins with; nothing for other pages."""
    found = re.match(r"chapters/(\d+)_", docname)
    return int(found[1]) if found else None


def number_from_one(numbers: dict[str, tuple[int, ...]]) -> None:
    """Let the figures, or the tables, of a page without a chapter's number begin at 1, and keep their order."""
    for count, anchor in enumerate(sorted(numbers, key=lambda anchor: numbers[anchor]), start=1):
        numbers[anchor] = (count,)


def number_by_file_name(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number chapters, and all in them, as their files are; Sphinx counts on, and would call chapter 07 the fourth.

    Runs after Sphinx has numbered sections, figures and equations; only the first part of each number is replaced.
    All other pages (solutions, notation) count their own figures and tables from 1, where Sphinx counts on from page
    to page.
    """
    for docname in env.found_docs:
        chapter = chapter_number(docname)
        if chapter is None or not env.titles[docname].get("secnumber"):
            for numbers in env.toc_fignumbers.get(docname, {}).values():
                number_from_one(numbers)
            continue
        for numbers in (env.toc_secnumbers[docname], *env.toc_fignumbers.get(docname, {}).values()):
            numbers.update({anchor: (chapter, *number[1:]) for anchor, number in numbers.items() if number})
        env.titles[docname]["secnumber"] = (chapter,)
        for entry in env.tocs[docname].findall(addnodes.compact_paragraph):
            for reference in entry.findall(nodes.reference):
                if reference.get("secnumber"):
                    reference["secnumber"] = (chapter, *reference["secnumber"][1:])
    return []


def notebook_button(pagename: str, sourcename: str, source: str) -> str:
    """The HTML of the link that downloads a page's notebook; nothing for a page that is no notebook."""
    if not sourcename.endswith(".ipynb"):
        return ""
    folder = PurePosixPath(pagename).parts[0]
    other = "this page" if is_evidence(PurePosixPath(pagename)) else "this chapter"
    word = {"labs": "this lab", "solutions": "this solution"}.get(folder, other)
    name = html.escape(PurePosixPath(sourcename).name)
    return (
        f'<p class="open-notebook"><a href="{html.escape(source)}" download="{name}">'
        f"Open the notebook</a> <span>of {word}: <code>{html.escape(sourcename)}</code></span></p>"
    )


def mend_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Put the notebook's link under the page's title, and cure what keeps screen readers out."""
    if "body" in context and doctree is not None:
        for fault, cure in CURES.items():
            context["body"] = context["body"].replace(fault, cure)
        context["body"] = BLANK_IN_LINK.sub(r"\1 \2", context["body"])
        sourcename = str(app.env.doc2path(pagename, base=False)).replace("\\", "/")
        context["body"] = PAGE_OF_NOTEBOOK.sub(r'href="\1.html"', context["body"])
        button = notebook_button(pagename, sourcename, context["pathto"](f"_sources/{sourcename}", 1))
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{button}", 1)


def write_side_by_side(app: Sphinx, env) -> list[str]:
    """Let as many processes write pages as there are processors: Jupyter Book has no option for it.

    Pages are read by one process, because two of Jupyter Book's own extensions don't say that they can be."""
    app.parallel = max(app.parallel, (os.cpu_count() or 1) + 1)  # one hands the pages out
    return []


class ChineseWords(nodes.inline):
    """Chinese words in an English page, marked as such so that voices and fonts treat them rightly."""


def visit_chinese_words(translator, node: ChineseWords) -> None:
    """Open the span that says in which language its words are."""
    translator.body.append(translator.starttag(node, "span", "", lang="zh-Hans"))


def depart_chinese_words(translator, node: ChineseWords) -> None:
    """Close it."""
    translator.body.append("</span>")


def chinese(name: str, rawtext: str, text: str, lineno: int, inliner, options=None, content=None):
    """The role `{zh}`, as in {zh}`注意力`."""
    return [ChineseWords(rawtext, text)], []


class NameAndYear(BaseLabelStyle):
    """Labels of the bibliography: the names and the year under which the text cites an entry."""

    def format_labels(self, sorted_entries):
        """Yield one label an entry, as in `Bahdanau et al., 2015`; two that would be the same get letters behind."""
        labels = [self.names_and_year(entry) for entry in sorted_entries]
        for place, label in enumerate(labels):
            yield label + "abcdefgh"[labels[:place].count(label)] * (labels.count(label) > 1)

    @staticmethod
    def names_and_year(entry) -> str:
        """One entry's authors, at most two of them, and its year."""
        people = entry.persons["author"]
        names = [" ".join(map(str, one.rich_prelast_names + one.rich_last_names)) for one in people]
        some = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        return f"{some}, {entry.fields['year']}"


class BookStyle(PlainStyle):
    """pybtex's plain style, sorted by author and year, labelled with both."""

    default_sorting_style = "author_year_title"
    default_label_style = NameAndYear


def setup(app: Sphinx) -> dict:
    """Tell Sphinx when to call what."""
    register_plugin("pybtex.style.formatting", "paying_attention", BookStyle)
    plugin.find_plugin = cache(plugin.find_plugin)  # it reads the list of all installed packages for each citation
    app.connect("config-inited", silence_thebe, priority=900)
    app.connect("source-read", mark_solution)
    app.connect("doctree-read", unique_exercise_ids)
    app.connect("env-get-updated", number_by_file_name, priority=900)
    app.connect("env-updated", write_side_by_side)
    app.connect("html-page-context", mend_page, priority=900)
    app.add_node(ChineseWords, html=(visit_chinese_words, depart_chinese_words))
    app.add_role("zh", chinese)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
