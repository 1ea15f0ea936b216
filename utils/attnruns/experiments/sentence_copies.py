"""Does SmolLM2 copy a sentence again that stands in its text several times (chapter 10)?

Nothing is trained. ``steps`` says how many everyday sentences of eight tokens a seed has; no sentence belongs to two
seeds. One part reads a sentence after copies of itself, after copies whose tokens are shuffled, and after other
sentences, and keeps the probability of its first token apart from those of the others: the first enters a copy, the
others finish it. The other part lets the model write after the copies, and counts the further copies.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.data.texts.everyday import SUBJECTS
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, smollm2
from attnruns.experiments.written_texts import Endless, own_group, written
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE, DOCUMENT = 8, 0  # tokens of a sentence; the token that begins a document
MOST, SHUFFLED, WRITTEN = 6, (1, 3, 6), (1, 3, 6)  # copies before a sentence: at most, shuffled, before writing
LENGTH = 3 * SIZE  # tokens that are written
WAYS: dict[str, dict[str, Any]] = {"greedy": {"temperature": 0.0}, "temperature 1": {"temperature": 1.0}}


def sentences(pretrained: Pretrained, count: int, seed: int) -> Tensor:
    """The tokens of ``count`` sentences, ``(count, SIZE)``, each as it stands behind another sentence."""
    coded = [pretrained.tokenizer.encode(f" {text}").ids for text in everyday()]
    return own_group([ids for ids in coded if len(ids) == SIZE], count, seed)


def everyday() -> list[str]:
    """The sentences of all subjects."""
    return [text for of in SUBJECTS.values() for text in of]


def behind(parts: list[Tensor]) -> Tensor:
    """A document of these parts, each ``(N, SIZE)``, one behind another: ``(N, 1 + parts * SIZE)``."""
    return torch.cat([torch.full((len(parts[0]), 1), DOCUMENT), *parts], dim=1)


def shuffled(asked: Tensor, draw: torch.Generator) -> Tensor:
    """The tokens of each sentence in an order of their own."""
    return asked.gather(1, torch.rand(asked.shape, generator=draw).argsort(dim=1))


@evaluating
def read(model: torch.nn.Module, parts: list[Tensor]) -> list[dict[str, list[float]]]:
    """Of each part of :func:`behind`, and of each row: may the sentence be entered, and is it finished?

    ``first`` is the probability of the first token, ``others`` the mean of the others, and ``finish`` their product.
    ``enters`` and ``finishes`` are 1 where the most probable tokens are those of the sentence.
    """
    words = behind(parts)
    logits = model(words)[0][:, :-1]  # (N, parts * SIZE, V)
    right = words[:, 1:]
    p = logits.softmax(dim=-1).gather(2, right[..., None])[..., 0]  # (N, parts * SIZE)
    most = (logits.argmax(dim=-1) == right).float()
    found = []
    for of, top in zip(p.split(SIZE, dim=1), most.split(SIZE, dim=1), strict=True):
        values = {"first": of[:, 0], "others": of[:, 1:].mean(dim=1), "finish": of[:, 1:].prod(dim=1)}
        values |= {"enters": top[:, 0], "finishes": top[:, 1:].prod(dim=1)}
        found.append({name: rounded(one) for name, one in values.items()})
    return found


def further_copies(text: list[int], sentence: list[int]) -> int:
    """How often ``text`` contains the sentence; its first and its last token may be others, as behind a new line."""
    inner = sentence[1:-1]
    found, at = 0, 0
    while at <= len(text) - len(inner):
        here = text[at : at + len(inner)] == inner
        found, at = found + here, at + (len(inner) if here else 1)
    return found


def reads(job: Job) -> dict[str, Any]:
    """Each sentence after so many copies, other sentences, and shuffled copies."""
    pretrained, draw = smollm2(), generator(job.seed)
    asked = sentences(pretrained, job.steps, job.seed)
    with fused(pretrained.model):
        own = read(pretrained.model, [asked] * (MOST + 1))
        others = read(pretrained.model, [asked.roll(shift, dims=0) for shift in range(MOST + 1)])
        last = {k: read(pretrained.model, [shuffled(asked, draw) for _ in range(k)] + [asked])[-1] for k in SHUFFLED}
    by_kind = {"own": dict(enumerate(own)), "others": dict(enumerate(others)), "shuffled": last}
    return {"by_kind": {kind: {str(k): of for k, of in by.items()} for kind, by in by_kind.items()}}


def writes(job: Job) -> dict[str, Any]:
    """What follows after copies: is the next text a copy at once, and how many copies are in all of it?"""
    pretrained, found = smollm2(), dict[str, dict[str, Any]]()
    model, asked = Endless(pretrained), sentences(pretrained, job.steps, job.seed)
    for k in WRITTEN:
        with fused(pretrained.model):
            tokens, _ = written(model, behind([asked] * k), LENGTH, job.seed, WAYS)
        for way, rows in zip(WAYS, tokens.chunk(len(WAYS)), strict=True):
            at_once = (rows[:, :SIZE] == asked).all(dim=1).int().tolist()
            copies = [further_copies(*both) for both in zip(rows.tolist(), asked.tolist(), strict=True)]
            found.setdefault(way, {})[str(k)] = {"at_once": at_once, "copies": copies}
    return {"by_way": found}


PARTS: Parts = {"reads": (reads, 8), "writes": (writes, 8)}


def run(job: Job) -> Outcome:
    """Measure one part with the sentences of one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "sentence_copies",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits",
        "tokens_of_a_sentence": SIZE,
        "most": MOST,
        "shuffled": SHUFFLED,
        "written_after": WRITTEN,
        "length": LENGTH,
        "ways": WAYS,
    },
    on_cpu=True,
)
