"""One labelled task, answered by SmolLM2 with a prompt, and by a linear layer on one of its vectors (chapter 11).

SmolLM2 is not trained. The question is whether the first noun of a phrase such as *the keys near the cabinet* stands
for one thing or for many, which is asked in three ways. "verb" compares the probabilities of *is* and *are* after the
phrase, without an example. WORDINGS name the labels in a prompt of labelled lines, and compare the probabilities of
their two names after the last ``->``. "layer" trains a linear layer on the vector that the last norm hands on at ``->``
behind the phrase. ``steps`` says how many phrases of each label are asked; their pairs of nouns are in no line with a
label, as in the chapter, whose small BERT is fine-tuned on the same task.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.measure.inside import residuals
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

THINGS = ("key", "cabinet", "table", "book", "boat", "tree", "house", "letter", "farmer", "king")
NOUNS = (*THINGS, *(f"{thing}s" for thing in THINGS))  # the second half is plural
BETWEEN = ("near", "of", "under")
VERBS = ("is", "are")
WORDINGS = (("one", "many"), ("singular", "plural"))
LABELS = (4, 16, 64)  # labelled lines, as many of each label
BATCH, LEARNING_RATE, DECAY, UPDATES = "all labelled phrases", 1e-2, 0.1, 200  # of the linear layer: AdamW
Phrase = tuple[str, int]  # its text, and 1 if the first noun is plural


def phrases(count: int, draw: torch.Generator, new: bool) -> list[Phrase]:
    """``count`` phrases of each label, in a random order; ``new`` ones have the pairs of nouns that are kept for tests.

    >>> [plural for _, plural in phrases(1, torch.Generator().manual_seed(0), new=False)]
    [1, 0]
    """
    found: dict[int, list[Phrase]] = {0: [], 1: []}
    while min(map(len, found.values())) < count:
        first, second = torch.randint(len(NOUNS), (2,), generator=draw).tolist()
        between = BETWEEN[int(torch.randint(len(BETWEEN), (1,), generator=draw))]
        plural = int(first >= len(THINGS))
        if ((first + second) % 4 == 0) == new and len(found[plural]) < count:
            found[plural].append((f"the {NOUNS[first]} {between} the {NOUNS[second]}", plural))
    both = found[0] + found[1]
    return [both[i] for i in torch.randperm(len(both), generator=draw).tolist()]


def _ids(pretrained: Pretrained, text: str) -> Tensor:
    return torch.tensor([pretrained.tokenizer.encode(text).ids])  # (1, T)


@torch.no_grad()
def log_odds(pretrained: Pretrained, before: str, questions: list[str], names: tuple[str, str]) -> Tensor:
    """How much more probable the second name is than the first, after ``before`` and each question: ``(N,)``."""
    first, second = (int(_ids(pretrained, f" {name}")[0, 0]) for name in names)
    model, found = pretrained.model, []
    state = model.start() if not before else model.read(_ids(pretrained, before), model.start())[1]
    for question in questions:
        logits = model.read(_ids(pretrained, question), state)[0][0, -1]
        found.append(logits[second] - logits[first])
    return torch.stack(found)


def judged(odds: Tensor, asked: list[Phrase]) -> dict[str, float]:
    """Share right; with the median as the threshold; and how often the second name is the more probable."""
    plural = torch.tensor([label for _, label in asked]) == 1
    return {
        "right": round(((odds > 0) == plural).double().mean().item(), 4),
        "by_median": round(((odds > odds.median()) == plural).double().mean().item(), 4),
        "second": round((odds > 0).double().mean().item(), 4),
    }


@torch.no_grad()
def vectors(pretrained: Pretrained, texts: list[str]) -> Tensor:
    """What the last norm hands on at the end of each text: ``(N, D)``. Texts of one length are read together."""
    ids = [_ids(pretrained, text)[0] for text in texts]
    found: dict[int, Tensor] = {}
    for length in {len(one) for one in ids}:
        alike = [at for at, one in enumerate(ids) if len(one) == length]
        last = residuals(pretrained.model, torch.stack([ids[at] for at in alike]))[-1][:, -1]
        found |= dict(zip(alike, pretrained.model.blocks.last_norm(last), strict=True))
    return torch.stack([found[at] for at in range(len(texts))])


def layer_odds(known: Tensor, labels: Tensor, asked: Tensor, seed: int) -> Tensor:
    """What a linear layer gives for ``asked (N, D)`` after training on ``known (n, D)`` and its labels: ``(N,)``."""
    middle, spread = known.mean(dim=0), known.std(dim=0) + 1e-6
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = nn.Linear(known.shape[1], 1)
    optimiser = torch.optim.AdamW(layer.parameters(), lr=LEARNING_RATE, weight_decay=DECAY)
    for _ in range(UPDATES):
        loss = F.binary_cross_entropy_with_logits(layer((known - middle) / spread)[:, 0], labels.float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return layer((asked - middle) / spread)[:, 0].detach()


def layer_shares(
    pretrained: Pretrained, known: list[Phrase], asked: list[Phrase], seed: int, end: str
) -> dict[str, dict[str, float]]:
    """For each of LABELS what a layer has right that reads the vectors at ``end``, which follows on each phrase."""
    at_known, at_asked = (vectors(pretrained, [text + end for text, _ in of]) for of in (known, asked))
    found = {}
    for count in LABELS:
        shown = _balanced(known, count)
        labels, chosen = torch.tensor([label for _, label in shown]), [known.index(one) for one in shown]
        found[str(count)] = judged(layer_odds(at_known[chosen], labels, at_asked, seed), asked)
    return found


def by_way(job: Job) -> dict[str, Any]:
    """The share of right answers of each way, by the number of labelled phrases."""
    pretrained, draw = smollm2(), generator(job.seed)
    known = phrases(max(LABELS) // 2, draw, new=False)
    few = {count: _balanced(known, count) for count in LABELS}
    asked = phrases(job.steps, draw, new=True)
    found: dict[str, Any] = {}
    with fused(pretrained.model):
        found["verb"] = judged(log_odds(pretrained, "", [text for text, _ in asked], VERBS), asked)
        for names in WORDINGS:
            found["/".join(names)] = by_labels = {}
            for count, shown in few.items():
                before = "".join(f"{text} -> {names[plural]}\n" for text, plural in shown)
                odds = log_odds(pretrained, before, [f"{text} ->" for text, _ in asked], names)
                by_labels[str(count)] = judged(odds, asked)
        found["layer"] = layer_shares(pretrained, known, asked, job.seed, end=" ->")
    return found


def _balanced(known: list[Phrase], count: int) -> list[Phrase]:
    """The first ``count`` / 2 of each label, in their order."""
    kept = {id(one) for label in (0, 1) for one in [of for of in known if of[1] == label][: count // 2]}
    return [one for one in known if id(one) in kept]


PARTS: Parts = {"ways": (by_way, 50)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "labels_or_prompt",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "task": "one or many: the number of the first of two nouns, phrases of each label in equal numbers",
        "labels": LABELS,
        "wordings": WORDINGS,
        "batch": BATCH,
        "learning_rate": LEARNING_RATE,
        "weight_decay": DECAY,
        "updates": UPDATES,
        "warmup": 0,
        "max_grad_norm": None,
    },
    on_cpu=True,
)
