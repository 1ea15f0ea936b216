"""The environment of the book: made once, completed, made anew after a failure; and never by guessing."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coursekit import CourseError, environment
from coursekit.environment import RECORD, fingerprint, python_of, read_record, run, set_up, settings_with

PROJECT = """\
[project.optional-dependencies]
book = ["jupyter-book<2"]
"""
posix = pytest.mark.skipif(os.name == "nt", reason="stands in for Python with a link")


class Machine:
    """A folder with a lock, and a record of what would have been run; `fail` names a word of a failing command."""

    def __init__(self, root: Path) -> None:
        self.root, self.commands, self.fail = root, [], None
        (root / "requirements.lock").write_text("numpy==2.4.6\ntorch==2.13.0\n", encoding="utf-8")
        (root / "pyproject.toml").write_text(PROJECT, encoding="utf-8")

    def call(self, command: list, root: Path, quiet: bool = False) -> int:
        line = " ".join(map(str, command))
        self.commands.append(line)
        if self.fail == "Ctrl-C" and "install" in line:
            raise KeyboardInterrupt
        if self.fail and self.fail in line:
            return 1
        if "-m venv" in line:
            python = python_of(self.root / ".venv")
            python.parent.mkdir(parents=True)
            python.symlink_to(sys.executable)
        return 0

    def state(self) -> tuple[str, str]:
        record = read_record(self.root / ".venv")
        return record["state"], record["level"]

    def ran(self, words: str) -> bool:
        return any(words in line for line in self.commands)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    fake = Machine(tmp_path)
    monkeypatch.setattr(environment, "_call", fake.call)
    monkeypatch.setattr(environment, "has_nvidia_card", lambda: False)
    monkeypatch.setattr(sys, "platform", "linux")
    return fake


@posix
def test_a_reader_gets_the_tools_of_the_book_and_no_torch(machine):
    python = set_up(machine.root, "reading", {})
    assert python == python_of(machine.root / ".venv")
    assert machine.state() == ("ready", "reading")
    assert machine.ran("--constraint requirements.lock setuptools jupyter-book<2")
    assert not machine.ran("torch")


@posix
def test_a_second_call_does_nothing(machine):
    set_up(machine.root, "everything", {})
    machine.commands.clear()
    for level in environment.LEVELS:
        set_up(machine.root, level, {})
    assert machine.commands == []


@posix
def test_labs_complete_what_a_reader_has(machine):
    set_up(machine.root, "reading", {})
    machine.commands.clear()
    set_up(machine.root, "everything", {})
    assert machine.state() == ("ready", "everything")
    assert not machine.ran("-m venv")
    assert machine.ran("--requirement requirements.lock")


@posix
def test_new_versions_in_the_lock_are_installed_and_what_was_there_stays(machine):
    set_up(machine.root, "everything", {})
    (machine.root / "requirements.lock").write_text("numpy==2.5.0\ntorch==2.13.0\n", encoding="utf-8")
    machine.commands.clear()
    set_up(machine.root, "reading", {})
    assert machine.state() == ("ready", "everything")
    assert machine.ran("--requirement requirements.lock")
    assert not machine.ran("-m venv")


@posix
@pytest.mark.parametrize("failure", ["--constraint", "Ctrl-C", "-m venv"])
def test_after_a_failed_or_interrupted_set_up_the_next_one_begins_again(machine, failure):
    machine.fail = failure
    with pytest.raises((CourseError, KeyboardInterrupt)):
        set_up(machine.root, "reading", {})
    assert machine.state() == ("unfinished", "reading")
    left = machine.root / ".venv" / "half a package"
    left.write_text("", encoding="utf-8")
    machine.fail = None
    set_up(machine.root, "reading", {})
    assert machine.state() == ("ready", "reading")
    assert not left.exists()


@posix
def test_an_environment_whose_python_is_gone_is_made_anew(machine):
    python = set_up(machine.root, "reading", {})
    python.unlink()
    python.symlink_to(machine.root / "no such python")
    machine.commands.clear()
    set_up(machine.root, "reading", {})
    assert machine.ran("-m venv")
    assert machine.state() == ("ready", "reading")


@posix
def test_a_record_that_was_cut_off_counts_as_unfinished(machine):
    set_up(machine.root, "reading", {})
    (machine.root / ".venv" / RECORD).write_text('{"state": "rea', encoding="utf-8")
    machine.commands.clear()
    set_up(machine.root, "reading", {})
    assert machine.ran("-m venv")


def test_an_environment_that_somebody_else_made_is_left_alone(machine):
    (machine.root / ".venv").mkdir()
    with pytest.raises(CourseError, match=r"\.venv is there, but course\.py didn't make it\. Move it away"):
        set_up(machine.root, "reading", {})
    assert machine.commands == []
    assert list((machine.root / ".venv").iterdir()) == []


@posix
@pytest.mark.parametrize(
    "wish, card, tried",
    [("", False, True), ("cpu", False, True), ("cpu", True, True), ("", True, False), ("default", False, False)],
)
def test_linux_without_a_card_takes_the_cpu_build_of_torch(machine, monkeypatch, wish, card, tried):
    monkeypatch.setattr(environment, "has_nvidia_card", lambda: card)
    set_up(machine.root, "everything", {"TORCH": wish} if wish else {})
    assert machine.ran("torch==2.13.0+cpu") == tried


@posix
def test_without_a_cpu_build_the_usual_one_is_taken_and_its_size_is_said(machine, capsys):
    machine.fail = "+cpu"
    set_up(machine.root, "everything", {})
    assert machine.state() == ("ready", "everything")
    assert "2.7 GB" in capsys.readouterr().out


@posix
def test_whoever_asks_for_the_cpu_build_is_told_where_it_is(machine):
    machine.fail = "+cpu"
    with pytest.raises(CourseError, match="PIP_EXTRA_INDEX_URL"):
        set_up(machine.root, "everything", {"TORCH": "cpu"})


@posix
def test_a_wish_that_is_none_is_refused(machine):
    with pytest.raises(CourseError, match="TORCH must be cpu or default, and is 'gpu'"):
        set_up(machine.root, "everything", {"TORCH": "gpu"})


@posix
def test_other_systems_take_torch_as_it_comes(machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    set_up(machine.root, "everything", {"TORCH": "cpu"})
    assert not machine.ran("+cpu")


@posix
def test_an_intel_mac_reads_and_is_told_why_it_does_no_more(machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    set_up(machine.root, "reading", {})
    with pytest.raises(CourseError, match="no builds for Intel Macs"):
        set_up(machine.root, "everything", {})


def test_tools_start_with_the_given_folders_first_on_the_path_and_in_utf8(monkeypatch):
    monkeypatch.setenv("PATH", "elsewhere")
    monkeypatch.setenv("KEPT", "as it was")
    settings = settings_with("here", Path("there"))
    assert settings["PATH"].split(os.pathsep) == ["here", "there", "elsewhere"]
    assert (settings["PYTHONUTF8"], settings["JUPYTER_PREFER_ENV_PATH"], settings["KEPT"]) == ("1", "1", "as it was")


def test_a_path_that_begins_with_the_folders_stays_as_it_is(monkeypatch):
    """So kernels that a test starts and those that nbval starts find the same, and are forks of one warm process."""
    monkeypatch.setenv("PATH", settings_with("here", "there")["PATH"])
    assert settings_with("here", "there")["PATH"] == os.environ["PATH"]
    assert settings_with("here")["PATH"] == os.environ["PATH"]
    assert settings_with("her")["PATH"].split(os.pathsep)[:2] == ["her", "here"]


def test_a_python_without_venv_is_told_how_to_get_it(machine, monkeypatch):
    monkeypatch.setattr(environment, "base_python", lambda: sys.executable)
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(environment.subprocess, "run", lambda *command, **settings: failed)
    with pytest.raises(CourseError, match=r"its module venv is missing.*apt install python3-venv"):
        set_up(machine.root, "reading", {})
    assert not (machine.root / ".venv").exists()


@posix
def test_each_command_gets_the_environment_that_it_needs(machine):
    assert run(machine.root, ["book"]) == 0
    assert machine.state() == ("ready", "reading")
    assert machine.commands[-1].endswith(f"-m coursekit --root {machine.root} book")
    assert run(machine.root, ["lab", "--port", "9"]) == 0
    assert machine.state() == ("ready", "everything")
    assert machine.commands[-1].endswith("lab --port 9")


@posix
def test_setup_alone_says_how_to_go_on(machine, capsys):
    assert run(machine.root, ["setup"]) == 0
    assert "Ready. Activate it with: " in capsys.readouterr().out
    assert not machine.ran("coursekit")


@posix
def test_an_interruption_ends_with_a_sentence(machine):
    machine.fail = "Ctrl-C"
    assert "the next run begins the set-up again" in run(machine.root, ["book"])


def test_the_fingerprint_is_the_same_with_the_line_ends_of_windows(machine):
    before = fingerprint(machine.root)
    lock = machine.root / "requirements.lock"
    lock.write_bytes(lock.read_bytes().replace(b"\n", b"\r\n"))
    assert fingerprint(machine.root) == before
    lock.write_bytes(b"numpy==2.5.0\r\n")
    assert fingerprint(machine.root) != before


def test_the_python_for_set_up_lies_outside_of_any_environment():
    inside = subprocess.run(
        [environment.base_python(), "-c", "import sys; print(sys.prefix == sys.base_prefix)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert inside.stdout.strip() == "True"


@pytest.mark.slow
def test_a_real_environment_is_made_in_a_path_with_a_space(tmp_path, monkeypatch):
    root = tmp_path / "my book"
    root.mkdir()
    Machine(root)
    monkeypatch.setattr(environment, "install", lambda root, level, wishes: None)
    python = set_up(root, "reading", {})
    shown = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()).resolve() == (root / ".venv").resolve()
    assert json.loads((root / ".venv" / RECORD).read_text(encoding="utf-8"))["state"] == "ready"


SETS_UP = """\
import sys, time
from pathlib import Path
from coursekit import environment
from coursekit.environment import python_of, set_up

