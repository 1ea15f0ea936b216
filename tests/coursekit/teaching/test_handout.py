"""A lab as one file: what is in it, and that it runs where nothing else is."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from coursekit import CourseError, cli
from coursekit.notebooks import code_cells, is_answer, is_graded, read
from coursekit.project import Project
from coursekit.regions import MARK
from coursekit.teaching import handout
from coursekit.teaching.wheel import contents

ROOT = Path(__file__).parents[3]
WHEEL = ("sums-1-py3-none-any.whl", b"a wheel")


@pytest.fixture
def course(project, monkeypatch) -> Project:
    """The tiny course with a lock, the versions of Python, and a wheel that costs nothing."""
    (project.root / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.11,<3.15"\n')
    (project.root / "requirements.lock").write_text("torch==2.6.0\n")
    monkeypatch.setattr(handout, "build_wheel", lambda root: WHEEL)
    return project


def made(course: Project, book: str | None = None) -> dict[str, bytes]:
    return contents(handout.handout(course, course.labs[0], book))


def test_a_handout_is_a_folder_with_notebook_wheel_lock_and_readme(course):
    assert made(course).keys() == {
        f"lab01_sums/{name}" for name in ("lab01_sums.ipynb", WHEEL[0], "requirements.lock", "README.txt")
    }
    assert handout.handout(course, course.labs[0]) == handout.handout(course, course.labs[0])


def test_all_labs_in_one_file_share_a_wheel_and_are_the_same_as_by_themselves(course):
    files = contents(handout.all_handouts(course))
    assert files.keys() == {
        f"paying-attention-labs/{name}"
        for name in ("lab01_sums/lab01_sums.ipynb", WHEEL[0], "requirements.lock", "README.txt")
    }
    alone = made(course)["lab01_sums/lab01_sums.ipynb"]
    assert files["paying-attention-labs/lab01_sums/lab01_sums.ipynb"] == alone
    text = files["paying-attention-labs/README.txt"].decode()
    assert "    lab01_sums/\n        Lab 01: Sums\n" in text
    assert ".venv/bin/jupyter lab\n" in text
    assert "under its own name.\n" in text


def test_the_notebook_has_no_answers(course):
    text = made(course)["lab01_sums/lab01_sums.ipynb"].decode()
    assert "the_answer_is_the_sum" not in text
    assert "HIDDEN TESTS" not in text
    assert "raise NotImplementedError()" in text


def test_files_of_the_lab_go_with_it_and_are_named(course, change):
    (course.labs[0].source.parent / "data.csv").write_text("1,2")
    change(course.labs[0].source, lambda _, notebook: notebook.metadata.attnbook.update(files=["data.csv"]))
    files = made(course)
    assert files["lab01_sums/data.csv"] == b"1,2"
    assert "data.csv\n        a file that the lab reads" in files["lab01_sums/README.txt"].decode()


def test_the_readme_gives_the_three_commands_and_says_what_the_package_holds(course):
    text = made(course)["lab01_sums/README.txt"].decode()
    assert text.startswith("Lab 01: Sums\n============\n")
    assert "You need Python 3.11 to 3.14" in text
    for command in (
        "python3 -m venv .venv",
        f'"./{WHEEL[0]}[notebooks,lab]"',
        ".venv/bin/jupyter lab lab01_sums.ipynb",
    ):
        assert command in text
    assert "holds the right function of each exercise" in " ".join(text.split())
    assert "open it in the book" in text
    assert "https://example.org/book" in made(course, "https://example.org/book")["lab01_sums/README.txt"].decode()


def test_the_command_writes_the_file_where_it_is_told(course, tmp_path, capsys):
    path = tmp_path / "out" / "sums.zip"
    assert cli.main(["--root", str(course.root), "handout", "lab01", "--to", str(path)]) == 0
    assert contents(path.read_bytes()) == made(course)
    assert "sums.zip: written" in capsys.readouterr().out


@pytest.mark.parametrize("line, words", [
    (["--to", "sums.tar"], "names the zip file to write, such as lab01_sums.zip; got sums.tar"),
    (["--book", "example.org"], "such as https://example.org/book; got 'example.org'"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_an_example(course, capsys, line, words):
    assert cli.main(["--root", str(course.root), "handout", "lab01", *line]) == 2
    assert words in capsys.readouterr().err


def test_without_a_lock_there_is_no_handout(course):
    (course.root / "requirements.lock").unlink()
    with pytest.raises(CourseError, match=r"requirements\.lock is missing"):
        made(course)


def test_versions_of_python_that_cannot_be_read_are_refused(course):
    (course.root / "pyproject.toml").write_text('[project]\nrequires-python = "3"\n')
    with pytest.raises(CourseError, match=r"should read like >=3\.11,<3\.15, and reads 3"):
        made(course)


@pytest.fixture(scope="module")
def unzipped(tmp_path_factory, wheel) -> Path:
    """The handout of lab 2 of this book, unzipped in an empty folder."""
    folder, project = tmp_path_factory.mktemp("handout"), Project(ROOT)
    (lab,) = project.choose_labs(["lab02"])
    for name, content in contents(handout.handout(project, lab, wheel=wheel)).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder / lab.name


@pytest.fixture(scope="module")
def python(unzipped: Path) -> Path:
    """The Python of a fresh environment with the wheel; all else comes from the environment that runs the tests."""
    folder = unzipped / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    program = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (wheel,) = unzipped.glob("*.whl")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        program,
        "install",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "-q",
        wheel,
    ]
    subprocess.run(pip, check=True)
    (site,) = folder.rglob("site-packages")
    # a path in a .pth file comes last, and .pth files in it are not read: the editable install of the book is not seen
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return program


def first_exercise(notebook: Path) -> str:
    """The code of a released lab down to its first check, with the answer of the source in its cell."""
    lab = notebook.stem
    answers = {
        cell.id: cell.source for cell in code_cells(read(ROOT / "solutions" / lab / notebook.name)) if is_answer(cell)
    }
    lines = []
    for cell in code_cells(read(notebook)):
        text = answers.get(cell.id, cell.source)
        lines += [line for line in text.splitlines() if not MARK.match(line)]
        if is_graded(cell):
            break
    return "\n".join(lines)


@pytest.mark.slow
def test_the_first_check_of_a_handout_runs_where_nothing_else_is(unzipped, python):
    code = first_exercise(unzipped / "lab02_bahdanau.ipynb") + "\nimport attnbook; print(attnbook.__file__)"
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ATTNBOOK"))}
    done = subprocess.run(
        [python, "-c", code],
        cwd=unzipped,
        env=settings | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "✓ masked_softmax" in done.stdout
    assert Path(done.stdout.splitlines()[-1]).is_relative_to(unzipped / ".venv")


@pytest.mark.slow
def test_nothing_in_a_handout_names_this_machine_or_leads_into_the_project(unzipped):
    private = [str(ROOT), str(Path.home()) + os.sep, str(unzipped.parent)]
    for path in unzipped.iterdir():
        if path.is_file():
            held = contents(path.read_bytes()).values() if path.suffix == ".whl" else [path.read_bytes()]
            assert [name for name in private for content in held if name.encode() in content] == [], path.name
    cells = json.loads((unzipped / "lab02_bahdanau.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "".join(line for cell in cells if cell["cell_type"] == "markdown" for line in cell["source"])
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
