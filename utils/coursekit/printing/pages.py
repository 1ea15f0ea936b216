"""Built pages as paper and e-readers take them: without buttons and scripts, their folds open or gone.

What a page of the book is, the browser's pages say: these are read, so no chapter is built twice. A page is a tree of
lxml, whose places (`id`) and links bear the page's name, so that many pages may stand in one document.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import etree
from lxml import html as lxml_html

from coursekit import CourseError

# Gone: what moves, what only a screen has, code that the page keeps folded, and the list of claims.
GONE = (
    "script", "style", "noscript", "button", "template", "svg.sd-octicon", "i[class^=fa]", "a.headerlink",
    ".hurry-mark", "p.open-notebook", ".hurry-explained", "details.hide", "details.claims", "div.cell.proof",
    ".only-dark", ".on-a-phone", ".quiz-check", ".quiz-result", ".quiz-score", ".page-version", ".progress-button",
    "#progress-keeper",
)  # fmt: skip
BUILD = "the book has not been built here: there is no {path}. Build it first: coursekit book, or make book"

Node = Any  # an element of lxml, which brings no types


@dataclass(frozen=True)
class Page:
    """A page of the book: its name, such as chapters/07_self_attention, its title with its number, and its tree."""

    name: str
    title: str
    body: Node

    @property
    def top(self) -> str:
        """The name of the place where the page begins."""
        return place(self.name)


def place(page: str, fragment: str = "") -> str:
    """The name that a place of a page has where several pages stand together: letters, digits, points and hyphens."""
    return re.sub(r"[^\w.-]", "-", f"{page}--{fragment}" if fragment else page, flags=re.ASCII)


def read_pages(html: Path, names: Iterable[str]) -> list[Page]:
    """The pages, cleaned, in the order of their names.

    Args:
        html: the folder of the built book.
        names: of pages, without an ending.

    Raises:
        CourseError: for a page that was not built, or that has no title.
    """
    return [_read(html, name) for name in names]


def _read(html: Path, name: str) -> Page:
    path = html / f"{name}.html"
    if not path.is_file():
        raise CourseError(BUILD.format(path=path))
    tree = lxml_html.document_fromstring(path.read_bytes(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    found = tree.xpath("//article[contains(@class, 'bd-article')]")
    headings = found[0].xpath(".//h1") if found else []
    if not headings:
        raise CourseError(f"{path} has no article with a title, so it is no page of this book")
    body = found[0]
    clean(body)
    return Page(name, text_of(headings[0]), body)


def clean(body: Node) -> None:
    """Change a page's tree into what paper can hold."""
    for node in chosen(body, GONE):
        drop(node)
    for change in (open_folds, print_quizzes, drop_empty_cells, plain_images):
        change(body)


def chosen(body: Node, patterns: Iterable[str]) -> list[Node]:
    """The elements that match one of the patterns `tag`, `tag.class.class`, `.class`, `#id` or `tag[class^=start]`."""
    return [node for pattern in patterns for node in body.xpath(_xpath(pattern))]


def _xpath(pattern: str) -> str:
    begun = re.fullmatch(r"(\w+)\[class\^=(\w+)\]", pattern)
    if begun:
        return f".//{begun[1]}[starts-with(@class, '{begun[2]}')]"
    if pattern.startswith("#"):
        return f".//*[@id='{pattern[1:]}']"
    tag, *classes = pattern.split(".")
    words = [f"contains(concat(' ', @class, ' '), ' {word} ')" for word in classes]
    return f".//{tag or '*'}" + "".join(f"[{word}]" for word in words)


def drop(node: Node) -> None:
    """Take an element away, and leave the text behind it."""
    if node.getparent() is not None:
        node.drop_tree()


def text_of(node: Node) -> str:
    """The words of an element in one line."""
    return " ".join("".join(node.itertext()).split())


def new(tag: str, text: str = "", *children: Node, **attributes: str) -> Node:
    """A new element; `class_` is written as `class`."""
    node = lxml_html.Element(tag)
    node.text = text or None
    for name, value in attributes.items():
        node.set(name.rstrip("_"), value)
    node.extend(children)
    return node


def open_folds(body: Node) -> None:
    """Folds become boxes under the words that were to be pressed."""
    for summary in body.xpath(".//details/summary"):
        summary.tag = "p"
        summary.set("class", "fold-title")
    for fold in body.xpath(".//details"):
        fold.tag = "div"
        fold.attrib.pop("open", None)
        fold.set("class", f"fold {fold.get('class', '')}".strip())
    for box in chosen(body, [".dropdown", ".toggle"]):
        box.set("class", " ".join(word for word in box.get("class").split() if word not in ("dropdown", "toggle")))


