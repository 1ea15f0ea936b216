"""Run an experiment's jobs, each in a process of its own, and write what they measured with its provenance."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import nn

from attnbook.device import best_device
from attnbook.files import write_whole
from attnbook.locks import Taken, locked
from attnbook.seeding import LARGEST
from attnbook.training import parallel
from attnbook.training.progress import listening
from attnruns.shared import record
from attnruns.shared.display import Display
from attnruns.shared.pool import CANCELLED, Event, Stopped, run_jobs
from attnruns.shared.record import Refusal
from attnruns.shared.weights import keep_weights, load_weights, remove_half_written


class Job(NamedTuple):
    """One training: a model by name, a seed, and the number of steps."""

    model: str
    seed: int
    steps: int


class Outcome(NamedTuple):
    """What a job leaves.

    Fields:
        figures: for the JSON file. model: the trained model if its weights are to be kept.
        texts: what is kept with the weights, by the file's name as seen from the folder of results.
    """

    figures: dict
    model: nn.Module | None = None
    texts: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Experiment:
    """A comparison of models on one task, on the best device (:func:`~attnbook.device.best_device`).

    Fields:
        name: of the experiment, and of its file of results.
        steps: how long each model trains, by name.
        run: trains and measures one job.
        settings: everything else that a reader would want to know.
        trainings: how often ``run`` trains for so many steps; the bar that shows the progress wants to know.
        on_cpu: whether it measures what the processor does, and so stays there whatever devices there are.
        stored_seeds: where ``run`` reads stored weights, finds the seeds of these; it runs with no others.
        build: makes a fresh model by its name; ``None`` where no weights are kept.
    """

    name: str
    steps: dict[str, int]
    run: Callable[[Job], Outcome]
    settings: dict = field(default_factory=dict)
    trainings: int = 1
    on_cpu: bool = False
    stored_seeds: Callable[[], list[int]] | None = None
    build: Callable[[str], nn.Module] | None = None

    def trained(self, name: str, seed: int = 0) -> Any:
        """A model as its training left it, in evaluation mode: an ``nn.Module`` of the class that ``build`` makes.

        Raises:
            ValueError: if the experiment keeps no weights, or has none of this name and seed.
        """
        if self.build is None:
            raise ValueError(f"the experiment {self.name} keeps no weights, so there is no trained {name}")
        return load_weights(self.build(name), self.name, name, seed)


def run_experiment(experiment: Experiment, options) -> Path:
    """Run all jobs that the file of results does not hold yet, write the file after each, and return where it is.

    Runs that are there for the same model, seed and steps are kept, so that an interrupted experiment goes on where
    it stopped. Another run may write into the same file at the same time: what both have measured is then in it.
    ``options`` are those of :mod:`attnruns.experiments.__main__`. Inside of a process group every process
    calls this: then they share the batches of one training after another, and process 0 writes.

    Raises:
        Refusal: (a ValueError) if the run makes no sense or would spoil a record; nothing is started or written then.
        Stopped: if it was cancelled, or a job failed; what was finished before is in the file.
    """
    check_models(experiment, options.models)
    seeds = seeds_of(experiment, options.seeds)
    if options.record and parallel.size() > 1:
        raise Refusal("--record trains each model in one process, so it goes without torchrun.")
    folder = record.destination(options.out, options.record, options.steps)
    path = folder / f"{experiment.name}.json"
    with ExitStack() as claims:
        runs: list[dict] = []
        jobs = _open_jobs(experiment, seeds, runs, options)
        if parallel.rank() == 0:  # alone, lest the file be changed before another process has read it
            runs, jobs = _claimed(experiment, seeds, path, options, claims)
        jobs = parallel.from_first(jobs)
        if parallel.rank() > 0:
            _run_together(partial(run_job, experiment, folder), jobs, lambda event: None)
            return path
        if not jobs:
            print("All of these trainings are there already, so nothing was trained.", file=sys.stderr)
            return path
        os.environ["OMP_NUM_THREADS"] = "1"
        write = partial(_write, experiment, path, options, record.commit(), record.now())
        try:
            _run(experiment, jobs, options.workers, folder, runs, write)
        except Stopped as error:
            for job in jobs:
                remove_half_written(folder, experiment.name, job.model, job.seed)
            done = sum((run["model"], run["seed"], run["steps"]) in jobs for run in runs)
            kept = f" and kept in {path}" if done else ""
            reason = f"{error} {done} of {len(jobs)} trainings are finished{kept}."
            raise Stopped(reason, error.status) from error.__cause__
    return path


def _claimed(
    experiment: Experiment, seeds: list[int], path: Path, options, claims: ExitStack
) -> tuple[list[dict], list[Job]]:
    """The runs of the file that stay, and the jobs that are to be done, which no other run may do until ``claims`` end.

    Two runs may fill one file at once, such as ``--models plain`` and ``--models pointer``; but each training is done
    by one of them.
    """
    record.check_writable(path.parent)
    with locked(path, wait=True):
        there = record.read_runs(path)
        kept = _fitting(experiment, there, path, options)
        jobs = _open_jobs(experiment, seeds, kept, options)
        for job in jobs:
            try:
                claims.enter_context(locked(path.parent / f"{experiment.name}_{job.model}_{job.seed}"))
            except Taken as error:
                words = f"Another run is training {job.model} with seed {job.seed} for {path}"
                raise Refusal(f"{words}; wait for its end, or give another --out.") from error
        if jobs and len(kept) < len(there):
            _put_aside(path, [run for run in there if run not in kept])
    return kept, jobs


def check_models(experiment: Experiment, models: list[str] | None) -> None:
    """Raise Refusal if one of ``models`` is none of the experiment's."""
    unknown = [model for model in models or [] if model not in experiment.steps]
    if unknown:
        raise Refusal(f"{experiment.name} has no model {', '.join(unknown)}; it has {', '.join(experiment.steps)}.")


