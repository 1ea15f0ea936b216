"""Questions on chapters 13 to 17, answered with fractions and plain sums."""

from fractions import Fraction
from math import hypot

import pytest
from exam_answers import disagreements


def exact(numbers):
    return [Fraction(str(number)) for number in numbers]


def ntm_shift(content, previous, gate, shift, memory):
    g = Fraction(str(gate))
    mixed = [g * c + (1 - g) * p for c, p in zip(exact(content), exact(previous), strict=True)]
    moved = [Fraction(0)] * 4
    for row, weight in enumerate(mixed):
        for move, chance in zip((-1, 0, 1), exact(shift), strict=True):
            moved[(row + move) % 4] += weight * chance
    assert sum(moved) == 1
    return {"mixed": mixed, "moved": moved, "read": sum(w * m for w, m in zip(moved, memory, strict=True))}


def erasing_and_adding(weight, row, erase, add):
    w = Fraction(str(weight))
    return {"written": [r * (1 - w * e) + w * a for r, e, a in zip(row, exact(erase), add, strict=True)]}


def pointer_order(exponentials):
    left, order, chances = dict(enumerate(exponentials)), [], []
    for _ in range(3):
        best = max(left, key=left.get)
        order.append(best)
        chances.append(Fraction(left[best], sum(left.values())))
        del left[best]
    return {"order": order, "chances": chances, "product": chances[0] * chances[1]}


def copied_word(gate, known, tenths, twice):
    pointed = (1 - Fraction(str(gate))) * sum(Fraction(tenths[j], 10) for j in twice)
    return {"new": pointed, "old": Fraction(str(gate)) * Fraction(str(known)) + pointed}


def dilated_convolution(x, past, dilation, layers):
    out = [now + past * (x[t - dilation] if t >= dilation else 0) for t, now in enumerate(x)]
    return {"out": out, "field": 1 + sum(2**i for i in range(layers))}


def next_pull(pulls, wins):
    chances = [Fraction(w + 1, n + 2) for w, n in zip(wins, pulls, strict=True)]
    return {"chances": chances, "value": max(chances)}


def power_iteration(matrix):
    (a, b), (c, d) = matrix
    u = [a / hypot(a, c), c / hypot(a, c)]
    back = [a * u[0] + c * u[1], b * u[0] + d * u[1]]
    assert hypot(*back) == pytest.approx(round(hypot(*back)))  # a length that a person can compute
    return {"u": u, "v": [n / hypot(*back) for n in back], "sigma": hypot(*back)}


def agreement(left, right):
    p, q = Fraction(sum(left), 10), Fraction(sum(right), 10)
    agree = Fraction(sum(a == b for a, b in zip(left, right, strict=True)), 10)
    return {"agreement": agree, "chance": p * q + (1 - p) * (1 - q)}


def thin_softmax(lead, short, long):
    return {"weights": [Fraction(lead, lead + short - 1), Fraction(lead, lead + long - 1),
                        Fraction(lead**2, lead**2 + long - 1)]}  # fmt: skip


@pytest.mark.parametrize("compute", [
    ntm_shift, erasing_and_adding, pointer_order, copied_word, dilated_convolution, next_pull, power_iteration,
    agreement, thin_softmax,
], ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
