"""When a translator of Chapter 4's file reads the ten of a number: another ten is put under it at chosen steps.

The trainings are those of :mod:`attnruns.experiments.centre_rules`, in the same order of random numbers. Then each
model reads the correct words of a list. Some annotations are exchanged for those of a twin list, in which
only this ten is another one. The ten that the model writes says whether it came from what was exchanged.
"""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import centre_rules
from attnruns.experiments.centre_rules import LISTS, SETTINGS, TEST_SEED, WINDOWS, trained_and_measured
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"global": 600, "local_m": 600, "local_p": 600, "walking": 600}
NUMBERS = 5  # in each list, the longest of training
WHERE = ("nowhere", "unit_and_und", "ten", "everywhere", "vector_of_unit", "vector_of_ten")  # what is exchanged


def file_with(name: str, seed: int) -> dict[str, Any]:
    """The names of the chapter's file with this rule in place of its attention.

    Raises:
        ValueError: if the experiment has no such rule.
    """
    chosen(STEPS, name)
    return centre_rules.file_with(name, seed)


def build(name: str) -> nn.Module:
    """A fresh translator with this rule."""
    model: nn.Module = file_with(name, 0)["Translator"](name in WINDOWS)
    return model


def annotations(model: Any, source: Tensor) -> tuple[Tensor, Tensor]:
    """The annotations ``(B, Tk, D)`` of lists and their lengths ``(B,)``, as the file's translator computes them."""
    S = (source != 0).sum(dim=1)  # (B,)
    packed = nn.utils.rnn.pack_padded_sequence(model.embed(source), S, batch_first=True, enforce_sorted=False)
    return nn.utils.rnn.pad_packed_sequence(model.encoder(packed)[0], batch_first=True)[0], S


@torch.no_grad()
def read(model: Any, target: Tensor, h: Sequence[Tensor], S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Read correct words with annotations that may change from step to step.

    Args:
        target: ``(B, T)``, the correct words. h: ``(B, Tk, D)`` for each step. S: ``(B,)``, the words of each source.

    Returns:
        the words that the model would write ``(B, T)``, its weights ``(B, T, Tk)``, and the centres of its window
        ``(B, T)``; without a window they stay at -1.
    """
    zeros = h[0].new_zeros(h[0].shape[0], h[0].shape[2])  # (B, D)
    y, memory = torch.full_like(S, 1), (zeros, (zeros, zeros), torch.full(S.shape, -1.0))
    found = []
    for t, of_step in enumerate(h):
        logits, memory, weights = model.decoder(y, memory, of_step, S)
        found.append((logits.argmax(dim=-1), weights, memory[2]))
        y = target[:, t]
    words, weights, centres = (torch.stack(part, dim=1) for part in zip(*found, strict=True))
    return words, weights, centres


def exchanged(h: Tensor, twin: Tensor, where: str, ten: Tensor, word: Tensor, steps: int) -> list[Tensor]:
    """The annotations of each step, some of them from the twin.

    Args:
        h, twin: ``(B, Tk, D)``. where: one of ``WHERE``. ten: ``(B,)``, the step in which the ten is written; the unit
            and *und* come before it. word: ``(B,)``, the position of the ten in the source; the unit follows it.

    Raises:
        ValueError: if ``where`` is none of them.
    """
    if where not in WHERE:
        raise ValueError(f"where must be one of {', '.join(WHERE)}, got {where!r}")
    place = torch.arange(h.shape[1])  # (Tk,)
    # the first and the last step of each exchange; "nowhere" ends before it begins, so that no step is taken
    taken = {"unit_and_und": (ten - 2, ten - 1), "ten": (ten, ten), "nowhere": (ten + 1, ten)}
    vector = {"vector_of_unit": word + 1, "vector_of_ten": word}
    of_steps = []
    for t in range(steps):
        if where in taken:
            from_twin = ((t >= taken[where][0]) & (t <= taken[where][1]))[:, None].expand(h.shape[:2])
        elif where in vector:
            from_twin = place == vector[where][:, None]  # (B, Tk)
        else:
            from_twin = torch.ones(h.shape[:2], dtype=torch.bool)
        of_steps.append(torch.where(from_twin[:, :, None], twin, h))
    return of_steps


def twins(names: dict[str, Any], lists: list, draw: random.Random) -> tuple[list, list[tuple[int, int, int, int]]]:
    """For each list one that differs in one ten, and ``(step, position, ten, other ten)`` of what differs."""
    others, places = [], []
    for english, german in lists:
        word = draw.choice([at for at, one in enumerate(english) if one in names["TENS"]])
        step = sum(1 if one not in names["TENS"] else 2 for one in english[:word]) + 2  # each ten brings its "und"
        now = names["TENS"].index(english[word])
        other = draw.choice([ten for ten in range(len(names["TENS"])) if ten != now])
        changed = [*english[:word], names["TENS"][other], *english[word + 1 :]]
        said = [names["TARGET"].index(names["ZEHNER"][ten]) for ten in (now, other)]
        others.append((changed, german))
        places.append((step, word, *said))
    return others, places


def measure(names: dict[str, Any], model: Any, seed: int) -> dict[str, Any]:
    """Which ten is written after each exchange, over lists of five with at least one ten.

    Returns:
        "own", "twin": the shares of tens that are the list's and the twin's, for each of ``WHERE``. "outside": how
        often the ten lies outside the window when it is written, and "distance" of its centre, for windows.
    """
    draw = random.Random(TEST_SEED + seed)
    lists = [pair for pair in (names["number_list"](NUMBERS) for _ in range(LISTS)) if "und" in pair[1]]
    others, places = twins(names, lists, draw)
    source, target = names["batch_of"](lists)
    step, word, now, other = torch.tensor(places).unbind(dim=1)  # (B,) each
    with torch.no_grad():
        h, S = annotations(model, source)
        twin, _ = annotations(model, names["batch_of"](others)[0])
    rows = torch.arange(len(lists))
    figures: dict[str, Any] = {"lists": len(lists), "own": {}, "twin": {}}
    for where in WHERE:
        written, _, centres = read(model, target, exchanged(h, twin, where, step, word, target.shape[1]), S)
        for key, wanted in (("own", now), ("twin", other)):
            figures[key][where] = round((written[rows, step] == wanted).float().mean().item(), 4)
        if where == "nowhere" and model.decoder.attention.walks:
            apart = (centres[rows, step] - word).abs()  # (B,)
            figures["outside"] = round((apart > model.decoder.attention.half_width).float().mean().item(), 4)
            figures["distance"] = round(apart.mean().item(), 3)
    return figures


def run(job: Job) -> Outcome:
    """Train the file's translator with one rule, and exchange tens."""
    names = file_with(job.model, job.seed)
    model, figures = trained_and_measured(names, job, (2, NUMBERS), lambda model: measure(names, model, job.seed))
    return Outcome(figures, model if job.seed == 0 else None)


EXPERIMENT = Experiment("ten_exchange", STEPS, run, SETTINGS | {"numbers_in_a_list": NUMBERS}, on_cpu=True, build=build)
trained = EXPERIMENT.trained
