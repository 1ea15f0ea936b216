"""A new exercise passes all tests at once, and takes nobody's name."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import CourseError
from coursekit.newexercise import CHECKS, exercise_words, fill, laid_out, lay_down_exercise, listed, template
from coursekit.notebooks import grader, read
from coursekit.project import Project
from misread.exercise import About

ROOT = Path(__file__).parents[2]
LAB = "lab07_self_attention"
CHAPTER = sorted(f"chapters/{path.name}" for path in (ROOT / "chapters").glob("07_*.ipynb"))  # and its evidence
PARTS = (*CHAPTER, "utils", "book/status.md", "book/mistakes.md", f"solutions/{LAB}",
         f"labs/{LAB}", "tests/helpers", "tests/attnlabs/lab07", "pyproject.toml")  # fmt: skip


def left_out(_: str, names: list[str]) -> list[str]:
    """What of a folder is not copied: above all the checks of other labs, which would be looked at as well."""
    return [name for name in names if name == "__pycache__" or (re.fullmatch(r"lab\d\d", name) and name != LAB[:5])]


@pytest.fixture
def copy(tmp_path) -> Path:
    """A course with one lab and its chapter, whose packages are its own."""
    for part in PARTS:
        source, target = ROOT / part, tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target, ignore=left_out) if source.is_dir() else shutil.copy(source, target)
    return tmp_path


def typed(copy: Path, *commands: str) -> list[tuple[int, str]]:
    """The status of each command, and what it printed; in a fresh Python with the copy's packages."""
    asked, found = copy / "commands.json", copy / "results.json"
    asked.write_text(json.dumps([shlex.split(command) for command in commands]))
    environment = os.environ | {"PYTHONPATH": str(copy / "utils")}
    words = [sys.executable, "tests/helpers/typed.py", asked, found]
    subprocess.run(words, cwd=copy, env=environment, timeout=500, check=True)
    return json.loads(found.read_text())


@pytest.mark.slow
def test_a_new_exercise_passes_its_tests_and_verify(copy):
    """Run as an author would; the lab's own tests are those of `tests/helpers/catalogue.py`."""
    new = "coursekit new exercise lab07 mean_of_words"
    about = "--title 'A sentence as one vector' --points 2 --minutes 12 --difficulty 3"
    checks = "utils/attnlabs/lab07 tests/attnlabs/lab07"
    tests = "pytest -q tests/attnlabs/lab07 -k mean_of_words"
    commands = f"{new} {about}", "coursekit status --write", "coursekit verify", tests, new
    (done, laid_down), *others, (refused, why) = typed(copy, *commands)
    assert done == 0, laid_down
    assert "utils/attnlabs/lab07/mean_of_words.py: written" in laid_down
    source = read(copy / "solutions" / LAB / f"{LAB}.ipynb")
    texts = [cell.source for cell in source.cells]
    assert texts[0].count("| 7 | `mean_of_words` | ●●● | 12 | 2 |") == 1
    assert "about 127 minutes" in texts[0]
    assert source.metadata["attnbook"]["minutes"] == 127
    assert any(text.startswith("## Exercise 7: `mean_of_words` · ●●● · 12 minutes\n") for text in texts)
    points = {grader(cell).get("grade_id"): grader(cell).get("points") for cell in source.cells}
    assert points["lab07-mean_of_words-check"] == 2

    assert [status for status, _ in others] == [0, 0, 0], others
    for style in (f"ruff check {checks} solutions/{LAB}", f"ruff format --check {checks}"):
        styled = subprocess.run([sys.executable, "-m", *style.split()], cwd=copy, capture_output=True, text=True)
        assert styled.returncode == 0, styled.stdout
    assert refused == 2
    assert "has mean_of_words already; nothing was written" in why


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


@pytest.mark.parametrize("name", ["mean", "mean_of_words", "mean_of_the_words_that_are_there"])
@pytest.mark.parametrize("section", ["Masks", "What it costs", "What it costs: counted and measured", "Long " * 13])
def test_the_checks_are_laid_out_as_the_house_formats_them(name, section):
    about = About(points=2, minutes=12, difficulty=3, read_again=section.strip())
    text = laid_out(template(CHECKS, exercise_words("lab07", name, about, "A title")))
    words = [sys.executable, "-m", "ruff", "format", "--config", ROOT / "pyproject.toml", "-"]
    formatted = subprocess.run(words, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert text == formatted
