"""What is seen inside of SmolLM2 and of MiniLM in the book's own blocks, where it takes minutes (chapter 19).

Nothing is trained: weights are those that ``python -m attnbook.pretrained smollm2`` (or minilm) fetched. ``steps``
says how many sequences, texts, chunks or draws are measured.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnbook.data.texts.book_prose import book_prose
from attnbook.measure.induction import prefix_matching_score, previous_word_score
from attnbook.measure.inside import (
    attentions_of,
    nats_under,
    read_in_chunks,
    sinks_and_window,
    surprises,
    without_heads,
)
from attnbook.models.pretrained import Pretrained, load
from attnbook.models.pretrained.fetching import fetch
from attnbook.modes import evaluating
from attnbook.seeding import generator
from attnruns.shared.few_sentences import compared
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded, rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

PERIOD = 32  # words of a segment that is repeated
GROUPS, CONTROLS = (1, 2, 4, 8), 20
TEXT = 128  # tokens of each text on which a group of heads is ablated as well
WINDOW, SINKS, LENGTH = 128, (0, 1, 4), 1024
CHUNK = 512
GAPS = (0, 1000, 2000, 4000, 8000)
SHARES = 3  # parts of the prose, one for each of the seeds 0 to 2
Head = tuple[int, int]


@cache
def smollm2(dtype: torch.dtype = torch.float32) -> Pretrained:
    """The language model, fetched if it isn't there."""
    return load(fetch("smollm2"), dtype)


def text_tokens(pretrained: Pretrained) -> Tensor:
    """The book's prose as tokens ``(N,)``."""
    return torch.tensor(pretrained.tokenizer.encode(book_prose()).ids)


def common_words(pretrained: Pretrained) -> list[int]:
    """Tokens of the book's prose that are whole words of four letters or more."""
    found = [number for number, _ in Counter(text_tokens(pretrained).tolist()).most_common(3000)]
    texts = {number: pretrained.tokenizer.decode([number]) for number in found}
    return [number for number, text in texts.items() if len(text) > 4 and text[0] == " " and text[1:].isalpha()]


def segments(pretrained: Pretrained, count: int, seed: int) -> Tensor:
    """Common words in random order, none twice in a segment: ``(count, PERIOD)``."""
    words, draw = torch.tensor(common_words(pretrained)), generator(seed)
    return words[torch.rand(count, len(words), generator=draw).argsort(dim=1)[:, :PERIOD]]


@evaluating
def copied(model, words: Tensor) -> tuple[float, float]:
    """Loss in nats, and share right, of a second round of PERIOD words at the end, from its second word on."""
    logits, _ = model(words)
    loss = surprises(logits, words)[:, 1 - PERIOD :].mean().item()
    right = logits[:, :-1].argmax(dim=-1) == words[:, 1:]  # (B, T - 1)
    return loss, right[:, 1 - PERIOD :].double().mean().item()


@contextmanager
def fused(model) -> Iterator[None]:
    """Inside this block, attention of all layers is torch's fused function: less memory, and no weights."""
    before = [attention.fused for attention in attentions_of(model)]
    try:
        for attention in attentions_of(model):
            attention.fused = True
        yield
    finally:
        for attention, was in zip(attentions_of(model), before, strict=True):
            attention.fused = was


def scores(model, words: Tensor) -> dict[str, list[list[float]]]:
    """Of each head, by layer: prefix matching, and the weight of the position before."""
    maps = model.maps(words)
    return {
        "induction": [prefix_matching_score(weights, words).tolist() for weights in maps],
        "previous": [previous_word_score(weights).tolist() for weights in maps],
    }


def numbered(heads: list[Head]) -> list[list[int]]:
    """Layer and head of each, counted from 1, as in the book."""
    return [[layer + 1, head + 1] for layer, head in heads]


