"""Copiers with rotary positions, read with slower rotation and the same weights: which layer, and which pairs.

The copiers are the rotary model of chapter 17's file, as it stands there but for the seed, and the rotary model of
:mod:`attnruns.experiments.decoder_reach`. Each is trained, and then copies longer strings in several ways.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import (
    Stretched,
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
)
from attnruns.experiments import decoder_lengths, decoder_reach
from attnruns.experiments.decoder_lengths import Copier
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "17_beyond_lengths"
REPLACED = {"torch.manual_seed(0)": "torch.manual_seed({seed})", "steps=900": "steps={steps}"}
FOUR = REPLACED | {'for kind in ("rotary, rotary", "window, none")': "for kind in LAYERS"}  # all copiers of the file
STEPS = {"file": 900, "blocks": decoder_reach.MOST}
TRAINED = decoder_reach.TRAINED  # letters: the longest strings of training
LENGTHS = (2, 4, 6, 8, 10, 12, 15, 18, 24)  # letters, as trained
SIZES = (12, 15, 18, 24)  # letters, in every other way
TESTS, TEST_SEED = 400, 17  # strings of the file's tests; those of the blocks are decoder_reach's
PER_HEAD = 16  # features of a head, eight pairs, in both kinds
FAST = 3.0  # turns within the trained positions from which a pair stays as it is; Peng et al. have 32 for Llama
MORE = 2**3.5  # as a factor of the base change it halves the frequency of the third pair of eight


class Way(NamedTuple):
    """How a trained model is read.

    Fields:
        frequencies: ``(D/2,)`` of the layers that are changed, from the factor by which strings are longer.
        layers: whether the first and the second layer are changed.
    """

    frequencies: Callable[[float], Tensor]
    layers: tuple[bool, bool] = (True, True)


def interpolated(factor: float) -> Tensor:
    """All pairs turn more slowly by the same factor."""
    return interpolated_frequencies(PER_HEAD, factor)


def by_wavelengths(factor: float, fast: float = FAST) -> Tensor:
    """YaRN's frequencies, without its factor on the scores: fast pairs stay, slow ones are interpolated."""
    return yarn_frequencies(PER_HEAD, factor, 2 * TRAINED, fast=fast)


WAYS: Mapping[str, Way] = {
    "trained": Way(interpolated, (False, False)),
    "first": Way(interpolated, (True, False)),
    "second": Way(interpolated, (False, True)),
    "both": Way(interpolated),
    "base": Way(lambda factor: ntk_frequencies(PER_HEAD, factor)),
    "base_more": Way(lambda factor: ntk_frequencies(PER_HEAD, 1 + (factor - 1) * (MORE - 1))),  # MORE at factor 2
    "wavelengths": Way(by_wavelengths),
    "wavelengths_32": Way(lambda factor: by_wavelengths(factor, 32.0)),
}


def scales_of(way: str, size: int) -> list[Tensor]:
    """What the frequencies of each layer are multiplied by for strings of ``size`` letters: two of ``(D/2,)``."""
    frequencies, layers = chosen(WAYS, way)
    slower = frequencies(max(1.0, size / TRAINED)) / rotary_frequencies(PER_HEAD)
    return [slower if changed else torch.ones_like(slower) for changed in layers]


def shares(right: Tensor) -> dict[str, float]:
    """Shares of strings and of letters, from which letters are right: bool ``(count, size)``."""
    exact, letters = (hits.double().mean().item() for hits in (right.all(dim=1), right))
    return {"exact": round(exact, 4), "letters": round(letters, 4)}


@contextmanager
def scaled(model: nn.Module, scales: Iterable[Tensor | float]) -> Iterator[None]:
    """Let the layers of a model of the file multiply positions by ``scales``: inside the ``with``.

    Args:
        model: the chapter's copier.
        scales: for each layer a number, or one per pair of features, ``(8,)``.
    """
    layers: Any = model.layers
    before = [layer.scale for layer in layers]
    try:
        for layer, scale in zip(layers, scales, strict=True):
            layer.scale = scale.float() if isinstance(scale, Tensor) else scale
        yield
    finally:
        for layer, scale in zip(layers, before, strict=True):
            layer.scale = scale


