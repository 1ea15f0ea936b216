"""The grid: each length on each number of rows, counted as everywhere."""

import pytest
import torch

from attnbook.data import copy_batch, mark_phases
from attnbook.models import NTM, NTMConfig
from attnruns.shared import grid
from attnruns.shared.memory import TEST_SEED, wrong_bits


@pytest.mark.parametrize("prepared, inputs", [(lambda bits: bits, 9), (mark_phases, 11)])
def test_a_cell_holds_the_wrong_bits_of_a_length_on_a_number_of_rows(prepared, inputs):
    torch.manual_seed(0)
    machine = NTM(NTMConfig(inputs=inputs, hidden=5, width=4))
    cells = grid.copying_grid(machine, prepared, lengths=(2, 3), rows=(4, 6), count=3)
    assert {length: set(row) for length, row in cells.items()} == {"2": {"4", "6"}, "3": {"4", "6"}}
    bits = prepared(copy_batch(3, 3, TEST_SEED))
    with torch.no_grad():
        assert cells["3"]["6"] == pytest.approx(wrong_bits(machine(bits.inputs, rows=6)[0], bits), abs=1e-3)


def test_rows_reach_beyond_those_of_any_training_and_below_the_longest_copy():
    assert min(grid.ROWS) < max(grid.LENGTHS) < 256 < max(grid.ROWS)