def ordered(table: list[list[float]]) -> list[Head]:
    """Heads from the largest score down."""
    heads = [(layer, head) for layer, row in enumerate(table) for head in range(len(row))]
    return sorted(heads, key=lambda at: -table[at[0]][at[1]])


def drawn(among: list[Head], count: int, seed: int) -> list[Head]:
    """Some of these heads at random, none twice."""
    picked = torch.randperm(len(among), generator=generator(seed))[:count]
    return [among[i] for i in picked.tolist()]


def other_heads(found: dict[str, list[list[float]]], count: int, seed: int) -> list[Head]:
    """Heads drawn from those that neither match prefixes (below 0.1) nor attend to the word before (below 0.25)."""
    left = [at for at in ordered(found["induction"]) if found["induction"][at[0]][at[1]] < 0.1]
    left = [at for at in left if found["previous"][at[0]][at[1]] < 0.25]
    return drawn(left, count, seed)


class Ablation:
    """What is copied, and how a text is predicted, without some heads.

    Attributes:
        scores: of all heads, as :func:`scores` returns them.
    """

    def __init__(self, pretrained: Pretrained, count: int, seed: int) -> None:
        self.model = pretrained.model
        self.words = segments(pretrained, count, seed).repeat(1, 2)  # (count, 2 · PERIOD)
        self.texts = text_tokens(pretrained)[: count * TEXT].view(count, -1)
        self.scores = scores(self.model, self.words)

    def without(self, heads: list[Head], text: bool = True) -> dict[str, float]:
        """Loss and share right of the second round, and nats per word of running text."""
        with fused(self.model), without_heads(attentions_of(self.model), heads), torch.no_grad():
            loss, right = copied(self.model, self.words)
            figures = {"loss": round(loss, 4), "right": round(right, 4)}
            if text:
                figures["text"] = rounded_mean(surprises(self.model(self.texts)[0], self.texts))
        return figures


def single_heads(job: Job) -> dict[str, Any]:
    """The scores of all heads, and what is copied without each of them alone."""
    ablation = Ablation(smollm2(), job.steps, job.seed)
    table = ablation.scores["induction"]
    single = [
        [ablation.without([(layer, head)], text=False) for head in range(len(table[0]))] for layer in range(len(table))
    ]
    found = {kind: rounded(of) for kind, of in ablation.scores.items()}
    return {"all": ablation.without([], text=False), "scores": found, "single": single}


def groups(job: Job) -> dict[str, Any]:
    """The best heads by score ablated together, and as control as many others, drawn at random."""
    ablation = Ablation(smollm2(), job.steps, job.seed)
    best = {kind: ordered(of) for kind, of in ablation.scores.items()}
    without = {kind: {str(k): ablation.without(best[kind][:k]) for k in GROUPS} for kind in best}
    controls = [ablation.without(other_heads(ablation.scores, GROUPS[-1], draw)) for draw in range(CONTROLS)]
    return {"all": ablation.without([]), "groups": without, "controls": controls}


