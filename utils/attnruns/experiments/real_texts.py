"""What SmolLM2 writes, what rounding costs it, and over which layers it copies (chapters 19 and 20, evidence).

Nothing is trained. ``steps`` says how many texts, samples or lists are measured.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call

from attnbook.decoding import greedy, sample
from attnbook.measure.inside import attentions_of, read_under, residuals, sinks_and_window, surprises
from attnbook.measure.text import repetition
from attnbook.models.pretrained import Pretrained
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.experiments.real_model import fused, segments, smollm2, text_tokens
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

BEGINNINGS = {
    "keeper": "The lighthouse keeper opened the old letter and",
    "river": "In the morning the children went to the river, where",
}
WAYS: dict[str, dict[str, Any]] = {
    "temperature 0.7": {"temperature": 0.7}, "temperature 1": {}, "nucleus 0.9": {"top_p": 0.9}
}  # fmt: skip
LENGTH, DRAW = 60, 3  # tokens of each text that is written, and where its random numbers begin
SHORT, BEGINS = 192, (0, 6000, 11_000)  # texts on which rounding is measured
LENS = 128  # tokens of the text that is read early
WINDOW, SINKS, BETWEEN, FROM = 64, 4, 192, 3000  # what a local layer sees; the text between a list and its copy
EVEN, ODD = frozenset(range(2, 31, 2)), frozenset(range(1, 30, 2))
GLOBAL: dict[str, Collection[int]] = {
    "all 30": EVEN | ODD, "none": (), "15 even": EVEN, "15 odd": ODD, "8: 9 to 16": range(9, 17),
    "8: 17 to 24": range(17, 25), "15 even, and 19": EVEN | {19}, "14 odd, without 19": ODD - {19}, "only 19": {19},
    "29, without 19": (EVEN | ODD) - {19}, "18, 19 and 24": {18, 19, 24},
}  # fmt: skip


def short_texts(pretrained: Pretrained, count: int) -> list[Tensor]:
    """``count`` texts of the book's prose, each ``(1, SHORT)``."""
    tokens = text_tokens(pretrained)
    return [tokens[begin : begin + SHORT][None] for begin in BEGINS[:count]]


def up_to_the_end(row: list[int], ends: tuple[int, ...]) -> list[int]:
    """A text without the token that ends it, and what fills the row behind it."""
    return row[: next((i for i, token in enumerate(row) if token in ends), len(row))]


def written(
    pretrained: Pretrained, beginning: str, way: str, samples: int, length: int = LENGTH, seed: int = 0
) -> list[list[int]]:
    """The tokens that follow ``beginning``: the likeliest, one text, if ``way`` is "greedy", else ``samples`` draws."""
    prompt = torch.tensor([pretrained.tokenizer.encode(beginning).ids])
    end: dict[str, Any] = {"max_length": length, "eos": pretrained.ends[0]}
    if way == "greedy":
        tokens = greedy(pretrained.model, prompt=prompt, **end).tokens
    else:
        draws = generator(DRAW + seed)
        tokens = sample(pretrained.model, prompt=prompt.repeat(samples, 1), generator=draws, **end, **WAYS[way]).tokens
    return [up_to_the_end(row, pretrained.ends) for row in tokens.tolist()]


def writing(job: Job) -> dict[str, Any]:
    """The texts that follow two beginnings, and the share of their pairs of tokens that were there before."""
    pretrained = smollm2()
    figures: dict[str, dict[str, Any]] = {}
    for name, beginning in BEGINNINGS.items():
        figures[name] = {}
        for way in ("greedy", *WAYS):
            rows = written(pretrained, beginning, way, job.steps, seed=job.seed)
            repeated = [repetition([row]) for row in rows]
            figures[name][way] = {
                "texts": [pretrained.tokenizer.decode(row) for row in rows],
                "repeated": rounded(repeated),
            }
    return {"by_beginning": figures}


