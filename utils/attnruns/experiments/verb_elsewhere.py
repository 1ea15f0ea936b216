"""Where a translator reads a verb: the weights of Bahdanau's attention, and what an exchange shows (chapter 2).

In *Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.* the verb stands last, and English wants it before
*etwas*. A small translator of captions of up to ``WORDS`` German words is trained, and then writes the word after *A
man with an orange hat is*, while the annotation of *etwas*, or those of the verb, come from the same caption with
another verb. The weights stay. Reads the corpus as :mod:`attnruns.experiments.translate` does.
"""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from attnbook.data import BOS
from attnbook.data.texts import multi30k
from attnbook.data.texts.translation import TESTS, TokenBatches, TranslationTask, translation_task
from attnbook.decoding import greedy
from attnbook.measure.translation import bleu_counts, bleu_from_counts
from attnbook.models import AttentionSeq2Seq
from attnbook.seeding import seed_everything
from attnbook.training import fit, teacher_forcing_loss
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means
from attnruns.shared.translation import target_loss, write

WORDS = 14  # of a German caption, at most
PIECES = 2000  # of each vocabulary
BATCH = 1024  # tokens, the padding counted
SIZES: dict[str, Any] = {"embedding": 128, "hidden": 128}
TRAINING: dict[str, Any] = {"learning_rate": 4e-3, "warmup": 100, "max_grad_norm": 1.0}
SMOOTHING, BETAS = 0.1, (0.9, 0.98)
STEPS = {"bahdanau": 1200}
BEGINNING, OBJECT = "Ein Mann mit einem orangefarbenen Hut, der", "etwas"
WRITTEN = "A man with an orange hat is"
VERBS = (
    "anstarrt", "liest", "isst", "malt", "hält", "trägt", "trinkt", "wirft", "repariert", "kocht", "verkauft", "baut",
    "schreibt", "fotografiert", "zieht", "schiebt", "putzt",
)  # fmt: skip


def short_pairs(split: str) -> list[tuple[str, str]]:
    """The captions of a split with at most ``WORDS`` words in German, in both languages."""
    pairs = zip(multi30k.lines(split, "de"), multi30k.lines(split, "en"), strict=True)
    return [pair for pair in pairs if len(pair[0].split()) <= WORDS]


@cache
def task() -> TranslationTask:
    """The task, made once per process; its pieces are learnt from the short captions alone."""
    tests = {test: short_pairs(test) for test in TESTS}
    return translation_task("captions de-en", short_pairs("train"), short_pairs("val"), tests, PIECES)


