"""Checkpoints of a long training, so that the same command goes on after an interruption in the middle of it."""

from pathlib import Path

from attnbook.experiments.shared import record
from attnbook.experiments.shared.runner import Job

FOLDER = record.SCRATCH / "checkpoints"


def checkpoint_of(experiment: str, job: Job) -> Path:
    """The file for a job's checkpoint. Its name holds the commit, because other code may train otherwise."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{experiment}_{job.model}_{job.seed}_{job.steps}_{record.commit()}.ckpt"
