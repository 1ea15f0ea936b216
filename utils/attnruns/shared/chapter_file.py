"""A chapter's model in one file, with another seed or length of training: what experiments run as it stands there."""

import contextlib
import io
import json
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

CHAPTERS = Path(__file__).parents[3] / "chapters"


def file_of(name: str, replaced: Mapping[str, str], seed: int, steps: int, without: Collection[str] = ()) -> str:
    """The file of a chapter, with this seed and so many steps.

    Args:
        name: of the chapter's notebook. replaced: ``{what stands in the file: what the job has}``, where ``{seed}`` and
            ``{steps}`` are filled in. without: the ids of cells that are left out.

    Raises:
        ValueError: if the chapter is not here, or has nothing of what is to be replaced.
    """
    path = CHAPTERS / f"{name}.ipynb"
    if not path.is_file():
        raise ValueError(f"{path} is missing: the files are read from the book's chapters, so run this in a checkout")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    file = [one for one in cells if "standalone" in one["metadata"].get("tags", ()) and one.get("id") not in without]
    text = "\n\n".join("".join(one["source"]).strip("\n") for one in file) + "\n"
    for old, new in replaced.items():
        if old not in text:
            raise ValueError(f"the file of {name} must hold {old!r}, which is to be replaced")
        text = text.replace(old, new.format(seed=seed, steps=steps))
    return text


def run_file(code: str, given: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], float]:
    """The names that a file leaves behind, and the seconds of the processor that it took; it prints nothing.

    ``given`` are names that it finds when it begins.
    """
    names: dict[str, Any] = {"__name__": "file", **(given or {})}
    threads, started = torch.get_num_threads(), time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    finally:
        torch.set_num_threads(threads)  # a file sets it to one
    return names, round(time.process_time() - started, 1)
