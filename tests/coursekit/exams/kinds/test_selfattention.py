"""Questions on chapters 7 and 8, answered without tensors."""

from fractions import Fraction
from math import ceil

import pytest
from exam_answers import disagreements


def directed_scores(x, w_q, values):
    queries = [[sum(row[i] * w_q[i][j] for i in (0, 1)) for j in (0, 1)] for row in x]
    scores = [[q[0] * k[0] + q[1] * k[1] for k in x] for q in queries]
    powers = [2 ** scores[2][j] for j in range(3)]
    weights = [Fraction(p, sum(powers)) for p in powers]
    return {"scores": scores, "weights": weights, "context": sum(w * v for w, v in zip(weights, values, strict=True))}


def mask_counts(n, r):
    pairs = [(i, j) for i in range(n) for j in range(n)]
    causal, window = {(i, j) for i, j in pairs if j <= i}, {(i, j) for i, j in pairs if abs(i - j) <= r}
    return {"counts": [len(causal), len(window), len(causal & window)]}


def multiplications(n, d):
    attention = n * n * d + n * n * d + 3 * (n * d * d)
    equal = Fraction(8 * d * d - 3 * d * d, 2 * d)  # 2 n d + 3 d² = 8 d²
    return {"self_attention": attention, "rnn": 2 * n * d * d, "lstm": 4 * 2 * n * d * d, "equal": equal}


def longest_paths(n, r):
    return {"paths": [n - 1, ceil((n - 1) / r), 1]}


def head_shapes(batch, words, heads, dim):
    return {"queries": [batch, heads, words, dim // heads], "scores": [batch, heads, words, words],
            "count": batch * heads * words * words, "parameters": 4 * dim * (dim + 1)}  # fmt: skip


def rotary_scores(query, key, pairs):
    def turned(a, b, quarters):
        for _ in range(quarters % 4):
            a, b = -b, a
        return a, b

    rotated = [(turned(*query, t), turned(*key, j)) for t, j in pairs]
    scores = [q[0] * k[0] + q[1] * k[1] for q, k in rotated]
    assert scores[1] == scores[2]
    return {"scores": scores, "key_at_1": list(turned(*key, 1))}


def linear_bias(slope, at, scores):
    biased = [s - slope * abs(at - j) for j, s in enumerate(scores)]
    return {"biased": biased, "best": biased.index(max(biased))}


@pytest.mark.parametrize("compute", [
    directed_scores, mask_counts, multiplications, longest_paths, head_shapes, rotary_scores, linear_bias,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
