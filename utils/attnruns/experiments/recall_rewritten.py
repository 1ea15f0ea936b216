"""Which state keeps the newest value of a key that gets new ones? Recall by the number of pairs told (chapter 20)."""

from attnbook.data.batching import Batch
from attnbook.data.symbols.pairs import rewritten_batch
from attnbook.data.texts.vocabulary import PAD, SPECIAL
from attnbook.device import best_device, device_of
from attnbook.models.state_layer import StateModel
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything, seed_of_step
from attnruns.experiments.recall_by_state import FEATURES, TEST_SEED, TESTS, TRAINING, WORDS, answer_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

KEYS, STATE = 8, 16  # different keys in a sequence; features of queries and keys
TRAINED_PAIRS, TESTED_PAIRS = (8, 16, 24, 32), (8, 16, 24, 32, 64)
KINDS = ("softmax", "softmax_near", "sum", "sum_units", "forgetting", "forgetting_units", "delta", "gated")


class Rewritten:
    """The lessons: new sequences every step, of as many pairs as it is the turn of."""

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The batch of a training step, always the same for the same step and seed."""
        pairs = TRAINED_PAIRS[step % len(TRAINED_PAIRS)]
        return rewritten_batch(batch_size, KEYS, pairs, WORDS, seed_of_step(seed, step))


@evaluating
def right_by_pairs(model: StateModel) -> dict[str, float]:
    """Share of the newest values named rightly, by the number of pairs; 1 / 64 is chance."""
    shares = {}
    for pairs in TESTED_PAIRS:
        batch = rewritten_batch(TESTS, KEYS, pairs, WORDS, TEST_SEED).to(device_of(model))
        hits = model(batch.source)[0].argmax(dim=-1) == batch.target  # (B, 2P + K)
        shares[str(pairs)] = rounded_mean(hits[batch.target != PAD])
    return shares


def build(name: str) -> StateModel:
    """A fresh model of two layers of one of ``KINDS``."""
    kind = chosen({kind: kind for kind in KINDS}, name)
    return StateModel(len(SPECIAL) + 2 * WORDS, FEATURES, STATE, (kind, kind))


def run(job: Job) -> Outcome:
    """Train and test one model."""
    seed_everything(job.seed)
    model = build(job.model).to(best_device())
    history, figures = train(model, Rewritten(), job, TRAINING, loss=answer_loss)
    return Outcome({**figures, "losses": chunk_means(history.losses, 100, digits=4), "right": right_by_pairs(model)})


EXPERIMENT = Experiment(
    "recall_rewritten",
    dict.fromkeys(KINDS, 1000),
    run,
    {
        "task": f"rewritten_batch(keys={KEYS}, words={WORDS})", "trained_pairs": TRAINED_PAIRS,
        "tested_pairs": TESTED_PAIRS, "features": FEATURES, "state": STATE, "sequences": TESTS, **TRAINING,
    },
)  # fmt: skip
