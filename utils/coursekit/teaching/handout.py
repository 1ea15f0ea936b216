"""`coursekit handout`: a lab as one file, which a student opens without a copy of the project."""

import re
import tomllib
from pathlib import Path

import nbformat

from coursekit import CourseError
from coursekit.notebooks import read, to_text, write_bytes
from coursekit.project import Lab, Project
from coursekit.release import released_files
from coursekit.teaching.links import with_links_to_the_book
from coursekit.teaching.wheel import archive, build_wheel

LOCK = "requirements.lock"
BEGIN = """\
{title}
{line}

You need Python {oldest} to {newest}, about two gigabytes of disk (more on Linux, where PyTorch brings its libraries for
NVIDIA cards along), and a network for the second command. Unzip the file that you got, open a terminal in the folder
{folder}, and type:

Linux, macOS:
    python3 -m venv .venv
    .venv/bin/python -m pip install --constraint {lock} "./{wheel}[notebooks,lab]"
    .venv/bin/jupyter lab{notebook}

Windows:
    py -m venv .venv
    .venv\\Scripts\\python -m pip install --constraint {lock} "./{wheel}[notebooks,lab]"
    .venv\\Scripts\\jupyter lab{notebook}

The first two are needed only once. To hand in, save the notebook under its own name{name}.

What is in this folder
{files}    {wheel}
        the book's package attnbook, in which the checks are, its tools, and the records and weights that labs read
    {lock}
        the versions with which the book was tested

What the package holds
    A check compares your function with a right one, so the package holds the right function of each exercise in
    attnlabs, and the models of the chapters. You will learn more if you read them after you have written your
    own. The solved notebooks and the hidden tests are not in this folder.
{reading}"""
THE_LAB = "the lab, without answers and without hidden tests"
ALL = "paying-attention-labs"
WITH_BOOK = "\nThe chapters\n    {book}\n"
WITHOUT_BOOK = "\nThe chapters are not in this folder; where the lab names one, open it in the book.\n"


def handout(project: Project, lab: Lab, book: str | None = None, wheel: tuple[str, bytes] | None = None) -> bytes:
    """The zip file: notebook, its files, wheel, lock and README.txt, in a folder that bears the lab's name.

    Args:
        book: the address of the built book, to which the notebook's links then lead.
        wheel: name and content of the book's wheel, if it is there already.

    Raises:
        CourseError: for an address that is none, or where the lab cannot be released or the wheel not be built.
    """
    name, content = wheel or build_wheel(project.root)
    files = lab_files(project, lab, book) | {name: content, LOCK: _lock(project)}
    files["README.txt"] = readme(project, lab, name, sorted(files), book).encode()
    return archive({f"{lab.name}/{file}": held for file, held in files.items()})


def all_handouts(project: Project, wheel: tuple[str, bytes] | None = None) -> bytes:
    """All labs as one zip file with one wheel, because each handout alone holds the whole of it.

    Raises CourseError as :func:`handout`."""
    name, content = wheel or build_wheel(project.root)
    files = {name: content, LOCK: _lock(project)}
    listed = ""
    for lab in project.labs:
        files |= {f"{lab.name}/{file}": held for file, held in lab_files(project, lab, None).items()}
        listed += f"    {lab.name}/\n        {_title(lab)}\n"
    files["README.txt"] = _begin(project, "The labs of Paying Attention", ALL, name, listed, None).encode()
    return archive({f"{ALL}/{file}": held for file, held in files.items()})


def lab_files(project: Project, lab: Lab, book: str | None) -> dict[str, bytes]:
    """The lab's notebook and the files that it reads, by name; links lead to the built book at the address `book`.

    Raises CourseError for an address that is none, or where the lab cannot be released."""
    if book is not None and not re.match(r"(https?|file)://\S+$", book):
        raise CourseError(f"--book is the address of the built book, such as https://example.org/book; got {book!r}")
    files = released_files(lab)
    released = nbformat.reads(files[lab.source.name].decode(), as_version=4)
    notebook = with_links_to_the_book(project, released, f"labs/{lab.name}", files, book)
    return files | {lab.source.name: to_text(notebook).encode()}


def write_handout(project: Project, lab: Lab, path: Path, book: str | None = None) -> None:
    """Write the handout of a lab to `path`, which must end in ``.zip``."""
    if path.suffix != ".zip":
        raise CourseError(f"--to names the zip file to write, such as {lab.name}.zip; got {path}")
    write_bytes(handout(project, lab, book), path)


def readme(project: Project, lab: Lab, wheel: str, files: list[str], book: str | None) -> str:
    """What a student reads first: three commands, what is there, and what the package holds."""
    others = [name for name in files if name not in (lab.source.name, wheel, LOCK)]
    listed = f"    {lab.source.name}\n        {THE_LAB}\n"
    listed += "".join(f"    {name}\n        a file that the lab reads\n" for name in others)
    return _begin(project, _title(lab), lab.name, wheel, listed, book, lab.source.name)


def _begin(
    project: Project, title: str, folder: str, wheel: str, files: str, book: str | None, notebook: str = ""
) -> str:  # fmt: skip
    oldest, newest = _pythons(project)
    return BEGIN.format(
        title=title, line="=" * len(title), oldest=oldest, newest=newest, folder=folder, lock=LOCK, wheel=wheel,
        notebook=f" {notebook}" if notebook else "", name=f", {notebook}" if notebook else "", files=files,
        reading=WITHOUT_BOOK if book is None else WITH_BOOK.format(book=book),
    )  # fmt: skip


def _title(lab: Lab) -> str:
    return f"Lab {lab.number.removeprefix('lab')}: {read(lab.source).metadata.attnbook.title}"


def _pythons(project: Project) -> tuple[str, str]:
    """The oldest and the newest Python on which the book runs, from ``pyproject.toml``."""
    wanted = tomllib.loads(_text(project, "pyproject.toml"))["project"]["requires-python"]
    found = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", wanted)
    if found is None:
        raise CourseError(f"pyproject.toml: requires-python should read like >=3.11,<3.15, and reads {wanted}")
    return f"3.{found[1]}", f"3.{int(found[2]) - 1}"


def _lock(project: Project) -> bytes:
    return _text(project, LOCK).encode()


def _text(project: Project, name: str) -> str:
    try:
        return (project.root / name).read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{name} is missing in {project.root}, and a handout needs it") from error
