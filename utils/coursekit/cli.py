"""The command `coursekit`."""

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit import CourseError
from coursekit.dist import DIST
from coursekit.printing.commands import PRINTING
from coursekit.project import Project, find_project
from coursekit.teaching.commands import TEACHING, lab_argument

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


def run_execute(project: Project, options: argparse.Namespace) -> int:
    """Runs notebooks from top to bottom and stores their outputs, without times and warnings, so that a
    second run gives the same file. A notebook in which a cell fails stays as it was. Name the notebooks, or say
    --all, which runs and rewrites all chapters and solutions."""
    if options.paths and options.all:
        options.complain("name notebooks or say --all, but not both")
    if not options.paths and not options.all:
        options.complain("name the notebooks to run; --all runs, and rewrites, all chapters and solutions")
    from coursekit.execute import LIMIT, execute

    failed = 0
    for path in options.paths or [*project.chapters, *(lab.source for lab in project.labs)]:
        print(f"{path}: ", end="", flush=True)
        try:
            seconds = execute(path, options.timeout)
            print(f"{seconds:.0f} s" + (f", over the limit of {LIMIT} s" if seconds > LIMIT else ""))
        except CourseError as error:
            failed += 1
            print(error)
    return 1 if failed else 0


def run_new(project: Project, options: argparse.Namespace) -> int:
    """Lays down the skeleton of a chapter with its evidence, of evidence for a chapter that is there, `coursekit new
    evidence 05 gnmt`, or of a lab with its checks and their tests: one example exercise, filled in far enough to run.
    An exercise, `coursekit new exercise lab11 merge_pairs`, goes behind the lab's last one.
    Runs each notebook once, so that it is stored as the course stores notebooks, and says what to do next. Writes over
    nothing: a number or a name that is taken is refused."""
    from coursekit.new import lay_down, next_steps, run_and_release

    if options.kind == "exercise":
        return _new_exercise(project, options)
    if not options.number.isdecimal():
        options.complain(f"a {options.kind} has a number, such as 11, not {options.number!r}")
    options.number = int(options.number)
    written = lay_down(project, options.kind, options.number, options.topic, options.title)
    for path in written:
        print(f"{project.relative(path)}: written", flush=True)
    for path in [] if options.no_run else [path for path in written if path.suffix == ".ipynb"]:
        run_and_release(project, options.kind, path)
        print(f"{project.relative(path)}: run, and stored with what it shows")
    print("", next_steps(options.kind, options.number, options.topic), sep="\n", end="")
    return 0


def _new_exercise(project: Project, options: argparse.Namespace) -> int:
    from coursekit.new import run_and_release
    from coursekit.newexercise import exercise_steps, lay_down_exercise
    from misread.exercise import About

    (lab,) = project.choose_labs([options.number])
    about = About(options.points, options.minutes, options.difficulty, options.read_again)
    for path in lay_down_exercise(project, lab, options.topic, about, options.title):
        print(f"{project.relative(path)}: written", flush=True)
    if not options.no_run:
        run_and_release(project, "lab", lab.source)
        print(f"{project.relative(lab.source)}: run, and stored with what it shows")
    print("", exercise_steps(project, lab, options.topic), sep="\n", end="")
    return 0


def run_release(project: Project, options: argparse.Namespace) -> int:
    """Writes what the exercises in utils/attnlabs say into solutions/ (headings, table, answers, checks), and makes the
    students' copies in labs/ from it: solutions and hidden tests are taken out, outputs emptied. Stops, and says why,
    before it hands out a file nobody listed or loses one it did not make."""
    from coursekit.exercises import write_exercises
    from coursekit.release import release

    for lab in project.choose_labs(options.labs):
        if write_exercises(lab):
            print(f"{project.relative(lab.source)}: exercises written; run `coursekit execute` on it")
        changed = release(lab, options.overwrite)
        print(f"{project.relative(lab.released)}: {'written' if changed else 'in step already'}")
    for path in project.orphans():
        raise CourseError(f"{project.relative(path)} has no source in solutions/; move it away")
    return 0


def run_verify(project: Project, options: argparse.Namespace) -> int:
    """Checks that labs/ is byte for byte what solutions/ gives, that no solution or hidden test can be read
    in it, that each unsolved lab fails at its exercises and nowhere else, and that stored notebooks are
    complete: outputs, captions, alt text, size. Lists everything that needs mending."""
    from coursekit.verify import verify

    problems = verify(project, run=not options.no_run)
    for problem in problems:
        print(f"  {problem}")
    print(f"{len(problems)} to mend" if problems else "all in order")
    return 1 if problems else 0


def run_status(project: Project, options: argparse.Namespace) -> int:
    """Counts, for each chapter and lab: minutes (for chapters by rule), words, figures, claims, exercises and known
    mistakes. The book counts again each time it is built. It knows the checks' mistakes from book/mistakes.json, which
    --write makes anew. Whether all is in order, coursekit verify says."""
    from coursekit.mistakes.known import FILE, file_text
    from coursekit.notebooks import write_bytes
    from coursekit.status import plain, status_places

    if options.write:
        write_bytes(file_text().encode(), project.root / FILE)
        print(f"{FILE.as_posix()}: written")
    else:
        print("\n\n".join(map(plain, status_places(project).values())))
    return 0


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


def _execute_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK", help="what to run")
    command.add_argument("--all", action="store_true", help="run all chapters and all solutions")
    command.add_argument("--timeout", type=int, default=600, help="seconds one cell may take (default 600)")


def _new_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("kind", choices=("chapter", "evidence", "lab", "exercise"), help="what to lay down")
    command.add_argument("number", help="of the chapter, or of the lab's chapter: 11; of an exercise its lab: lab11")
    command.add_argument("topic", help="a name for files and folders, such as bert_gpt; of an exercise its function's")
    command.add_argument("--title", help='what people read, such as "BERT and GPT" (default: made of the topic)')
    command.add_argument("--points", type=float, default=1, help="of an exercise (default 1)")
    command.add_argument("--minutes", type=int, default=10, help="that an exercise takes (default 10)")
    command.add_argument("--difficulty", type=int, choices=range(1, 6), default=1, help="of an exercise (default 1)")
    command.add_argument(
        "--read-again",
        default="",
        metavar="HEADING",
        help="the section of the lab's chapter that explains an exercise (default: that of the exercise before it)",
    )
    command.add_argument("--no-run", action="store_true", help="write the files only")


def _release_arguments(command: argparse.ArgumentParser) -> None:
    lab_argument(command)
    command.add_argument("--overwrite", action="store_true", help="write over a lab that somebody has run")


def _verify_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-run", action="store_true", help="leave out running the unsolved labs")


def _status_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--write", action="store_true", help="write book/mistakes.json")


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
    "new": (run_new, "lay down a new chapter, evidence, lab or exercise", _new_arguments),
    "execute": (run_execute, "run chapters and solutions and store their outputs", _execute_arguments),
    "release": (run_release, "make the students' labs from the solutions", _release_arguments),
    "verify": (run_verify, "check that labs, solutions and chapters are in order", _verify_arguments),
    "status": (run_status, "count chapters, labs, claims and known mistakes", _status_arguments),
    **DIST,
    **TEACHING,
    "lint": (run_lint, "check style and types of all code", _no_arguments),
    "check": (run_check, "the quick part of all proofs", _no_arguments),
    "test": (run_test, "all proofs, or pytest with your arguments", _test_arguments),
}
