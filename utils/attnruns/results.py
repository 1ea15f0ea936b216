"""What the longer runs measured: where its files lie, and where a figure comes from."""

import difflib
import json
import re
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from attnbook.folders import named_folder

_RESULTS_VARIABLE = "ATTNBOOK_RESULTS"
_INSTALLED = Path("share", "paying-attention", "results")  # where pyproject.toml lets the wheel put them
_ORIGIN = ("command", "commit", "seeds", "device", "threads", "versions", "seconds")


def load_result(name: str) -> dict:
    """Return what an experiment measured, from ``results/NAME.json``.

    Looked for in the folder that ``ATTNBOOK_RESULTS`` names; without it in ``results/`` beside or above the
    working folder, then above the installed package, and last among the files that the wheel brought along.

    Args:
        name: of the experiment, as in ``python -m attnbook.experiments NAME``.

    Raises:
        ValueError: if the name isn't a plain name, there is no such result, or the file is damaged.
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"name must be made of letters, digits, - and _, got {name!r}")
    folders = result_folders()
    for folder in folders:
        if (folder / f"{name}.json").is_file():
            return _read_result(folder / f"{name}.json")
    there = sorted({path.stem for folder in folders for path in folder.glob("*.json")})
    near = difflib.get_close_matches(name, there, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there is: {', '.join(there) or 'none at all'}."
    raise ValueError(
        f"no result {name!r}; {hint} `python -m attnbook.experiments {name}` would measure it, into scratch/; "
        f"{_RESULTS_VARIABLE} names the folder of results if they lie elsewhere"
    )


def result_folders() -> list[Path]:
    """The folders in which results are looked for, as :func:`load_result` says; the first one counts."""
    if (named := named_folder(_RESULTS_VARIABLE)) is not None:
        return [named]
    package = Path(__file__).resolve().parent
    above = dict.fromkeys([Path.cwd(), *Path.cwd().parents, package, *package.parents])
    # pip installs data below sys.prefix; with --user or --target it is below a folder above the package instead.
    installed = dict.fromkeys([Path(sysconfig.get_path("data")), *package.parents])
    folders = [*(folder / "results" for folder in above), *(folder / _INSTALLED for folder in installed)]
    return [folder for folder in folders if folder.is_dir()]


def _read_result(path: Path) -> dict:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"results/{path.name} is damaged: {error}; measure again") from error
    if not isinstance(result, dict) or "runs" not in result:
        raise ValueError(f"results/{path.name} is no result: it has no 'runs'; measure again")
    return result


def provenance(result: Mapping) -> str:
    """Return one line that says where a result comes from: command, commit, seeds, device, versions,
    duration.

    Args:
        result: as :func:`load_result` returns it.

    Raises:
        ValueError: if one of these isn't in the result.
    """
    missing = [key for key in _ORIGIN if key not in result]
    if missing:
        raise ValueError(f"result lacks {', '.join(missing)}; a result tells where it comes from")
    threads = result["threads"]
    minutes, seconds = divmod(round(result["seconds"]), 60)
    return " · ".join(
        [
            str(result["command"]),
            "commit " + re.sub(r"^([0-9a-f]{7})[0-9a-f]{33}", r"\1", str(result["commit"])),
            f"seeds {', '.join(map(str, result['seeds']))}",
            f"{result['device']}, {threads} thread{'s' * (threads != 1)}",
            ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
            f"{minutes} min {seconds} s" if minutes else f"{seconds} s",
        ]
    )
