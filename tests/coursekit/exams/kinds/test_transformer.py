"""Questions on chapters 9 and 10, answered without tensors."""

from fractions import Fraction
from itertools import product
from math import sqrt

import pytest
from exam_answers import disagreements, drawn


def transformer_parameters(dim, wide, layers):
    encoder, decoder = 4 * dim**2 + 2 * dim * wide, 8 * dim**2 + 2 * dim * wide
    return {"encoder": encoder, "decoder": decoder, "all": layers * (encoder + decoder)}


def norm_orders(x, factor):
    mean = Fraction(sum(x), 4)
    deviation = sqrt(sum((n - mean) ** 2 for n in x) / 4)
    normed = [round(float(n - mean) / deviation) for n in x]
    return {"normed": normed, "stream": [x[0] + factor * normed[0], *x[1:]]}


def smoothed_targets(size, epsilon):
    share = Fraction(str(epsilon)) / size
    right = 1 - (size - 1) * share
    return {"right": right, "wrong": share, "ratio": right / share}


def leaking_mask(n, layers, u):
    return {"first": [u, max(0, u - layers)]}


def beam_search(after):
    chance = {}  # of each sentence, by brute force
    for words in ("", *"ab", *map("".join, product("ab", repeat=2))):
        p = Fraction(1)
        for at, word in enumerate(words):
            p *= Fraction(str(after[words[:at]]["ab".index(word) + 1]))
        chance[words] = p * (Fraction(str(after[words][0])) if len(words) < 2 else 1)
    assert sum(chance.values()) == 1
    greedy = ""
    while len(greedy) < 2 and (best := max(range(3), key=lambda word: after[greedy][word])):
        greedy += "ab"[best - 1]
    named = {words: " ".join([*words, "end"]) for words in chance}
    first = max(chance, key=lambda words: chance[words])
    return {"greedy": [named[greedy], chance[greedy]], "best": [named[first], chance[first]]}


def longer_sentences(lengths, log_probs):
    return {"scores": [p / ((5 + n) / 6) for n, p in zip(lengths, log_probs, strict=True)]}


def next_words(likely, k, p):
    top = [Fraction(n, sum(likely[:k])) if i < k else 0 for i, n in enumerate(likely)]
    kept = next(i for i in range(1, 6) if sum(likely[:i]) / 20 >= p)
    nucleus = [Fraction(n, sum(likely[:kept])) if i < kept else 0 for i, n in enumerate(likely)]
    return {"top": top, "nucleus": nucleus, "kept": kept}


def cache_size(layers, dim, words, share):
    stored = sum(2 * dim for _ in range(layers) for _ in range(words))
    return {"stored": stored, "again": sum(range(1, words + 1)), "shared": Fraction(stored, share)}


@pytest.mark.parametrize("compute", [
    transformer_parameters, norm_orders, smoothed_targets, leaking_mask, beam_search, longer_sentences, next_words,
    cache_size,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []


def test_greedy_decoding_always_misses_the_best_sentence():
    assert all(question.answers["greedy"][1] < question.answers["best"][1] for question in drawn("beam_search"))
