"""What texts call a file or a folder is there: in the pages for authors and readers, in docstrings and in templates."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = ("*.md", "utils/*.md", "book/*.md", "book/teaching/*.md", "book/_ext/*.py", "benchmarks/*.py", "utils/**/*.py")
TEMPLATES = "utils/coursekit/templates/**/*"
OLD = {"CHANGELOG.md"}  # tells of what was there
NAMED = re.compile(r"`{1,2}((?:[\w.@-]+/)+[\w.@-]*|\w+\.py)`{1,2}")
# What commands make, a term's folder holds, or stands for any name.
MADE = {
    "..",
    "work",
    "dist",
    "scratch",
    "downloaded",
    "earlier",
    "submitted",
    "feedback",
    "source",
    "weights",
    "multi30k",
}
OPEN = re.compile(r"NN|NAME|@|21|diffusion|_build")
IN_EACH = {"__init__.py", "right.py", "adversarial.py"}  # package, or folder of a lab's tests


@cache
def there() -> frozenset[str]:
    """The files of the repository, and their folders."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    return frozenset(listed) | {parent.as_posix() for name in listed for parent in Path(name).parents}


def missing(text: str, path: str) -> Iterator[str]:
    """The files and folders that a text in the file `path` names in backticks, and that are not there.

    A name counts from the repository's root, from utils/, or from a folder above the text."""
    folders = ["", "utils/", *(f"{parent.as_posix()}/" for parent in Path(path).parents)]
    for name in NAMED.findall(text):
        wanted = name.rstrip("/")
        if wanted.split("/")[0] in MADE or OPEN.search(wanted) or wanted in IN_EACH:
            continue
        if not any(folder + wanted in there() for folder in folders):
            yield name


def texts() -> list[Path]:
    found = [path for pattern in (*TEXTS, TEMPLATES) for path in ROOT.glob(pattern)]
    return [path for path in found if path.is_file() and path.name not in OLD]


def test_each_file_and_folder_that_a_text_names_is_there():
    named = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in texts()]
    assert len(named) > 300
    assert [f"{path}: {name}" for path, text in named for name in missing(text, path)] == []


@pytest.mark.parametrize("text, found", [
    ("diagrams are made of `plotting/boxes.py`", ["plotting/boxes.py"]),
    ("what several labs share: ``checks/families/``", ["checks/families/"]),
    ("see `no_such_file.py`", ["no_such_file.py"]),
    ("`attnpages/figures/boxes.py`, `utils/attnlabs/labNN/` and `work/lab02.zip`", []),
    ("`results/NAME.json` is written by `coursekit execute PATH`", []),
])  # fmt: skip
def test_a_name_that_is_not_there_is_found(text, found):
    assert list(missing(text, "CONTRIBUTING.md")) == found


def test_a_name_counts_from_the_folder_of_its_text():
    assert list(missing("`exercise.py`", "utils/misread/judge.py")) == []
    assert list(missing("`exercise.py`", "CONTRIBUTING.md")) == ["exercise.py"]
