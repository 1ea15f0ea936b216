"""Numbers as people write them."""

from random import Random

import pytest

from coursekit.exams.numbers import cells, distinct, floats, logs, parts, show, tensor, vector


@pytest.mark.parametrize("number, text", [
    (3.0, "3"), (-2, "−2"), (0.25, "0.25"), (2 / 3, "2/3"), (-5 / 13, "−5/13"), (1e-12, "0"), (-0.0, "0"),
    (2**0.5, "≈ 1.414"), (12000, "12,000"), (0.0625, "0.0625"), (1234.5, "1,234.5"),
])  # fmt: skip
def test_a_number_is_shown_exactly_or_marked(number, text):
    assert show(number) == text


def test_rows_and_scores():
    assert vector([1, -0.5]) == "(1, −0.5)"
    assert cells([1, 0.5]) == ("1", "0.5")
    assert logs([1, 7]) == "ln 1, ln 7"
    assert floats(tensor([[0.1, 0.2]]) * 3) == [[0.3, 0.6]]


@pytest.mark.parametrize("seed", range(30))
def test_parts_sum_up_and_one_is_the_largest(seed):
    found = parts(Random(seed), 10, 4)
    assert sum(found) == 10
    assert min(found) >= 1
    assert found.count(max(found)) == 1
    assert len(set(distinct(Random(seed), -3, 3, 5))) == 5
