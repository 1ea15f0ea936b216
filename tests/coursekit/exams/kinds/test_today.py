"""Questions on chapters 19 and 20, answered with whole numbers and fractions."""

from fractions import Fraction

import pytest
from exam_answers import disagreements


def quantised_block(scale, offset, byte, millions):
    d, m = Fraction(str(scale)), Fraction(str(offset))
    return {"first": d * (byte % 16) + m, "second": d * (byte // 16) + m, "megabytes": Fraction(5 * millions, 8)}


def memory_bound(layers, groups, features, length, billions, wide, bandwidth):
    per_token = 4 * layers * groups * features  # keys and values, two bytes each
    return {"per_token": per_token, "cache": Fraction(per_token * length, 10**6),
            "per_second": Fraction(bandwidth, billions * wide)}  # fmt: skip


def sum_and_delta_rule(values, third):
    a, b = (Fraction(str(feature)) for feature in third)
    first, second, last = values
    added = [first + a * last, second + b * last]
    difference = last - (a * first + b * second)
    corrected = [first + a * difference, second + b * difference]
    reads = [*corrected, a * corrected[0] + b * corrected[1]]
    assert reads[2] == last  # keys of length 1 read exactly what was stored last
    return {"added": added, "sum_reads": a * added[0] + b * added[1], "corrected": corrected, "reads": reads}


def checked_guess(model, draft):
    more = [max(0, m - d) for m, d in zip(model, draft, strict=True)]
    kept = 1 - Fraction(sum(more), 10)
    return {"kept": kept, "rest": [Fraction(m, sum(more)) for m in more], "tokens": 1 + kept + kept * kept}


@pytest.mark.parametrize("compute", [quantised_block, memory_bound, sum_and_delta_rule, checked_guess],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_the_answers_are_right(compute):
    assert list(disagreements(compute.__name__, compute)) == []