def run(job: Job) -> Outcome:
    """Train the translator, and exchange what it reads in our caption."""
    data = task()
    seed_everything(job.seed)
    model, batches = AttentionSeq2Seq(*data.sizes(), **SIZES), TokenBatches(data.task)
    history = fit(
        model,
        lambda step: batches.batch_at(step, BATCH, job.seed),
        job.steps,
        loss=partial(teacher_forcing_loss, smoothing=SMOOTHING),
        optimiser=partial(torch.optim.AdamW, betas=BETAS),
        progress=False,
        **TRAINING,
    )
    test = next(iter(data.tests))
    counts = bleu_counts(write(model, data, data.tests[test]), data.references[test], lower=False)
    return Outcome(
        {
            "device": "cpu",
            "seconds": round(history.cpu_seconds, 1),
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "losses": chunk_means(history.losses, max(1, job.steps // 12), digits=4),
            "validation_loss": round(target_loss(model, data.task, data.task.validation), 4),
            "bleu": round(float(bleu_from_counts(counts)), 2),
            "captions": [aligned(model, data, caption(verb)) for verb in VERBS[:2]],
            "exchanged": exchanged(model, data),
        }
    )


def caption(verb: str) -> str:
    """Our caption with one of the ``VERBS``."""
    return f"{BEGINNING} {OBJECT} {verb}."


@torch.no_grad()
def aligned(model: AttentionSeq2Seq, data: TranslationTask, text: str) -> dict[str, Any]:
    """Pieces of a caption and of its greedy translation, and the attention weights (T, Tk), two digits."""
    source = data.source_pieces.encode(text)
    ids = torch.tensor([data.task.source_vocabulary.encode(source)])
    tokens, weights = greedy(model.eval(), ids, torch.tensor([len(source)]), max_length=3 * len(source))
    target = data.task.target_vocabulary.decode(tokens[0])
    rows = [] if weights is None else [[round(of, 2) for of in row] for row in weights[0, : len(target)].tolist()]
    return {"source": list(source), "target": target, "weights": rows}


class Reader:
    """Writes the word after ``WRITTEN``, with annotations of another caption where they are wanted."""

    def __init__(self, model: AttentionSeq2Seq, data: TranslationTask) -> None:
        self.model, self.data = model, data
        before, at = (len(data.source_pieces.encode(text)) for text in (BEGINNING, f"{BEGINNING} {OBJECT}"))
        self.object = range(before, at)
        written = data.task.target_vocabulary.encode(data.target_pieces.encode(WRITTEN))
        self.words = [torch.tensor([word]) for word in (BOS, *written)]

    def started(self, verb: str) -> Any:
        """The state before the first word of the caption with this verb, its annotations included."""
        ids = self.data.task.source_vocabulary.encode(self.data.source_pieces.encode(caption(verb)))
        return self.model.start(torch.tensor([ids]), torch.tensor([len(ids)]))

    def verb(self, annotations: Tensor) -> range:
        """The positions of a verb's pieces, between the object and the full stop, in annotations (1, Tk, D)."""
        return range(self.object.stop, annotations.shape[1] - 1)

    def exchanged(self, own: str, other: str, part: str) -> Tensor:
        """The values (1, Tk, D) of a caption, with those of one ``part`` from the caption with another verb.

        A verb's pieces all receive the annotation of the other verb's last one.
        """
        values, donor = self.started(own).annotations.clone(), self.started(other).annotations
        if part == "object":
            values[:, self.object] = donor[:, self.object]
        if part == "verb":
            values[:, self.verb(values)] = donor[:, [self.verb(donor)[-1]]]
        return values

    def write(self, verb: str, values: Tensor | None = None) -> tuple[str, Tensor]:
        """The piece written after ``WRITTEN``, and its weights (Tk,); ``values`` replace those that are summed."""
        state = self.started(verb)
        kept = state.annotations
        for word in self.words:
            state = state._replace(annotations=kept if values is None else values)
            logits, state, weights = self.model.step(word, state)
        piece = self.data.task.target_vocabulary.decode(logits.argmax(dim=-1).tolist())
        return (piece or [""])[0].strip("▁"), weights[0]


@torch.no_grad()
def exchanged(model: AttentionSeq2Seq, data: TranslationTask) -> dict[str, dict[str, Any]]:
    """For each verb the word that is written, its weights, and the words with each part from each other caption."""
    reader, found = Reader(model.eval(), data), {}
    for verb in VERBS:
        word, weights = reader.write(verb)
        others = [other for other in VERBS if other != verb]
        found[verb] = {
            "word": word,
            "weight on the object": round(weights[reader.object].sum().item(), 3),
            "weight on the verb": round(weights[reader.object.stop : -1].sum().item(), 3),
            **{
                f"{part} exchanged": [reader.write(verb, reader.exchanged(verb, other, part))[0] for other in others]
                for part in ("object", "verb")
            },
        }
    return found


EXPERIMENT = Experiment(
    "verb_elsewhere",
    STEPS,
    run,
    {
        "task": f"multi30k, German to English, captions of up to {WORDS} German words, {PIECES} pieces per language",
        "batch": f"{BATCH} tokens, the padding counted",
        **TRAINING,
        "smoothing": SMOOTHING,
        "optimiser": f"AdamW, betas {BETAS}",
        "sizes": SIZES,
        "written": "greedily",
        "caption": caption("…"),
        "given": WRITTEN,
        "verbs": VERBS,
    },
    on_cpu=True,
)
