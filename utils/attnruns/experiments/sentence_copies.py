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
from attnruns.experiments.written_texts import Endless, written
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE, DOCUMENT = 8, 0  # tokens of a sentence; the token that begins a document
READ, WRITTEN = (0, 1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 6)  # copies before a sentence that is read, and before writing
LENGTH = 4 * SIZE  # tokens that are written
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0}, "nucleus 0.95": {"temperature": 1.0, "top_p": 0.95},
    "temperature 1": {"temperature": 1.0},
}  # fmt: skip


def sentences(pretrained: Pretrained, count: int, seed: int) -> Tensor:
    """The tokens of ``count`` sentences, ``(count, SIZE)``, each as it stands behind another sentence."""
    coded = [pretrained.tokenizer.encode(f" {text}").ids for text in everyday()]
    fitting = [ids for ids in coded if len(ids) == SIZE]
    groups = torch.randperm(len(fitting), generator=generator(0)).split(count)
    whole = [group for group in groups if len(group) == count]
    return torch.tensor([fitting[i] for i in whole[seed % len(whole)].tolist()])


def everyday() -> list[str]:
    """The sentences of all subjects."""
    return [text for of in SUBJECTS.values() for text in of]


def before(asked: Tensor, copies: int, kind: str, draw: torch.Generator) -> Tensor:
    """What stands before each sentence of ``asked (N, SIZE)``: ``(N, 1 + copies * SIZE)``."""
    if kind == "own":
        parts = [asked] * copies
    elif kind == "shuffled":
        orders = [torch.rand(asked.shape, generator=draw).argsort(dim=1) for _ in range(copies)]
        parts = [asked.gather(1, order) for order in orders]
    else:
        parts = [asked.roll(shift + 1, dims=0) for shift in range(copies)]
    return torch.cat([torch.full((len(asked), 1), DOCUMENT), *parts], dim=1)


@evaluating
def read(model: torch.nn.Module, prefix: Tensor, asked: Tensor) -> dict[str, list[float]]:
    """Of each sentence of ``asked (N, SIZE)`` after its ``prefix``: may it be entered, and is it finished?

    ``first`` is the probability of the first token, ``others`` the mean of the others, and ``finish`` their product.
    ``enters`` and ``finishes`` say whether the most probable tokens are those of the sentence.
    """
    words = torch.cat([prefix, asked], dim=1)
    logits = model(words)[0][:, prefix.shape[1] - 1 : -1]  # (N, SIZE, V)
    p = logits.softmax(dim=-1).gather(2, asked[..., None])[..., 0]  # (N, SIZE)
    most = logits.argmax(dim=-1) == asked
    found = {"first": p[:, 0], "others": p[:, 1:].mean(dim=1), "finish": p[:, 1:].prod(dim=1)}
    found |= {"enters": most[:, 0].float(), "finishes": most[:, 1:].all(dim=1).float()}
    return {name: rounded(of) for name, of in found.items()}


def further_copies(text: list[int], sentence: list[int]) -> int:
    """How often ``text`` contains the sentence; its first and its last token may be others, as behind a new line."""
    inner = sentence[1:-1]
    found, at = 0, 0
    while at <= len(text) - len(inner):
        here = text[at : at + len(inner)] == inner
        found, at = found + here, at + (len(inner) if here else 1)
    return found


def reads(job: Job) -> dict[str, Any]:
    """Each sentence after copies, shuffled copies and other sentences."""
    pretrained, draw = smollm2(), generator(job.seed)
    asked = sentences(pretrained, job.steps, job.seed)
    with fused(pretrained.model):
        found = {
            kind: {str(k): read(pretrained.model, before(asked, k, kind, draw), asked) for k in READ}
            for kind in ("own", "shuffled", "others")
        }
    return {"by_kind": found}


def writes(job: Job) -> dict[str, Any]:
    """What follows after copies: is the next text a copy at once, and how many copies are in all of it?"""
    pretrained, found = smollm2(), dict[str, dict[str, Any]]()
    model, asked = Endless(pretrained), sentences(pretrained, job.steps, job.seed)
    for k in WRITTEN:
        with fused(pretrained.model):
            tokens, _ = written(model, before(asked, k, "own", generator(0)), LENGTH, job.seed, WAYS)
        for way, rows in zip(WAYS, tokens.chunk(len(WAYS)), strict=True):
            at_once = (rows[:, :SIZE] == asked).all(dim=1).int().tolist()
            copies = [further_copies(*both) for both in zip(rows.tolist(), asked.tolist(), strict=True)]
            found.setdefault(way, {})[str(k)] = {"at_once": at_once, "copies": copies}
    return {"by_way": found}


PARTS: Parts = {"reads": (reads, 14), "writes": (writes, 14)}


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
        "read_after": READ,
        "written_after": WRITTEN,
        "length": LENGTH,
        "ways": WAYS,
    },
    on_cpu=True,
)
