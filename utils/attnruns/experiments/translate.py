"""Multi30k, from seq2seq to Transformer: five translators, one script, one corpus, scored as is usual (chapter 18).

Reads the corpus from the folder that ATTNBOOK_DATA names, or fetches it. On a GPU the same command trains there, in
mixed precision; with torchrun several processes share each batch. An interrupted training goes on where it stopped.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Batch
from attnbook.data.texts.bpe_dropout import CutAnew
from attnbook.data.texts.translation import PAIRS, TokenBatches, TranslationTask, multi30k_task, own_translation_task
from attnbook.device import best_device
from attnbook.models import GNMT, AttentionSeq2Seq, LuongSeq2Seq, PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.seeding import seed_everything
from attnbook.training import History, Snapshots, fit, parallel, r_drop_loss, teacher_forcing_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.resume import checkpoint_of, digest_of
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means
from attnruns.shared.translation import (
    alignment_errors,
    alignments,
    by_beam,
    gain_since,
    pieces_per_word,
    sample_translations,
    scored,
    scored_on_validation,
    target_loss,
    write,
)
from attnruns.translate import pieces_file, read_pieces, saved_pieces

BATCH = 2048  # tokens, the padding counted
TRAINING: dict[str, Any] = {"warmup": 400, "max_grad_norm": 1.0, "betas": (0.9, 0.98)}
VALIDATIONS, AVERAGED = 20, 5  # how often a training is validated, and how many of the last weights are averaged
PLAIN: dict[str, Any] = {"embedding": 128, "hidden": 256}
DEEP: dict[str, Any] = {"embedding": 128, "hidden": 192, "layers": 4}
TRANSFORMER: dict[str, Any] = {"d_model": 192, "heads": 6, "layers": 3, "d_ff": 512, "positions": "sinusoidal"}
TINY: dict[str, Any] = {"d_model": 32, "heads": 4, "layers": 1, "d_ff": 64}


def with_dropout(model: Any, part: float) -> nn.Module:
    """A recurrent translator whose word vectors and whose output layer's input lose a part of their numbers."""
    for owner, name in ((model.encoder, "embed"), (model, "embed")):
        setattr(owner, name, nn.Sequential(getattr(owner, name), nn.Dropout(part)))
    model.output = nn.Sequential(nn.Dropout(part), model.output)
    return model


def recurrent(kind: type[nn.Module], sizes: tuple[int, int], config: dict, dropout: float) -> nn.Module:
    """A fresh recurrent translator."""
    return with_dropout(kind(*sizes, **config), dropout)


def transformer(sizes: tuple[int, int], config: dict, dropout: float) -> nn.Module:
    """A fresh Transformer."""
    return Transformer(*sizes, TransformerConfig(**config, dropout=dropout))


