"""The sub-commands of `coursekit` that make files of the built book: pdf, epub, offline.

They build the book first, unless --as-built says to take the pages as they lie."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from coursekit import CourseError
from coursekit.project import Project

HTML = Path("book/_build/html")
FILES = Path("book/_build/files")  # beside the pages that they are made of; git ignores both
VOLUMES = ("chapters", "evidence", "labs")


def run_pdf(project: Project, options: argparse.Namespace) -> int:
    """Prints the book as PDFs with Chromium: the chapters with quizzes, notation, glossary and bibliography, and, each
    in a file of its own, the evidence for the chapters and the labs. They have bookmarks, page numbers, running heads,
    and links inside and to each other. Folded answers are open, folded code is gone, and a figure that runs is the
    static one. Chromium or Chrome 131 or newer must be there; ATTNBOOK_CHROMIUM names another place of it."""
    from coursekit.printing.chromium import find_chromium
    from coursekit.printing.contents import PDFS
    from coursekit.printing.pdf import make_pdf

    unknown = [name for name in options.volumes if name not in VOLUMES]
    if unknown:
        options.complain(f"there is no volume {unknown[0]!r}; there is: {', '.join(VOLUMES)}")
    find_chromium()  # before the book is built, which takes a minute
    status, html, folder = built(project, options)
    if status:
        return status
    for kind, volume in zip(VOLUMES, PDFS, strict=True):
        if options.volumes and kind not in options.volumes:
            continue
        path = folder / f"{volume.name}.pdf"
        size, *remarks = make_pdf(project.root, html, volume, path, version_of(project))
        print(f"{path}: written, {size}", *remarks, sep="\n", flush=True)
    return 0


def run_epub(project: Project, options: argparse.Namespace) -> int:
    """Makes one ePub for e-readers of the chapters, their quizzes and their evidence, with notation, glossary and
    bibliography. Formulas are MathML, folded answers are open, answers stand behind each quiz, and nothing needs a
    script or a network. It needs no Chromium. The same pages give the same file."""
    from coursekit.printing.contents import EPUB
    from coursekit.printing.epub import make_epub

    status, html, folder = built(project, options)
    if status:
        return status
    content, formulas = make_epub(project.root, html, version_of(project))
    path = folder / f"{EPUB.name}.epub"
    _write(path, content)
    print(f"{path}: written, {len(content) / 1e6:.1f} MB, with {formulas} formulas")
    return 0


def run_offline(project: Project, options: argparse.Namespace) -> int:
    """Packs the built pages into one zip file. Whoever unpacks it opens index.html in a browser and reads, searches and
    moves the figures without a network. The same pages give the same file."""
    from coursekit.printing.offline import NAME, offline_zip

    status, html, folder = built(project, options)
    if status:
        return status
    content = offline_zip(html)
    path = folder / NAME
    _write(path, content)
    print(f"{path}: written, {len(content) / 1e6:.1f} MB")
    return 0


def built(project: Project, options: argparse.Namespace, folder: Path = FILES) -> tuple[int, Path, Path]:
    """Builds the book where that is wanted; returns the status of that, the pages' folder, and where files go.

    Raises CourseError where the pages are to be taken as they lie, and there are none."""
    from coursekit.printing.pages import BUILD
    from coursekit.tasks import run_task

    html = (options.pages or project.root / HTML).resolve()
    status = 0 if options.as_built or options.pages else run_task("book", project.root)
    if not status and not (html / "index.html").is_file():
        raise CourseError(BUILD.format(path=html / "index.html"))
    return status, html, (options.to or project.root / folder).resolve()


def version_of(project: Project) -> str:
    """The version in pyproject.toml."""
    return tomllib.loads((project.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def _write(path: Path, content: bytes) -> None:
    from attnbook.files import write_whole

    write_whole(path, content)


def book_arguments(command: argparse.ArgumentParser, folder: Path = FILES) -> None:
    """Where the pages lie, and where what is made of them goes."""
    command.add_argument("--to", type=Path, metavar="FOLDER", help=f"default: {folder.as_posix()}/")
    command.add_argument(
        "--as-built", action="store_true", help="take the pages as they lie, without building the book"
    )
    command.add_argument("--pages", type=Path, metavar="FOLDER", help="the pages of a book that was built elsewhere")


def _pdf_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("volumes", nargs="*", metavar="VOLUME", help=f"{', '.join(VOLUMES)} (default: all)")
    book_arguments(command)


PRINTING = {
    "pdf": (run_pdf, "print the book as PDFs", _pdf_arguments),
    "epub": (run_epub, "make an ePub of the book for e-readers", book_arguments),
    "offline": (run_offline, "pack the book's pages into one zip file", book_arguments),
}
