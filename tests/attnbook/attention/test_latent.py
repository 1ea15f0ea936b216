"""Latent attention: both forms are one, head by head what the paper's equations say, and a cache of short vectors."""

import copy

import pytest
import torch

from attnbook.attention import apply_rotary, causal_mask
from attnbook.attention.latent import LatentAttention

B, T, D, H, C, R = 2, 6, 12, 3, 5, 4


@pytest.fixture
def layer(draw):
    return LatentAttention(D, H, C, R).to(draw(1))


def absorbed(layer):
    """The same weights, absorbed."""
    other = copy.deepcopy(layer)
    other.absorbed = True
    return other


def test_each_head_is_what_the_equations_say(layer, draw, close):
    x = draw(B, T, D)
    at = torch.arange(T, device=x.device)
    content = x @ layer.compress.weight.T  # (B, T, C)
    position_key = apply_rotary(x @ layer.project_turned_key.weight.T, at)  # (B, T, R)
    contexts = []
    for head in range(H):
        rows, turned_rows = slice(head * D // H, (head + 1) * D // H), slice(head * R, (head + 1) * R)
        key = torch.cat([content @ layer.make_key.weight[rows].T, position_key], dim=-1)
        turned = apply_rotary(x @ layer.project_turned_query.weight[turned_rows].T, at)
        query = torch.cat([x @ layer.project_query.weight[rows].T, turned], dim=-1)
        scores = (query @ key.mT / (D / H + R) ** 0.5).masked_fill(~causal_mask(T, x.device), -torch.inf)
        contexts.append(scores.softmax(dim=-1) @ (content @ layer.make_value.weight[rows].T))
    wanted = torch.cat(contexts, dim=-1) @ layer.project_output.weight.T
    close(layer(x, x, x, causal_mask(T, x.device))[0], wanted)


def test_the_absorbed_form_computes_the_same(layer, draw, close):
    query, x = draw(B, 2, D), draw(B, T, D, seed=1)
    mask = torch.ones(B, 1, T, dtype=torch.bool, device=x.device)
    mask[0, 0, :2] = False
    for found, wanted in zip(absorbed(layer)(query, x, x, mask), layer(query, x, x, mask), strict=True):
        close(found, wanted)


@pytest.mark.parametrize("form", [lambda layer: layer, absorbed], ids=["plain", "absorbed"])
def test_word_by_word_with_what_is_kept_it_is_the_same(form, layer, draw, close):
    x, layer = draw(B, T, D), form(layer)
    wanted, _ = layer(x, x, x, causal_mask(T, x.device))
    kept = None
    for t in range(T):
        new = layer.project(x[:, t : t + 1], torch.tensor([t], device=x.device))
        kept = new if kept is None else kept.append(new)
        out, weights = layer.attend(x[:, t : t + 1], kept, None, torch.tensor([t], device=x.device))
        close(out[:, 0], wanted[:, t])
        assert weights.shape == (B, H, 1, t + 1)
        assert sum(part.numel() for part in kept) == B * (t + 1) * (C + R)


def test_only_distances_count(layer, draw, close):
    x, at = draw(B, T, D), torch.arange(T, device=draw(1).device)
    near = layer.attend(x, layer.project(x, at), None, at)[0]
    close(layer.attend(x, layer.project(x, at + 9), None, at + 9)[0], near)
    assert not torch.allclose(layer.attend(x, layer.project(x, 2 * at), None, 2 * at)[0], near, atol=1e-4)


def test_what_does_not_fit_is_refused(layer):
    with pytest.raises(ValueError, match="dim = 12 features can't be shared equally among 5 heads"):
        LatentAttention(D, 5, C, R)
    with pytest.raises(ValueError, match="turned must be even, since features turn in pairs; got 3"):
        LatentAttention(D, H, C, 3)
    x = torch.zeros(1, 2, D)
    with pytest.raises(ValueError, match="value must be key itself, since both are compressed into one vector"):
        layer(x, x, x + 1)
