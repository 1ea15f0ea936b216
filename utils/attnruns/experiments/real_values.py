"""Does the number of the subject travel through one value of one head? SmolLM2, when it is exchanged (chapter 07).

Nothing is trained. Each sentence of ``real_agreement`` has a twin in which one noun has the other number. Of one head,
only the value of this noun is exchanged for the twin's, at all positions that read it; all weights of the head and all
that came before stay as they were. ``steps`` says how many pairs are measured, in both directions: an exchange to the
plural should make *are* more probable, and one to the singular *is*. In ``same``, the twin has another noun of the same
number in the subject's place: this exchange should hardly move the verb.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from attnbook.attention import causal_mask
from attnbook.attention.multihead import MultiHeadAttention, split_heads
from attnbook.measure.inside import attentions_of, read_on, residuals
from attnbook.modes import evaluating
from attnruns.experiments.real_agreement import EXAMPLE, THINGS, Reader, sentences
from attnruns.experiments.real_model import Head, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

HEAD: Head = (26, 0)  # layer 27, head 1: it attends most to the subject
SUBJECT, OTHER = 1, 4  # which word is the subject, and which the noun next to it
Twin = Callable[[str, int], str]  # a text and which of its words is exchanged -> the twin


def in_other_number(text: str, word: int) -> str:
    """The same words, one of them in the other number.

    >>> in_other_number("The keys near the cabinet", 4)
    'The keys near the cabinets'
    """
    words = text.split()
    words[word] = words[word].removesuffix("s") if words[word].endswith("s") else words[word] + "s"
    return " ".join(words)


def another_noun(text: str, word: int) -> str:
    """The same words, one of them another noun of the same number: the next one of the list that the text doesn't have.

    >>> another_noun("The keys near the cabinet", 1)
    'The tables near the cabinet'
    """
    words = text.split()
    things, plural = [each.removesuffix("s") for each in words], words[word].endswith("s")
    at = THINGS.index(things[word])
    words[word] = next(thing for thing in THINGS[at:] + THINGS[:at] if thing not in things) + "s" * plural
    return " ".join(words)


@evaluating
def verb_odds(model, x: Tensor, layer: int, verbs: Tensor) -> Tensor:
    """Log-probabilities of *is* and *are* from what enters a layer: x ``(B, T, D)``, verbs ``(2,)`` -> ``(B, 2)``."""
    return read_on(model, x, layer, since=-1)[:, -1].log_softmax(dim=-1)[:, verbs]


@evaluating
def values_and_weights(model, x: Tensor, head: Head) -> tuple[Tensor, Tensor]:
    """What a head passes on, ``(B, T, D/H)``, and its weights, ``(B, T, T)``; a norm stands before each attention.

    x: what enters its layer, ``(B, T, D)``.
    """
    attention, read = attentions_of(model)[head[0]], model.blocks.layers[head[0]].norm_self(x)
    _, weights = attention(read, read, read, causal_mask(x.shape[1]))
    values = split_heads(attention.project_value(read), attention.key_value_heads)  # (B, G, T, D/H)
    shared = attention.heads // attention.key_value_heads  # so many heads read the same values
    return values[:, head[1] // shared], weights[:, head[1]]


@contextmanager
def added(attention: MultiHeadAttention, head: int, change: Tensor) -> Iterator[None]:
    """Inside this block, ``change (B, T, D/H)`` is added to the contexts of one head."""

    def add(_: Any, inputs: tuple[Tensor]) -> tuple[Tensor]:
        contexts = inputs[0].unflatten(-1, (attention.heads, -1)).clone()  # (B, T, D) -> (B, T, H, D/H)
        contexts[:, :, head] += change
        return (contexts.flatten(2),)

    handle = attention.project_output.register_forward_pre_hook(add)
    try:
        yield
    finally:
        handle.remove()


@evaluating
def change_of(model, x: Tensor, position: int, head: Head) -> Tensor:
    """By how much a head's contexts change when it reads the twin's value at a position: ``(2 N, T, D/H)``.

    x: what enters its layer, ``(2 N, T, D)``, twins N rows apart.
    """
    values, weights = values_and_weights(model, x, head)
    own = values[:, position]  # (2 N, D/H)
    twins = own.roll(len(own) // 2, dims=0)
    return weights[:, :, position, None] * (twins - own)[:, None]  # (2 N, T, 1) * (2 N, 1, D/H)


def exchanged(model, x: Tensor, verbs: Tensor, position: int, head: Head, rows: int | None = None) -> Tensor:
    """:func:`verb_odds` when a head reads the twin's value at a position: x ``(2 N, T, D)``, twins N rows apart.

    rows: how many rows, from the first, go on through the model; all 2 N when left out.
    """
    change = change_of(model, x, position, head)[:rows]
    with added(attentions_of(model)[head[0]], head[1], change):
        return verb_odds(model, x[:rows], head[0], verbs)


def towards_other(odds: Tensor, plural: Tensor) -> Tensor:
    """By how many nats the verb of the other number is ahead.

    Args:
        odds: log-probabilities of *is* and *are*, ``(B, 2)``. plural: whether the own number is plural, ``(B,)``.
    """
    return torch.where(plural, -1, 1) * (odds[:, 1] - odds[:, 0])


def moved(before: Tensor, after: Tensor, plural: Tensor) -> dict[str, Any]:
    """By how many nats the log-odds move towards the new number, by direction; and how often.

    Args:
        before, after: log-probabilities of *is* and *are*, ``(B, 2)``. plural: whether the old number is plural.
    """
    old, new = towards_other(before, plural), towards_other(after, plural)
    figures: dict[str, Any] = {}
    for name, rows in {"to_plural": ~plural, "to_singular": plural}.items():
        nats = (new - old)[rows]
        figures[name] = {
            "nats": round(nats.mean().item(), 3),
            "size": round(nats.abs().mean().item(), 3),  # in either direction
            "towards": rounded_mean(nats > 0),
            "before": rounded_mean(old[rows] > 0),  # share in which the new number's verb is the more probable one
            "after": rounded_mean(new[rows] > 0),
        }
    return figures


def pairs_of(reader: Reader, texts: list[str], word: int, twin: Twin = in_other_number) -> tuple[Tensor, Tensor]:
    """Texts and behind them their twins: tokens ``(2 N, T)``; and whether that word is plural, ``(2 N,)``."""
    both = texts + [twin(text, word) for text in texts]
    tokens = torch.cat([reader.tokens(text) for text in both])
    return tokens, torch.tensor([text.split()[word].endswith("s") for text in both])


def at_noun(
    reader: Reader, texts: list[str], word: int, layer: int, heads: list[int], twin: Twin = in_other_number
) -> dict[str, Any]:
    """:func:`moved` when the noun itself is the twin's, and when only its value in each head is."""
    model, (tokens, plural) = reader.pretrained.model, pairs_of(reader, texts, word, twin)
    position, verbs = reader.position(texts[0], word), reader.verb_tokens()
    x = residuals(model, tokens)[layer]  # (2 N, T, D)
    before = verb_odds(model, x, layer, verbs)
    figures = {"noun": moved(before, before.roll(len(texts), dims=0), plural)}
    for head in heads:
        after = exchanged(model, x, verbs, position, (layer, head))
        figures[f"{layer + 1}.{head + 1}"] = moved(before, after, plural)
    return figures