KINDS: dict[str, tuple[Callable[[tuple[int, int], dict, float], nn.Module], dict]] = {
    "plain": (partial(recurrent, PlainSeq2Seq), PLAIN),
    "bahdanau": (partial(recurrent, AttentionSeq2Seq), PLAIN),
    "luong": (partial(recurrent, LuongSeq2Seq), PLAIN),
    "gnmt": (partial(recurrent, GNMT), DEEP),
    "transformer": (transformer, TRANSFORMER),
}
TEXTS = {"multi30k": multi30k_task, "own": own_translation_task}
LATER = ("patience", "bpe_dropout", "r_drop", "pieces", "tested")  # fields that the first checkpoints knew nothing of


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a translator and its training.

    Fields:
        kind: ``"plain"``, ``"bahdanau"``, ``"luong"``, ``"gnmt"`` or ``"transformer"``.
        steps: of training; about equal CPU seconds for the five on the same pair.
        config: changes to the sizes that its kind has.
        dropout, smoothing: part of the numbers that is lost, part of the probability that is spread.
        learning_rate: the highest one.
        pair, text: what is translated: ``"de-en"`` or ``"en-de"``, of ``"multi30k"`` or the book's ``"own"`` sentences.
        kept: the weights of so many seeds are kept, from seed 0 on.
        patience: training ends when so many validations in a row brought nothing better; None lets it take all steps.
        bpe_dropout: probability that a merge is dropped when the training text is cut, anew in each epoch.
        r_drop: the weight α of R-Drop; with 0 a batch goes through the model once.
        pieces: of each vocabulary; None takes as many as is usual for the text.
        tested: whether tests are scored. What is tried in order to choose something is judged by validation alone.
    """

    kind: str
    steps: int
    config: dict = field(default_factory=dict)
    dropout: float = 0.2
    smoothing: float = 0.1
    learning_rate: float = 2e-3
    pair: str = "de-en"
    text: str = "multi30k"
    kept: int = 0
    patience: int | None = None
    bpe_dropout: float = 0.0
    r_drop: float = 0.0
    pieces: int | None = None
    tested: bool = True

    def data(self) -> TranslationTask:
        """The task that it is trained and tested on."""
        make = TEXTS[self.text]
        return make(self.pair) if self.pieces is None else make(self.pair, self.pieces)

    def batches(self, data: TranslationTask) -> TokenBatches:
        """The batches of its training, the text cut anew in each epoch where merges are dropped."""
        return TokenBatches(data.task, CutAnew(data, self.bpe_dropout) if self.bpe_dropout else None)

    def loss(self) -> Callable[[nn.Module, Batch], Tensor]:
        """What its training minimises."""
        if self.r_drop:
            return partial(r_drop_loss, weight=self.r_drop, smoothing=self.smoothing)
        return partial(teacher_forcing_loss, smoothing=self.smoothing)

    def build(self, sizes: tuple[int, int]) -> nn.Module:
        """A fresh model for vocabularies of these sizes, source and target."""
        make, config = KINDS[self.kind]
        return make(sizes, {**config, **self.config}, self.dropout)

    def digest(self) -> str:
        """Eight letters that change with the recipe; its checkpoints bear them."""
        return digest_of(self, LATER)


STEPS_PER_KIND = {"plain": 5600, "bahdanau": 4700, "luong": 5300, "gnmt": 3100, "transformer": 3800}  # 57 CPU minutes
DROPOUT = {"transformer": 0.15}  # of the others, see Recipe
RECIPES = {
    f"{kind}_{pair.replace('-', '_')}": Recipe(kind, steps, dropout=DROPOUT.get(kind, Recipe.dropout), pair=pair)
    for pair in PAIRS
    for kind, steps in STEPS_PER_KIND.items()
}
RECIPES["transformer_de_en"] = replace(RECIPES["transformer_de_en"], kept=1)
# Bahdanau's model differs from the plain one in attention and in reading both ways; this one only in the second.
RECIPES["plain_both_ways_de_en"] = replace(RECIPES["plain_de_en"], config={"bidirectional": True})
# One thing changed at a time, to choose by validation what keeps a small corpus from being learnt by heart.
TRIED = Recipe("transformer", STEPS_PER_KIND["transformer"] // 2, dropout=DROPOUT["transformer"], tested=False)
TRIALS: dict[str, dict[str, Any]] = {
    "base": {},
    "no_dropout": {"dropout": 0.0},
    "no_smoothing": {"smoothing": 0.0},
    "bpe_dropout": {"bpe_dropout": 0.1},
    "r_drop": {"r_drop": 5.0, "steps": TRIED.steps // 2},  # each batch goes through twice: about equal CPU seconds
    "small_vocabulary": {"pieces": 1000},
}
RECIPES |= {f"tried_{name}": replace(TRIED, **change) for name, change in TRIALS.items()}
RECIPES["tiny_de_en"] = Recipe("transformer", 200, TINY, dropout=0.0, learning_rate=1e-2, text="own")
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> nn.Module:
    """A fresh model of this experiment, for the pieces that are stored with its weights."""
    recipe = chosen(RECIPES, name)
    source, target = (len(pieces.vocabulary()) for pieces in read_pieces(recipe.pair))
    return recipe.build((source, target))


def fitted(model: nn.Module, data: TranslationTask, job: Job, recipe: Recipe, folder: Path) -> History:
    """Train a model, going on from what an earlier attempt left in ``folder``; the last weights lie there, too.

    After an early stop, too, these are the last and not the best ones; see :func:`~attnbook.training.fit` on the rates.
    """
    watched = Watched(data, recipe.batches(data), Snapshots(folder, AVERAGED), job.seed)
    return fit(
        model,
        watched.batch_at,
        job.steps,
        loss=recipe.loss(),
        learning_rate=recipe.learning_rate,
        validate=watched.validate,
        validate_every=max(1, job.steps // VALIDATIONS),
        patience=recipe.patience,
        checkpoint=folder / "training.ckpt",
        mixed_precision=best_device().type == "cuda",
        progress=False,
        warmup=TRAINING["warmup"],
        max_grad_norm=TRAINING["max_grad_norm"],
        optimiser=partial(torch.optim.AdamW, betas=TRAINING["betas"]),
    )


class Watched:
    """The batches of a training, and its validations; it knows how many steps have been taken.

    Args:
        snapshots: where the weights are kept at each validation, under the step's number: a step that is taken again
            after an interruption replaces its own.
    """

    def __init__(self, data: TranslationTask, batches: TokenBatches, snapshots: Snapshots, seed: int) -> None:
        self.data, self.batches, self.snapshots, self.seed = data, batches, snapshots, seed
        self.steps = 0

    def batch_at(self, step: int) -> Batch:
        """The batch of a step."""
        self.steps = step + 1
        return self.batches.batch_at(step, BATCH, self.seed)

    def validate(self, model: nn.Module) -> float:
        """Minus the loss on the held-out part, in nats per piece; the weights are kept, too."""
        if parallel.rank() == 0:
            self.snapshots.take(model, self.steps)
        return -target_loss(model, self.data.task, self.data.task.validation)


def run(job: Job) -> Outcome:
    """Train, average and measure one translator."""
    recipe = chosen(RECIPES, job.model)
    data, folder = recipe.data(), checkpoint_of("translate", job, recipe.digest(), ending="")
    seed_everything(job.seed)
    model = recipe.build(data.sizes()).to(best_device())
    history = fitted(model, data, job, recipe, folder)
    last = write(model, data, data.task.validation)  # what the last state translates
    model.load_state_dict(parallel.from_first(Snapshots(folder).average() if parallel.rank() == 0 else {}))
    before = {"loss": -history.validations[-1][1], **gain_since(last, model, data)}
    figures = course_of(history, data, job) | {"validation_before_averaging": before} | measured(model, data, recipe)
    if job.seed < recipe.kept:
        figures["beams"] = by_beam(model, data)
    if parallel.rank() == 0:
        (folder / "training.ckpt").unlink(missing_ok=True)
        Snapshots(folder).remove()
    if job.seed >= recipe.kept:
        return Outcome(figures)
    return Outcome(figures, model, {pieces_file(recipe.pair): saved_pieces(data.source_pieces, data.target_pieces)})


def course_of(history: History, data: TranslationTask, job: Job) -> dict[str, Any]:
    """How a training went; ``ended_at`` is its last step, which an early stop puts before the last that was planned."""
    return {
        "device": best_device().type,
        "ended_at": history.steps,
        "seconds": round(history.cpu_seconds, 1),
        "wall_seconds": round(history.seconds, 1),
        "pieces_per_second": round(pieces_seen(data, job._replace(steps=history.steps)) / history.seconds),
        "losses": chunk_means(history.losses, max(1, job.steps // 40), digits=4),
        "validations": [(step, round(-result, 4)) for step, result in history.validations],
    }


def measured(model: Any, data: TranslationTask, recipe: Recipe) -> dict[str, Any]:
    """What a trained translator is worth; of one that is only tried, on validation alone."""
    loss = target_loss(model, data.task, data.task.validation)
    figures = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "validation_loss": loss,
        "validation_loss_per_word": loss * pieces_per_word(data),
    }
    if not recipe.tested:
        return figures | scored_on_validation(model, data)
    return {
        **figures,
        **scored(model, data),
        "samples": sample_translations(model, data, 20),
        "alignments": alignments(model, data, 4),
        "alignment_error_rates": alignment_errors(model, data),
    }


def pieces_seen(data: TranslationTask, job: Job) -> float:
    """How many pieces, of both languages and without padding, the training has read; cut anew, they are more."""
    epochs = job.steps / TokenBatches(data.task).steps_per_epoch(BATCH)
    return epochs * int(data.task.train_lengths().sum())


EXPERIMENT = Experiment(
    "translate",
    STEPS,
    run,
    {
        "task": "multi30k_task(pair), own_translation_task() for tiny",
        "batch": f"{BATCH} tokens, the padding counted",
        "averaged": AVERAGED,
        "learning_rate": "the highest one, in each recipe",
        **TRAINING,
        "recipes": {name: asdict(recipe) for name, recipe in RECIPES.items()},
    },
    build=build,
)
trained = EXPERIMENT.trained
