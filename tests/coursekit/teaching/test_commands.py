"""The sub-commands for teachers hand on what they are told; what they make is tested beside this file."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from coursekit import cli
from coursekit.teaching.commands import TEACHING


def call(project, *arguments) -> int:
    return cli.main(["--root", str(project.root), *map(str, arguments)])


def test_the_commands_of_teachers_are_commands_of_coursekit():
    assert TEACHING.items() <= cli.COMMANDS.items()


def test_a_handout_lies_in_work_under_the_labs_name_unless_it_is_told_otherwise(project, monkeypatch):
    told = []
    monkeypatch.setattr("coursekit.teaching.handout.write_handout", lambda *given: told.append(given[1:]))
    assert call(project, "handout", "lab01") == call(project, "handout", "lab01", "--to", "a.zip", "--book", "b") == 0
    assert told == [
        (project.labs[0], project.root / "work/handouts/lab01_sums.zip", None),
        (project.labs[0], Path("a.zip"), "b"),
    ]


@pytest.mark.parametrize("names", [[], ["01"]])
def test_slides_are_made_of_the_chapters_named_or_of_all(project, monkeypatch, names):
    told = []
    monkeypatch.setattr("coursekit.slides.page.write_slides", lambda *given: told.append(given[1:]))
    assert call(project, "slides", *names) == 0
    assert told == [(project.chapters[0], project.root / "work" / "slides")]


def test_mistakes_are_told_of_the_labs_named_or_of_all_that_are_graded(project, monkeypatch, tmp_path, capsys):
    told = []
    monkeypatch.setattr("coursekit.mistakes.tally.graded_labs", lambda course: ["lab07_all"])
    monkeypatch.setattr("coursekit.mistakes.tally.tally", lambda course, lab: told.append(lab) or SimpleNamespace())
    monkeypatch.setattr("coursekit.mistakes.report.lines", lambda one: ["a line"])
    monkeypatch.setattr(
        "coursekit.mistakes.report.write_report", lambda course, tallies, book: course / "mistakes.html"
    )
    assert call(project, "mistakes", tmp_path) == call(project, "mistakes", tmp_path, "lab01") == 0
    assert told == ["lab07_all", "lab01_sums"]
    assert "a line\n" in capsys.readouterr().out
