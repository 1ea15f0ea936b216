"""Where a long training lies until it has ended, so that the same command goes on after an interruption."""

import hashlib
from collections.abc import Collection
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from attnruns.shared.runner import Job

CHECKPOINTS = Path("checkpoints")  # git leaves this folder out


def digest_of(recipe: Any, later: Collection[str] = ()) -> str:
    """Eight letters that change with a recipe, so that a checkpoint of another one is not gone on from.

    Args:
        recipe: a dataclass of plain values.
        later: names of fields that the first checkpoints knew nothing of. They count where they are not left at their
            default, so that a checkpoint from before they were there is still gone on from.
    """
    unused = {one.name for one in fields(recipe) if one.name in later and getattr(recipe, one.name) == one.default}
    used = {name: value for name, value in asdict(recipe).items() if name not in unused}
    return hashlib.sha256(repr(used).encode()).hexdigest()[:8]


def checkpoint_of(experiment: str, job: Job, digest: str, ending: str = ".ckpt") -> Path:
    """The file for a job's checkpoint, or with no ``ending`` the folder. ``digest``: of its recipe."""
    return CHECKPOINTS / f"{experiment}_{job.model}_{job.seed}_{job.steps}_{digest}{ending}"
