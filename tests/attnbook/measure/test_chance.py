"""Counts against probabilities: values from printed tables, and what chance does."""

import pytest
import torch

from attnbook.measure.chance import chi_squared_p
from attnbook.seeding import generator


@pytest.mark.parametrize(("distance", "outcomes", "p"), [(3.841, 2, 0.05), (6.635, 2, 0.01), (18.307, 11, 0.05)])
def test_the_critical_values_of_the_tables(distance, outcomes, p):
    """Two counts move away from 1,000 each by as much as makes up the distance; all others are as expected."""
    counts = torch.full((outcomes,), 1000.0, dtype=torch.float64)
    away = (distance * 1000 / 2) ** 0.5
    counts[0] += away
    counts[1] -= away
    assert chi_squared_p(counts, torch.ones(outcomes)) == pytest.approx(p, abs=2e-4)


def test_where_the_probabilities_hold_small_results_are_as_rare_as_they_say():
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    drawn = probabilities.expand(1000, -1).multinomial(400, replacement=True, generator=generator(0))  # (1000, 400)
    found = torch.tensor([chi_squared_p(row.bincount(minlength=4), probabilities) for row in drawn])
    assert (found < 0.1).float().mean().item() == pytest.approx(0.1, abs=0.03)
    wrong = [chi_squared_p(row.bincount(minlength=4), torch.full((4,), 0.25)) for row in drawn[:20]]
    assert max(wrong) < 1e-6


@pytest.mark.parametrize("counts, probabilities, message", [
    ([1.0], [1.0], r"must both be \(V,\) with V > 1, got \(1,\) and \(1,\)"),
    ([1.0, 2.0], [1.0, 0.0], "every probability must be above 0"),
    ([0.0, 0.0], [1.0, 1.0], "there must be counts"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(counts, probabilities, message):
    with pytest.raises(ValueError, match=message):
        chi_squared_p(torch.tensor(counts), torch.tensor(probabilities))
