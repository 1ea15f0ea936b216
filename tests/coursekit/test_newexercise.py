"""A new exercise passes all tests at once, and takes nobody's name."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import CourseError
from coursekit.newexercise import exercise_words, fill, lay_down_exercise, listed
from coursekit.notebooks import grader, read
from coursekit.project import Project
from misread.exercise import About

ROOT = Path(__file__).parents[2]
LAB = "lab07_self_attention"
PARTS = ("chapters", "utils", "book/status.md", "book/mistakes.md", f"solutions/{LAB}", f"labs/{LAB}", "tests/helpers",
         "tests/attnlabs/lab07", "pyproject.toml")  # fmt: skip


@pytest.fixture
def copy(tmp_path) -> Path:
    """A course with one lab, whose packages are its own."""
    for part in PARTS:
        source, target = ROOT / part, tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=kept) if source.is_dir() else shutil.copy(source, target)
    return tmp_path


def in_copy(copy: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python with the copy's packages."""
    environment = os.environ | {"PYTHONPATH": str(copy / "utils")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=500)


@pytest.mark.slow
def test_a_new_exercise_passes_its_tests_and_verify(copy):
    """Run as an author would; the lab's own tests are those of `tests/helpers/catalogue.py`."""
    said = ("--title", "A sentence as one vector", "--points", "2", "--minutes", "12", "--difficulty", "3")
    done = in_copy(copy, "coursekit", "new", "exercise", "lab07", "mean_of_words", *said)
    assert done.returncode == 0, done.stderr
    assert "utils/attnlabs/lab07/mean_of_words.py: written" in done.stdout
    source = read(copy / "solutions" / LAB / f"{LAB}.ipynb")
    texts = [cell.source for cell in source.cells]
    assert texts[0].count("| 7 | `mean_of_words` | ●●● | 12 | 2 |") == 1
    assert "about 127 minutes" in texts[0]
    assert source.metadata["attnbook"]["minutes"] == 127
    assert any(text.startswith("## Exercise 7: `mean_of_words` · ●●● · 12 minutes\n") for text in texts)
    points = {grader(cell).get("grade_id"): grader(cell).get("points") for cell in source.cells}
    assert points["lab07-mean_of_words-check"] == 2

    assert in_copy(copy, "coursekit", "status", "--write").returncode == 0
    verified = in_copy(copy, "coursekit", "verify")
    assert verified.returncode == 0, verified.stdout
    styled = in_copy(copy, "ruff", "check", "utils/attnlabs/lab07", "tests/attnlabs/lab07", f"solutions/{LAB}")
    assert styled.returncode == 0, styled.stdout
    laid_out = in_copy(copy, "ruff", "format", "--check", "utils/attnlabs/lab07", "tests/attnlabs/lab07")
    assert laid_out.returncode == 0, laid_out.stdout
    tested = in_copy(copy, "pytest", "-q", "tests/attnlabs/lab07", "-k", "mean_of_words")
    assert tested.returncode == 0, tested.stdout
    again = in_copy(copy, "coursekit", "new", "exercise", "lab07", "mean_of_words")
    assert again.returncode == 2
    assert "has mean_of_words already; nothing was written" in again.stderr


def test_an_exercise_is_called_like_a_function():
    project = Project(ROOT)
    (lab,) = project.choose_labs(["lab07"])
    with pytest.raises(CourseError, match="called like its function, such as mean_over_words, not 'mean-of-words'"):
        lay_down_exercise(project, lab, "mean-of-words", About())
    with pytest.raises(CourseError, match="has causal_mask already; nothing was written"):
        lay_down_exercise(project, lab, "causal_mask", About())


def test_a_lab_of_another_course_is_refused(project):
    with pytest.raises(CourseError, match="lab01_sums belongs to another course than the packages that run"):
        lay_down_exercise(project, project.labs[0], "mean_of_words", About())


def test_an_exercise_is_listed_behind_the_others_and_imported_in_order():
    text = "import a\n\nfrom .attention import ONE\nfrom .work import TWO\n\nEXERCISES = (ONE, TWO)\n"
    assert listed(text, "middle").endswith("EXERCISES = (ONE, TWO, MIDDLE)\n")
    assert "import ONE\nfrom .middle import MIDDLE\nfrom .work import TWO\n\nEXERCISES" in listed(text, "middle")
    long = listed(text, "a_name_" * 16 + "long")
    assert "EXERCISES = (\n    ONE,\n    TWO,\n    A_NAME_" in long


def test_a_section_of_another_chapter_stands_in_the_new_exercise_as_it_is():
    words = exercise_words("lab02", "some_name", About(read_again=("03_scores", "Masks")), None)
    assert fill('read_again="@READ@"', words) == 'read_again=("03_scores", "Masks")'
    assert fill("@CONSTANT@ @CHAPTER@ @TITLE@", words) == "SOME_NAME 2 Some name"
