"""The command `coursekit`."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit import CourseError
from coursekit.authoring import AUTHORING
from coursekit.dist import DIST
from coursekit.printing.commands import PRINTING
from coursekit.project import Project, find_project
from coursekit.teaching.commands import TEACHING

REFUSED, INTERRUPTED = 2, 130  # statuses; the second is 128 + SIGINT, as shells have it
# What is kept when Ctrl-C ends a command, and how to go on.
KEPT = {
    "grade": "Each grade that was known is kept, and the same command goes on with the others.",
    "execute": "The notebooks above with their seconds are stored, the others are as they were; name these to go on.",
    "book": "A page that was not written yet is missing or old, and the same command builds it.",
    "pdf": "A file that is named above is whole, and the same command makes all of them again.",
    "test": "Nothing was changed, and the same command begins with the first step again.",
    "check": "Nothing was changed, and the same command begins with the first step again.",
    "verify": "Nothing was changed, and the same command begins with the first check again.",
    "lab": "Your work is in work/ as you saved it last, and the same command opens it again.",
}
KEPT_ANYHOW = "What is named above as written is whole, and the same command makes the rest."
ABOUT = "Run, release and check the chapters and labs of a course."
EPILOG = """\
A reader's day with it, and a student's:
  coursekit book                   build the book and say where it begins
  coursekit pdf                    print it as PDFs; coursekit epub for e-readers, coursekit offline for one zip file
  coursekit lab                    copy the labs to work/ and open them in JupyterLab
  coursekit standalone 02          write a chapter's model as one file, which runs with PyTorch alone
A teacher's day with it:
  coursekit term ../autumn         make a folder for one term, in which the labs are handed out and graded
  coursekit handout lab02          one file with a lab and all that it needs; coursekit slides 02 for the lecture
  coursekit grade ../autumn lab02  grade what was handed in; coursekit mistakes ../autumn tells what the class got wrong
  coursekit exam --kind midterm    make an exam, and its solutions, from numbers that a seed draws
An author's day with it:
  coursekit new chapter 21 diffusion --title "…"
                                   lay down a chapter's skeleton; coursekit new evidence, and new lab, likewise
  coursekit execute chapters/02_bahdanau.ipynb
                                   run a chapter again and store what it shows
  coursekit release                make labs/ (for students) from solutions/ (with answers)
  coursekit verify                 all in step? no solution readable? labs fail where they should?
  coursekit status                 count chapters, labs, claims and known mistakes
  coursekit dist                   make all that a release holds: pages, PDFs, ePub, wheels, labs, and their sums
  coursekit check                  the quick proofs; coursekit test runs all of them
Each command explains itself: coursekit release --help

