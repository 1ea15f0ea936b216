"""SmolLM2's residual stream: what each block is worth, and which blocks write *are* or *is* (chapter 09).

Nothing is trained. ``blocks`` reads a passage of ``steps`` tokens of the book's prose, another one for each seed, with
all blocks and then without each. ``verb`` takes the last vector apart into what each sublayer has added, in ``steps``
sentences of :mod:`~attnruns.experiments.real_agreement` with two nouns behind the subject.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.inside import contributions, without_each_block
from attnruns.experiments.real_agreement import EXAMPLE, Reader, sentences
from attnruns.experiments.real_model import fused, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

APART = 4000  # tokens between the passages of two seeds
PHRASES = 2  # nouns behind the subject


def blocks(job: Job) -> dict[str, Any]:
    """Nats per token of a passage, and how many more without each block."""
    pretrained = smollm2()
    passage = text_tokens(pretrained)[APART * job.seed :][: job.steps][None]  # (1, T)
    with fused(pretrained.model):
        whole, *without = without_each_block(pretrained.model, passage).tolist()
    return {"nats": round(whole, 4), "more": [round(nats - whole, 4) for nats in without]}


def towards_are(reader: Reader, text: str) -> Tensor:
    """What the word vector and each sublayer add to the logit of *are*, less that of *is*: ``(2 L + 1,)``."""
    is_, are = (reader.tokens(verb)[0, 0] for verb in (" is", " are"))
    table = reader.pretrained.model.output.weight  # (V, D)
    return contributions(reader.pretrained.model, reader.tokens(text), table[are] - table[is_])[:, 0]


def terms(found: Tensor) -> dict[str, Any]:
    """The terms by their names: of the word vector, of each block's attention and of each block's feed-forward."""
    word, *rest = (round(term, 4) for term in found.tolist())
    return {"word": word, "attention": rest[::2], "feed_forward": rest[1::2], "sum": round(found.sum().item(), 4)}


def verb(job: Job) -> dict[str, Any]:
    """The mean terms of the right verb's margin, and those of the chapter's sentence."""
    reader = Reader(smollm2())
    texts = sentences(PHRASES, job.steps, job.seed)
    found = torch.stack([towards_are(reader, text) * (1 if plural else -1) for text, plural in texts])
    margin = reader.margins(texts).mean().item()
    return {**terms(found.mean(dim=0)), "margin": round(margin, 4), "example": terms(towards_are(reader, EXAMPLE))}


PARTS: Parts = {"blocks": (blocks, 96), "verb": (verb, 60)}


def run(job: Job) -> Outcome:
    """Measure one of the two."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_stream",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "apart": APART, "phrases": PHRASES, "example": EXAMPLE},
    on_cpu=True,
)