def seeds_of(experiment: Experiment, asked: list[int] | None) -> list[int]:
    """The seeds that are asked for; without any 0, 1 and 2, or those of the stored weights that the experiment reads.

    Raises:
        Refusal: if a seed is out of range, or the experiment reads stored weights and there are none (of a seed).
    """
    if wrong := [seed for seed in asked or () if not 0 <= seed <= LARGEST]:
        raise Refusal(f"--seeds must be whole numbers from 0 to {LARGEST}, got {wrong[0]}.")
    if experiment.stored_seeds is None:
        return asked or [0, 1, 2]
    try:
        stored = experiment.stored_seeds()
    except ValueError as error:
        raise Refusal(f"{error}.") from error
    if missing := [seed for seed in asked or () if seed not in stored]:
        there, names = (" ".join(map(str, seeds)) or "none" for seeds in (stored, missing))
        raise Refusal(f"{experiment.name} reads stored weights; of --seeds {names} there are none (there is: {there}).")
    if not stored:
        raise Refusal(f"{experiment.name} reads stored weights, and there are none of {', '.join(experiment.steps)}.")
    return asked or stored


def _fitting(experiment: Experiment, runs: list[dict], path: Path, options) -> list[dict]:
    """The runs that are as long as those to come; others are not mixed with them, and are not allowed in a record."""
    lengths = experiment.steps if options.steps is None else dict.fromkeys(experiment.steps, options.steps)
    others = [run for run in runs if run["steps"] != lengths.get(run["model"], run["steps"])]
    if others and options.record:
        raise Refusal(
            f"{path} holds runs of another number of steps than the experiment has now ({record.name_runs(others)}); "
            "take them out of the file first."
        )
    return [run for run in runs if run not in others]


def _put_aside(path: Path, others: list[dict]) -> None:
    """Give a file with runs of another length another name, one that is free."""
    names = (path.with_suffix(f".before{number if number > 1 else ''}.json") for number in count(1))
    aside = next(name for name in names if not name.exists())
    path.replace(aside)
    print(
        f"{path} held runs of another number of steps ({record.name_runs(others)}); it is now {aside}.", file=sys.stderr
    )


def _open_jobs(experiment: Experiment, asked: list[int], runs: list[dict], options) -> list[Job]:
    models, seeds = (dict.fromkeys(names) for names in (options.models or experiment.steps, asked))
    jobs = [Job(model, seed, options.steps or experiment.steps[model]) for model in models for seed in seeds]
    finished = {(run["model"], run["seed"], run["steps"]) for run in runs}
    return [job for job in jobs if job not in finished]


def _run(experiment: Experiment, jobs: list[Job], workers: int, folder: Path, runs: list[dict], write) -> None:
    """Run ``jobs``; each goes into ``runs`` and the file as soon as it is finished."""
    work = partial(run_job, experiment, folder)
    with Display(experiment.name, jobs, experiment.trainings) as display:

        def take(event: Event) -> None:
            display.show(event)
            if event.kind == "finished":
                runs.append(event.value)
                write(runs)

        if parallel.size() > 1:
            _run_together(work, jobs, take)
            return
        with closing(run_jobs(work, jobs, workers)) as events:
            for event in events:
                take(event)


def _run_together(work: Callable, jobs: list[Job], take: Callable[[Event], None]) -> None:
    """Do one job after another in this process, while the other processes of the group do the same."""
    try:
        for job in jobs:
            take(Event("started", job))
            with listening(lambda steps, note, job=job: take(Event("steps", job, steps, note))):  # type: ignore[misc]
                figures = work(job)
            take(Event("finished", job, figures))
    except KeyboardInterrupt as error:
        raise Stopped("Cancelled.", CANCELLED) from error


def run_job(experiment: Experiment, folder: Path, job: Job) -> dict:
    """Do one job, in a process of its own: its figures. Weights to be kept are written into ``folder``, once."""
    torch.set_num_threads(1)  # two jobs on two cores; and sums come out alike on machines with more
    outcome = experiment.run(job)
    if parallel.rank() == 0:
        if outcome.model is not None:
            keep_weights(outcome.model, folder, experiment.name, job.model, job.seed)
        for name, text in outcome.texts.items():
            write_whole(folder / name, text.encode())
    device = "cpu" if experiment.on_cpu else best_device().type
    return {**job._asdict(), "device": device, **outcome.figures}


def _write(experiment: Experiment, path: Path, options, commit: str, started: str, runs: list[dict]) -> None:
    """Write ``runs`` and what another run has put into the file meanwhile; ``runs`` then holds these, too."""
    for run in runs:
        run.setdefault("commit", commit)  # runs that are kept may be older
    with locked(path, wait=True):
        ours = {(run["model"], run["seed"], run["steps"]) for run in runs}
        runs += [run for run in record.read_runs(path) if (run["model"], run["seed"], run["steps"]) not in ours]
        runs.sort(key=lambda run: (run["model"], run["seed"]))
        origin = record.provenance(experiment, runs, options, commit, started)
        record.write(path, {"seconds": round(sum(run["seconds"] for run in runs), 1), "runs": runs, **origin})
