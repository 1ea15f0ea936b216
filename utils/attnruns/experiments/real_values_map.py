"""Through which of SmolLM2's heads does the number of the subject move the verb? ``real_values`` for each (chapter 07).

Nothing is trained. In each of the 270 heads, one at a time, the subject's value is exchanged for that of its twin in
the other number. The layers below are computed once. ``steps`` says how many sentences, each with its twin, the bars
are measured on, in both directions. The map takes the first six sentences, three of each number, in which all other
nouns have the other number.
"""

from typing import Any

from torch import Tensor

from attnbook.measure.inside import attentions_of, residuals, without_heads
from attnruns.experiments.real_agreement import Reader, sentences
from attnruns.experiments.real_model import Head, smollm2
from attnruns.experiments.real_values import (
    HEAD,
    OTHER,
    SUBJECT,
    exchanged,
    in_other_number,
    pairs_of,
    towards_other,
    verb_odds,
)
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

MAPPED = 6  # sentences for the map: 270 times part of the model


def shift(before: Tensor, after: Tensor, own: Tensor, subject: Tensor) -> dict[str, float]:
    """By how many nats the verb moves, in what share of the sentences, and in what share the right one is still ahead.

    Args:
        before, after: log-probabilities of *is* and *are*, ``(B, 2)``.
        own, subject: whether the noun that is exchanged, and the subject, is plural, ``(B,)``.
    """
    nats = towards_other(after, own) - towards_other(before, own)
    return {
        "nats": round(nats.mean().item(), 3),
        "towards": rounded_mean(nats > 0),
        "right": rounded_mean(towards_other(after, subject) < 0),
    }


def value_map(model, streams: list[Tensor], verbs: Tensor, position: int, plural: Tensor) -> list[list[float]]:
    """The mean shift of each head when the value at a position is exchanged, in the first N rows: ``(layers, heads)``.

    Args:
        streams: what enters each layer, ``(2 N, T, D)``, twins N rows apart. verbs: tokens, ``(2,)``.
        plural: whether the noun there is plural, ``(2 N,)``.
    """
    count = len(plural) // 2
    own, rows = plural[:count], []
    before = towards_other(verb_odds(model, streams[0][:count], 0, verbs), own)
    for layer, (x, attention) in enumerate(zip(streams, attentions_of(model), strict=False)):
        heads = range(attention.heads)
        after = [exchanged(model, x, verbs, position, (layer, head), count) for head in heads]
        rows.append([round((towards_other(odds, own) - before).mean().item(), 3) for odds in after])
    return rows


def without(model, x: Tensor, verbs: Tensor, head: Head) -> Tensor:
    """:func:`verb_odds` while a head adds nothing: what enters its layer, ``(B, T, D)`` -> ``(B, 2)``."""
    with without_heads(attentions_of(model), [head]):
        return verb_odds(model, x, head[0], verbs)


def next_noun(reader: Reader, texts: list[str], subject: Tensor) -> dict[str, float]:
    """:func:`shift` when the head reads another value at the noun next to the subject, which is plural or not."""
    model, verbs, (tokens, plural) = reader.pretrained.model, reader.verb_tokens(), pairs_of(reader, texts, OTHER)
    x, count = residuals(model, tokens)[HEAD[0]], len(texts)
    before = verb_odds(model, x, HEAD[0], verbs)
    after = exchanged(model, x, verbs, reader.position(texts[0], OTHER), HEAD)
    return shift(before[:count], after[:count], plural[:count], subject)


def bars(reader: Reader, texts: list[str]) -> dict[str, Any]:
    """The subject itself, its value in one head, this head removed, the next noun's value; who is right before."""
    model, verbs, (tokens, plural) = reader.pretrained.model, reader.verb_tokens(), pairs_of(reader, texts, SUBJECT)
    x = residuals(model, tokens)[HEAD[0]]
    before = verb_odds(model, x, HEAD[0], verbs)
    after = {
        "subject": before.roll(len(texts), dims=0),
        "value": exchanged(model, x, verbs, reader.position(texts[0], SUBJECT), HEAD),
        "removed": without(model, x, verbs, HEAD),
    }
    shifts = {name: shift(before, odds, plural, plural) for name, odds in after.items()}
    both = texts + [in_other_number(text, SUBJECT) for text in texts]
    right = rounded_mean(towards_other(before, plural) < 0)
    return {"right": right, **shifts, "next": next_noun(reader, both, plural)}


def all_heads(job: Job) -> dict[str, Any]:
    """The bars, and the map of all heads."""
    reader = Reader(smollm2())
    texts = [text for text, _ in sentences(2, job.steps, job.seed)]
    model, (tokens, plural) = reader.pretrained.model, pairs_of(reader, texts[:MAPPED], SUBJECT)
    position, streams = reader.position(texts[0], SUBJECT), residuals(model, tokens)
    found = value_map(model, streams, reader.verb_tokens(), position, plural)
    return {"bars": bars(reader, texts), "map": found}


PARTS: Parts = {"heads": (all_heads, 20)}


def run(job: Job) -> Outcome:
    """Measure one draw of sentences."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_values_map",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "head": HEAD, "mapped": MAPPED},
    on_cpu=True,
)
