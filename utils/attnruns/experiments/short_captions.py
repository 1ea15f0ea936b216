"""Six small translators of Multi30k's short captions: the first steps from 2014, one part at a time (chapter 18).

The five models of :mod:`attnruns.experiments.translate` differ from each other in several parts. Here each differs from
a neighbour in one: a second reading direction, attention, and what Luong's decoder is fed. They are small, see captions
of up to ``WORDS`` German words and write greedily, so that all trainings together take minutes. Reads the corpus as
``translate`` does.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

import torch
from torch import nn

from attnbook.data.texts import multi30k
from attnbook.data.texts.translation import TESTS, TokenBatches, TranslationTask, translation_task
from attnbook.measure.translation import bleu_counts, bleu_from_counts
from attnbook.models import AttentionSeq2Seq, LuongSeq2Seq, PlainSeq2Seq
from attnbook.seeding import seed_everything
from attnbook.training import fit, teacher_forcing_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means
from attnruns.shared.translation import target_loss, write

WORDS = 10  # of a German caption, at most
PIECES = 1000  # of each vocabulary
BATCH = 1024  # tokens, the padding counted
SIZES: dict[str, Any] = {"embedding": 64, "hidden": 64}
TRAINING: dict[str, Any] = {"learning_rate": 6e-3, "warmup": 50, "max_grad_norm": 1.0}
SMOOTHING, BETAS = 0.1, (0.9, 0.98)


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a translator: its class, and the one argument in which it differs from its neighbour."""

    kind: Callable[..., nn.Module]
    config: dict = field(default_factory=dict)
    steps: int = 480

    def build(self, sizes: tuple[int, int]) -> nn.Module:
        """A fresh model for vocabularies of these sizes, source and target."""
        return self.kind(*sizes, **SIZES, **self.config)


RECIPES = {
    "plain": Recipe(PlainSeq2Seq),
    "plain_both_ways": Recipe(PlainSeq2Seq, {"bidirectional": True}),
    "attention": Recipe(AttentionSeq2Seq, {"bidirectional": False}),
    "attention_both_ways": Recipe(AttentionSeq2Seq),
    "luong_unfed": Recipe(LuongSeq2Seq, {"feeding": False}),
    "luong": Recipe(LuongSeq2Seq),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def short_pairs(split: str, words: int = WORDS) -> list[tuple[str, str]]:
    """The captions of a split with at most so many words in German, in both languages."""
    pairs = zip(multi30k.lines(split, "de"), multi30k.lines(split, "en"), strict=True)
    return [pair for pair in pairs if len(pair[0].split()) <= words]


@cache
def task(words: int = WORDS, pieces: int = PIECES) -> TranslationTask:
    """The task, made once per process; its pieces are learnt from the short captions alone."""
    train, validation, *tests = (short_pairs(split, words) for split in ("train", "val", *TESTS))
    return translation_task("short de-en", train, validation, dict(zip(TESTS, tests, strict=True)), pieces)


def run(job: Job) -> Outcome:
    """Train one translator, and let it translate the short captions of both tests."""
    data, recipe = task(), chosen(RECIPES, job.model)
    seed_everything(job.seed)
    model = recipe.build(data.sizes())
    figures = fitted(model, data, job)
    return Outcome(figures | {test: written(model, data, test) for test in data.tests})


def fitted(model: Any, data: TranslationTask, job: Job, training: Mapping[str, Any] = TRAINING) -> dict[str, Any]:
    """Train a translator; gives what the record tells of its training. ``training`` is for ``fit``."""
    batches = TokenBatches(data.task)
    history = fit(
        model,
        lambda step: batches.batch_at(step, BATCH, job.seed),
        job.steps,
        loss=partial(teacher_forcing_loss, smoothing=SMOOTHING),
        optimiser=partial(torch.optim.AdamW, betas=BETAS),
        progress=False,
        **training,
    )
    return {
        "device": "cpu",
        "seconds": round(history.cpu_seconds, 1),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "losses": chunk_means(history.losses, max(1, job.steps // 12), digits=4),
        "validation_loss": round(target_loss(model, data.task, data.task.validation), 4),
    }


def written(model: Any, data: TranslationTask, test: str) -> dict[str, Any]:
    """BLEU of the greedy translations of a test, and what it counts in each of them."""
    counts = bleu_counts(write(model, data, data.tests[test]), data.references[test], lower=False)
    rows = [" ".join(map(str, row)) for row in counts.tolist()]
    return {"bleu": round(float(bleu_from_counts(counts)), 2), "bleu_counts": rows}


def settings(words: int, pieces: int, training: dict[str, Any]) -> dict[str, Any]:
    """What a record says of a training on captions of up to ``words`` German words."""
    return {
        "task": f"multi30k, German to English, captions of up to {words} German words, {pieces} pieces per language",
        "batch": f"{BATCH} tokens, the padding counted",
        **training,
        "smoothing": SMOOTHING,
        "optimiser": f"AdamW, betas {BETAS}",
    }


EXPERIMENT = Experiment(
    "short_captions",
    STEPS,
    run,
    {
        **settings(WORDS, PIECES, TRAINING),
        "written": "greedily",
        "sizes": SIZES,
        "recipes": {
            name: asdict(recipe) | {"kind": getattr(recipe.kind, "__name__", "")} for name, recipe in RECIPES.items()
        },
    },
    on_cpu=True,
)
