"""The book's own environment, ``.venv``: made once, completed when more is needed, made anew after a failure.

Nothing that needs more than the standard library is used here: nothing is installed yet when ``course.py`` calls this.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from attnbook.files import write_whole
from coursekit import CourseError
from coursekit.onlyone import only_one

RECORD = "course.json"  # in .venv: how far its set-up came
# What each command needs: the book's pages are stored with their outputs, so that they need no torch.
NEEDS = dict.fromkeys(("book", "pdf", "epub", "offline"), "reading")
LEVELS = ("reading", "everything")
LOCK = ".venv.lock"  # beside .venv, which may have to be deleted
WAITING = "Another set-up of this folder is running; waiting for it to end."

NO_VENV = (
    "This Python ({python}) can't make environments: its module {module} is missing. "
    "On Debian and Ubuntu install it with: sudo apt install python3-venv"
)
STRANGE = (
    "{folder} is there, but course.py didn't make it. Move it away or delete it, and run this again; "
    "or activate it and use the command coursekit."
)
NO_CPU_BUILD = (
    "TORCH=cpu asks for torch {version}+cpu, and the package index that pip uses has none. PyTorch's own index has "
    "it: its page 'Start locally' (pytorch.org) shows the address when you choose Linux, Pip and CPU. Put that "
    "address into the variable PIP_EXTRA_INDEX_URL and run this again, or leave TORCH=cpu out."
)
LARGE = (
    "No CPU build of torch here: taking the usual one for Linux, which brings the libraries of NVIDIA cards along "
    "(a download of about 2.7 GB). To avoid that, see TORCH=cpu in README.md."
)
INTEL_MAC = (
    "PyTorch has no builds for Intel Macs any more, so labs and tests don't run on this machine. "
    "Reading does: make book, or python3 course.py book."
)


def run(root: str | Path, arguments: list[str]) -> int | str:
    """Set up what the command needs, then run it in ``.venv``: ``python course.py COMMAND …``.

    Args:
        root: the folder of the book.
        arguments: a command of coursekit with its own arguments; ``setup`` only sets up; none = coursekit's help.

    Returns:
        The command's exit status, or a sentence that says what went wrong.
    """
    root = Path(root)
    command = arguments[0] if arguments else "--help"
    try:
        python = set_up(root, NEEDS.get(command, "everything"), os.environ)
    except CourseError as error:
        return str(error)
    except KeyboardInterrupt:
        return "\nInterrupted. Nothing is lost: the next run begins the set-up again."
    if command == "setup":
        print(f"Ready. Activate it with: {activation(root)}")
        return 0
    try:
        return _call([python, "-m", "coursekit", "--root", root, *(arguments or ["--help"])], root)
    except KeyboardInterrupt:
        return 130  # coursekit was interrupted with us, and has said what is kept


def set_up(root: Path, level: str, wishes: Mapping[str, str]) -> Path:
    """Make ``.venv`` hold what ``level`` needs, as fast as nothing if it does; return its Python.

    Args:
        root: the folder of the book.
        level: ``"reading"`` (the tools that build the book) or ``"everything"``.
        wishes: ``TORCH`` in it may be ``cpu`` or ``default``; else the CPU build is tried where there is no card.

    Raises:
        CourseError: if ``.venv`` isn't ours, this Python can't make one, or an installation fails.
    """
    folder = root / ".venv"
    record = read_record(folder)
    if record and is_ready(folder, record, level, fingerprint(root)):
        return python_of(folder)
    with only_one(root / LOCK, WAITING):
        return _set_up_alone(root, folder, level, wishes)


def _set_up_alone(root: Path, folder: Path, level: str, wishes: Mapping[str, str]) -> Path:
    record = read_record(folder)
    if record and is_ready(folder, record, level, fingerprint(root)):  # by whom we waited for
        return python_of(folder)
    refuse_what_cannot_work(folder, record, level)
    usable = record if record and record["state"] == "ready" and is_alive(folder, record) else None
    if usable and LEVELS.index(usable["level"]) > LEVELS.index(level):
        level = usable["level"]  # new versions of a full environment: it stays full
    entry = {"level": level, "python": platform.python_version(), "wanted": fingerprint(root)}
    if usable:
        entry["python"] = usable["python"]
    else:
        remove(folder)
        folder.mkdir()
    write_record(folder, {"state": "unfinished", **entry})  # an interruption from here on is seen by the next run
    if not usable:
        print(f"Setting up {folder} with Python {entry['python']}, once.", flush=True)
        _must([base_python(), "-m", "venv", folder], root, "make the environment")
    install(root, level, wishes)
    write_record(folder, {"state": "ready", **entry})
    return python_of(folder)


def remove(folder: Path) -> None:
    """Take an environment away.

    Raises:
        CourseError: if something still uses it (Windows deletes no program that runs).
    """
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise CourseError(f"{folder} can't be removed. Close what uses it (deactivate, quit Jupyter) and try again.")


def install(root: Path, level: str, wishes: Mapping[str, str]) -> None:
    """Install into ``.venv`` what a level needs, in the versions of ``requirements.lock``.

    Raises:
        CourseError: if pip can't.
    """
    python = python_of(root / ".venv")
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    if level == "reading":
        print("Installing the tools that build the book (about 300 MB; no PyTorch).", flush=True)
        _must([*pip, "--constraint", "requirements.lock", "setuptools", *tools_of_the_book(root)], root, "install")
    else:
        print("Installing everything that labs, tests and the book need (1.7 GB on disk without CUDA).", flush=True)
        _install_torch(pip, root, wishes.get("TORCH", ""))
        _must([*pip, "--requirement", "requirements.lock"], root, "install the packages of requirements.lock")
    own = ["--no-deps", "--no-build-isolation", "--editable", "."]
    _must([*pip, "--quiet", *own], root, "install the book's own packages")


def _install_torch(pip: list, root: Path, wish: str) -> None:
    if wish not in ("", "cpu", "default"):
        raise CourseError(f"TORCH must be cpu or default, and is {wish!r}")
    if not sys.platform.startswith("linux") or wish == "default" or (not wish and has_nvidia_card()):
        return  # the lock's torch is the right one
    version = torch_version(root)
    found = _call([*pip, "--no-deps", f"torch=={version}+cpu"], root, quiet=not wish) == 0
    if not found and wish == "cpu":
        raise CourseError(NO_CPU_BUILD.format(version=version))
    if not found:
        print(LARGE, flush=True)


def has_nvidia_card() -> bool:
    """Whether this machine has an NVIDIA card that its driver knows."""
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia/version").exists()


def torch_version(root: Path) -> str:
    """The version of torch that the lock holds."""
    lines = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("torch==")).removeprefix("torch==")


def tools_of_the_book(root: Path) -> list[str]:
    """What ``pyproject.toml`` lists under the extra ``book``."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return project["project"]["optional-dependencies"]["book"]


