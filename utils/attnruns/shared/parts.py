"""Experiments that train nothing and measure several parts of one thing, each under a name of its own."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from attnruns.shared.runner import Job, Outcome

Parts = Mapping[str, tuple[Callable[[Job], dict[str, Any]], int]]  # by name: what measures a part, and its steps


def steps_of(parts: Parts) -> dict[str, int]:
    """The steps of each part, as :class:`~attnruns.shared.runner.Experiment` takes them."""
    return {name: steps for name, (_, steps) in parts.items()}


def measured(parts: Parts, job: Job) -> Outcome:
    """The figures of the part that ``job.model`` names, and the seconds of the processor that it took."""
    start = time.process_time()
    figures = parts[job.model][0](job)
    return Outcome({"device": "cpu", "seconds": round(time.process_time() - start, 1), **figures})