root = Path(sys.argv[1])


def call(command, root, quiet=False):
    line = " ".join(map(str, command))
    with (root / "log").open("a") as log:
        print(line, file=log)
    if "-m venv" in line:
        python = python_of(root / ".venv")
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
        (root / ".venv" / "installed").touch()
        while not (root / "go").exists():
            time.sleep(0.05)
    return 0


environment._call, environment.has_nvidia_card = call, lambda: False
set_up(root, "reading", {})
print("has", (root / ".venv" / "installed").exists(), flush=True)
"""


@posix
@pytest.mark.slow
def test_of_two_set_ups_at_once_the_second_waits_and_has_nothing_left_to_do(machine):
    def begun() -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-c", SETS_UP, str(machine.root)], stdout=subprocess.PIPE, text=True)

    first = begun()
    while not (machine.root / ".venv" / "installed").exists():
        assert first.poll() is None
        time.sleep(0.05)
    second = begun()
    assert second.stdout.readline() == f"{environment.WAITING}\n"
    assert (machine.root / ".venv" / "installed").exists()
    (machine.root / "go").touch()
    assert [process.communicate()[0].splitlines()[-1] for process in (first, second)] == ["has True"] * 2
    log = (machine.root / "log").read_text(encoding="utf-8")
    assert log.count("-m venv") == 1


@posix
@pytest.mark.parametrize("moment, status", [("set_up", "Interrupted. Nothing is lost"), ("_call", 130)])
def test_an_interruption_is_told_once_by_whom_it_stopped(machine, monkeypatch, moment, status):
    def interrupted(*_):
        raise KeyboardInterrupt

    set_up(machine.root, "reading", {})
    monkeypatch.setattr(environment, moment, interrupted)
    said = run(machine.root, ["book"])
    assert said == status or status in said


@posix
def test_what_is_interrupted_with_a_tool_waits_for_its_end():
    """In a process of its own, because a test that interrupts the process of all tests may hit another one."""
    waits = (
        "import signal, time; signal.signal(signal.SIGINT, lambda *_: exit(3)); print(1, flush=True); time.sleep(60)"
    )
    code = f"""
import os, signal, subprocess, sys
from coursekit import environment
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen([sys.executable, "-c", {waits!r}], stdout=subprocess.PIPE)
process.stdout.read(1)
sender = f"import os, signal; [os.kill(pid, signal.SIGINT) for pid in ({{os.getpid()}}, {{process.pid}})]"
try:
    subprocess.Popen([sys.executable, "-c", sender])
    environment.printed_by(process)
except KeyboardInterrupt:
    print("interrupted", process.returncode)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted 3\n", done.stderr
