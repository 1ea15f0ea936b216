"""The tools behind `coursekit book`, `lab`, `lint`, `check` and `test`."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from coursekit import CourseError, tasks
from coursekit.tasks import (
    BOOK,
    FORMAT,
    LEFT_OUT,
    OF_BOOK,
    QUICK,
    RUFF,
    TASKS,
    TYPES,
    WITH_BOOK,
    WITHOUT_BOOK,
    WORKERS,
    call,
    environment,
    open_lab,
    refuse_root,
    run_stage,
    run_task,
)

ROOT = Path(__file__).parents[2]
# stands for a tool: says how it was started, and ends with the status that it is told
TOOL = """
import json, os, sys
names = ("PATH", "PYTHONUTF8", "OMP_NUM_THREADS")
json.dump([sys.argv[1:], os.getcwd(), {name: os.environ.get(name) for name in names}], open(r"%s", "w"))
sys.exit(%d)
"""


@pytest.fixture
def calls(monkeypatch):
    """The commands that would be run, and their settings; each ends with the status in `calls.status`."""

    class Calls(list):
        status = 0

        def __call__(self, command, root, settings, kept=False):
            self.append((tuple(command), settings))
            return self.status

    made = Calls()
    monkeypatch.setattr(tasks, "call", made)
    return made


@pytest.mark.parametrize("name", TASKS)
def test_a_task_runs_all_its_commands_with_one_thread_each(name, calls, tmp_path, capsys):
    assert run_task(name, tmp_path) == 0
    assert sorted(command for command, _ in calls) == sorted(command for stage in TASKS[name] for command in stage)
    assert {settings["OMP_NUM_THREADS"] for _, settings in calls} == {"1"}
    assert (LEFT_OUT in capsys.readouterr().out) == (name == "check")


def test_the_first_stage_that_fails_ends_the_task_with_its_status(calls, tmp_path):
    calls.status = 4
    assert run_task("test", tmp_path) == 4
    assert len(calls) == 1


def test_every_test_has_its_turn_in_the_whole_task_and_those_of_the_book_after_its_building():
    place = {command: number for number, stage in enumerate(TASKS["test"]) for command in stage}
    assert place[BOOK] < place[WITH_BOOK]
    assert [command[command.index("-m") + 1] for command in (WITHOUT_BOOK, WITH_BOOK)] == ["not book", "book"]
    assert {"chapters", "solutions", "tests"} < set(WITHOUT_BOOK)
    assert not any(word.startswith(("--ignore", "--deselect")) for word in (*WITHOUT_BOOK, *WITH_BOOK))


def test_tests_have_one_worker_more_than_there_are_processors_because_some_wait_and_eight_at_most():
    assert {command[command.index("-n") + 1] for command in (QUICK, WITHOUT_BOOK, WITH_BOOK)} == {str(WORKERS)}
    assert min(os.cpu_count() + 1, 8) == WORKERS


def test_no_test_of_the_built_book_is_left_out():
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if "pytest.mark.book" in path.read_text("utf-8")]
    there = [path.relative_to(ROOT).as_posix() for path in marked if path != Path(__file__)]
    assert len(there) >= 8
    assert [name for name in there if not name.startswith(OF_BOOK)] == []


# ---- stages


PRINTS = "import sys; print({0!r}, flush=True); print({0!r} + ' aside', file=sys.stderr); sys.exit({1})"


def test_commands_of_a_stage_run_side_by_side_and_what_each_prints_stays_together(tmp_path, capfd):
    waits = "import pathlib, time\nwhile not pathlib.Path('second').exists(): time.sleep(0.01)\nprint('first')"
    touches = "import pathlib; pathlib.Path('second').touch(); print('touched')"
    stage = (("python", "-c", waits), ("python", "-c", touches), ("python", "-c", PRINTS.format("third", 0)))
    assert run_stage(stage, tmp_path, environment()) == 0
    shown = capfd.readouterr()
    assert {"first", "touched"} < set(shown.out.splitlines())
    assert "third\nthird aside\n" in shown.out
    assert shown.err == ""


class Slow(io.StringIO):
    """Where something printed in pieces would be mixed with what others print."""

    def write(self, text):
        time.sleep(0.02)
        return super().write(text)


def test_commands_that_end_at_once_print_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Slow())
    stage = (("python", "-c", "pass"), *(("python", "-c", PRINTS.format(name, 0)) for name in "abcd"))
    assert run_stage(stage, tmp_path, environment()) == 0
    assert all(f"{name}\n{name} aside\n" in sys.stdout.getvalue() for name in "abcd")
    assert sys.stdout.getvalue().count("\n$ ") == 4


@pytest.mark.parametrize("statuses, status", [((0, 0, 0), 0), ((0, 3, 0), 3), ((5, 3, 0), 5), ((0, 0, 7), 7)])
def test_a_stage_fails_when_one_of_its_commands_does(tmp_path, statuses, status):
    stage = tuple(("python", "-c", PRINTS.format("something", ends)) for ends in statuses)
    assert run_stage(stage, tmp_path, environment()) == status


def test_no_stage_follows_one_that_failed(calls, tmp_path, monkeypatch):
    monkeypatch.setitem(TASKS, "lint", ((RUFF,), (FORMAT, TYPES), (BOOK,)))
    monkeypatch.setattr(tasks, "call", lambda command, *_, kept=False: calls.append(command) or 2 * (command == TYPES))
    assert run_task("lint", tmp_path) == 2
    assert sorted(calls) == sorted([RUFF, FORMAT, TYPES])


def test_a_tool_that_is_lacking_in_a_stage_is_named(tmp_path):
    with pytest.raises(CourseError, match="jupyter-nothing is not installed"):
        run_stage((("python", "-c", "pass"), ("jupyter-nothing",)), tmp_path, environment())


def test_arguments_for_pytest_run_it_alone_with_these(calls, tmp_path):
    assert run_task("test", tmp_path, ["-k", "mask"]) == 0
    assert [command for command, _ in calls] == [("pytest", "-k", "mask")]


def test_a_command_is_printed_and_run_in_the_folder_with_utf8_and_this_environment_first(tmp_path, capfd):
    folder = tmp_path / "a course with spaces"
    folder.mkdir()
    said = folder / "said.json"
    assert call(["python", "-c", TOOL % (said, 5), "two words"], folder, environment()) == 5
    arguments, where, settings = json.loads(said.read_text(encoding="utf-8"))
    assert (arguments, Path(where).resolve()) == (["two words"], folder.resolve())
    assert settings["PYTHONUTF8"] == "1"
    assert settings["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    shown = capfd.readouterr().out
    assert shown.startswith("$ python -c ")
    assert "'two words'" in shown


def test_a_tool_that_is_not_installed_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"jupyter-nothing is not installed .*README\.md"):
        call(["jupyter-nothing"], tmp_path, environment())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
def test_a_tool_that_a_signal_ends_has_the_status_that_a_shell_would_give(tmp_path):
    die = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    assert call(["python", "-c", die], tmp_path, environment()) == 128 + signal.SIGKILL


@pytest.mark.parametrize("status", [0, 6])
def test_an_interrupted_tool_ends_in_its_own_way_and_its_status_tells_whether_that_was_an_interruption(
    tmp_path, monkeypatch, status
):
    wait, heard = subprocess.Popen.wait, []

    def interrupted_once(process):
        if not heard:
            heard.append(True)
            raise KeyboardInterrupt
        return wait(process)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted_once)
    with pytest.raises(KeyboardInterrupt) if status else nullcontext():
        assert call(["python", "-c", f"raise SystemExit({status})"], tmp_path, environment()) == 0
    assert heard


def test_the_lab_has_the_courses_root_so_that_links_to_chapters_work(calls, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert open_lab(tmp_path) == 0
    ((command, settings),) = calls
    assert command == ("jupyter-lab", f"--ServerApp.root_dir={tmp_path}", "--LabApp.default_url=/lab/tree/work")
    assert settings["OMP_NUM_THREADS"] == "1"


def test_the_lab_is_given_its_options_and_keeps_a_number_of_threads(calls, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    open_lab(tmp_path, allow_root=True, browser=False, port=8899)
    ((command, settings),) = calls
    assert command[3:] == ("--allow-root", "--no-browser", "--port=8899")
    assert settings["OMP_NUM_THREADS"] == "8"


def test_an_administrator_is_refused_unless_he_insists(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    with pytest.raises(CourseError, match="as an ordinary user; or, inside a container"):
        refuse_root(allow_root=False)
    assert refuse_root(allow_root=True) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    assert refuse_root(allow_root=False) is None


def test_the_book_is_built_where_torch_and_the_notebook_tools_are_missing(tmp_path):
    """As a reader has it: the modules cannot be imported, and jupyter-book is a stand-in that says hello."""
    lacking = ["torch", "numpy", "nbformat", "nbclient", "nbconvert", "nbgrader", "jupyterlab"]
    start = f"""
import sys
import time
sys.modules.update(dict.fromkeys({lacking}))
from coursekit import cli, tasks
tasks.BOOK = ("python", "-c", "print('built')")
tasks.TASKS["book"] = ((tasks.BOOK,),)
sys.exit(cli.main(["--root", {str(tmp_path / "a book")!r}, "book"]))
"""
    (tmp_path / "a book" / "chapters").mkdir(parents=True)
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "utils")}
    done = subprocess.run([sys.executable, "-c", start], env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "a book").resolve() / "book" / "_build" / "html" / "index.html"
    assert done.stdout.splitlines()[1:] == ["built", f"Open {page}"]