Exit status: 0 all is well; 1 (or a tool's own) a fault was found, or something failed; 2 what was asked for, or a file
that it needs, is refused with the reason; 130 interrupted by Ctrl-C.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command; returns 0 when all is well, 1 when it has found a fault, 2 when it refuses what it is
    given, and 130 when it was interrupted.

    Raises SystemExit with status 2 for arguments that it cannot do anything with."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a character shows "?", and the command goes on
    options = parser().parse_args(arguments)
    try:
        return options.run(find_project(options.root), options)
    except CourseError as error:
        print(f"coursekit: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print(f"\nInterrupted. {KEPT.get(options.command, KEPT_ANYHOW)}", file=sys.stderr)
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """The command line, with all its help."""
    form = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser("coursekit", description=ABOUT, epilog=EPILOG, formatter_class=form)
    top.add_argument("--root", type=Path, help="the course's folder (default: the one you are in)")
    commands = top.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, (function, about, add_arguments) in COMMANDS.items():
        text = " ".join((function.__doc__ or "").split())
        command = commands.add_parser(name, help=about, description=text)
        command.set_defaults(run=function, complain=command.error)
        add_arguments(command)
    return top


def run_book(project: Project, options: argparse.Namespace) -> int:
    """Builds the book with Jupyter Book, where each warning counts as an error, and prints the page at which it
    begins. The chapters are shown as they are stored and not run, so it needs neither torch nor nbgrader."""
    from coursekit.tasks import FIRST_PAGE, run_task

    status = run_task("book", project.root)
    if status == 0:
        print(f"Open {project.root / FIRST_PAGE}")
    return status


def run_lab(project: Project, options: argparse.Namespace) -> int:
    """Copies the labs that are not there yet from labs/ to work/, writes over nothing in it, and opens JupyterLab
    on that folder. Solve the labs there: git leaves work/ alone, and a new version of a lab never touches yours.
    Renaming the folder of a lab in work/ makes room for a fresh copy."""
    from coursekit.tasks import open_lab, refuse_root
    from coursekit.work import copy_labs

    refuse_root(options.allow_root)
    for line in copy_labs(project.root):
        print(line)
    return open_lab(project.root, options.allow_root, not options.no_browser, options.port)


def run_standalone(project: Project, options: argparse.Namespace) -> int:
    """Writes a chapter's whole model as one file of at most 150 lines, which needs Python and PyTorch and nothing else:
    it makes its own data, trains for less than a minute, and prints an answer. Change it as you like: the command
    writes over no changed file."""
    from coursekit.slides.page import choose_chapter
    from coursekit.standalone import write_standalone

    for name in options.chapters:
        path = write_standalone(project, choose_chapter(project, name), options.to or project.root / "work")
        print(f"{path}: written; run it with\n  python {path}")
    return 0


def run_lint(project: Project, options: argparse.Namespace) -> int:
    """Checks the style of all code with ruff (the packages, the tests, and the cells of chapters and solutions) and
    the types of the packages with mypy. It only reports; what ruff can mend by itself, `ruff check --fix` and `ruff
    format` do. Settings: pyproject.toml."""
    return _run_task("lint", project)


def run_check(project: Project, options: argparse.Namespace) -> int:
    """The quick part of all proofs, for authors: style, types, `coursekit verify --no-run`, and the unit tests
    except the slow ones and those that look at the built book. Says first what it leaves out, and stops at the first
    step that fails."""
    return _run_task("check", project)


def run_test(project: Project, options: argparse.Namespace) -> int:
    """All proofs: style, the book built with each warning as an error, all unit tests, and all chapters and
    solutions run again. Takes less than half an hour on two cores, and stops at the first step that fails. What stands
    behind -- goes to pytest, which is then all that runs: coursekit test -- -k mask tests/attnbook"""
    return _run_task("test", project, options.pytest)


def _run_task(name: str, project: Project, arguments: Sequence[str] = ()) -> int:
    from coursekit.tasks import run_task

    return run_task(name, project.root, arguments)


def _open_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--allow-root", action="store_true", help="start as root, too: in a container only")
    command.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    command.add_argument("--port", type=int, help="where JupyterLab listens (default: its own, 8888)")


def _standalone_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("chapters", nargs="+", metavar="CHAPTER", help="such as 02")
    command.add_argument("--to", type=Path, metavar="FOLDER", help="default: work/")


def _test_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "pytest", nargs="*", metavar="-- ARGUMENT", help="for pytest, such as -- -k mask tests/attnbook"
    )


def _no_arguments(command: argparse.ArgumentParser) -> None:
    """The command takes none."""


COMMANDS = {
    "book": (run_book, "build the book", _no_arguments),
    **PRINTING,
    "lab": (run_lab, "copy the labs to work/ and open them in JupyterLab", _open_arguments),
    "standalone": (
        run_standalone,
        "write a chapter's model as one file that needs PyTorch alone",
        _standalone_arguments,
    ),
    **AUTHORING,
    **DIST,
    **TEACHING,
    "lint": (run_lint, "check style and types of all code", _no_arguments),
    "check": (run_check, "the quick part of all proofs", _no_arguments),
    "test": (run_test, "all proofs, or pytest with your arguments", _test_arguments),
}
