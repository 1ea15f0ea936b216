"""Run an experiment's jobs, one process each, and write what they measured with its provenance."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from torch import nn
from tqdm.auto import tqdm

from attnbook.experiments.weights import keep_weights


class Job(NamedTuple):
    """One training: a model by name, a seed, and the number of steps."""

    model: str
    seed: int
    steps: int


class Outcome(NamedTuple):
    """What a job leaves: figures for the JSON file, and the trained model if its weights are to be kept."""

    figures: dict
    model: nn.Module | None = None


@dataclass(frozen=True)
class Experiment:
    """A comparison of models on one task.

    Fields:
        name: of the experiment, and of its file in ``results/``.
        steps: how long each model trains, by name.
        run: trains and measures one job.
        settings: everything else that a reader would want to know.
    """

    name: str
    steps: dict[str, int]
    run: Callable[[Job], Outcome]
    settings: dict = field(default_factory=dict)


def _commit() -> str:
    found = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def provenance(experiment: Experiment, seeds: list[int], steps: int | None = None) -> dict:
    """Say by what command, commit, device and versions an experiment's figures came about."""
    command = f"python -m attnbook.experiments {experiment.name} --seeds {' '.join(map(str, seeds))}"
    return {
        "name": experiment.name,
        "command": command if steps is None else f"{command} --steps {steps}",
        "commit": _commit(),
        "started": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "device": "cpu",
        "threads": 1,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__},
        "seeds": seeds,
        "settings": experiment.settings,
    }


def _run_job(experiment: Experiment, job: Job, out: Path) -> dict:
    torch.set_num_threads(1)  # two jobs on two cores; and sums come out alike on machines with more
    outcome = experiment.run(job)
    if outcome.model is not None:
        keep_weights(outcome.model, out, experiment.name, job.model, job.seed)
    return {**job._asdict(), **outcome.figures}


def run_experiment(experiment: Experiment, options) -> dict:
    """Run all jobs, write ``options.out/NAME.json`` after each, and return its contents.

    Runs that the file already holds for the same model, seed and steps are kept, so that an interrupted experiment
    goes on where it stopped. ``options`` are those of :mod:`attnbook.experiments.__main__`.

    Raises:
        ValueError: if ``options.models`` names a model that the experiment does not have.
    """
    unknown = set(options.models or []) - set(experiment.steps)
    if unknown:
        raise ValueError(f"{experiment.name} has no model {sorted(unknown)}; it has {sorted(experiment.steps)}")
    path = options.out / f"{experiment.name}.json"
    result = json.loads(path.read_text()) if path.exists() else {"seconds": 0.0, "runs": []}
    seeds = sorted({*options.seeds, *(run["seed"] for run in result["runs"])})
    result.update(provenance(experiment, seeds, options.steps))
    jobs = _open_jobs(experiment, options, result["runs"])
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_run_job, experiment, job, options.out) for job in jobs]
        for future in tqdm(as_completed(futures), total=len(futures), desc=experiment.name, file=sys.stderr):
            run = {**future.result(), "commit": result["commit"]}  # runs that are kept may be older
            result["runs"] = sorted([*_others(result["runs"], run), run], key=lambda run: (run["model"], run["seed"]))
            result["seconds"] = round(sum(run["seconds"] for run in result["runs"]), 1)
            _write(path, result)
    return result


def _open_jobs(experiment: Experiment, options, done: list[dict]) -> list[Job]:
    models = options.models or list(experiment.steps)
    jobs = [Job(model, seed, options.steps or experiment.steps[model]) for model in models for seed in options.seeds]
    finished = {(run["model"], run["seed"], run["steps"]) for run in done}
    return [job for job in jobs if tuple(job) not in finished]


def _others(runs: list[dict], run: dict) -> list[dict]:
    return [other for other in runs if (other["model"], other["seed"]) != (run["model"], run["seed"])]


def _write(path: Path, result: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text(json.dumps(result, indent=1) + "\n")
    half.replace(path)
