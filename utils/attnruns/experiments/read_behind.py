"""Why global attention loses its place on longer lists: what its annotations have read *behind* a number.

The trainings are those of :mod:`attnruns.experiments.centre_rules` for global attention, in the same order of random
numbers. Each model reads the correct words of the first five numbers of lists of fifteen, in three ways.
"""

import random
from typing import Any

import torch

from attnruns.experiments.centre_rules import (
    LISTS,
    SETTINGS,
    TEST_SEED,
    file_with,
    trained_and_measured,
    true_positions,
)
from attnruns.experiments.ten_exchange import annotations, read
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"global": 600}
LONG, FIRST = 15, 5  # numbers in a list, and how many of them are written
CASES = ("all fifteen", "first five of fifteen", "a list of five")


def beginning(words: list[str], numbers: int = FIRST) -> list[str]:
    """The first numbers of a list, in English or in German."""
    return " , ".join(" ".join(words).split(" , ")[:numbers]).split()


@torch.no_grad()
def units_found(names: dict[str, Any], model: Any, seed: int, lists: int = LISTS) -> dict[str, list[float]]:
    """How often the largest weight is at the true unit, for each of the first five numbers of lists of fifteen.

    Returns:
        one share per number, for each of ``CASES``: the model may attend to all words; only to the first five numbers,
        with the same annotations; or these five are a list of their own, so that the annotations of the same words are
        others in their backward halves.
    """
    random.seed(TEST_SEED + seed)
    long = [names["number_list"](LONG) for _ in range(lists)]
    short = [(beginning(english), beginning(german)) for english, german in long]
    (long_source, _), (short_source, target) = names["batch_of"](long), names["batch_of"](short)  # (B, Tk), (B, T)
    (h_long, S_long), (h_short, S_short) = annotations(model, long_source), annotations(model, short_source)
    found = {}
    for case, h, S in zip(CASES, (h_long, h_long, h_short), (S_long, S_short, S_short), strict=True):
        _, weights, _ = read(model, target, [h] * target.shape[1], S)  # (B, T, Tk)
        largest = weights.argmax(dim=-1).tolist()  # (B, T)
        at_unit = [
            [largest[row][t] == j for t, j in true_positions(*pair, names["UNITS"]) if pair[0][j] in names["UNITS"]]
            for row, pair in enumerate(short)
        ]
        found[case] = [round(share, 4) for share in torch.tensor(at_unit).float().mean(dim=0).tolist()]
    return found


def run(job: Job) -> Outcome:
    """Train the file's translator with global attention, and count the units that it finds."""
    names = file_with(job.model, job.seed)

    def count(model: Any) -> dict[str, Any]:
        return {"units_found": units_found(names, model, job.seed)}

    return Outcome(trained_and_measured(names, job, (2, FIRST), count)[1])


EXPERIMENT = Experiment("read_behind", STEPS, run, SETTINGS | {"numbers_in_a_list": LONG}, on_cpu=True)
