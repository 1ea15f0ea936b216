"""What SmolLM2 loses with a smaller cache, when it has read some thousand tokens (chapter 20).

Nothing is trained. A text has prose of the book, a list of random words, more prose, and the list again. Each way to a
smaller cache reads it whole. Measured are the loss of the last prose before the second list, how many words of that
list the model names, and how often it names another word of the list instead. All ways but the full cache keep equal
numbers of bytes: five bits of sixteen per number, and windows of a width that leaves as much. A window keeps the first
four tokens, the sinks, and the last ones; ``no_sinks`` keeps as many, but only the last ones. ``eight_spread`` has its
global layers spread over the model. ``steps`` is the number of tokens before the second list.
"""

import time
from collections.abc import Collection
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.measure.inside import read_under, surprises
from attnbook.models import LanguageModel
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import common_words, fused, smollm2, text_tokens
from attnruns.experiments.real_texts import SINKS, masks_by_layer, rounded_cache
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

BEFORE = 3072  # tokens before the second list
BEGINNING, WORDS = 32, 64  # tokens of prose before the first list, and words of the list
SCORED = 1024  # tokens of prose whose loss is measured, the last ones before the second list
LAYERS = range(1, 31)


class Way(NamedTuple):
    """How a cache is made smaller.

    Fields:
        layers: that attend to everything, from 1 on. share: of the tokens before, what all other layers keep, the sinks
            among them.
        bits: of each rounded number; ``None`` leaves it as it is. Blocks of 32 add a scale and an offset: one more bit.
        sinks: first tokens that all other layers keep.
        keys_by_feature: the blocks of rounded keys have 32 neighbouring tokens of one feature, not 32 features of one
            token (after Liu et al. 2024, "KIVI", where the newest tokens aren't rounded).
    """

    layers: Collection[int]
    share: float = 1.0
    bits: int | None = None
    sinks: int = SINKS
    keys_by_feature: bool = False


WAYS = {
    "full": Way(LAYERS),
    "rounded": Way(LAYERS, bits=4),
    "rounded_by_feature": Way(LAYERS, bits=4, keys_by_feature=True),
    "eight_global": Way(range(17, 25), 1 / 16),
    "windows": Way((), 5 / 16),
    "no_sinks": Way((), 5 / 16, sinks=0),
    "eight_spread": Way((3, 7, 11, 15, 19, 23, 27, 29), 1 / 16),
}


def tokens_kept(way: Way, before: int) -> int:
    """By each local layer, after so many tokens."""
    return round(way.share * before)


def share_of_bytes(way: Way, before: int) -> float:
    """Of the full cache, what this way keeps."""
    kept = (len(way.layers) * before + (len(LAYERS) - len(way.layers)) * tokens_kept(way, before)) / len(LAYERS)
    return kept / before * (1.0 if way.bits is None else (way.bits + 1) / 16)


def text_with_list(pretrained: Pretrained, seed: int, before: int, back: int | None = None) -> Tensor:
    """Prose, a list, prose and the list again: ``(1, before + WORDS)``.

    The second list begins ``back`` tokens after the first one (``before - BEGINNING`` if ``None``).
    """
    begins = BEGINNING if back is None else before - back
    words = torch.tensor(common_words(pretrained))
    listed = words[torch.randperm(len(words), generator=generator(seed))[:WORDS]]
    prose = text_tokens(pretrained).roll(-seed * (before - WORDS))[: before - WORDS]
    return torch.cat([prose[:begins], listed, prose[begins:], listed])[None]


@evaluating
def loss_and_copied(model: LanguageModel, text: Tensor, way: Way) -> tuple[list[float], list[int], list[int]]:
    """Nats of each scored token; which words of the second list are named, from 2 on; where another word of it is."""
    length = text.shape[1]
    before = length - WORDS
    masks = masks_by_layer(model, length, tokens_kept(way, before) - way.sinks, way.layers, way.sinks)
    scored = min(SCORED, before - BEGINNING - WORDS - 1)
    since = before - scored - 1  # the token before the scored ones
    rounding = rounded_cache(model, way.bits, True, way.keys_by_feature) if way.bits else nullcontext()
    with fused(model), rounding:
        logits, end = read_under(model, text, masks, since), text[:, since:]
    nats = surprises(logits, end)[0, :scored]
    guessed, listed = logits[0, -WORDS:-1].argmax(dim=-1), end[0, -WORDS:]
    named = guessed == listed[1:]
    another = torch.isin(guessed, listed) & ~named
    of_copied, of_another = ((words.nonzero()[:, 0] + 2).tolist() for words in (named, another))
    return nats.tolist(), of_copied, of_another


def run(job: Job) -> Outcome:
    """Measure one way on one text."""
    start, found, way = time.process_time(), smollm2(), chosen(WAYS, job.model)
    nats, named, another = loss_and_copied(found.model, text_with_list(found, job.seed, job.steps), way)
    return Outcome({
        "bytes": round(share_of_bytes(way, job.steps), 4),
        "loss": round(sum(nats) / len(nats), 4),
        "copied": named,
        "another": another,
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


EXPERIMENT = Experiment(
    "smaller_caches",
    dict.fromkeys(WAYS, BEFORE),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "beginning": BEGINNING, "words": WORDS, "scored": SCORED,
        "sinks": SINKS,
    },
    on_cpu=True,
)  # fmt: skip
