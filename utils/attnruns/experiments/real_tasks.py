"""Where SmolLM2 keeps the task that its examples show: one direction turns plurals into opposites (chapter 11).

Nothing is trained. The direction is the mean vector of the residual connection at ``->`` in lists of opposites, less
that in lists of plurals. It is added in prompts of three examples, whose last words are in neither list. ``steps`` says
over how many orders of each list the means are taken.

After Todd et al. 2024 and Hendel et al. 2023, who extract and add such vectors in other ways.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.inside import added_at_end, residuals
from attnbook.models import LanguageModel
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.real_prompts import TASKS, Pair, pairs_of, prompts
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

SHOWN = "man"  # the chapter's word: in no list, and not asked here, because the block was chosen with it
ASKED = (  # word, plural, opposite: each is one token
    "king kings queen, boy boys girl, brother brothers sister, son sons daughter, father fathers mother, "
    "wife wives husband, actor actors actress, lord lords lady, day days night, summer summers winter, "
    "friend friends enemy, hero heroes villain, teacher teachers student, question questions answer, "
    "problem problems solution, cause causes effect, success successes failure, gain gains loss, "
    "import imports export, top tops bottom, host hosts guest, truth truths lie, war wars peace, "
    "front fronts back"
)
EXAMPLES, FROM = 3, 3  # before each word that is asked; before each ``->`` that counts towards a mean
BLOCK = 22  # after which the direction is added
BLOCKS = tuple(range(2, 31, 2))  # and those that are compared
CONTROL = ("capitals", "past tense")  # the direction from the one to the other, made as long


def lists() -> dict[str, list[Pair]]:
    """The pairs of each task without the words that are asked, or are answers to them."""
    asked = {word for of in ASKED.split(", ") for word in of.split()} | {SHOWN}
    return {name: [pair for pair in pairs_of(text) if not asked & set(pair)] for name, text in TASKS.items()}


@evaluating
def at_arrows(
    model: LanguageModel, pretrained: Pretrained, pairs: list[Pair], count: int, seed: int, wrong: bool = False
) -> Tensor:
    """The mean vector after each block at ``->``, behind FROM examples and more, which can be wrong: ``(L + 1, D)``."""
    asked = prompts(pretrained, pairs, count, seed, wrong)
    at = asked.at[:, FROM:, None]  # (B, n, 1)
    found = [x.gather(1, at.expand(-1, -1, x.shape[-1])) for x in residuals(model, asked.tokens)]  # each (B, n, D)
    return torch.stack([x.mean(dim=(0, 1)) for x in found])


def questions(pretrained: Pretrained, pairs: list[Pair], seed: int, words: str | None = None) -> tuple[Tensor, Tensor]:
    """EXAMPLES pairs at random and then each of ``words`` (of ASKED): tokens ``(N, T)``, and the first tokens of its
    answers (its plural and its opposite), ``(N, n)``.
    """
    shown = [pairs[i] for i in torch.randperm(len(pairs), generator=generator(seed))[:EXAMPLES].tolist()]
    lines = "".join(f"{a} -> {b}\n" for a, b in shown)
    asked = [of.split() for of in (ASKED if words is None else words).split(", ")]
    read = [pretrained.tokenizer.encode(f"{lines}{word} ->").ids for word, *_ in asked]
    answers = [[pretrained.tokenizer.encode(f" {answer}").ids[0] for answer in both] for _, *both in asked]
    return torch.tensor(read), torch.tensor(answers)


@torch.no_grad()
def shares(model: LanguageModel, read: Tensor, answers: Tensor) -> list[float]:
    """Shares of the words whose most probable next token is the first of their answers, the second, and so on."""
    best = model(read)[0][:, -1].argmax(dim=-1, keepdim=True)  # (N, 1)
    return [round(of, 4) for of in (best == answers).double().mean(dim=0).tolist()]


def answered(model: LanguageModel, read: Tensor, answers: Tensor) -> dict[str, float]:
    """Shares of the words whose most probable next token is the plural, and the opposite."""
    return dict(zip(("plural", "opposite"), shares(model, read, answers), strict=True))


def as_long(vector: Tensor, as_this: Tensor) -> Tensor:
    """The same direction with the other vector's length.

    >>> as_long(Tensor([3.0, 4.0]), Tensor([0.0, 10.0]))
    tensor([6., 8.])
    """
    return vector * as_this.norm() / vector.norm()


def swapped(job: Job) -> dict[str, Any]:
    """Each list of examples as it is, with the direction towards the other task by block, and with the control."""
    pretrained = smollm2()
    model, pairs, found = pretrained.model, lists(), {}
    with fused(model):
        means = {name: at_arrows(model, pretrained, pairs[name], job.steps, job.seed) for name in pairs}
        elsewhere = means[CONTROL[1]][BLOCK] - means[CONTROL[0]][BLOCK]
        for task, other in (("plurals", "opposites"), ("opposites", "plurals")):
            asked = questions(pretrained, pairs[task], job.seed)
            towards = means[other] - means[task]  # (L + 1, D)
            by_block = {}
            for block in BLOCKS:
                with added_at_end(model, block, towards[block]):
                    by_block[str(block)] = answered(model, *asked)
            with added_at_end(model, BLOCK, as_long(elsewhere, towards[BLOCK])):
                control = answered(model, *asked)
            found[task] = {"alone": answered(model, *asked), "by_block": by_block, "control": control}
    return found


PARTS: Parts = {"swapped": (swapped, 6)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_tasks",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "asked": ASKED, "examples": EXAMPLES, "from": FROM,
        "block": BLOCK, "blocks": BLOCKS, "control": CONTROL,
    },
    on_cpu=True,
)  # fmt: skip
