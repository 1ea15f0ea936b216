"""What the command line tells of the experiments: what each is, and how long it takes."""

import difflib
import sys
import textwrap
from collections.abc import Mapping

from attnruns.results import load_result
from attnruns.shared.runner import Experiment

WIDTH = 79


def describe(experiment: Experiment) -> str:
    """What the experiment is: the first line of its module's docstring, without the full stop."""
    text = sys.modules[experiment.run.__module__].__doc__ or "It has no description."
    return text.strip().splitlines()[0].removesuffix(".")


def duration(experiment: Experiment) -> str:
    """How long it takes, by the CPU seconds of its stored record."""
    try:
        result = load_result(experiment.name)
        seconds, runs = float(result["seconds"]), len(result["runs"])
    except (ValueError, KeyError, TypeError):
        return "not recorded yet"
    return f"{minutes(seconds, 'CPU minute')} for {runs} recorded runs; on two processes about {minutes(seconds / 2)}"


def minutes(seconds: float, unit: str = "minute") -> str:
    """``1 minute``, ``12 minutes``: rounded, and never none."""
    count = max(1, round(seconds / 60))
    return f"{count} {unit}{'s' * (count != 1)}"


def overview(experiments: Mapping[str, Experiment]) -> str:
    """A paragraph for each experiment: its name, what it is, how long it takes."""
    parts = [
        f"  {name}\n{_indented(describe(experiment) + '.')}\n{_indented('Time: ' + duration(experiment) + '.')}"
        for name, experiment in sorted(experiments.items())
    ]
    return "experiments:\n" + "\n".join(parts)


def details(experiment: Experiment) -> str:
    """What one experiment is, how long it takes, and its models with the steps of each."""
    width = max(map(len, experiment.steps))
    models = [f"  {model:<{width}}  {steps:>5} steps" for model, steps in experiment.steps.items()]
    text = f"{experiment.name}: {describe(experiment)}.\nTime: {duration(experiment)}."
    text = "\n".join(textwrap.fill(line, WIDTH) for line in text.splitlines())
    return "\n".join([text, "", "models:", *models])


def unknown(name: str, experiments: Mapping[str, Experiment]) -> str:
    """A sentence for a name that no experiment has."""
    near = difflib.get_close_matches(name, experiments, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"There is no experiment {name!r}{hint} There are: {', '.join(sorted(experiments))}."


def _indented(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="      ", subsequent_indent="      ")