def refuse_what_cannot_work(folder: Path, record: dict | None, level: str) -> None:
    """Raise CourseError, before anything is changed, where set-up can't succeed."""
    if folder.exists() and record is None:
        raise CourseError(STRANGE.format(folder=folder))
    if level == "everything" and sys.platform == "darwin" and platform.machine() == "x86_64":
        raise CourseError(INTEL_MAC)
    for module in ("venv", "ensurepip"):
        probe = [base_python(), "-c", f"import {module}"]
        if subprocess.run(probe, capture_output=True, check=False).returncode:
            raise CourseError(NO_VENV.format(python=base_python(), module=module))


def base_python() -> str:
    """The Python outside of any environment: the one in ``.venv`` may be about to go."""
    inside = sys.prefix != sys.base_prefix
    return getattr(sys, "_base_executable", sys.executable) if inside else sys.executable


def python_of(folder: Path) -> Path:
    """The Python in an environment's folder, whether it is there or not."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def activation(root: Path) -> str:
    """The line that activates the environment in the shell that is usual on this system."""
    return r".venv\Scripts\Activate.ps1" if os.name == "nt" else f"source '{root / '.venv/bin/activate'}'"


def fingerprint(root: Path) -> str:
    """A short word that changes when what has to be installed changes."""
    contents = [(root / name).read_bytes() for name in ("requirements.lock", "pyproject.toml")]
    return hashlib.sha256(b"\0".join(content.replace(b"\r\n", b"\n") for content in contents)).hexdigest()[:16]


def is_ready(folder: Path, record: dict, level: str, wanted: str) -> bool:
    """Whether nothing is left to do for a level."""
    done = record["state"] == "ready" and record["wanted"] == wanted
    return done and LEVELS.index(record["level"]) >= LEVELS.index(level) and is_alive(folder, record)


def is_alive(folder: Path, record: dict) -> bool:
    """Whether the environment's Python still runs, and is the version that it was made with."""
    probe = [str(python_of(folder)), "-c", "import platform; print(platform.python_version())"]
    try:
        found = subprocess.run(probe, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return found.returncode == 0 and found.stdout.strip() == record["python"]


def read_record(folder: Path) -> dict | None:
    """What is known of an environment; None where course.py didn't make it."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:  # cut off while it was written: whatever else there is can't be trusted
        return {"state": "unfinished"}
    return record if isinstance(record, dict) and "state" in record else {"state": "unfinished"}


def write_record(folder: Path, record: dict) -> None:
    """Note how far the set-up came."""
    write_whole(folder / RECORD, f"{json.dumps(record, indent=1)}\n".encode())


def _must(command: list, root: Path, what: str) -> None:
    if _call(command, root):
        raise CourseError(
            f"Set-up could not {what}; what went wrong stands above. The next run begins again from the start."
        )


def _call(command: list, root: Path, quiet: bool = False) -> int:
    """Run a command in the book's folder, with the environment's own tools."""
    settings = settings_with(python_of(root / ".venv").parent)
    where = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(list(map(str, command)), cwd=root, env=settings, stderr=where)
    printed_by(process)
    return process.returncode


def printed_by(process: subprocess.Popen) -> bytes:
    """Waits for the end of a tool, and returns what it printed into its pipe, if it has one.

    Ctrl-C reaches the tool as well as us, and it ends, or asks, in its own way. Raises KeyboardInterrupt after its end
    if that was no good one."""
    interrupted = False
    while True:
        try:
            printed, _ = process.communicate()
            break
        except KeyboardInterrupt:
            interrupted = True
    if interrupted and process.returncode:
        raise KeyboardInterrupt
    return printed or b""


def settings_with(*folders: str | Path) -> dict[str, str]:
    """The variables that each tool is started with: its environment's folders first on the path, since tools call
    their helpers by name, and UTF-8 for all text, since Windows has another default. A path that begins with these
    folders stays as it is: a tool that starts another one hands on what it was started with itself."""
    first, path = os.pathsep.join(map(str, folders)), os.environ.get("PATH", "")
    path = path if path.startswith(first + os.pathsep) else os.pathsep.join([first, path])
    return {**os.environ, "PATH": path, "PYTHONUTF8": "1", "JUPYTER_PREFER_ENV_PATH": "1"}
