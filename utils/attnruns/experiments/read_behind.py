"""Why global attention loses its place on longer lists: what its annotations have read *behind* a number.

The trainings are those of :mod:`attnruns.experiments.centre_rules` for global attention, in the same order of random
numbers. Each model reads the correct words of the first five numbers of lists of fifteen, in four ways: the
annotations of these five have read five numbers or fifteen, and the model may attend to five numbers or to fifteen.
Each way is counted twice, because with input feeding a wrong context changes the next state: with the model's own
states, and at each step with the state and the vector fed that the model has when it reads the five as a list.
"""

import random
from typing import Any, NamedTuple

import torch
from torch import Tensor

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
ALONE_AMONG_ALL = "five read alone, among fifteen"  # the fourth of the two times two cases


def beginning(words: list[str], numbers: int = FIRST) -> list[str]:
    """The first numbers of a list, in English or in German."""
    return " , ".join(" ".join(words).split(" , ")[:numbers]).split()


class Lists(NamedTuple):
    """Lists of fifteen and their first five numbers, as one model reads them.

    Attributes:
        h_long, S_long: annotations and lengths of the lists of fifteen. h_short, S_short: of their first five numbers,
            read as lists of their own. h_mixed: those of fifteen, but the words of the first five have ``h_short``.
        target: the correct words of the first five, ``(B, T)``.
        units: for each list, ``(step, position)`` of the first five units.
        number: ``(B, Tk)``, to which of the fifteen numbers each word belongs, from 0; a comma to the one before it.
    """

    h_long: Tensor
    S_long: Tensor
    h_short: Tensor
    S_short: Tensor
    h_mixed: Tensor
    target: Tensor
    units: list[list[tuple[int, int]]]
    number: Tensor


@torch.no_grad()
def read_lists(names: dict[str, Any], model: Any, seed: int, lists: int = LISTS) -> Lists:
    """Draw the lists of this seed, and compute their annotations."""
    random.seed(TEST_SEED + seed)
    long = [names["number_list"](LONG) for _ in range(lists)]
    short = [(beginning(english), beginning(german)) for english, german in long]
    (long_source, _), (short_source, target) = names["batch_of"](long), names["batch_of"](short)  # (B, Tk), (B, T)
    (h_long, S_long), (h_short, S_short) = annotations(model, long_source), annotations(model, short_source)
    h_mixed = h_long.clone()
    of_five = (torch.arange(h_short.shape[1]) < S_short[:, None])[:, :, None]  # (B, Tk, 1)
    h_mixed[:, : h_short.shape[1]] = torch.where(of_five, h_short, h_long[:, : h_short.shape[1]])
    units = units_of(names, short)
    commas = long_source == names["SOURCE"].index(",")  # (B, Tk)
    number = commas.cumsum(dim=1) - commas.long()  # (B, Tk)
    return Lists(h_long, S_long, h_short, S_short, h_mixed, target, units, number)


def units_of(names: dict[str, Any], pairs: list[tuple[list[str], list[str]]]) -> list[list[tuple[int, int]]]:
    """For each pair of an English and a German list, ``(step, position)`` of its units."""
    return [
        [(t, j) for t, j in true_positions(*pair, names["UNITS"]) if pair[0][j] in names["UNITS"]] for pair in pairs
    ]


def ways(of: Lists) -> dict[str, tuple[Tensor, Tensor]]:
    """For each of ``CASES`` the annotations, and how many of them may be attended to."""
    return dict(zip(CASES, ((of.h_long, of.S_long), (of.h_long, of.S_short), (of.h_short, of.S_short)), strict=True))


def shares(weights: Tensor, units: list[list[tuple[int, int]]]) -> list[float]:
    """How often the largest of the weights ``(B, T, Tk)`` is at the true unit, for each number."""
    largest = weights.argmax(dim=-1).tolist()  # (B, T)
    at_unit = [[largest[row][t] == j for t, j in of_list] for row, of_list in enumerate(units)]
    return [round(share, 4) for share in torch.tensor(at_unit).float().mean(dim=0).tolist()]


@torch.no_grad()
def units_found(names: dict[str, Any], model: Any, seed: int, lists: int = LISTS) -> dict[str, list[float]]:
    """How often the largest weight is at the true unit, for each of the first five numbers of lists of fifteen.

    Returns:
        one share per number, for each of ``CASES``: the model may attend to all words; only to the first five numbers,
        with the same annotations; or these five are a list of their own, so that the annotations of the same words are
        others in their backward halves. The states differ, too, as far as input feeding brings another context.
    """
    of = read_lists(names, model, seed, lists)
    found = {}
    for case, (h, S) in ways(of).items():
        _, weights, _ = read(model, of.target, [h] * of.target.shape[1], S)  # (B, T, Tk)
        found[case] = shares(weights, of.units)
    return found


@torch.no_grad()
def two_by_two(names: dict[str, Any], model: Any, seed: int, lists: int = LISTS) -> dict[str, dict[str, list[float]]]:
    """The shares of :func:`units_found` for what the annotations have read, times what may be attended to.

    Returns:
        for each of ``CASES`` and for ``ALONE_AMONG_ALL``, where the first five numbers have the annotations of a list
        of their own, but all fifteen numbers may be attended to: under "own states" with the states that the model
        comes to in this case, under "same states" with those of the list of five, so that the queries are the same in
        all four. "fourth goes to", with the same states: the share of lists in which the largest weight of the fourth
        unit is in each of the fifteen numbers.
    """
    of = read_lists(names, model, seed, lists)
    steps = of.target.shape[1]
    queries: list[Tensor] = []
    with model.decoder.attention.register_forward_pre_hook(lambda _, given: queries.append(given[0])):
        read(model, of.target, [of.h_short] * steps, of.S_short)
    found: dict[str, dict[str, list[float]]] = {"own states": {}, "same states": {}, "fourth goes to": {}}
    fourth = torch.tensor([of_list[3][0] for of_list in of.units])  # (B,): the step
    for case, (h, S) in (ways(of) | {ALONE_AMONG_ALL: (of.h_mixed, of.S_long)}).items():
        _, weights, _ = read(model, of.target, [h] * steps, S)  # (B, T, Tk)
        found["own states"][case] = shares(weights, of.units)
        of_steps = [model.decoder.attention(s, torch.full(S.shape, -1.0), h, S)[1] for s in queries]  # (B, Tk) each
        same = torch.stack(of_steps, dim=1)  # (B, T, Tk)
        found["same states"][case] = shares(same, of.units)
        largest = same[torch.arange(len(fourth)), fourth].argmax(dim=-1)  # (B,)
        reached = of.number.gather(1, largest[:, None])[:, 0]  # (B,)
        found["fourth goes to"][case] = [round((reached == n).float().mean().item(), 4) for n in range(LONG)]
    return found


def run(job: Job) -> Outcome:
    """Train the file's translator with global attention, and count the units that it finds."""
    names = file_with(job.model, job.seed)

    def count(model: Any) -> dict[str, Any]:
        found = two_by_two(names, model, job.seed)
        return {"units_found": {case: found["own states"][case] for case in CASES}, "two_by_two": found}

    return Outcome(trained_and_measured(names, job, (2, FIRST), count)[1])


EXPERIMENT = Experiment("read_behind", STEPS, run, SETTINGS | {"numbers_in_a_list": LONG}, on_cpu=True)