def tested_strings(names: Mapping[str, Any], size: int, seed: int) -> Tensor:
    """The file's strings for a test, ``(TESTS, 2 · size + 1)``; random numbers go on as if they had not been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return names["strings"](size, B=TESTS)


def right_letters(model: Callable, words: Tensor, size: int) -> Tensor:
    """Which letters of the copy a model of the file names rightly: bool ``(count, size)``."""
    logits = model(words[:, :-1])[0][:, size:]  # (B, size, 26)
    return logits.argmax(dim=-1) == words[:, size + 1 :]


@torch.no_grad()
def file_shares(names: Mapping[str, Any], model: nn.Module, size: int, scales: list[Tensor]) -> dict[str, float]:
    """What a model of the file copies if positions are multiplied by ``scales``; afterwards it is as before."""
    words = tested_strings(names, size, TEST_SEED + size)
    with scaled(model, scales):
        return shares(right_letters(model, words, size))


def block_shares(model: Copier, size: int, scales: list[Tensor]) -> dict[str, float]:
    """As :func:`file_shares`, of the rotary model with blocks."""
    attentions = [layer.self_attention for layer in model.blocks.layers]
    before = [attention.positions for attention in attentions]
    try:
        for attention, scale in zip(attentions, scales, strict=True):
            attention.positions = Stretched(scale * rotary_frequencies(PER_HEAD))
        return decoder_lengths.copied(model, size)
    finally:
        for attention, positions in zip(attentions, before, strict=True):
            attention.positions = positions


def file(seed: int, steps: int, replaced: Mapping[str, str] = REPLACED) -> dict[str, Any]:
    """The names that the chapter's file leaves behind, with this seed and so many steps."""
    return run_file(file_of(CHAPTER, replaced, seed, steps))[0]


def run(job: Job) -> Outcome:
    """Train one copier, and let it copy in every way."""
    figures: dict[str, Any] = {}
    ones = scales_of("trained", TRAINED)
    if job.model == "file":
        started = time.process_time()
        names = file(job.seed, job.steps)
        figures["seconds"] = round(time.process_time() - started, 1)  # of the processor, for all models of the file
        models = names["models"]

        def tested(size: int, scales: list[Tensor]) -> dict[str, float]:
            return file_shares(names, models["rotary, rotary"], size, scales)

        figures["window"] = {str(size): file_shares(names, models["window, none"], size, ones) for size in LENGTHS}
    else:
        model, _, figures = decoder_reach.train_copier(job, lambda: decoder_reach.build("rotary"))

        def tested(size: int, scales: list[Tensor]) -> dict[str, float]:
            return block_shares(model, size, scales)

    for way in WAYS:
        sizes = LENGTHS if way == "trained" else SIZES
        figures[way] = {str(size): tested(size, scales_of(way, size)) for size in sizes}
    return Outcome(figures)


SETTINGS = {
    "task": "copies of strings of 2 to 12 of 26 letters", "sizes": SIZES,
    "tests": {"file": TESTS, "blocks": decoder_lengths.TESTS},
    "batch": 64, "learning_rate": {"file": 0.01, "blocks": decoder_reach.TRAINING["learning_rate"]},
    "warmup": {"file": 50, "blocks": decoder_reach.TRAINING["warmup"]},
    "max_grad_norm": {"file": None, "blocks": decoder_reach.TRAINING["max_grad_norm"]}, "fast": FAST, "more": MORE,
}  # fmt: skip


def settings_of(kind: str, names: Iterable[str]) -> dict[str, Any]:
    """Those of ``SETTINGS`` with these names, as one kind of copier, "file" or "blocks", has them."""
    return {name: value[kind] if isinstance(value := SETTINGS[name], dict) else value for name in names}


EXPERIMENT = Experiment("slower_rotation", STEPS, run, SETTINGS, on_cpu=True)
