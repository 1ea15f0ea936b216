"""How many pairs does a state of fixed size hold? Recall by number of pairs and by size of the state (chapter 20)."""

from dataclasses import dataclass
from typing import Any

from torch import nn

from attnbook.data.batching import Batch
from attnbook.data.symbols.pairs import pairs_batch
from attnbook.data.texts.vocabulary import PAD, SPECIAL
from attnbook.device import best_device, device_of
from attnbook.models.state_layer import StateModel
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnbook.training import sequence_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

WORDS, FEATURES = 64, 64  # keys, and values, that there are; features of each word
TRAINED_PAIRS, TESTED_PAIRS = (4, 8, 16, 32), (4, 8, 16, 32, 48, 64)
TESTS, TEST_SEED = 100, 0  # sequences of each size; training begins at 1,000,003
TRAINING: dict[str, Any] = {"batch": 32, "learning_rate": 3e-3, "warmup": 50, "max_grad_norm": 1.0}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        kinds: of its two layers. features: of their queries and keys, and so rows of a state.
        frozen: layers, counted from 0, whose weights stay as they were drawn. learning_rate: the highest one.
    """

    kinds: tuple[str, str]
    features: int
    frozen: tuple[int, ...] = ()
    learning_rate: float = TRAINING["learning_rate"]


def _of(kind: str, *sizes: int) -> dict[str, Recipe]:
    return {f"{kind}_{size}": Recipe((kind, kind), size) for size in sizes}


RECIPES = {
    **_of("softmax", 16),
    **_of("linear", 16, 32, 64),
    **_of("delta", 8, 16, 32),
    "softmax_linear_16": Recipe(("softmax", "linear"), 16),
    "linear_softmax_16": Recipe(("linear", "softmax"), 16),
    # Does a linear layer in front take from the softmax layer what it needs, or only learn in its place?
    "linear_softmax_16_frozen": Recipe(("linear", "softmax"), 16, frozen=(0,)),
    "linear_softmax_16_slow": Recipe(("linear", "softmax"), 16, learning_rate=1e-3),
    **_of("forgetting", 16, 64),
    # What does the delta rule owe to its correction, and what to features that need not be positive?
    **_of("sum", 16),
    **_of("sum_units", 16),
    # What the models of today combine: the gated delta rule, and softmax attention behind it or in front of it.
    **_of("gated", 16),
    "softmax_gated_16": Recipe(("softmax", "gated"), 16),
    "gated_softmax_16": Recipe(("gated", "softmax"), 16),
    "gated_softmax_16_slow": Recipe(("gated", "softmax"), 16, learning_rate=1e-3),
}
STEPS = dict.fromkeys(RECIPES, 1000)


class Pairs:
    """The lessons: new sequences every step, of as many pairs as it is the turn of."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        pairs = TRAINED_PAIRS[step % len(TRAINED_PAIRS)]
        return pairs_batch(batch_size, pairs, WORDS, seed_of_step(seed, step))


def answer_loss(model: nn.Module, batch: Batch) -> Any:
    """Cross-entropy of the values that are asked for, in nats each."""
    return sequence_loss(model(batch.source)[0], batch.target)


@evaluating
def right_by_pairs(model: nn.Module) -> dict[str, float]:
    """Share of the values named rightly, by the number of pairs; 1 / 64 is chance."""
    shares = {}
    for pairs in TESTED_PAIRS:
        batch = pairs_batch(TESTS, pairs, WORDS, TEST_SEED).to(device_of(model))
        hits = model(batch.source)[0].argmax(dim=-1) == batch.target  # (B, 3P)
        shares[str(pairs)] = rounded_mean(hits[batch.target != PAD])
    return shares


def build(name: str) -> StateModel:
    """A fresh model of this experiment; what its recipe freezes asks for no gradient."""
    recipe = chosen(RECIPES, name)
    model = StateModel(len(SPECIAL) + 2 * WORDS, FEATURES, recipe.features, recipe.kinds)
    for layer in recipe.frozen:
        model.layers[layer].requires_grad_(False)
    return model


def run(job: Job) -> Outcome:
    """Train and test one model."""
    seed_everything(job.seed)
    model = build(job.model).to(best_device())
    training = {**TRAINING, "learning_rate": chosen(RECIPES, job.model).learning_rate}
    history, figures = train(model, Pairs(), job, training, loss=answer_loss)
    figures["losses"] = chunk_means(history.losses, 100, digits=4)
    figures["right"] = right_by_pairs(model)
    figures["numbers_kept"] = {str(pairs): model.numbers_kept(3 * pairs) for pairs in TESTED_PAIRS}
    return Outcome(figures)


SETTINGS = {
    "task": f"pairs_batch(words={WORDS})", "trained_pairs": TRAINED_PAIRS, "tested_pairs": TESTED_PAIRS,
    "features": FEATURES, "sequences": TESTS, **TRAINING,
}  # fmt: skip
EXPERIMENT = Experiment("recall_by_state", STEPS, run, SETTINGS)
