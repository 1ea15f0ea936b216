"""Lab 8: adding positions to word vectors."""

import torch
from torch import Tensor

from misread.exercise import About, Exercise

from .positions import sinusoidal_positions


class StaysBehind(Tensor):
    """A table that lies elsewhere than the words.

    To look for mixed devices the check sends all arguments to a second device, by its name. This table does not go
    along; it follows an answer that sends it to the words.
    """

    def to(self, *where, **more):
        return self if len(where) == 1 and isinstance(where[0], str) else super().to(*where, **more)


def _elsewhere(table):
    return table.as_subclass(StaysBehind)


def add_positions(x, positions):
    """Add row t of the table to word t of every sentence: (B, T, D), (Tmax, D) -> (B, T, D)."""
    first = positions[: x.shape[1]]  # (Tmax, D) -> (T, D)
    return x + first.to(x)  # (B, T, D) + (T, D): the same for every sentence


def _words_and_table(draw):
    batch, length, pairs, more = draw.sizes(4)
    dim = 2 * pairs
    table = sinusoidal_positions(12, dim)
    yield draw.normal(batch, length, dim), _elsewhere(draw.normal(length + batch + more, dim))  # a learnt table
    yield draw.normal(batch, length, dim), _elsewhere(table)
    yield draw.normal(3, 3, 4), _elsewhere(draw.normal(3, 4))  # as many sentences as positions
    yield draw.normal(1, 3, 4), _elsewhere(draw.normal(5, 4))
    yield draw.normal(2, 1, 4), _elsewhere(draw.normal(5, 4))
    yield draw.normal(2, 4, 4), _elsewhere(draw.normal(4, 4))  # the table is just long enough
    yield draw.normal(2, 1, 1), _elsewhere(draw.normal(1, 1))  # one position and one feature
    yield draw.normal(2, 1, 4), _elsewhere(draw.normal(1, 4))  # a table of one position
    yield draw.normal(2, 3, 4).float(), _elsewhere(sinusoidal_positions(6, 4))  # the table's dtype is another
    halves = draw.integers(-8, 9, 1, 3, 4) / 4, draw.integers(-8, 9, 5, 4) / 4  # any dtype can hold their sums
    yield halves[0].half(), _elsewhere(halves[1].double())


ADD_POSITIONS = Exercise(
    add_positions,
    cases=_words_and_table,
    about=About(points=1, minutes=8, difficulty=1, read_again="Positions added to the word vectors"),
)

must = ADD_POSITIONS.properties
must(
    "word 0 gets position 0",
    lambda result, x, positions: torch.allclose(result[:, 0], (x[:, 0] + positions[0]).to(result)),
).says("""
    Word 0 of every sentence must get row 0 of `positions` added, and in your result it gets something else.""")
must(
    "the same in every sentence",
    lambda result, x, positions: torch.allclose(result - x, (result - x)[:1].expand_as(x), atol=1e-5),
).says("""
    What you add must be the same for every sentence, because it depends on the position alone.""")

wrong = ADD_POSITIONS.mistakes
wrong("positions along the batch", {"positions[: x.shape[1]]": "positions[: x.shape[0], None]"}).says("""
    You gave each *sentence* a position, which is the same for all its words. Each word of a sentence has a
    position of its own, so positions run along axis 1, not along axis 0.""")
wrong("cut to the number of sentences", {"positions[: x.shape[1]]": "positions[: x.shape[0]]"}).says("""
    You took as many rows of the table as there are sentences. Take as many as a sentence has words, which is
    x.shape[1].""")
wrong(
    "counted on from sentence to sentence", "return x + positions[: x[..., 0].numel()].to(x).reshape(x.shape)"
).says("""
    You went on counting positions from one sentence to the next, so that only sentence 0 begins at position 0. Every
    sentence begins at position 0: the same first T rows are added to each, which broadcasting does for you.""")
wrong("the last rows", {"positions[: x.shape[1]]": "positions[-x.shape[1] :]"}).says("""
    You took the last T rows of the table. A sentence begins at position 0, so take the first T rows.""")
wrong("appended", {"x + first.to(x)": "torch.cat([x, first.to(x).expand_as(x)], dim=-1)"}).says("""
    You put words and positions side by side, (B, T, 2D). This would work as well, but costs twice as many
    features. Here the positions are added.""")
wrong("dtype without device", {"first.to(x)": "first.to(x.dtype)"}).says("""
    The dtype is right, but the positions stay on their own device. With x on a GPU and the table on the CPU the
    sum would fail, while positions.to(x) takes over both.""")
