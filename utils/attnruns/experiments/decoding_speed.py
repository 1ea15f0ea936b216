"""What the cache of keys and values saves, and what scheduled sampling costs: CPU seconds by length (chapter 10).

Nothing here has learnt anything: seconds don't ask for sense. It stays on the CPU, whose seconds it measures. Run it
with ``--workers 1`` on an idle machine.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from attnbook.data.batching import Batch
from attnbook.decoding import WithoutCache, beam, greedy
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.seeding import generator, seed_everything
from attnbook.training import ScheduledSampling, TwoPass, teacher_forcing_loss
from attnruns.experiments.transformer import TRAINING
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import shortest_time

WORDS = 40  # in each vocabulary
SOURCE = 25  # words in each source
NEVER = -1  # no word ends a sentence, so that all become as long as is asked for
# What decodes: features of the Transformer, sentences side by side, words to write.
DECODES = {
    "dim_128_batch_1": (128, 1, (25, 50, 100, 200)), "dim_256_batch_32": (256, 32, (25, 50, 100, 150)),
    "dim_128_batch_32": (128, 32, (25, 50, 100)), "dim_256_batch_1": (256, 1, (25, 50, 100)),
}  # fmt: skip
# What writes by beam search, at how many words and at how many beginnings.
WRITERS, WRITTEN, WIDTHS = ("plain", "attention", "base"), 50, (1, 2, 4, 8)
# What trains, and the words of its targets.
TRAINS = {"recurrent": (25, 50, 100), "transformer": (25, 50, 100)}
LEARNERS = {"recurrent": PlainSeq2Seq, "transformer": Transformer}  # as wide as those of chapters 01 and 09
LOSSES = {
    "teacher_forcing": teacher_forcing_loss,
    "two_pass": TwoPass(lambda step: 0.5).at(0),
    "word_by_word": ScheduledSampling(lambda step: 0.5).at(0),
}


def decoder(d_model: int) -> nn.Module:
    """A fresh Transformer of 2 + 2 layers, 4 heads and sinusoids, as in the paper but small."""
    config = TransformerConfig(d_model=d_model, d_ff=4 * d_model, positions="sinusoidal")
    return Transformer(WORDS, WORDS, config).eval()


def writer(name: str) -> nn.Module:
    """A fresh model of the kind and size of chapters 01, 02 or 09."""
    kinds = {"plain": PlainSeq2Seq, "attention": AttentionSeq2Seq, "base": Transformer}
    return kinds[name](WORDS, WORDS).eval()


def random_batch(size: int, length: int, seed: int) -> Batch:
    """Random words: ``size`` sources of 25, targets of ``length``."""
    draw = generator(seed)
    source, target = (torch.randint(3, WORDS, (size, n), generator=draw) for n in (SOURCE, length))
    return Batch(source, torch.full((size,), SOURCE), target)


def measure_decoding(name: str, seed: int, repeats: int) -> dict:
    """Seconds with and without the cache, ``{length: seconds}`` each, and whether the words were the same."""
    d_model, size, lengths = DECODES[name]
    model = decoder(d_model)
    figures: dict = {"cached": {}, "not_cached": {}, "same_words": True}
    batch = random_batch(size, 1, seed)
    for length in (5, *lengths):  # the first one warms up
        written = []
        for kind, writer in (("cached", model), ("not_cached", WithoutCache(model))):
            write = partial(greedy, max_length=length, eos=NEVER)
            seconds, decoded = shortest_time(repeats, write, writer, batch.source, batch.lengths)
            written.append(decoded.tokens)
            if length in lengths:
                figures[kind][str(length)] = round(seconds, 5)
        figures["same_words"] &= torch.equal(*written)
    return figures


def measure_beams(name: str, seed: int, repeats: int) -> dict:
    """Seconds of a beam search for 16 sentences of 50 words, by width."""
    model, batch = writer(name), random_batch(16, 1, seed)
    figures: dict = {"by_width": {}}
    for width in (1, *WIDTHS):  # the first one warms up
        search = partial(beam, max_length=WRITTEN, width=width, eos=NEVER)
        seconds, _ = shortest_time(repeats, search, model, batch.source, batch.lengths)
        figures["by_width"][str(width)] = round(seconds, 5)
    return figures


def measure_training(name: str, seed: int, repeats: int) -> dict:
    """Seconds of one step of training without the optimiser, by loss and by length of the target."""
    model = LEARNERS[name](WORDS, WORDS).train()
    figures: dict = {loss: {} for loss in LOSSES}
    for length in TRAINS[name]:
        batch = random_batch(TRAINING["batch"], length, seed)
        for name_of_loss, loss in LOSSES.items():
            seconds, _ = shortest_time(repeats + 1, _forward_and_back, loss, model, batch)  # the first one warms up
            figures[name_of_loss][str(length)] = round(seconds, 5)
    return figures


def _forward_and_back(loss: Callable, model: nn.Module, batch: Batch) -> None:
    loss(model, batch).backward()


def run(job: Job) -> Outcome:
    """Measure one model; ``job.steps`` is how often, of which the fastest counts."""
    start = time.process_time()
    seed_everything(job.seed)
    kinds = {**dict.fromkeys(DECODES, measure_decoding), **dict.fromkeys(WRITERS, measure_beams)}
    figures = kinds.get(job.model, measure_training)(job.model, job.seed, job.steps)
    return Outcome({"seconds": round(time.process_time() - start, 1), **figures})


EXPERIMENT = Experiment(
    "decoding_speed",
    dict.fromkeys((*DECODES, *WRITERS, *TRAINS), 1),
    run,
    {"task": f"random words, sources of {SOURCE}", "decodes": DECODES, "trains": TRAINS, **TRAINING},
    on_cpu=True,
)