def print_quizzes(body: Node) -> None:
    """Forms become questions with letters at their choices; the answers stand behind the last question."""
    for quiz in chosen(body, ["div.quiz"]):
        answers = new("div", "", new("p", "Answers", class_="quiz-solutions-title"), class_="quiz-solutions")
        for form in quiz.xpath(".//form"):
            form.tag = "div"
            for name in ("novalidate", "data-kind", "data-within"):
                form.attrib.pop(name, None)
            _print_question(form, answers)
        quiz.append(answers)


def _print_question(form: Node, answers: Node) -> None:
    for field in form.xpath(".//fieldset"):
        field.tag = "div"
        field.attrib.pop("aria-labelledby", None)
    title = form.xpath(".//legend")[0]
    title.tag = "p"
    title.set("class", "quiz-legend")
    for number, choice in enumerate(chosen(form, ["div.quiz-choice"])):
        drop(choice.xpath("./input")[0])
        choice.insert(0, new("span", f"{chr(ord('a') + number)}) ", class_="quiz-letter"))
    for entry in form.xpath(".//input"):
        entry.getparent().replace(entry, new("span", " ____________", class_="quiz-blank"))
    for label in form.xpath(".//label"):
        label.tag = "span"
        label.attrib.pop("for", None)
    for found in chosen(form, ["div.quiz-answers"]):
        found[0].text = text_of(title)
        for item in found.xpath(".//li"):
            letter = item.attrib.pop("data-choice", "")
            item.attrib.pop("data-number", None)
            item.attrib.pop("data-right", None)
            if letter:
                item.insert(0, new("span", f"{letter}) ", class_="quiz-letter"))
        answers.append(found)


def drop_empty_cells(body: Node) -> None:
    """A cell of which nothing is left would be an empty box."""
    for kind in ("div.cell_input", "div.cell_output", "div.cell", "div.live"):
        for cell in chosen(body, [kind]):
            if not text_of(cell) and not cell.xpath(".//img | .//table | .//svg"):
                drop(cell)


def plain_images(body: Node) -> None:
    """An image by itself: a link around it would only enlarge it."""
    for link in body.xpath(".//a[contains(concat(' ', @class, ' '), ' image-reference ')]"):
        link.drop_tag()


@dataclass(frozen=True)
class Target:
    """Where a link leads: a page and a place in it, or else an address outside of the book."""

    page: str = ""
    fragment: str = ""
    outside: str = ""


def target_of(page: str, href: str) -> Target:
    """Where a link of a page leads; a file that is no page is none, and gives an empty target."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        return Target(outside=href)
    if not parts.path:
        return Target(page, unquote(parts.fragment))
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
    if not path.endswith(".html"):
        return Target()
    return Target(path.removesuffix(".html"), unquote(parts.fragment))


def relink(pages: list[Page], address: Callable[[Page, Target], str]) -> None:
    """Give each place of the pages its full name, and each link the address that `address` makes of its target.

    A link without an address becomes plain text. A place that was in something that is gone is taken for the beginning
    of its page."""
    there = {page.name: {node.get("id") for node in page.body.xpath(".//*[@id]")} for page in pages}
    for page in pages:
        for link in page.body.xpath(".//a[@href]"):
            target = target_of(page.name, link.get("href"))
            if target.page in there and target.fragment not in there[target.page]:
                target = Target(target.page)
            href = address(page, target)
            _link(link, href)
    for page in pages:
        for node in page.body.xpath(".//*[@id]"):
            node.set("id", place(page.name, node.get("id")))
        page.body.set("id", page.top)


def _link(link: Node, href: str) -> None:
    if href:
        link.set("href", href)
        for name in ("title", "download", "target", "rel"):
            link.attrib.pop(name, None)
    elif link.get("id"):
        link.tag = "span"
        link.attrib.pop("href")
    else:
        link.drop_tag()


def images_of(pages: Iterable[Page], html: Path) -> dict[str, Path]:
    """The pictures of pages: of each address, seen from the folder of the book, its file.

    The addresses in the pages are changed to these. Raises CourseError for a picture that is not there."""
    found = {}
    for page in pages:
        for image in page.body.xpath(".//img[@src]"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), unquote(image.get("src"))))
            if not (html / name).is_file():
                raise CourseError(f"{page.name}.html shows {name}, and {html} has no such file: build the book anew")
            image.set("src", name)
            found[name] = html / name
    return found


def written(node: Node) -> str:
    """An element as XML, which HTML5 reads as well: no element but an empty one closes itself."""
    for inside in node.iter():
        if isinstance(inside.tag, str) and inside.tag not in EMPTY and not len(inside) and inside.text is None:
            inside.text = ""
    return etree.tostring(node, encoding="unicode", method="xml", with_tail=False)


EMPTY = {"img", "br", "hr", "col", "wbr", "input", "meta", "link", "source", "area", "base", "embed", "track", "param"}
