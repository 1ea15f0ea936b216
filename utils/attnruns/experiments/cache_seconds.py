"""Seconds for SmolLM2's next token by the length of the text: cached, without a cache, several at once (chapter 20).

Nothing is trained. It stays on the CPU, whose seconds it measures; run it with ``--workers 1``. What the tokens are
doesn't matter for the time, so a cache is filled with copies of one token's keys and values.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.models import LanguageModel
from attnbook.models.language_model import LanguageModelState
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnbook.trees import map_tensors
from attnruns.experiments.real_model import fused, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import shortest_time

CACHED = (256, 512, 1024, 2048, 4096, 8000)  # tokens before the next one
NOT_CACHED = (256, 512, 1024, 2048, 4096)
BEFORE, TOGETHER = 1024, (1, 2, 3, 4, 5, 6)  # tokens in the cache, and tokens that one reading takes together
REPEATS = 3  # the "steps" of most jobs: the shortest of so many times counts


@evaluating
def cache_of(model: LanguageModel, length: int, texts: int = 1) -> LanguageModelState:
    """A cache of so many tokens for each of so many texts."""
    _, state, _ = model.read(torch.zeros(1, 1, dtype=torch.long), model.start())
    return map_tensors(lambda part: part.expand(texts, -1, length, -1).contiguous(), state)


def tokens(model: LanguageModel, count: int, seed: int) -> Tensor:
    """Random tokens ``(1, count)``."""
    return torch.randint(model.output.out_features, (1, count), generator=generator(seed))


@evaluating
def read_seconds(model: LanguageModel, before: int, words: Tensor, repeats: int) -> float:
    """Seconds in which the model reads ``words (B, T)`` after a cache of ``before`` tokens for each text.

    As in decoding, each reading goes on behind the one before, so that the cache has room and is not copied.
    """
    times = []
    with fused(model):
        held = cache_of(model, before - 1, len(words))
        _, state, _ = model.read(words[:, :1], held)  # moves the cache to where there is room
        for _ in range(repeats):
            seconds, (_, state, _) = shortest_time(1, model.read, words, state)
            times.append(seconds)
    return min(times)


@evaluating
def again_seconds(model: LanguageModel, words: Tensor, repeats: int) -> float:
    """Seconds in which the model reads all ``words (1, T)`` from the beginning, for the token after the last."""
    with fused(model):
        return shortest_time(repeats, model.prefill, words, model.start())[0]


def cached(job: Job) -> dict[str, Any]:
    """One token, by the number of tokens in the cache."""
    model = smollm2().model
    one = tokens(model, 1, job.seed)
    return {"by_length": {str(length): round(read_seconds(model, length, one, job.steps), 4) for length in CACHED}}


def not_cached(job: Job) -> dict[str, Any]:
    """One token, when all tokens before it are read again with it."""
    model = smollm2().model
    words = {length: tokens(model, length + 1, job.seed) for length in NOT_CACHED}
    return {"by_length": {str(length): round(again_seconds(model, words[length], job.steps), 4) for length in words}}


def together(job: Job) -> dict[str, Any]:
    """One reading, by the number of tokens that it takes together."""
    model = smollm2().model
    words = {count: tokens(model, count, job.seed) for count in TOGETHER}
    return {"by_count": {str(n): round(read_seconds(model, BEFORE, words[n], job.steps), 4) for n in words}}


PARTS: Parts = {"cached": (cached, REPEATS), "not_cached": (not_cached, 2), "together": (together, REPEATS)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


SETTINGS = {
    "weights": "SmolLM2-135M-Instruct in four bits", "batch": 1, "number_type": "float32", "attention": "fused",
    "before": BEFORE,
}  # fmt: skip
EXPERIMENT = Experiment("cache_seconds", steps_of(PARTS), run, SETTINGS, on_cpu=True)
