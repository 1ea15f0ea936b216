"""A trained machine on a grid of lengths and of memory rows, whichever of them it was trained with."""

from collections.abc import Callable, Sequence

from attnbook.data import BitBatch, copy_batch
from attnbook.device import device_of
from attnbook.models import NTM
from attnbook.modes import evaluating
from attnruns.shared.memory import TEST_SEED, wrong_bits
from attnruns.shared.ntm_by_hand import run_sooner

LENGTHS, ROWS = (10, 20, 40, 80, 120), (32, 64, 128, 256, 512)
COUNT = 20  # sequences in each cell


@evaluating
def copying_grid(
    machine: NTM, prepared: Callable[[BitBatch], BitBatch] = lambda bits: bits, lengths: Sequence[int] = LENGTHS,
    rows: Sequence[int] = ROWS, count: int = COUNT,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Wrong bits per copied sequence: ``{length: {rows: wrong bits}}``.

    Args:
        prepared: what is done with each batch before, such as :func:`~attnbook.data.mark_phases`.
        lengths, rows, count: of the test. Where there are fewer rows than vectors, nothing can be without mistakes
            but by two vectors in a row of memory.
    """
    found: dict[str, dict[str, float]] = {}
    for length in lengths:
        bits = prepared(copy_batch(length, count, TEST_SEED)).to(device_of(machine))
        logits = {str(number): run_sooner(machine, bits.inputs, number)[0] for number in rows}
        found[str(length)] = {number: round(wrong_bits(logits[number], bits), 3) for number in logits}
    return found