def in_fewer_bits(numbers: Tensor, bits: int, offset: bool) -> Tensor:
    """Numbers of any shape, rounded in blocks of 32 to ``bits`` each, with the smallest number as an offset or without.

    Without an offset the steps lie evenly around zero.
    """
    blocks = numbers.reshape(-1, 32)
    low = blocks.amin(dim=1, keepdim=True) if offset else torch.zeros(1)
    widest = blocks.amax(dim=1, keepdim=True) - low if offset else blocks.abs().amax(dim=1, keepdim=True)
    step = widest / (2**bits - 1 if offset else 2 ** (bits - 1) - 1)
    return (((blocks - low) / step).round() * step + low).reshape(numbers.shape)


def by_feature_in_fewer_bits(numbers: Tensor, bits: int, offset: bool) -> Tensor:
    """The same for ``(…, T, F)`` in blocks of 32 neighbouring tokens of one feature; the last token is repeated."""
    length = numbers.shape[-2]
    filled = torch.cat([numbers, numbers[..., -1:, :].expand(*numbers.shape[:-2], -length % 32, -1)], dim=-2)
    return in_fewer_bits(filled.mT, bits, offset).mT[..., :length, :]


def other_blocks(weight: Tensor, bits: int) -> Tensor:
    """A matrix rounded in blocks that begin 16 numbers later in each row, below eight bits with an offset."""
    return in_fewer_bits(weight.roll(-16, dims=1), bits, offset=bits < 8).roll(16, dims=1)


def matrices(model) -> dict[str, Tensor]:
    """The matrices of all layers, which the file stores in four bits, by name."""
    return {name: weight for name, weight in model.named_parameters() if weight.ndim == 2 and "layers" in name}


@evaluating
def cost_of_weights(model, texts: list[Tensor], bits: int) -> tuple[list[float], float]:
    """Nats per token that rounding all matrices once more costs on each text, and how far it moves the median one."""
    before = matrices(model)
    after = {name: other_blocks(weight, bits) for name, weight in before.items()}
    moved = median(((after[name] - weight).norm() / weight.norm()).item() for name, weight in before.items())
    usual = [surprises(model(words)[0], words).mean().item() for words in texts]
    nats = [surprises(functional_call(model, after, (words,))[0], words).mean().item() for words in texts]
    return [more - less for more, less in zip(nats, usual, strict=True)], moved


def weight_bits(job: Job) -> dict[str, Any]:
    """What eight, four and three bits per weight cost, by text."""
    pretrained = smollm2()
    found = {bits: cost_of_weights(pretrained.model, short_texts(pretrained, job.steps), bits) for bits in (8, 4, 3)}
    return {
        "by_bits": {
            str(bits): {"cost": rounded(cost), "moved": round(moved, 4)} for bits, (cost, moved) in found.items()
        }
    }


