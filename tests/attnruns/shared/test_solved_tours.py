"""Solved round trips: kept in files, and drawn from a pool that is solved once."""

import torch

from attnbook.data.points.tour_labels import labelled_tours
from attnbook.data.points.tours import tour_length
from attnruns.shared import solved_tours


def test_a_test_set_is_solved_once_and_then_read_from_its_file(few_tours, monkeypatch):
    first = solved_tours.solved_batch(6, 4, 0)
    assert all(map(torch.equal, first, labelled_tours(6, 4, 0)))
    monkeypatch.setattr("attnbook.data.points.tour_labels.labelled_tours", None)  # solving again would fail
    assert all(map(torch.equal, first, solved_tours.solved_batch(6, 4, 0)))
    assert [file.name for file in (few_tours / "tours").iterdir()] == ["tours_6_4_0.pt"]


def test_training_draws_from_one_pool_per_size(few_tours):
    batch, same, other = (solved_tours.pooled_batch(6, 8, seed) for seed in (3, 3, 4))
    assert all(map(torch.equal, batch, same))
    assert not torch.equal(batch.source, other.source)
    pool = solved_tours.pool_of(6)
    assert len(pool.source) == 10
    lengths = tour_length(pool.source, pool.target)  # (10,)
    apart = (tour_length(batch.source, batch.target)[:, None] - lengths).abs()  # (8, 10)
    assert (apart.min(dim=1).values < 1e-5).all()  # symmetries of the square keep a trip's length
    assert [file.name for file in (few_tours / "tours").iterdir()] == ["tours_6_10_1.pt"]
