"""A kNN language model on captions: perplexity by the size of its store and by k, without training (chapter 12)."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.data import shift_right
from attnbook.data.batching import Example, Task
from attnbook.data.texts.language import CAPTION_PIECES, caption_task
from attnbook.data.texts.vocabulary import PAD
from attnbook.device import device_of
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.neighbours import (
    Datastore,
    build_datastore,
    mix_probabilities,
    nearest_neighbours,
    states_and_logits,
)
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import language_model_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import train

TRAINING: dict[str, Any] = {"batch": 64, "learning_rate": 4e-3, "warmup": 50, "max_grad_norm": 1.0}
SEEN = 9000  # captions that the model is trained on; the others are only put into the store
STORES = (2250, 4500, 9000, 18000, None)  # captions in the store, the model's own first; None = all there are
NEIGHBOURS = (1, 8, 64, 512)
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
CAPTIONS = {"validation": 100, "test": 200}  # temperature and weight are chosen on the validation captions
QUERIES = 256  # states that search the store at once


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        seen: so many captions it is trained on; ``None`` = all. store: measure it with a store.
        steps: of the training. kept: keep the weights of seed 0.
    """

    seen: int | None = SEEN
    store: bool = True
    steps: int = 500
    kept: bool = False


RECIPES = {"part": Recipe(kept=True), "all": Recipe(seen=None, store=False)}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


class Questions(NamedTuple):
    """Words to be predicted: the states that ask, ``(Q, D)``, the words ``(Q,)``, the model's probability ``(Q,)``."""

    states: Tensor
    words: Tensor
    model: Tensor


def task(recipe: Recipe) -> Task:
    """The captions, with as many to train on as the recipe says."""
    whole = caption_task().task
    words = whole.source_vocabulary, whole.target_vocabulary
    return Task("captions", whole.train[: recipe.seen], whole.validation, whole.test, {}, *words)


def build(name: str, vocabulary_size: int = CAPTION_PIECES) -> LanguageModel:
    """A fresh model, the same by each name: 64 wide, 2 layers, rotary positions. Raises ValueError for another name."""
    chosen(RECIPES, name)
    return LanguageModel(vocabulary_size, TransformerConfig())


def keys_of(model: LanguageModel, kind: str) -> nn.Module:
    """The module whose input is a key: the last feed-forward sublayer's, as in the paper, or the output layer's."""
    return model.output if kind == "last_state" else model.blocks.layers[-1].feed_forward


def texts(
    task: Task, examples: Sequence[Example], device: torch.device | str = "cpu", size: int = 250
) -> list[tuple[Tensor, Tensor]]:
    """Captions as pairs of words read and words that follow, ``(B, T)`` each."""
    targets = [task.collate(examples[i : i + size]).target.to(device) for i in range(0, len(examples), size)]
    return [(shift_right(target), target) for target in targets]


@evaluating
def questions(model: LanguageModel, task: Task, examples: Sequence[Example], kind: str) -> Questions:
    """All words of some captions, each with the state that has to predict it."""
    parts = []
    for words, target in texts(task, examples, device_of(model)):
        states, logits = states_and_logits(model, words, keys_of(model, kind))
        real = target != PAD  # (B, T)
        own = logits.softmax(dim=-1).gather(-1, target[..., None])[..., 0]  # (B, T)
        parts.append((states[real], target[real], own[real]))
    return Questions(*(torch.cat(part) for part in zip(*parts, strict=True)))


def perplexity(probability: Tensor) -> float:
    """exp of the mean of −log p over words, ``probability (Q,)``: the number of equally likely words."""
    return round(probability.log().mean().neg().exp().item(), 3)


def search(states: Tensor, store: Datastore, start: int, end: int, k: int) -> tuple[Tensor, Tensor]:
    """The nearest ``k`` of entries ``start`` … ``end`` − 1, some states at a time: squared distances and words."""
    keys, following, parts = store.keys[start:end], store.next_tokens[start:end], []
    for some in states.split(QUERIES):
        distances, nearest = nearest_neighbours(some, keys, min(k, end - start))
        parts.append((distances, following[nearest]))
    all_distances, all_words = zip(*parts, strict=True)
    return torch.cat(all_distances), torch.cat(all_words)  # (Q, k) each


