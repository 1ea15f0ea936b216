"""The commands of an author, as they are typed."""

import pytest

from coursekit.authoring import AUTHORING
from coursekit.cli import COMMANDS, main
from coursekit.mistakes.known import known_mistakes


def call(project, *arguments) -> int:
    return main(["--root", str(project.root), *map(str, arguments)])


def test_each_command_of_an_author_is_one_of_the_programs():
    assert AUTHORING.items() <= COMMANDS.items()


def test_release_says_what_it_wrote_and_what_was_in_step(project, capsys):
    assert call(project, "release") == 0
    assert call(project, "release", "lab01") == 0
    assert capsys.readouterr().out.split("\n")[:2] == [
        "labs/lab01_sums/lab01_sums.ipynb: written",
        "labs/lab01_sums/lab01_sums.ipynb: in step already",
    ]


def test_release_stops_at_a_lab_without_a_source(project, capsys):
    (project.root / "labs" / "lab09_old").mkdir(parents=True)
    assert call(project, "release") == 2
    assert "labs/lab09_old has no source" in capsys.readouterr().err


def test_verify_lists_what_to_mend_and_fails(project, capsys):
    assert call(project, "verify", "--no-run") == 1
    assert "to mend" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.slow
def test_execute_goes_on_after_a_notebook_that_fails_and_then_fails(project, change, capsys):
    change(project.chapters[0], lambda cells, _: cells["count"].update(source="1 / 0"))
    assert call(project, "execute", "--all") == 1
    shown = capsys.readouterr().out
    assert "cell count fails" in shown
    assert "lab01_sums.ipynb: " in shown.splitlines()[-1]


@pytest.mark.parametrize("arguments, words", [
    ([], "--all runs, and rewrites, all chapters and solutions"),
    (["--all", "chapters/01_counting.ipynb"], "name notebooks or say --all, but not both"),
])  # fmt: skip
def test_execute_runs_nothing_until_it_is_told_what(project, monkeypatch, capsys, arguments, words):
    monkeypatch.setattr("coursekit.execute.execute", lambda path, timeout: pytest.fail(f"{path} was run"))
    with pytest.raises(SystemExit) as end:
        call(project, "execute", *arguments)
    assert end.value.code == 2
    shown = capsys.readouterr().err
    assert "usage: coursekit execute" in shown
    assert words in shown


def test_execute_runs_everything_when_all_is_asked_for(project, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr("coursekit.execute.execute", lambda path, timeout: ran.append(path.name) or 1.0)
    assert call(project, "execute", "--all") == 0
    assert ran == ["01_counting.ipynb", "lab01_sums.ipynb"]


def test_execute_says_when_a_notebook_is_too_slow(project, monkeypatch, capsys):
    monkeypatch.setattr("coursekit.execute.execute", lambda path, timeout: 100.0)
    assert call(project, "execute", project.chapters[0]) == 0
    assert "100 s, over the limit of 90 s" in capsys.readouterr().out


@pytest.mark.slow
def test_status_counts_or_writes_what_the_checks_know(project, capsys):
    assert call(project, "status") == 0
    assert "| Sums | 10 |" in capsys.readouterr().out
    assert call(project, "status", "--write") == 0
    assert known_mistakes(project).labs["lab01"]["shift_right"].mistakes
