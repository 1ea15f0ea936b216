"""The next token of Exercise 7 where rounding leaves the last piece's end below 1."""

import torch

from attnlabs.lab20.speculative import speculative_accept


def test_the_largest_random_number_draws_a_token_although_the_last_end_is_below_1():
    draw = torch.Generator().manual_seed(0)
    largest, nothing = torch.tensor([1 - 2.0**-24]), torch.zeros(0, 49152)
    rows = [(2 * torch.randn(1, 49152, generator=draw)).softmax(dim=-1) for _ in range(20)]
    assert any(row[0].cumsum(dim=0)[-1] < largest[0] for row in rows)
    for row in rows:
        kept, token = speculative_accept(torch.zeros(0, dtype=torch.long), nothing, row, largest)
        assert kept == 0
        assert row[0, token] > 0
