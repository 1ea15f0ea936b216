"""The models in one file of chapters 4 and 6 with other seeds: the chapters train the first.

What is trained is the file itself, as it stands in the chapter, with another seed. It stays on the CPU, as the file
does.
"""

import contextlib
import io
import json
import time
from pathlib import Path
from typing import Any

import torch

from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTERS = Path(__file__).parents[3] / "chapters"
STEPS = {"04_luong": 300, "06_captioning": 300}
# What is replaced in a file, once or more, with STEPS and SEED as the job has them.
REPLACED = {
    "04_luong": {"random.seed(0)": "random.seed(SEED)", "torch.manual_seed(0)": "torch.manual_seed(SEED)",
                 "steps=300": "steps=STEPS"},
    "06_captioning": {"seed=0, steps=300": "seed=SEED, steps=STEPS"},
}  # fmt: skip


def code(name: str, seed: int, steps: int) -> str:
    """The file of a chapter, with this seed and so many steps.

    Raises ValueError if the chapter is not here, or has nothing of what is to be replaced."""
    replaced, path = chosen(REPLACED, name), CHAPTERS / f"{name}.ipynb"
    if not path.is_file():
        raise ValueError(f"{path} is missing: the files are read from the book's chapters, so run this in a checkout")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(one["source"]) for one in cells if "standalone" in one["metadata"].get("tags", ()))
    for old, new in replaced.items():
        if old not in text:
            raise ValueError(f"the file of {name} must hold {old!r}, which is to be replaced")
        text = text.replace(old, new.replace("SEED", str(seed)).replace("STEPS", str(steps)))
    return text


def run(job: Job) -> Outcome:
    """Run one file, and return what it found."""
    names: dict[str, Any] = {"__name__": "file"}
    threads, started = torch.get_num_threads(), time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code(job.model, job.seed, job.steps), names)
    finally:
        torch.set_num_threads(threads)  # the file sets it to one
    seconds = {"seconds": time.process_time() - started}  # of the processor, for all the models of the file
    if job.model == "04_luong":
        shares = {name: {str(n): share for n, share in of.items()} for name, of in names["shares"].items()}
        return Outcome(shares | seconds)
    found = {name: {"exact": exact, "pointing": at} for name, (exact, at) in names["found"].items()}
    return Outcome(found | seconds)


SETTINGS = {
    "task": {"04_luong": "lists of one to five numbers", "06_captioning": "canvases with two digits"},
    "batch": {"04_luong": 64, "06_captioning": 32},
    "learning_rate": {"04_luong": 8e-3, "06_captioning": 4e-3},
    "warmup": {"04_luong": 90, "06_captioning": 0},
    "max_grad_norm": 1.0,
}
EXPERIMENT = Experiment("file_seeds", STEPS, run, SETTINGS, on_cpu=True)
