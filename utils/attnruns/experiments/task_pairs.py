"""Whether a vector carries any of four tasks into a prompt of any other: the twelve ordered pairs (chapter 11).

Nothing is trained. As in :mod:`attnruns.experiments.real_tasks`, the vector of a pair is the mean at ``->`` in lists
of its task, less that in lists of the prompt's task, after the block that was chosen there. The words that are asked
belong to the vector's task, because no word has an answer in all four. ``steps`` says over how many orders the means
are taken.

Other vectors are added in its place, the first two made as long. "same" knows the prompt's task alone: the mean in one
half of its list less that in the other. "third" leads from the prompt's task to one that is neither (a share for each).
"wrong" is the vector of the pair from lists of the other task in which no answer is right.
"""

from itertools import permutations
from typing import Any

from torch import Tensor

from attnbook.measure.inside import added_at_end
from attnbook.models import LanguageModel
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.real_tasks import ASKED as BOTH
from attnruns.experiments.real_tasks import BLOCK, EXAMPLES, FROM, as_long, at_arrows, lists, questions, shares
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

ASKED = {  # by task: words and answers that stand in no list; the words of one task have equally many tokens
    "opposites": ", ".join(f"{word} {opposite}" for word, _, opposite in (of.split() for of in BOTH.split(", "))),
    "capitals": "Sweden Stockholm, Iraq Baghdad, Syria Damascus, Kenya Nairobi, Peru Lima, Chile Santiago, "
    "Denmark Copenhagen, Finland Helsinki, Scotland Edinburgh, Ukraine Kiev, Switzerland Bern, Wales Cardiff, "
    "Turkey Ankara, Thailand Bangkok, Indonesia Jakarta, Romania Bucharest, Vietnam Hanoi, Libya Tripoli, "
    "Ecuador Quito, Ghana Accra, Iceland Reykjavik, Qatar Doha, Estonia Tallinn, Latvia Riga",
    "past tense": "win won, sell sold, build built, feel felt, keep kept, leave left, send sent, sit sat, stand stood, "
    "tell told, wear wore, fall fell, fly flew, grow grew, hold held, lead led, pay paid, say said, catch caught, "
    "begin began, break broke, choose chose, draw drew, rise rose",
    "plurals": ", ".join(f"{word} {plural}" for word, plural, _ in (of.split() for of in BOTH.split(", "))),
}


def with_added(model: LanguageModel, vector: Tensor, asked: tuple[Tensor, Tensor]) -> float:
    """Share of the words that are answered by their task, with ``vector (D,)`` added after BLOCK."""
    with added_at_end(model, BLOCK, vector):
        return shares(model, *asked)[0]


def pairs_of_tasks(job: Job) -> dict[str, Any]:
    """By the prompt's task and the vector's: the share of words answered by the vector's task, before and after; and
    behind examples of their own task.
    """
    pretrained = smollm2()
    model, pairs = pretrained.model, lists()
    found: dict[str, Any] = {"own": {}, "by_prompt": {name: {} for name in pairs}}
    with fused(model):

        def mean_in(name: str, begin: int = 0, step: int = 1, wrong: bool = False) -> Tensor:  # (D,)
            return at_arrows(model, pretrained, pairs[name][begin::step], job.steps, job.seed, wrong)[BLOCK]

        right = {name: mean_in(name) for name in pairs}
        wrong = {name: mean_in(name, wrong=True) for name in pairs}
        same = {name: mean_in(name, 0, 2) - mean_in(name, 1, 2) for name in pairs}
        for name in pairs:
            found["own"][name] = shares(model, *questions(pretrained, pairs[name], job.seed, ASKED[name]))[0]
        for task, other in permutations(pairs, 2):
            asked = questions(pretrained, pairs[task], job.seed, ASKED[other])
            vector = right[other] - right[task]
            found["by_prompt"][task][other] = {
                "alone": shares(model, *asked)[0],
                "vector": with_added(model, vector, asked),
                "same": with_added(model, as_long(same[task], vector), asked),
                "third": {
                    name: with_added(model, as_long(right[name] - right[task], vector), asked)
                    for name in pairs
                    if name not in (task, other)
                },
                "wrong": with_added(model, wrong[other] - right[task], asked),
            }
    return found


PARTS: Parts = {"pairs": (pairs_of_tasks, 6)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "task_pairs",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "asked": ASKED,
        "examples": EXAMPLES,
        "from": FROM,
        "block": BLOCK,
    },
    on_cpu=True,
)
