"""Links of a notebook that leaves its folder: to pages of the built book, or words in their place."""

import posixpath
import re
from collections.abc import Collection

from nbformat import NotebookNode, from_dict

from coursekit import CourseError
from coursekit.notebooks import read
from coursekit.project import Project

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]*:|#|//")  # an address of its own, or a place in the same notebook


def with_links_to_the_book(
    project: Project, notebook: NotebookNode, folder: str, files: Collection[str], book: str | None
) -> NotebookNode:
    """A copy in which no link leads into the course's folders.

    Args:
        folder: where the notebook is in the course, such as ``labs/lab02_bahdanau``.
        files: what goes with the notebook, by name; links to these stay.
        book: the address of the built book, or None: then titles stand in place of links.

    Raises:
        CourseError: for a picture that is not among `files`.
    """

    def changed(found: re.Match) -> str:
        target, _, anchor = found["target"].partition("#")
        if ELSEWHERE.match(found["target"]) or target in files:
            return found[0]
        if found["picture"]:
            raise CourseError(f"{folder} shows {target}, which does not go with it: list it in attnbook.files")
        path = posixpath.normpath(posixpath.join(folder, target))
        if book is None:
            return in_words(project, found["text"], path)
        return f"[{found['text']}]({address(book, path)}{'#' + anchor if anchor else ''})"

    notebook = from_dict(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(changed, cell.source)
    return notebook


def address(book: str, path: str) -> str:
    """Where a file of the course is in the built book at the address `book`."""
    page = re.sub(r"\.(ipynb|md)$", ".html", path)
    return f"{book.rstrip('/')}/{page}"


def in_words(project: Project, text: str, path: str) -> str:
    """A link's text, with the title of the notebook to which it led: *Chapter 02 (“The title”)*."""
    file = project.root / path
    title = read(file).metadata.get("attnbook", {}).get("title", "") if file.suffix == ".ipynb" else ""
    return f"{text} (“{title}”)" if title and title not in text else text
