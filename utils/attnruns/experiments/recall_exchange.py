"""Does what the heads of layer 1 write about the step before decide what layer 2 finds (chapter 15)?

A Transformer with two layers learns online recall as in ``in_context``. Each test sequence has a twin in which the
words are exchanged in pairs and the labels stay. If the keys of layer 2 read what the binding heads wrote on the twin,
a label is bound to the other word of its pair, so the network should name that word's label.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.data.worlds.episodes import DIM, KEYS, LENGTH, VALUES, Recall, recall_of
from attnbook.device import device_of
from attnbook.measure.circuits import Exchanged, ExchangedPaths
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything
from attnruns.experiments import in_context
from attnruns.experiments.meta_learning import TRAINING, RecallTask, recall_loss
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

LESSONS: Any = RecallTask()  # its batches are not of pairs of texts
STEPS = {"two_layers": in_context.STEPS["recall_transformer"]}
TESTS, TEST_SEED = 200, 3  # sequences
HIGH = 0.5  # a head of layer 1 binds if it gives more than this weight to the step before


def twins(count: int = TESTS, seed: int = TEST_SEED) -> tuple[Recall, Tensor]:
    """Sequences, and the inputs of their twins: the words 0 and 1, 2 and 3, … are exchanged, and the labels stay."""
    draw = generator(seed)
    keys, value_of = torch.randn(count, KEYS, DIM, generator=draw), torch.randint(VALUES, (count, KEYS), generator=draw)
    which = torch.randint(KEYS, (count, LENGTH), generator=draw)
    batch = recall_of(keys, value_of, which, draw)
    words = recall_of(keys, value_of, which ^ 1, draw).inputs[..., :DIM]
    return batch, torch.cat([words, batch.inputs[..., DIM:]], dim=-1)


def named(logits: Tensor, batch: Recall) -> dict[str, float]:
    """How often the word's own label and the other word's is named, where both stood before and their labels differ."""
    same = batch.which[:, :, None] == batch.which[:, None]  # (B, T, T)
    other = (batch.which ^ 1)[:, :, None] == batch.which[:, None]
    their = (other.long() * (batch.values[:, None] + 1)).amax(dim=-1) - 1  # (B, T); -1 if it never stands there
    counted = same.tril(-1).any(dim=-1) & other.tril(-1).any(dim=-1) & (their != batch.values)
    best = logits.argmax(dim=-1).cpu()
    return {
        name: rounded_mean((best == labels)[counted]) for name, labels in (("own", batch.values), ("other", their))
    } | {"counted": int(counted.sum())}


def readings(model: Any, batch: Recall, twin: Tensor, binding: list[int]) -> dict[str, Exchanged]:
    """What the model finds without an exchange, and with one in the keys, queries or values of layer 2."""
    pairs = torch.stack([twin, batch.inputs], dim=1).flatten(0, 1).to(device_of(model))  # each reads the one before
    paths = ExchangedPaths(model, pairs, [(0, head) for head in binding])
    heads = [(1, head) for head in range(model.config.heads)]
    return {
        "usual": paths.read(),
        "keys": paths.read(keys=heads),
        "queries": paths.read(queries=heads),
        "values": paths.read(values=heads),
    }


@evaluating
def exchanged(model: VectorReader) -> dict[str, Any]:
    """The binding heads of layer 1, counted from 0, and which labels are named in each reading."""
    before = in_context.head_scores(model)["step_before"][0]
    binding = [head for head, weight in enumerate(before) if weight > HIGH]
    batch, twin = twins()
    found = readings(model, batch, twin, binding)
    return {"binding": binding, "read": {name: named(of.logits[1::2], batch) for name, of in found.items()}}


def run(job: Job) -> Outcome:
    """Train one model and exchange what its binding heads write."""
    seed_everything(job.seed)
    model: Any = in_context.build("recall_transformer")
    _, figures = train(model, LESSONS, job, TRAINING, loss=recall_loss)
    return Outcome(figures | exchanged(model))


EXPERIMENT = Experiment(
    "recall_exchange",
    STEPS,
    run,
    {"task": {"keys": KEYS, "values": VALUES, "length": LENGTH}, "tests": TESTS, "high": HIGH, **TRAINING},
)
