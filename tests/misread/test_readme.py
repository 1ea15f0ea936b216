"""The README's course of one exercise is run as it stands: what it shows is what comes out."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "utils" / "misread" / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(kind, text) for kind, text in BLOCK.findall(README.read_text(encoding="utf-8")) if kind != "bash"]
SHOWN = [(code, shown) for (kind, code), (next_kind, shown) in itertools.pairwise(BLOCKS) if next_kind == "text"]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder with the README's modules, from which they can be imported."""
    for kind, text in BLOCKS:
        if kind == "python" and (name := re.match(r"# (\w+\.py)\n", text)):
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("smoothing", None)


@pytest.mark.parametrize("code, shown", SHOWN)
def test_a_student_sees_what_the_readme_shows(course, code, shown, capsys):
    said = ""
    try:
        exec(code, {})
    except AssertionError as error:
        said = str(error)
    assert (capsys.readouterr().out + said).splitlines() == shown.splitlines()


def test_a_known_mistake_another_one_and_a_right_answer_are_shown():
    assert [shown.split(":")[0] for _, shown in SHOWN[:2]] == ["✗ moving_average"] * 2
    assert len(SHOWN) == 3
    assert SHOWN[2][1].startswith("✓ moving_average is right")


@pytest.mark.slow
def test_the_tests_that_the_readme_shows_pass(course):
    path = os.pathsep.join([str(ROOT / "utils"), str(course)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_smoothing.py"]
    done = subprocess.run(command, cwd=course, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert "15 passed" in done.stdout, done.stdout


def test_the_exercise_is_as_short_as_one_can_be_read():
    (exercise,) = [text for _, text in BLOCKS if text.startswith("# smoothing.py")]
    assert len([line for line in exercise.splitlines() if line.strip()]) <= 25