def grown_neighbours(states: Tensor, store: Datastore, ends: list[int], k: int) -> list[tuple[Tensor, Tensor]]:
    """For each of ``ends``, the nearest ``k`` entries before it: squared distances and words, ``(Q, k)`` each.

    A larger store is not searched anew: only its new entries are, and merged with what was found before.
    """
    found: list[tuple[Tensor, Tensor]] = []
    for start, end in pairwise([0, *ends]):
        parts = [*found[-1:], search(states, store, start, end, k)]
        distances, words = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))  # (Q, up to 2k)
        distances, order = distances.topk(min(k, distances.shape[1]), dim=1, largest=False)
        found.append((distances, words.gather(1, order)))
    return found


def right_share(distances: Tensor, words: Tensor, target: Tensor, temperature: float) -> Tensor:
    """The part of the neighbours' votes that falls on the right word ``target (Q,)``: ``(Q,)``.

    What :func:`~attnbook.models.neighbours.vote` gives this word, without the others' probabilities.
    """
    return ((-distances / temperature).softmax(dim=-1) * (words == target[:, None])).sum(dim=-1)


class Choice(NamedTuple):
    """How neighbours are mixed in: the temperature of their votes, and the weight of all of them."""

    temperature: float
    weight: float


def choose(asked: Questions, distances: Tensor, words: Tensor) -> Choice:
    """The temperature and weight with the lowest perplexity on these questions."""
    shares = {t: right_share(distances, words, asked.words, t) for t in TEMPERATURES}
    return min(
        (Choice(t, weight) for t in TEMPERATURES for weight in WEIGHTS),
        key=lambda choice: perplexity(mix_probabilities(asked.model, shares[choice.temperature], choice.weight)),
    )


def mixed_perplexity(asked: Questions, distances: Tensor, words: Tensor, choice: Choice) -> float:
    """Perplexity of the model and its neighbours together."""
    share = right_share(distances, words, asked.words, choice.temperature)
    return perplexity(mix_probabilities(asked.model, share, choice.weight))


def measure(model: LanguageModel, task: Task, captions: Sequence[Example], kind: str, stores: tuple) -> dict:
    """Perplexity with a store of the first so many ``captions``, by its size and by k; choices made on validation.

    ``repeated``: of captions that the model was not trained on but that lie in the largest store.
    """
    sizes = [len(captions) if size is None else min(size, len(captions)) for size in stores]
    store = build_datastore(model, texts(task, captions[: sizes[-1]], device_of(model)), keys_of(model, kind), PAD)
    ends = [sum(len(example.target) + 1 for example in captions[:size]) for size in sizes]  # + 1: the end symbol
    some = task.validation[: CAPTIONS["validation"]], task.test[: CAPTIONS["test"]], captions[-CAPTIONS["validation"] :]
    asked = [questions(model, task, examples, kind) for examples in some]
    found = [grown_neighbours(one.states, store, ends, max(NEIGHBOURS)) for one in asked]
    by_store: dict = {}
    for number, size in enumerate(sizes):
        by_store[str(size)] = {"entries": ends[number]}
        for k in NEIGHBOURS:
            validation, test, repeated = ((d[:, :k], w[:, :k]) for d, w in (each[number] for each in found))
            choice = choose(asked[0], *validation)
            by_store[str(size)][str(k)] = {
                **choice._asdict(),
                "perplexity": mixed_perplexity(asked[1], *test, choice),
                "repeated": mixed_perplexity(asked[2], *repeated, choice),
            }
    return {"model": [perplexity(one.model) for one in asked[1:]], "by_store": by_store}


def run(job: Job) -> Outcome:
    """Train a model, and measure it with stores."""
    seed_everything(job.seed)
    start, recipe = time.process_time(), chosen(RECIPES, job.model)
    captions, whole = task(recipe), caption_task().task
    model = build(job.model, len(captions.source_vocabulary))
    _, figures = train(model, captions, job, TRAINING, loss=language_model_loss)
    test = questions(model, captions, captions.test[: CAPTIONS["test"]], "last_state")
    figures |= {"perplexity": perplexity(test.model), "words": len(test.words)}
    if recipe.store:
        figures["feed_forward"] = measure(model, captions, whole.train, "feed_forward", STORES)
        figures["last_state"] = measure(model, captions, whole.train, "last_state", STORES[-1:])
    figures["seconds"] = round(time.process_time() - start, 1)
    return Outcome(figures, model if recipe.kept and job.seed == 0 else None)


SETTINGS = {"task": "caption_task()", "seen": SEEN, "stores": STORES, "neighbours": NEIGHBOURS, "captions": CAPTIONS}
EXPERIMENT = Experiment("neighbours", STEPS, run, {**SETTINGS, **TRAINING}, build=build)
trained = EXPERIMENT.trained
