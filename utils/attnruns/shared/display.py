"""What one sees while an experiment runs: one line with the steps of all its trainings, and the time left."""

import sys
from collections.abc import Sequence

from tqdm import tqdm

from attnruns.shared.pool import Event

LINE = "{desc} {percentage:3.0f}% |{bar:12}| {n_fmt} of {total_fmt} steps, {elapsed} gone, {remaining} left{postfix}"


class Display:
    """A bar on stderr over the steps of all jobs,
    fed with what :func:`~attnruns.shared.pool.run_jobs` tells.

    Args:
        name: of the experiment.
        jobs: all that are to be done, with ``model``, ``seed`` and ``steps``.
        trainings: how often each job trains for its steps.
    """

    def __init__(self, name: str, jobs: Sequence, trainings: int = 1) -> None:
        self.jobs, self.trainings = jobs, trainings
        self.taken: dict = {}  # steps of each job that has begun
        self.notes: dict = {}  # what each of them said last of itself
        self.done = 0
        # Into a file, a line now and then is enough. The mean speed since the beginning tells the time that is left.
        pause = 0.5 if sys.stderr.isatty() else 30
        total = trainings * sum(job.steps for job in jobs)
        self.bar = tqdm(
            total=total, desc=name, file=sys.stderr, bar_format=LINE, mininterval=pause, miniters=0, smoothing=0
        )

    def show(self, event: Event) -> None:
        """Take in one event."""
        most = self.trainings * event.job.steps if event.job is not None else 0
        if event.kind == "started":
            self._move(event.job, 0)
        elif event.kind == "steps":
            first, before = not self.taken.get(event.job), self.bar.n
            self._move(event.job, min(event.value, most))
            if first:  # an interrupted training had taken most of these before: they say nothing of the speed now
                self.bar.initial += self.bar.n - before
            self.notes[event.job] = event.note
        elif event.kind == "finished":
            self._move(event.job, most)  # whether it has told of its steps or not
            self.done += 1
            del self.taken[event.job]
            self.notes.pop(event.job, None)
        now = f", now {' + '.join(map(self._named, self.taken))}" if self.taken else ""
        self.bar.set_postfix_str(f"{self.done} of {len(self.jobs)} done{now}", refresh=False)
        self.bar.update(0)

    def _move(self, job, steps: int) -> None:
        self.bar.n += max(0, steps - self.taken.get(job, 0))
        self.taken[job] = max(steps, self.taken.get(job, 0))

    def _named(self, job) -> str:
        note = self.notes.get(job)
        return f"{job.model} {job.seed}" + (f" ({note})" if note else "")

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *error) -> None:
        self.bar.refresh()
        self.bar.close()
