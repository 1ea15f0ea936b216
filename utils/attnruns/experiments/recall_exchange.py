"""Does what the heads of layer 1, or a convolution, write about the step before decide what is found (chapter 15)?

A Transformer with two layers learns online recall as in ``in_context``, a SNAIL as in ``meta_learning``. Each test
sequence has a twin in which the words are exchanged in pairs and the labels stay. If the keys of the Transformer's
layer 2 read what its binding heads wrote on the twin, a label is bound to the other word of its pair, so the network
should name that word's label. In the SNAIL, the keys of the last attention read what one convolution wrote on the twin.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.attention import attend, causal_mask
from attnbook.data.worlds.episodes import DIM, KEYS, LENGTH, VALUES, Recall, recall_of
from attnbook.device import device_of
from attnbook.measure.circuits import Exchanged, ExchangedPaths
from attnbook.models.snail import CausalAttentionBlock, Snail, TemporalConvolutions
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything
from attnruns.experiments import in_context, meta_learning
from attnruns.experiments.meta_learning import TRAINING, RecallTask, recall_loss
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

LESSONS: Any = RecallTask()  # its batches are not of pairs of texts
STEPS = {"two_layers": in_context.STEPS["recall_transformer"], "snail": meta_learning.STEPS["recall_snail"]}
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
    """What a Transformer finds without an exchange, and with one in the keys, queries or values of layer 2; and with
    one in the keys of what the other heads of layer 1 wrote, a control.
    """
    pairs = torch.stack([twin, batch.inputs], dim=1).flatten(0, 1).to(device_of(model))  # each reads the one before
    paths = ExchangedPaths(model, pairs, [(0, head) for head in binding])
    heads = [(1, head) for head in range(model.config.heads)]
    others = paths.with_writers([(0, head) for head in range(model.config.heads) if head not in binding])
    return {
        "usual": paths.read(),
        "keys": paths.read(keys=heads),
        "queries": paths.read(queries=heads),
        "values": paths.read(values=heads),
        "others, keys": others.read(keys=heads),
    }


@evaluating
def exchanged(model: VectorReader) -> dict[str, Any]:
    """The binding heads of layer 1, counted from 0, and which labels are named in each reading."""
    before = in_context.head_scores(model)["step_before"][0]
    binding = [head for head, weight in enumerate(before) if weight > HIGH]
    batch, twin = twins()
    found = readings(model, batch, twin, binding)
    return {"binding": binding, "read": {name: named(of.logits[1::2], batch) for name, of in found.items()}}


class ExchangedConvolution:
    """A SNAIL reads sequences, but its last attention sees what some convolutions wrote on their twins.

    Args:
        model: attention, convolutions, attention. x, twin: ``(B, T, inputs)``.
    """

    def __init__(self, model: Snail, x: Tensor, twin: Tensor) -> None:
        first, convolutions, last = model.blocks
        assert isinstance(convolutions, TemporalConvolutions)
        assert isinstance(last, CausalAttentionBlock)
        self.model, self.blocks, self.last = model, list(convolutions), last
        self.read = first(model.positions(x)), first(model.positions(twin))
        self.usual, self.theirs = (convolutions(read) for read in self.read)  # (B, T, D) each

    def mixed(self, chosen: list[int], passed_on: bool = True) -> Tensor:
        """What the convolutions write when the ``chosen`` ones' results are those on the twin: ``(B, T, D)``.

        Args:
            chosen: numbers of convolutions, from 0 on. passed_on: whether later convolutions read the exchanged
                results and so pass them on, too.
        """
        x = self.read[0]
        for number, block in enumerate(self.blocks):
            begin, width = x.shape[-1], block(x).shape[-1]
            usual = block(x) if passed_on else self.usual[..., :width]
            new = self.theirs if number in chosen else usual
            x = torch.cat([x, new[..., begin:width]], dim=-1)
        return x

    def logits(self, queries: Tensor | None = None, keys: Tensor | None = None, values: Tensor | None = None) -> Tensor:
        """The predictions ``(B, T, outputs)``, where the last attention computes these from what is given."""
        queries, keys, values = (self.usual if of is None else of for of in (queries, keys, values))
        last, mask = self.last, causal_mask(self.usual.shape[1], self.usual.device)
        found, _ = attend(last.project_query(queries), last.project_key(keys), last.project_value(values), mask=mask)
        return self.model.output(torch.cat([self.usual, found], dim=-1))


@evaluating
def exchanged_convolutions(model: Snail) -> dict[str, Any]:
    """Which labels are named when the last attention's keys read what each convolution wrote on the twin; that of
    dilation 1 also in the keys alone, without the later convolutions that read it, in the queries and in the values.
    """
    batch, twin = twins()
    device = device_of(model)
    paths = ExchangedConvolution(model, batch.inputs.to(device), twin.to(device))
    bound = paths.mixed([0])
    found = {"usual": paths.logits(), "keys": paths.logits(keys=bound)}
    found |= {"keys, directly": paths.logits(keys=paths.mixed([0], passed_on=False))}
    found |= {"queries": paths.logits(queries=bound), "values": paths.logits(values=bound)}
    others = range(1, len(paths.blocks))
    found |= {f"dilation {2**number}, keys": paths.logits(keys=paths.mixed([number])) for number in others}
    return {"read": {name: named(of, batch) for name, of in found.items()}}


def run(job: Job) -> Outcome:
    """Train one model and exchange what its binding heads, or its convolutions, write."""
    seed_everything(job.seed)
    snail = job.model == "snail"
    model: Any = meta_learning.build("recall_snail") if snail else in_context.build("recall_transformer")
    _, figures = train(model, LESSONS, job, TRAINING, loss=recall_loss)
    return Outcome(figures | (exchanged_convolutions if snail else exchanged)(model))


EXPERIMENT = Experiment(
    "recall_exchange",
    STEPS,
    run,
    {"task": {"keys": KEYS, "values": VALUES, "length": LENGTH}, "tests": TESTS, "high": HIGH, **TRAINING},
)
