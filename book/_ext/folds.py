"""What a notebook needs around a figure or a piece of code, joined on the page to one quiet line.

Hidden cells stand before a figure, and checks after it. A reader of the page goes from the text to the figure, and
finds below it one fold that holds all of these, in the order in which they were run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bs4 import BeautifulSoup, Tag

HIDDEN, CLAIMS = "hide", "claims"  # what myst-nb folds away, and `reader_pages.fold_claims`


def join_folds(page: BeautifulSoup) -> None:
    """Join the folds of cells that follow each other without text between them, and put them after what they show.

    Before code that is shown, they stay in front of it, because it uses what they define.
    """
    for cells in neighbours(page):
        host, waiting = None, []
        for cell in cells:
            own = [fold.extract() for fold in cell.find_all("details", class_=[HIDDEN, CLAIMS], recursive=False)]
            if host is not None and not shows(cell):
                waiting += own
                cell.decompose()
                continue
            if host is None or shows(host) or shows(cell, "cell_input"):
                put(page, host, waiting)
                waiting = own
            else:  # nothing was shown so far, and this is a figure: all that waits goes behind it
                host.decompose()
                waiting += own
            host = cell
        put(page, host, waiting)


def neighbours(page: BeautifulSoup) -> Iterator[list[Tag]]:
    """The page's cells, those together that follow each other directly."""
    together: list[Tag] = []
    for cell in page.select("div.cell"):
        if together and cell.find_previous_sibling() is not together[-1]:
            yield together
            together = []
        together.append(cell)
    if together:
        yield together


def shows(cell: Tag, part: str | bool = True) -> bool:
    """Whether a cell whose folds were taken out shows anything, or this part of it."""
    return cell.find("div", class_=part, recursive=False) is not None


def put(page: BeautifulSoup, cell: Tag | None, folds: list[Tag]) -> None:
    """Put one fold, which holds what these hold, at the end of a cell."""
    if cell is None or not folds:
        return
    joined = page.new_tag("details", attrs={"class": "folded"})
    summary = page.new_tag("summary")
    summary.append(", ".join(names(folds)))
    joined.append(summary)
    for fold in folds:
        for part in parts(fold):
            joined.append(part.extract())
    cell.append(joined)


def names(folds: Iterable[Tag]) -> Iterator[str]:
    """What a reader is told about folds: whether they hold code and output, and how many statements were checked."""
    hidden = [fold for fold in folds if HIDDEN in fold["class"]]
    code, output = (any(fold.find("div", class_=name) for fold in hidden) for name in ("cell_input", "cell_output"))
    if code or output:
        yield "Code and output" if code and output else "Code" if code else "Output"
    if count := sum(len(fold.select("ul.claims-said > li")) for fold in folds):
        yield f"✓ {count} statement{'s' * (count > 1)} checked"


def parts(fold: Tag) -> list[Tag]:
    """What a fold holds, without its name and without folds inside of it."""
    found = []
    for child in fold.find_all(recursive=False):
        found += parts(child) if child.name == "details" else [child] if child.name != "summary" else []
    return found
