"""Attention in a window against attention under a window's mask, and what it refuses."""

import pytest
import torch

from attnbook.attention import attend, causal_mask, global_mask, sink_mask, window_mask
from attnbook.attention.local import (
    banded_attention,
    global_attention,
    inside,
    neighbouring_chunks,
    sliding_window_attention,
    unfold_windows,
)
from attnruns.experiments.complexity import peak_bytes


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("radius", [0, 1, 3, 9])
def test_a_window_gives_what_its_mask_gives(draw, close, length, radius):
    query, key, value = draw(2, length, 4), draw(2, length, 4, seed=1), draw(2, length, 3, seed=2)
    context, weights = sliding_window_attention(query, key, value, radius=radius)
    wanted, full = attend(query, key, value, mask=window_mask(length, radius, query.device))
    close(context, wanted)
    for i in range(length):
        for w in range(2 * radius + 1):
            j = i + w - radius
            there = full[:, i, j] if 0 <= j < length else torch.zeros_like(full[:, 0, 0])
            close(weights[:, i, w], there)


def test_gradients_are_those_under_the_mask(draw, close):
    leaves = [draw(2, 6, 4, seed=seed, grad=True) for seed in range(3)]
    again = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    sliding_window_attention(*leaves, radius=2)[0].square().sum().backward()
    attend(*again, mask=window_mask(6, 2, leaves[0].device))[0].square().sum().backward()
    for one, other in zip(leaves, again, strict=True):
        close(one.grad, other.grad)


def test_a_place_outside_the_window_has_no_influence(draw):
    x = draw(1, 9, 4, grad=True)
    sliding_window_attention(x, x, x, radius=2)[0][0, 4].sum().backward()
    touched = x.grad[0].abs().sum(dim=-1) > 0
    assert touched.tolist() == [2 <= place <= 6 for place in range(9)]


def test_unfold_windows_are_views_and_zeros_beyond_the_ends():
    x = torch.arange(1.0, 5.0).reshape(1, 4, 1)
    laid = unfold_windows(x, 1)
    assert laid[0, :, 0].tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]]
    assert laid.untyped_storage().nbytes() == 6 * 4  # four numbers and two zeros


def test_inside_marks_the_places_that_there_are():
    assert inside(3, 1).tolist() == [[False, True, True], [True, True, True], [True, True, False]]


def test_what_does_not_fit_is_refused():
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match="key has 3 features but query has 4"):
        sliding_window_attention(x, x[..., :3], x, radius=1)
    with pytest.raises(ValueError, match="must have the same B and T, got"):
        sliding_window_attention(x, x, x[:, :4], radius=1)
    with pytest.raises(ValueError, match="radius must be at least 0"):
        sliding_window_attention(x, x, x, radius=-1)
    with pytest.raises(ValueError, match=r"x must have 3 axes \(B, T, D\)"):
        unfold_windows(x[0], 1)


@pytest.mark.parametrize("length", [1, 2, 7, 12])
@pytest.mark.parametrize("radius", [0, 1, 3, 9])
@pytest.mark.parametrize("sinks", [0, 1])
@pytest.mark.parametrize("causal", [False, True])
def test_a_band_gives_what_its_mask_gives(draw, close, length, radius, sinks, causal):
    query, key, value = draw(2, length, 4), draw(2, length, 4, seed=1), draw(2, length, 3, seed=2)
    everywhere = torch.arange(sinks, device=query.device)
    mask = window_mask(length, radius, query.device) | sink_mask(length, sinks, query.device)
    mask = mask & causal_mask(length, query.device) if causal else mask
    context, weights = banded_attention(query, key, value, radius=radius, causal=causal, everywhere=everywhere)
    close(context, attend(query, key, value, mask)[0])
    assert weights is None


@pytest.mark.parametrize("everywhere", [[], [0], [6, 2]])
def test_global_positions_give_what_their_mask_gives(draw, close, everywhere):
    leaves = [draw(2, 9, 4, seed=seed, grad=True) for seed in range(3)]
    again = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    chosen = torch.tensor(everywhere, dtype=torch.long, device=leaves[0].device)
    got, _ = global_attention(*leaves, radius=1, everywhere=chosen)
    wanted, _ = attend(*again, mask=window_mask(9, 1, leaves[0].device) | global_mask(9, chosen))
    close(got, wanted)
    got.sin().sum().backward()
    wanted.sin().sum().backward()
    for one, other in zip(leaves, again, strict=True):
        close(one.grad, other.grad)


def test_chunks_lie_beside_their_neighbours():
    x = torch.arange(1.0, 6.0).reshape(1, 5, 1)
    assert neighbouring_chunks(x, 2, causal=False)[0, :, :, 0].tolist() == [
        [0, 0, 1, 2, 3, 4],
        [1, 2, 3, 4, 5, 0],
        [3, 4, 5, 0, 0, 0],
    ]
    assert neighbouring_chunks(x, 2, causal=True)[0, 2, :, 0].tolist() == [3, 4, 5, 0]


def test_a_band_holds_memory_that_grows_with_the_length_and_little_for_gradients():
    def bytes_at(length, attention=banded_attention):
        x = torch.randn(1, length, 32, requires_grad=True)
        return peak_bytes(lambda: attention(x, x, x, radius=16)[0].sum().backward())

    assert bytes_at(1024) < 2.2 * bytes_at(512)
    assert bytes_at(512) < bytes_at(512, sliding_window_attention) / 2


def test_a_band_refuses_what_does_not_fit():
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match="must have the same B and T, got"):
        banded_attention(x, x, x[:, :4], radius=1)
    with pytest.raises(ValueError, match="radius must be at least 0"):
        banded_attention(x, x, x, radius=-1)
    with pytest.raises(ValueError, match=r"everywhere must be different positions from 0 to 4, got \[5\]"):
        banded_attention(x, x, x, radius=1, everywhere=torch.tensor([5]))
