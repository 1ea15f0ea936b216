"""What holds of a run of every experiment: a seed fixes it, it stays on its device, and its weights come back."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from attnruns.shared.runner import Job, run_job
from attnruns.shared.weights import weights_file

TIMES = {"seconds", "training_seconds", "pretraining_seconds", "milliseconds_per_step"}  # of the machine


def once_on_the_card(names: Iterable[str]) -> list[tuple[str, str]]:
    """Each model on the CPU, and the first on the pretended card as well, for ``parametrize("name, best", …)``."""
    names = list(names)
    return [(names[0], "card"), *((name, "cpu") for name in names)]


def checked_run(module: ModuleType, job: Job, folder: Path, best: str, kept: bool = False) -> dict:
    """The figures of one run of an experiment, in miniature, on the device that it finds ``best``.

    They can be written into a record, say where they were measured, and (this is tried on the CPU) are the same for the
    same seed but for times. Weights are written if they are to be ``kept``, and fit the model of that name.
    """
    experiment = module.EXPERIMENT
    figures = run_job(experiment, folder, job)
    assert figures["device"] == best
    assert figures["seconds"] >= 0
    assert (folder / weights_file(experiment.name, job.model, job.seed)).exists() == kept
    if best == "cpu":
        assert _without_times(run_job(experiment, folder, job)) == _without_times(figures)
    if kept:
        with patch.dict(os.environ, ATTNBOOK_RESULTS=str(folder)):
            assert not module.trained(job.model, job.seed).training
    return figures


def _without_times(figures: dict) -> str:
    return json.dumps({name: value for name, value in figures.items() if name not in TIMES})
