"""The command that makes an exam."""

from pathlib import Path

import pytest

from coursekit.cli import main
from coursekit.exams.command import make_exam, report

ROOT = Path(__file__).parents[3]
FILES = ["exam.html", "exam.ipynb", "solutions.html"]


def test_the_same_seed_writes_the_same_files(tmp_path):
    for folder in ("one", "two"):
        _, written = make_exam("midterm", "a long and secret seed", tmp_path / folder)
        assert [path.name for path in written] == FILES
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_without_a_seed_a_new_one_is_made_each_time(tmp_path):
    first, second = (make_exam("final", None, tmp_path)[0].seed for _ in range(2))
    assert first != second
    assert len(first) == 32


@pytest.mark.parametrize("seed, warned", [("7", True), ("a long and secret seed", False)])
def test_a_short_seed_is_called_easily_guessed(tmp_path, seed, warned):
    said = report(*make_exam("midterm", seed, tmp_path))
    assert ("easily guessed" in said) is warned
    assert repr(seed) in said
    assert "45 points, 90 minutes" in said


def test_the_command_line_makes_an_exam_in_a_folder(tmp_path, capsys):
    assert main(["--root", str(ROOT), "exam", "--seed", "7", "--kind", "final", "--to", str(tmp_path / "final")]) == 0
    assert sorted(path.name for path in (tmp_path / "final").iterdir()) == FILES
    assert "16 questions" in capsys.readouterr().out


def test_without_a_folder_it_goes_where_git_ignores_it(project, capsys):
    assert main(["--root", str(project.root), "exam", "--seed", "7"]) == 0
    assert (project.root / "work" / "exam-midterm" / "solutions.html").is_file()
    assert "\nwork/" in (ROOT / ".gitignore").read_text(encoding="utf-8")
