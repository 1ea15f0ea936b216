"""Questions on chapters 11 and 12, answered by counting."""

from collections import Counter
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil

import pytest
from exam_answers import disagreements

HALF = Fraction(1, 2)


def perplexities(powers, characters):
    return {"perplexity": 2 ** (sum(powers) / len(powers)), "bits": Fraction(sum(powers), characters)}


def kneser_ney(sentences):
    pairs = Counter()
    for sentence in sentences:
        words = [1, *sentence, 2]
        pairs.update(pairwise(words))
    before = Counter(second for _, second in pairs)  # after how many different words
    after_a = {second: count for (first, second), count in pairs.items() if first == 3}
    lower = (before[4] - HALF) / len(pairs) + HALF * len(before) / len(pairs) / 10
    free = HALF * len(after_a) / sum(after_a.values())
    return {"lower": lower, "free": free, "upper": (after_a[4] - HALF) / sum(after_a.values()) + free * lower}


def byte_pairs(counts):
    words, merges, found = {word: list(word) for word in counts}, [], []
    for _ in range(2):
        seen = Counter()
        for word, symbols in words.items():
            for pair in pairwise(symbols):
                seen[pair] += counts[word]
        pair, times = seen.most_common(1)[0]
        merges.append("".join(pair))
        found.append(times)
        for symbols in words.values():
            for at in range(len(symbols) - 1, 0, -1):  # no pair of these words overlaps itself
                if tuple(symbols[at - 1 : at + 1]) == pair:
                    symbols[at - 1 : at + 1] = ["".join(pair)]
    return {"merges": merges, "counts": found, "words": ["·".join(symbols) for symbols in words.values()]}


def online_softmax(scores, values):
    track = []
    for end in (1, 2):  # all at once, and measured from the largest so far
        s, v = list(chain(*scores[:end])), list(chain(*values[:end]))
        powers = [Fraction(2) ** (one - max(s)) for one in s]
        track.append([max(s), sum(powers), sum(p * x for p, x in zip(powers, v, strict=True))])
    return {"track": track, "context": track[1][2] / track[1][1]}


def stacked_windows(r, layers, length):
    pairs = sum(1 for i in range(length) for j in range(i + 1) if i - j <= r)
    return {"known": min(length, layers * r + 1), "needed": ceil((length - 1) / r), "pairs": pairs}


@pytest.mark.parametrize("compute", [
    perplexities, kneser_ney, byte_pairs, online_softmax, stacked_windows,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