@contextmanager
def rounded_cache(model, bits: int, offset: bool, keys_by_feature: bool = False) -> Iterator[None]:
    """Inside this block all keys and values are rounded before they are used, keys before they are turned.

    With ``keys_by_feature``, the blocks of keys lie along the tokens; a block then knows the tokens that complete it.
    """
    of_keys = by_feature_in_fewer_bits if keys_by_feature else in_fewer_bits
    hooks = [
        part.register_forward_hook(lambda _, inputs, output, way=way: way(output, bits, offset))
        for attention in attentions_of(model)
        for part, way in ((attention.project_key, of_keys), (attention.project_value, in_fewer_bits))
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@evaluating
def cost_of_cache(model, texts: list[Tensor], bits: int, offset: bool) -> list[float]:
    """Nats per token that a cache of so few bits per number costs on each text."""
    usual = [surprises(model(words)[0], words).mean().item() for words in texts]
    with rounded_cache(model, bits, offset):
        nats = [surprises(model(words)[0], words).mean().item() for words in texts]
    return [more - less for more, less in zip(nats, usual, strict=True)]


def cache_bits(job: Job) -> dict[str, Any]:
    """What fewer bits per number of the cache cost, by text, with an offset per block and without."""
    pretrained = smollm2()
    texts, found = short_texts(pretrained, job.steps), {}
    for bits, offset in ((8, False), (4, False), (4, True), (3, True)):
        name = f"{bits} bits, {'with' if offset else 'without'} offset"
        found[name] = rounded(cost_of_cache(pretrained.model, texts, bits, offset))
    return {"cost": found}


@evaluating
def read_early(model, words: Tensor, layers: Collection[int]) -> dict[int, float]:
    """Nats per token of ``words (B, T)``, read off after each of these layers as if it were the last."""
    seen = residuals(model, words)
    return {n: surprises(model.output(model.blocks.last_norm(seen[n])), words).mean().item() for n in layers}


def lens(job: Job) -> dict[str, Any]:
    """The logit lens on ``steps`` texts: nats per token after each layer, from the first on."""
    pretrained = smollm2()
    words = torch.cat(short_texts(pretrained, job.steps))[:, :LENS]
    return {
        "nats": rounded(
            list(read_early(pretrained.model, words, range(1, len(attentions_of(pretrained.model)) + 1)).values())
        )
    }


def lists_around_texts(pretrained: Pretrained, count: int, seed: int) -> Tensor:
    """Random common words, a text, and the same words again: ``(count, 2 · PERIOD + BETWEEN)``."""
    words = segments(pretrained, count, seed)
    between = text_tokens(pretrained)[FROM : FROM + count * BETWEEN].view(count, BETWEEN)
    return torch.cat([words, between, words], dim=1)


def masks_by_layer(model, length: int, window: int, global_layers: Collection[int], sinks: int = SINKS) -> list[Tensor]:
    """A mask ``(T, T)`` for each layer: everything in ``global_layers``, from 1 on, elsewhere a window and sinks."""
    everything, local = sinks_and_window(length, length, 0), sinks_and_window(length, window, sinks)
    numbers = range(1, len(model.blocks.layers) + 1)
    return [everything if number in global_layers else local for number in numbers]


@evaluating
def copied_and_perplexity(model, twice: Tensor, global_layers: Collection[int]) -> tuple[Tensor, float]:
    """Read lists around texts ``twice (B, T)`` with a window and sinks in all layers but ``global_layers``, from 1 on.

    Returns:
        ``(B, PERIOD − 1)`` bool, which words behind the first of each list are copied; and the perplexity of the text
        between, from its 65th token on.
    """
    length, period = twice.shape[1], (twice.shape[1] - BETWEEN) // 2
    with fused(model):
        logits = read_under(model, twice, masks_by_layer(model, length, WINDOW, global_layers))
    copied = logits[:, -period:-1].argmax(dim=-1) == twice[:, 1 - period :]
    text = surprises(logits, twice)[:, period + 63 : period + BETWEEN - 1]
    return copied, text.mean().exp().item()


def global_layers(job: Job) -> dict[str, Any]:
    """By which layers attend to everything: the words that each list copies, from 2 on, and the perplexity between."""
    pretrained, found = smollm2(), {}
    twice = lists_around_texts(pretrained, job.steps, job.seed)
    for name, layers in GLOBAL.items():
        copied, perplexity = copied_and_perplexity(pretrained.model, twice, layers)
        words = [(row.nonzero()[:, 0] + 2).tolist() for row in copied]
        found[name] = {"copied": words, "perplexity": round(perplexity, 2)}
    return {"by_layers": found}


PARTS: Parts = {
    "writing": (writing, 8),
    "weight_bits": (weight_bits, 3),
    "cache_bits": (cache_bits, 3),
    "lens": (lens, 1),
    "global_layers": (global_layers, 3),
}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_texts",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "length": LENGTH, "short": SHORT, "window": WINDOW,
        "sinks": SINKS, "between": BETWEEN,
    },
    on_cpu=True,
)  # fmt: skip
