"""The command line."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit.cli import COMMANDS, main
from coursekit.new import taken
from coursekit.project import Project
from coursekit.release import release
from coursekit.teaching.commands import TEACHING

ROOT = Path(__file__).parents[2]


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


def test_the_help_tells_a_teacher_of_each_command_and_an_author_of_numbers_that_are_free(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    examples = capsys.readouterr().out.partition("A teacher's day")[2]
    assert [name for name in TEACHING if f"coursekit {name}" not in examples] == []
    named = re.findall(r"coursekit new (chapter|lab) (\d+) (\w+)", examples)
    assert named
    for kind, number, topic in named:
        assert taken(Project(ROOT), kind, int(number), topic) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command_says_in_a_sentence_what_is_kept_and_how_to_go_on(name, project, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, name, (interrupted, "", lambda command: None))
    assert call(project, name) == 130
    said = capsys.readouterr().err.strip()
    assert said.startswith("Interrupted. ")
    assert "\n" not in said
    assert re.search("the same command|name these", said)


def test_what_stands_behind_two_dashes_goes_to_pytest(project, monkeypatch):
    told = []
    monkeypatch.setattr("coursekit.tasks.run_task", lambda *given: told.append(given) or 5)
    assert call(project, "test", "--", "-k", "mask", "tests/attnbook") == 5
    assert told == [("test", project.root, ["-k", "mask", "tests/attnbook"])]


def test_outside_of_a_course_the_command_says_so(tmp_path, capsys):
    assert main(["--root", str(tmp_path), "release"]) == 2
    assert "is in no course" in capsys.readouterr().err


@pytest.mark.slow
def test_term_makes_a_folder_to_grade_in(project, tmp_path, capsys):
    assert call(project, "term", tmp_path / "autumn") == 0
    assert "source/lab01_sums/lab01_sums.ipynb: written" in capsys.readouterr().out


def test_a_terminal_without_a_character_shows_a_question_mark(project, change, monkeypatch):
    change(project.labs[0].source, lambda _, notebook: notebook.metadata.attnbook.update(title="Σ"))
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert call(project, "status") == 0
    sys.stdout.flush()
    assert b"| ? | 10 |" in shown.getvalue()


@pytest.mark.parametrize("name", ["lint", "check", "test", "book"])
def test_a_task_is_run_in_the_courses_folder_and_its_status_returned(project, monkeypatch, name):
    monkeypatch.setattr("coursekit.tasks.run_task", lambda *given: given[:2] == (name, project.root) and 7)
    assert call(project, name) == 7


def test_book_says_where_the_book_begins(project, monkeypatch, capsys):
    monkeypatch.setattr("coursekit.tasks.run_task", lambda *_: 0)
    assert call(project, "book") == 0
    page = project.root / "book" / "_build" / "html" / "index.html"
    assert capsys.readouterr().out == f"Open {page}\n"


def test_lab_copies_the_labs_and_hands_its_options_on(project, monkeypatch, capsys):
    release(project.labs[0])
    monkeypatch.setattr("coursekit.tasks.open_lab", lambda *given: given == (project.root, True, False, 8899) and 3)
    assert call(project, "lab", "--allow-root", "--no-browser", "--port", 8899) == 3
    assert (project.root / "work" / "lab01_sums" / "lab01_sums.ipynb").is_file()
    assert "work/lab01_sums/lab01_sums.ipynb: copied" in capsys.readouterr().out


def test_lab_tells_an_administrator_what_to_do_and_copies_nothing(project, monkeypatch, capsys):
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    assert call(project, "lab") == 2
    assert "inside a container, run `coursekit lab --allow-root`" in capsys.readouterr().err
    assert not (project.root / "work").exists()


def test_the_package_runs_as_a_module_too():
    done = subprocess.run([sys.executable, "-m", "coursekit", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "release" in done.stdout
