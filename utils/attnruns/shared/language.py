"""What experiments with language models share: a curve while they train, samples, and the size of their memory."""

import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Example
from attnbook.data.texts.language import TextTask
from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding import DecoderModule, greedy, sample
from attnbook.device import device_of
from attnbook.measure.text import distinct, log_probabilities, repetition, text_loss
from attnbook.modes import evaluating
from attnbook.seeding import generator

# How a model is let write: by which method, and with which options of attnbook.decoding.sample.
WAYS: dict[str, dict[str, Any] | None] = {
    "greedy": None,
    "temperature_0.5": {"temperature": 0.5},
    "temperature_1": {},
    "temperature_1.5": {"temperature": 1.5},
    "top_k_10": {"top_k": 10},
    "top_k_50": {"top_k": 50},
    "top_p_0.5": {"top_p": 0.5},
    "top_p_0.9": {"top_p": 0.9},
}
BEGIN = 3  # pieces of a held-out sentence from which a model goes on
TEXTS, LONGEST, SHOWN = 200, 30, 3  # texts of each way, pieces of the longest, texts that are kept


class Curve:
    """Called by ``fit`` now and then: notes the perplexity on some held-out sentences, and returns minus the loss.

    Attributes:
        seen: ``[step, perplexity, CPU seconds of training up to here]`` of each call; the time of a call is left out.
        apart: CPU seconds spent in calls.
    """

    def __init__(self, text: TextTask, examples: Sequence[Example], every: int) -> None:
        self.text, self.examples, self.every = text, examples, every
        self.seen: list[list[float]] = []
        self.apart, self.began = 0.0, time.process_time()

    def __call__(self, model: nn.Module) -> float:
        now = time.process_time()
        loss = text_loss(model, self.text.task, self.examples)
        step = self.every * (len(self.seen) + 1)
        self.seen.append([step, round(loss.perplexity, 2), round(now - self.began - self.apart, 1)])
        self.apart += time.process_time() - now
        return -loss.nats


def tensor_bytes(state: Any) -> int:
    """Bytes of all tensors in a state, in tuples at any depth."""
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    return sum(map(tensor_bytes, state)) if isinstance(state, tuple) else 0


@evaluating
def state_bytes(model: DecoderModule, words: int) -> int:
    """Bytes that a model keeps of one sentence, after so many words of it.

    Raises:
        ValueError: if ``words`` is below 1.
    """
    if words < 1:
        raise ValueError(f"words must be at least 1, got {words}")
    state, token = model.start(), torch.full((1,), BOS, device=device_of(model))
    for _ in range(words):
        _, state, _ = model.step(token, state)
    return tensor_bytes(state)


def bytes_per_word(model: DecoderModule) -> int:
    """By how much the memory of a sentence grows with each word: 0 for a state of fixed size."""
    return state_bytes(model, 3) - state_bytes(model, 2)


def continuations(model: DecoderModule, rows: list[list[int]], way: dict | None, seed: int) -> list[list[int]]:
    """Let a model go on from each of ``rows``, equally long, in one of ``WAYS``: what it wrote, up to its end."""
    device = device_of(model)
    prompt = torch.tensor([[BOS, *row] for row in rows], device=device)  # (B, t)
    if way is None:
        written = greedy(model, prompt=prompt, max_length=LONGEST)
    else:
        written = sample(model, prompt=prompt, max_length=LONGEST, generator=generator(seed, device), **way)
    return [until_end(row) for row in written.tokens.tolist()]


def until_end(row: list[int]) -> list[int]:
    """The words before the end symbol, if there is one."""
    return row[: row.index(EOS)] if EOS in row else row


def describe(model: nn.Module, text: TextTask, begins: list[list[int]], written: list[list[int]]) -> dict[str, Any]:
    """How varied continuations are, how long, and how likely the model itself finds them.

    ``perplexity``: of the pieces that were written, after those that were given, ``None`` if there are none; ``new``:
    which share of the whole sentences the training part doesn't hold.
    """
    rows = [begin + words for begin, words in zip(begins, written, strict=True)]
    nats = (log_probabilities(model, begins) - log_probabilities(model, rows)).sum().item()
    known = {example.target for example in text.task.train}
    texts = [tuple(text.task.target_vocabulary.decode(row)) for row in rows]
    pieces = sum(map(len, written))
    figures: dict[str, float | None] = {
        "pieces": pieces / len(written),
        "perplexity": torch.tensor(nats / pieces).exp().item() if pieces else None,
        "repetition_1": repetition(texts, 1),
        "repetition_2": repetition(texts, 2),
        "distinct_1": distinct(texts, 1),
        "distinct_2": distinct(texts, 2),
        "new": sum(row not in known for row in texts) / len(texts),
        "different": len(set(texts)) / len(texts),
    }
    shown = [text.byte_pairs.decode(row) for row in texts[:SHOWN]]
    rounded = {name: None if figure is None else round(figure, 4) for name, figure in figures.items()}
    return {**rounded, "texts": shown}


def samples(model: DecoderModule, text: TextTask, seed: int = 0) -> dict[str, dict[str, Any]]:
    """What became of ``TEXTS`` beginnings of held-out sentences: in each of ``WAYS``, and as people went on."""
    encode = text.task.target_vocabulary.encode
    rows = [encode(example.target) for example in text.task.test if len(example.target) > BEGIN][:TEXTS]
    begins = [row[:BEGIN] for row in rows]
    found = {"people": describe(model, text, begins, [row[BEGIN:] for row in rows])}
    for name, way in WAYS.items():
        found[name] = describe(model, text, begins, continuations(model, begins, way, seed))
    return found