def window_texts(pretrained: Pretrained, job: Job) -> list[Tensor]:
    """The texts that are read with a window, each up to LENGTH tokens.

    The prose is cut into ``steps`` parts, and each seed reads another third of every part: no word is read twice.
    """
    step = len(tokens := text_tokens(pretrained)) // job.steps
    length = min(LENGTH, step // SHARES)
    begins = [i * step + job.seed % SHARES * step // SHARES for i in range(job.steps)]
    return [tokens[begin : begin + length] for begin in begins]


def windows(job: Job) -> dict[str, Any]:
    """Nats per word by position, 64 together, with everything, with a window alone, and with a window and sinks."""
    pretrained = smollm2()
    texts = window_texts(pretrained, job)
    length = len(texts[0])
    masks = {"all": sinks_and_window(length, length, 0)}
    masks |= {f"window + {sinks}": sinks_and_window(length, WINDOW, sinks) for sinks in SINKS}
    figures: dict[str, Any] = {}
    for name, mask in masks.items():
        with fused(pretrained.model), torch.no_grad():
            loss = nats_under(pretrained.model, texts, mask)
        by_position = [rounded_mean(part) for part in loss.split(64, dim=1)]
        figures[name] = {"nats": by_position, "perplexity": round(loss[:, WINDOW:].mean().exp().item(), 2)}
    return {"texts": len(texts), "by_mask": figures}


@evaluating
def surprises_in_chunks(model, words: Tensor) -> Tensor:
    """Nats of each word of ``words (B, T)`` after the first, through the cache: ``(B, T - 1)``."""
    chunks = read_in_chunks(model, words, CHUNK)
    return torch.cat([cross_entropy(logits.mT, following, reduction="none") for logits, following in chunks], dim=1)


def long_text(job: Job) -> dict[str, Any]:
    """Nats per word of one text of ``steps`` · 1,024 words, by the thousand and beyond the trained length."""
    pretrained = smollm2(torch.bfloat16)
    words = text_tokens(pretrained)[101 * job.seed :][None, : job.steps * 1024 + 1]
    with fused(pretrained.model):
        loss = surprises_in_chunks(pretrained.model, words)[0]
    return {"nats": [rounded_mean(part) for part in loss.split(1024)], "tokens": len(loss)}


def states_along(model, words: Tensor, between: Tensor, gaps: tuple[int, ...]) -> Iterator[tuple[int, Any]]:
    """The state after ``words (B, T)`` and so much of the text ``between (G,)``, at each gap, which is read once."""
    _, state, _ = model.prefill(words, model.start())
    text = between.expand(len(words), -1)
    for begin, end in pairwise((0, *gaps)):
        for chunk in text[:, begin:end].split(CHUNK, dim=1) if end > begin else ():
            _, state, _ = model.prefill(chunk, state)
        yield end, state


@evaluating
def copies_over(model, words: Tensor, between: Tensor, gaps: tuple[int, ...]) -> dict[int, float]:
    """Share right of ``words (B, PERIOD)`` when they come again, from the second on, by the length of the text between.

    At each gap the words are read from the state there, which stays as it is.
    """
    right = {}
    for gap, state in states_along(model, words, between, gaps):
        logits, _, _ = model.read(words, state)
        right[gap] = (logits[:, :-1].argmax(dim=-1) == words[:, 1:]).double().mean().item()
    return right


def copying(job: Job) -> dict[str, Any]:
    """Share right of repeated words by the length of the text between the two rounds.

    Each seed has lists of its own, and the text between begins in another third of the prose.
    """
    pretrained = smollm2(torch.bfloat16)
    words, tokens = segments(pretrained, job.steps, job.seed), text_tokens(pretrained)
    begin = job.seed % SHARES * (len(tokens) - GAPS[-1]) // SHARES
    with fused(pretrained.model):
        right = copies_over(pretrained.model, words, tokens[begin : begin + GAPS[-1]], GAPS)
    return {"right": {str(gap): round(share, 4) for gap, share in right.items()}}


def few_labels(job: Job) -> dict[str, Any]:
    """A linear classifier on few labels over TF-IDF and over MiniLM's vectors; mean of ``steps`` draws of labels."""
    return {"right": compared(load(fetch("minilm")), draws=range(job.steps * job.seed, job.steps * (job.seed + 1)))}


PARTS: Parts = {
    "single_heads": (single_heads, 4),
    "groups": (groups, 4),
    "windows": (windows, 4),
    "long_text": (long_text, 14),
    "copying": (copying, 4),
    "few_labels": (few_labels, 20),
}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_model",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits; all-MiniLM-L6-v2", "period": PERIOD, "groups": GROUPS,
        "controls": CONTROLS, "window": WINDOW, "length": LENGTH, "gaps": GAPS,
    },
    on_cpu=True,
)  # fmt: skip
