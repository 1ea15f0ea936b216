"""Where an experiment's results go, when they may go there, and where they come from.

The folder ``results/`` is what the chapters read. It is written only on demand and from a commit, so that each figure
in it can be made again; everything else goes to a scratch folder.
"""

import json
import platform
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch

from attnbook.files import write_whole
from attnbook.training import parallel

HERE = Path(__file__).resolve().parent
SCRATCH = Path("scratch")


class Refusal(ValueError):  # noqa: N818 (it says what it is)
    """A run that would spoil something, or that makes no sense. It is refused before anything is started."""


# ---- the repository


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says, or ``None`` if it fails, or there is no git."""
    try:
        found = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, encoding="utf-8", errors="replace")
    except OSError:
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def checkout() -> Path | None:
    """The git working tree that this package belongs to; ``None`` if it is installed elsewhere, or without git."""
    if _git(HERE, "ls-files", "--error-unmatch", "record.py") is None:
        return None  # an environment may lie inside some repository, but what it holds isn't tracked there
    root = _git(HERE, "rev-parse", "--show-toplevel")
    return Path(root) if root else None


def changes(root: Path) -> list[str]:
    """Files that differ from the commit or are not in it, those below ``results/`` left out: a record writes these."""
    listed = _git(root, "status", "--porcelain", "--untracked-files=normal", "--", ".", ":(exclude)results")
    if listed is None:
        raise Refusal(f"git cannot say whether anything has changed in {root}, so nothing can be recorded from there.")
    return [line.strip().partition(" ")[2].strip() for line in listed.splitlines()]


def commit() -> str:
    """The commit of this package, with ``-dirty`` where something has changed since; ``unknown`` without git."""
    root = checkout()
    if root is None or not (name := _git(root, "rev-parse", "--short", "HEAD")):
        return "unknown"
    return f"{name}-dirty" if changes(root) else name


# ---- where to


def destination(out: Path | None, record: bool, steps: int | None) -> Path:
    """The folder that a run writes to: ``results/`` for a record, else ``out``, else ``scratch/``.

    Raises:
        Refusal: if a record is asked for that nobody could repeat, or ``out`` is ``results/`` and no record is.
    """
    if record:
        return _record_folder(out, steps)
    out = SCRATCH if out is None else out
    if any(_is_within(out, folder) for folder in _folders_of_record()):
        raise Refusal(f"{out} holds the results of record; give another folder, or --record in place of --out.")
    return out


def _record_folder(out: Path | None, steps: int | None) -> Path:
    if out is not None:
        raise Refusal("--record writes to results/, so it goes without --out.")
    if steps is not None:
        raise Refusal("--record trains each model for its own number of steps, so it goes without --steps.")
    root = checkout()
    if root is None or not _git(root, "rev-parse", "--verify", "HEAD"):
        raise Refusal("--record notes the commit, so it works in a git checkout with a commit only; go without it.")
    if changed := changes(root):
        shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise Refusal(f"--record notes the commit, so commit or stash what has changed since: {shown}.")
    return root / "results"


def _folders_of_record() -> list[Path]:
    """Every ``results`` above this package or the working folder, whether in git or not."""
    above = dict.fromkeys(folder for start in (HERE, Path.cwd()) for folder in (start, *start.parents))
    return [folder / "results" for folder in above if (folder / "results").is_dir()]


def check_writable(folder: Path) -> None:
    """Raise Refusal, before anything is trained for it, if results or weights can't be written into ``folder``."""
    weights = folder / "weights"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, weights) if weights.exists() else (folder,):
            tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise Refusal(f"Nothing can be written into {folder} ({error.strerror}); give another --out.") from error


def _is_within(path: Path, folder: Path) -> bool:
    # samefile, because names may differ in case, or lead over a link
    whole = path.resolve()
    return any(part.exists() and part.samefile(folder) for part in (whole, *whole.parents))


# ---- the file


def read_runs(path: Path) -> list[dict]:
    """The runs of a file of results, each with its commit; none if there is no file.

    Raises:
        Refusal: if the file is damaged.
    """
    if not path.exists():
        return []
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        return [{**run, "commit": run.get("commit", result["commit"])} for run in result["runs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{path} is damaged ({type(error).__name__}: {error}); delete it, or restore it.") from error


def write(path: Path, result: dict) -> None:
    """Write a file of results; the old one stays whole until the new one is."""
    write_whole(path, f"{json.dumps(result, indent=1)}\n".encode())


def name_runs(runs: Sequence[dict], most: int = 3) -> str:
    """``attention, seed 0, 20 steps; …``: some runs in words."""
    named = [f"{run['model']}, seed {run['seed']}, {run['steps']} steps" for run in runs[:most]]
    return "; ".join(named) + (f"; and {len(runs) - most} more" if len(runs) > most else "")


# ---- where from


def now() -> str:
    """The time, as a file of results has it."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def program() -> str:
    """How the experiments were started: by Python, or by torchrun in several processes."""
    many = parallel.size() > 1
    return f"{f'torchrun --nproc_per_node={parallel.size()}' if many else 'python'} -m attnbook.experiments"


def command(experiment, runs: Sequence[dict], steps: int | None = None, record: bool = False) -> str:
    """The command line that repeats ``runs``."""
    models = {run["model"] for run in runs}
    words = [program(), experiment.name, "--seeds", *sorted({run["seed"] for run in runs})]
    if models < set(experiment.steps):
        words += ["--models", *(model for model in experiment.steps if model in models)]
    words += ["--steps", steps] if steps is not None else []
    words += ["--record"] if record else []
    return " ".join(map(str, words))


def provenance(experiment, runs: Sequence[dict], options, at: str, started: str) -> dict:
    """Say by what command, commit, device and versions an experiment's figures came about.

    Args:
        experiment, runs: whose figures; ``options.steps`` and ``options.record`` as on the command line.
        at: the commit. started: the time.
    """
    return {
        "name": experiment.name,
        "command": command(experiment, runs, options.steps, options.record),
        "commit": at,
        "started": started,
        "device": ", ".join(sorted({run.get("device", "cpu") for run in runs})),
        "threads": 1,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__},
        "seeds": sorted({run["seed"] for run in runs}),
        "settings": experiment.settings,
    }
