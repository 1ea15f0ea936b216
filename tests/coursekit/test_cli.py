"""The command line."""

import subprocess
import sys

import pytest

from coursekit.cli import COMMANDS, main


def call(project, *arguments) -> int:
    return main(["--root", str(project.root), *map(str, arguments)])


def test_help_names_each_command_in_words(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    for name, (_, about, _) in COMMANDS.items():
        assert name in shown
        assert about in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert len(shown.split()) > 30


def test_without_a_command_one_is_asked_for(capsys):
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_outside_of_a_course_the_command_says_so(tmp_path, capsys):
    assert main(["--root", str(tmp_path), "release"]) == 1
    assert "is in no course" in capsys.readouterr().err


def test_release_says_what_it_wrote_and_what_was_in_step(project, capsys):
    assert call(project, "release") == 0
    assert call(project, "release", "lab01") == 0
    assert capsys.readouterr().out.split("\n")[:2] == [
        "labs/lab01_sums/lab01_sums.ipynb: written",
        "labs/lab01_sums/lab01_sums.ipynb: in step already",
    ]


def test_release_stops_at_a_lab_without_a_source(project, capsys):
    (project.root / "labs" / "lab09_old").mkdir(parents=True)
    assert call(project, "release") == 1
    assert "labs/lab09_old has no source" in capsys.readouterr().err


def test_verify_lists_what_to_mend_and_fails(project, capsys):
    assert call(project, "verify", "--no-run") == 1
    assert "to mend" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.slow
def test_execute_goes_on_after_a_notebook_that_fails_and_then_fails(project, change, capsys):
    change(project.chapters[0], lambda cells, _: cells["count"].update(source="1 / 0"))
    assert call(project, "execute") == 1
    shown = capsys.readouterr().out
    assert "cell count fails" in shown
    assert "lab01_sums.ipynb: " in shown.splitlines()[-1]


def test_execute_says_when_a_notebook_is_too_slow(project, monkeypatch, capsys):
    monkeypatch.setattr("coursekit.execute.execute", lambda path, timeout: 100.0)
    assert call(project, "execute") == 0
    assert "100 s, over the limit of 90 s" in capsys.readouterr().out


def test_status_prints_or_writes_the_page(project, capsys):
    assert call(project, "status") == 0
    assert "| Sums | 10 |" in capsys.readouterr().out
    assert call(project, "status", "--write") == 0
    assert (project.root / "book" / "status.md").read_text().startswith("# What the course holds")


def test_course_makes_a_folder_to_grade_in(project, tmp_path, capsys):
    assert call(project, "course", tmp_path / "autumn") == 0
    assert "source/lab01_sums/lab01_sums.ipynb: written" in capsys.readouterr().out


def test_the_package_runs_as_a_module_too():
    done = subprocess.run([sys.executable, "-m", "coursekit", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "release" in done.stdout
