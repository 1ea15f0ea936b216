"""Labels that never change, of few words or of many: when does a Transformer store them, and when does it read?"""

from typing import Any

import torch
from torch import Tensor

from attnbook.data.worlds.episodes import BLUR, DIM, KEYS, LENGTH, VALUES, Recall, online_recall, recall_of
from attnbook.device import device_of
from attnbook.models.vector_reader import VectorReader
from attnbook.modes import evaluating
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnruns.experiments import forming
from attnruns.experiments.meta_learning import TRAINING, recall_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

TESTS, TEST_SEED = 500, 0  # sequences; training begins at 1,000,003
EVERY = 100  # steps between two measurements
WORDS = {"words_12": 12, "words_100": 100, "words_1000": 1000, "words_10000": 10_000}  # of the whole world
STEPS = dict.fromkeys(WORDS, 400)  # those of the Transformer in ``in_context``


class World:
    """Words whose labels never change, as ``train`` asks for a task.

    Args:
        words: how many there are; a sequence repeats twelve of them, so each of these stands there four times or so.
        seed: of the words and of their labels.
    """

    def __init__(self, words: int, seed: int) -> None:
        draw = generator(seed + 77)
        self.words = torch.randn(words, DIM, generator=draw)  # (W, DIM)
        self.labels = torch.randint(VALUES, (words,), generator=draw)

    def sequences(self, count: int, seed: int = 0, dealt: bool = False) -> Recall:
        """``count`` sequences; with ``dealt``, the twelve words of each have labels dealt anew, as a test."""
        draw = generator(seed)
        chosen_words = torch.rand(count, len(self.words), generator=draw).topk(KEYS).indices  # (B, 12), all different
        which = torch.randint(KEYS, (count, LENGTH), generator=draw)  # (B, T)
        label_of = torch.randint(VALUES, (count, KEYS), generator=draw) if dealt else self.labels[chosen_words]
        return recall_of(self.words[chosen_words], label_of, which, draw)

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Recall:
        """The sequences of a step."""
        return self.sequences(batch_size, seed_of_step(seed, step))


@evaluating
def measured(model: VectorReader, world: World) -> dict[str, float]:
    """Shares of right labels, by what a network can know.

    ``seen``: of words seen before in the sequence, labels as in training. ``from_weights``: of words not seen before
    in it, so that only the weights can know. ``dealt``: of the world's words seen before, labels dealt anew, so that
    only the sequence can know. ``new_words``: the same with words that no training has shown.
    """

    def right(batch: Recall) -> Tensor:
        return model(batch.inputs.to(device_of(model)))[0].argmax(dim=-1).cpu() == batch.values

    kept, dealt = (world.sequences(TESTS, TEST_SEED, dealt=anew) for anew in (False, True))
    strange = online_recall(TESTS, TEST_SEED)
    of_kept = right(kept)
    return {
        "seen": rounded_mean(of_kept[kept.seen]),
        "from_weights": rounded_mean(of_kept[~kept.seen]),
        "dealt": rounded_mean(right(dealt)[dealt.seen]),
        "new_words": rounded_mean(right(strange)[strange.seen]),
    }


def build(name: str) -> VectorReader:
    """A fresh model of this experiment: the Transformer with two layers of ``forming``, whatever the world."""
    chosen(WORDS, name)
    model = forming.build("two_layers")
    if not isinstance(model, VectorReader):
        raise TypeError(f"two_layers must be a VectorReader, got {type(model).__name__}")
    return model


def run(job: Job) -> Outcome:
    """Train one model in its world, and measure it every so many steps."""
    seed_everything(job.seed)
    model, world = build(job.model), World(chosen(WORDS, job.model), job.seed)
    seen: list[dict[str, float]] = []

    def watch(model: VectorReader) -> float:
        seen.append(measured(model, world))
        return seen[-1]["seen"]

    lessons: Any = world  # its batches are not of pairs of texts
    history, figures = train(model, lessons, job, TRAINING, loss=recall_loss, validate=watch, validate_every=EVERY)
    at = [step for step, _ in history.validations]
    figures["while_training"] = [{"step": step, **shares} for step, shares in zip(at, seen, strict=True)]
    return Outcome(figures)


EXPERIMENT = Experiment(
    "kept_labels",
    STEPS,
    run,
    {
        "task": {"words": list(WORDS.values()), "keys": KEYS, "values": VALUES, "length": LENGTH, "noise": BLUR},
        "tests": TESTS,
        "every": EVERY,
        **TRAINING,
    },
    build=build,
)
