"""Lab 10: decoding. The same model, better sentences, many times faster. First, a word by chance."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def sample_with_temperature(logits, temperature, chance):
    if temperature == 0:
        return logits.argmax(-1)  # (B,)
    ends = (logits / temperature).softmax(-1).cumsum(-1)  # (B, V): where each word's piece of [0, 1] ends
    return (chance[:, None] >= ends).sum(-1).clamp(max=logits.shape[1] - 1)  # (B,): pieces that end before chance


def _throws(draw, logits, temperature):
    """Chances that fall well inside the piece of a word, each word as likely as another."""
    pieces = (logits / temperature).softmax(-1)  # (B, V)
    word = draw.integers(0, logits.shape[1], len(logits), 1)  # (B, 1)
    share = draw.uniform(len(logits), low=0.15, high=0.85)
    return (pieces.cumsum(-1).gather(1, word) - pieces.gather(1, word))[:, 0] + share * pieces.gather(1, word)[:, 0]


def _end_short(draw):
    """A row whose last piece ends a hair below 1 by rounding, at temperature 2 only; and a throw that gets through."""
    throw = torch.ones(1, dtype=torch.float64).nextafter(torch.zeros(1, dtype=torch.float64))  # below 1, the next one
    for _ in range(1000):
        logits = draw.normal(1, 6)
        short = [bool((logits / by).softmax(-1).cumsum(-1)[0, -1] <= throw) for by in (2.0, 1.0, 0.5, 2.0**0.5)]
        if short == [True, False, False, False]:
            break
    return logits, 2.0, throw


def _logits_and_chance(draw):
    for temperature in (1.0, 2.0, 0.5):
        batch, words = draw.sizes(2, low=3)
        logits = draw.normal(batch + 4, words)
        yield logits, temperature, _throws(draw, logits, temperature)
    logits = draw.normal(4, 4)  # square: a softmax over the wrong axis gives values here too
    yield logits, 3.0, _throws(draw, logits, 3.0)
    yield draw.normal(3, 5), 0.0, draw.uniform(3)  # no chance left
    logits = draw.normal(1, 3)
    yield logits, 1.5, _throws(draw, logits, 1.5)
    yield 400 * draw.normal(2, 4), 0.5, draw.uniform(2, low=0.1, high=0.9)  # exp of these is infinite
    forbidden = draw.normal(2, 4)
    forbidden[:, 0] = -torch.inf
    yield forbidden, 1.5, torch.zeros(2, dtype=torch.float64)  # chance 0, and the first word's piece is empty
    yield torch.zeros(2, 4, dtype=torch.float64), 2.0, torch.tensor([0.25, 0.75], dtype=torch.float64)  # at an end
    yield _end_short(draw)
    for temperature in (0.2, 0.1, 0.001):  # cold, and logits so near each other that chance still decides
        logits = temperature * draw.uniform(5, 5, low=-1.0)
        yield logits, temperature, _throws(draw, logits, temperature)
    yield draw.normal(4, 5), 0, draw.uniform(4)  # a whole number


def _inside(result, logits, temperature, chance):
    pieces = (logits / temperature).softmax(-1)
    end = pieces.cumsum(-1).gather(1, result[:, None])[:, 0]
    begin = end - pieces.gather(1, result[:, None])[:, 0]
    return ((chance <= end + 1e-9) & (chance >= begin - 1e-9)).all()


SAMPLE_WITH_TEMPERATURE = Exercise(
    sample_with_temperature,
    cases=_logits_and_chance,
    gradients=False,
    properties=[
        Property(
            "temperature 0 takes the likeliest",
            "At temperature 0 no chance is left: the likeliest word, always.",
            lambda result, logits, temperature, chance: temperature > 0 or (result == logits.argmax(-1)).all(),
        ),
        Property(
            "chance falls into the word's piece",
            "Lay the probabilities end to end from 0 to 1. Your word is not the one in whose piece `chance` falls.",
            lambda result, logits, temperature, chance: (
                temperature == 0 or _inside(result, logits, temperature, chance)
            ),
        ),
    ],
)

_COUNT, _CLAMP = "(chance[:, None] >= ends).sum(-1)", ".clamp(max=logits.shape[1] - 1)"
_FIRST_TRUE = "(chance[:, None] < ends).long().argmax(-1)"

wrong = SAMPLE_WITH_TEMPERATURE.mistakes
wrong("not cut off at the last word", {_CLAMP: ""}).says("""
    You returned V, and there is no such word. Rounding may leave the last end a hair below 1, and a throw may fall
    behind it: then the last word is meant, V − 1. Cut off there: clamp. (If a chance of 1 is shown below, it is a
    hair less.)""")
wrong("the first word for what rounding leaves over", {_COUNT + _CLAMP: _FIRST_TRUE}).says("""
    Rounding may leave the last end a hair below 1. Where chance falls behind it no piece ends after it, and argmax of
    nothing but False is 0. The *last* word is meant. (If a chance of 1 is shown below, it is a hair less.)""")
wrong("an end belongs to the piece before", {">= ends": "> ends"}).says("""
    You counted only pieces that end *before* chance (<). A piece that ends right at chance is over too (<=). Else a
    throw of exactly 0 draws word 0, even where its probability is 0.""")
wrong("an end belongs to the piece before, nothing cut off", {">= ends": "> ends", _CLAMP: ""}).says("""
    A piece that ends right at chance is over: compare with <=. Else a throw of exactly 0 draws word 0, even where its
    probability is 0. (And cut off at the last word, V − 1: rounding.)""")
wrong("chance beside the words", {"chance[:, None]": "chance"}).says("""
    You compared chance (B,) with the ends (B, V) as they are, so that chance lies along the *words*. Each sentence
    has one throw for all its ends: chance[:, None].""")
wrong("summed over the batch", {"cumsum(-1)": "cumsum(0)"}).says("""
    Your running sum goes over the sentences. The pieces of one sentence lie end to end: sum along the words, the last
    axis.""")
wrong("divided after the softmax", {" / temperature).softmax(-1)": ".softmax(-1) / temperature)"}).says("""
    You divided the probabilities by the temperature, and they no longer sum to 1. It belongs to the logits, before
    the softmax.""")
wrong("one word too far", {".sum(-1).clamp": ".sum(-1).add(1).clamp"}).says("""
    You took the first word whose piece begins after `chance`, and that is one too far. Wanted is the piece in which
    chance falls: as many words come before it as pieces *end* before chance.""")
wrong("pieces ordered by size", {".softmax(-1)": ".softmax(-1).sort(-1, descending=True).values"}).says("""
    You sorted the probabilities and did not find the way back: you returned a place in the sorted list. The words lie
    in their own order, 0 to V − 1.""")
wrong("compared with single probabilities", {".cumsum(-1)": ""}).says("""
    You compared chance with each word's probability. It must be compared with the *running sum*, in which the pieces
    lie end to end: cumsum.""")
wrong("counted from the other end", {">= ends": "< ends"}).says("""
    You counted the pieces that end *after* chance. Words are numbered from 0, so count those before.""")
