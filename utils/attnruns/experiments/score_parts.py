"""What keeps the position in chapter 4's models that hold on longer lists: the annotations, or the last position.

The trainings are those of :mod:`attnruns.experiments.centre_rules`, on the same lists. Each model then reads the
correct words of longer lists. At each unit, its score is taken with and without what marks a position, and each wrong
word is counted by its kind, and by whether another unit could be attended to. ``oracle_gaussian`` is the oracle's
window with the Gaussian that the walking window has.
"""

import random
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import centre_rules
from attnruns.experiments.centre_rules import LISTS, SETTINGS, TEST_SEED, TESTED, trained_and_measured, true_positions
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"global": 600, "last_weights": 600, "walking": 600, "oracle": 600, "oracle_gaussian": 600}
READ = (5, 15)  # numbers in the lists that are read
REACH = centre_rules.TAPS // 2  # words to either side of the last position that a mark reaches
CASES = ("whole score", "annotations alone", "annotations alone, near the last position")


def file_with(name: str, seed: int) -> dict[str, Any]:
    """The names of the chapter's file with this rule in place of its attention.

    Raises:
        ValueError: if the experiment has no such rule.
    """
    chosen(STEPS, name)
    names = centre_rules.file_with(name.removesuffix("_gaussian"), seed)
    if name == "oracle_gaussian":
        oracle: Any = names["Attention"]

        class Belled(oracle):
            """The oracle's window, whose weights are multiplied by the walking window's Gaussian."""

            def forward(self, s: Tensor, p: Tensor, h: Tensor, S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
                _, weights, p = super().forward(s, p, h, S)
                distance = torch.arange(h.shape[1]) - p[:, None]  # (B, Tk)
                weights = weights * torch.exp(-(distance**2) / (2 * (self.half_width / 2) ** 2))
                return (weights[:, None] @ h)[:, 0], weights, p

        names["Attention"] = Belled
    return names


@torch.no_grad()
def watched(model: Any, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What the model does while it reads the correct words.

    Returns:
        the words that it would write ``(B, T)``, its weights ``(B, T, Tk)``, and the part of its scores that comes from
        the annotations ``(B, T, Tk)``, whose padding has ``-inf``.
    """
    parts = []

    def keep(layer: Any, given: tuple[Tensor, ...], _: Any) -> None:
        s, _, h, S = given
        scores = (layer.W_a(h) @ s[:, :, None])[:, :, 0]  # (B, Tk)
        parts.append(scores.masked_fill(torch.arange(h.shape[1]) >= S[:, None], float("-inf")))

    with model.decoder.attention.register_forward_hook(keep):
        logits, weights, _ = model(source, target.shape[1], target)
    return logits.argmax(dim=-1), weights, torch.stack(parts, dim=1)


def units_found(pairs: list, units: list[str], weights: Tensor, by_annotations: Tensor) -> dict[str, float]:
    """How often the largest value is at the true unit, from the fourth number on, for each of ``CASES``.

    The last position is that of the largest weight of the step before.
    """
    found: dict[str, list[bool]] = {case: [] for case in CASES}
    place = torch.arange(weights.shape[2])  # (Tk,)
    for row, (english, german) in enumerate(pairs):
        for t, j in [(t, j) for t, j in true_positions(english, german, units) if english[j] in units][3:]:
            last = weights[row, t - 1].argmax()
            alone = by_annotations[row, t]  # (Tk,)
            near = alone.masked_fill((place - last).abs() > REACH, float("-inf"))
            for case, values in zip(CASES, (weights[row, t], alone, near), strict=True):
                found[case].append(values.argmax().item() == j)
    return {case: round(sum(hits) / len(hits), 4) for case, hits in found.items()}


def wrong_words(names: dict[str, Any], pairs: list, written: Tensor, target: Tensor, weights: Tensor) -> dict[str, Any]:
    """``[wrong, all]`` of each kind of word; units by whether another unit has a weight above zero."""
    counted: dict[str, list[int]] = {}
    wrong = (written != target).tolist()
    for row, (english, german) in enumerate(pairs):
        at = {t: j for t, j in true_positions(english, german, names["UNITS"]) if english[j] in names["UNITS"]}
        for t, word in enumerate([*german, "end"]):
            kind = word if word in (",", "und", "end") else "ten"
            if t in at:
                seen = [j for j, one in enumerate(english) if one in names["UNITS"] and weights[row, t, j] > 0]
                kind = "unit, another allowed" if set(seen) - {at[t]} else "unit, no other allowed"
            of_kind = counted.setdefault(kind, [0, 0])
            of_kind[0] += wrong[row][t]
            of_kind[1] += 1
    return counted


def measure(names: dict[str, Any], model: nn.Module, seed: int, lists: int = LISTS) -> dict[str, Any]:
    """Both of what is counted, for lists of each of ``READ`` numbers."""
    figures: dict[str, Any] = {"units_found": {}, "wrong": {}}
    for n in READ:
        random.seed(TEST_SEED + seed)
        pairs = [names["number_list"](n) for _ in range(lists)]
        source, target = names["batch_of"](pairs)  # (B, Tk), (B, T)
        written, weights, by_annotations = watched(model, source, target)
        figures["units_found"][str(n)] = units_found(pairs, names["UNITS"], weights, by_annotations)
        figures["wrong"][str(n)] = wrong_words(names, pairs, written, target, weights)
    return figures


def run(job: Job) -> Outcome:
    """Train the file's translator with one rule, and take its scores apart."""
    names = file_with(job.model, job.seed)
    of_rule = job._replace(model=job.model.removesuffix("_gaussian"))  # whose file it is
    model, figures = trained_and_measured(names, of_rule, TESTED, lambda model: measure(names, model, job.seed))
    return Outcome({"parameters": sum(part.numel() for part in model.parameters())} | figures)


EXPERIMENT = Experiment("score_parts", STEPS, run, SETTINGS | {"numbers_read": READ}, on_cpu=True)