def example(reader: Reader, word: int, twin: Twin = in_other_number) -> dict[str, Any]:
    """The chapter's sentence: the probabilities of *is* and *are* before and after one value is exchanged."""
    model, (tokens, _) = reader.pretrained.model, pairs_of(reader, [EXAMPLE], word, twin)
    verbs, position = reader.verb_tokens(), reader.position(EXAMPLE, word)
    x = residuals(model, tokens)[HEAD[0]]  # (2, T, D)
    both = {"before": verb_odds(model, x, HEAD[0], verbs), "after": exchanged(model, x, verbs, position, HEAD)}
    return {name: [round(p, 4) for p in of[0].exp().tolist()] for name, of in both.items()}


def values(job: Job) -> dict[str, Any]:
    """The subject's value in each head of one layer; in the head, the next noun's, and another noun's in its place."""
    reader = Reader(smollm2())
    texts = [text for text, _ in sentences(2, job.steps, job.seed)]
    (layer, head), heads = HEAD, reader.pretrained.model.config.heads
    return {
        "subject": at_noun(reader, texts, SUBJECT, layer, list(range(heads))),
        "other": at_noun(reader, texts, OTHER, layer, [head]),
        "same": at_noun(reader, texts, SUBJECT, layer, [head], another_noun),
        "example": {
            "subject": example(reader, SUBJECT),
            "other": example(reader, OTHER),
            "same": example(reader, SUBJECT, another_noun),
        },
    }


PARTS: Parts = {"values": (values, 60)}


def run(job: Job) -> Outcome:
    """Measure one draw of sentences."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_values",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "head": HEAD, "example": EXAMPLE},
    on_cpu=True,
)
