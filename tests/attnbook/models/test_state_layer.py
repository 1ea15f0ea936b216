"""Layers with a cache or with a state: each is causal, and says how much it keeps."""

import pytest
import torch

from attnbook.attention.linear import delta_step, forgetting_step, linear_step, unit_features
from attnbook.models.state_layer import KINDS, StateLayer, StateModel

B, T, D, N = 2, 6, 8, 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_sees_itself_and_those_before_it_and_each_of_them(kind, draw):
    x = draw(B, T, D, grad=True)
    layer = StateLayer(D, N, kind).to(x)
    for t in range(T):
        (seen,) = torch.autograd.grad(layer(x)[:, t].sin().sum(), x)
        assert [bool(row.any()) for row in seen[0]] == [s <= t for s in range(T)]


@pytest.mark.parametrize("kind", ["linear", "sum", "sum_units", "forgetting", "forgetting_units", "delta", "gated"])
def test_a_layer_is_what_its_steps_compute_one_after_the_other(kind, draw, close):
    x = draw(B, T, D)
    layer = StateLayer(D, N, kind).to(x)
    before, state, kept = torch.zeros_like(layer.project(x[:, 0])), None, []
    for t in range(T):
        now = layer.project(x[:, t])  # (B, 2N + D)
        mixed = layer.before.weight[:, 0, 0] * before + layer.before.weight[:, 0, 1] * now + layer.before.bias
        (query, key, value), before, rate = mixed.split(layer.sizes, dim=-1), now, layer.rate(x[:, t])[:, 0]
        if kind == "linear":
            context, state = linear_step(query, key, value, state)
        elif kind == "sum":
            context, state = forgetting_step(query, key, value, torch.ones_like(rate), state)
        elif kind == "sum_units":
            value = rate.sigmoid()[:, None] * value
            context, state = forgetting_step(
                unit_features(query), unit_features(key), value, torch.ones_like(rate), state
            )
        elif kind == "forgetting":
            pace = torch.nn.functional.softplus(rate)
            context, state = forgetting_step(query, key, pace[:, None] * value, (-pace).exp(), state)
        elif kind == "forgetting_units":
            value, keep = rate.sigmoid()[:, None] * value, layer.rate(x[:, t])[:, 1].sigmoid()
            context, state = forgetting_step(unit_features(query), unit_features(key), value, keep, state)
        else:
            if kind == "gated" and state is not None:
                state = layer.rate(x[:, t])[:, 1].sigmoid()[:, None, None] * state
            context, state = delta_step(unit_features(query), unit_features(key), value, rate.sigmoid(), state)
        kept.append(sum(part.numel() for part in state) if kind == "linear" else state.numel())
        close(layer.project_output(layer.norm(context)), layer(x)[:, t])
    assert kept == [B * layer.numbers_kept(t) for t in range(1, T + 1)]


def test_a_cache_grows_by_a_key_and_a_value_for_each_word():
    layer = StateLayer(D, N, "softmax")
    assert [layer.numbers_kept(words) for words in (1, 10)] == [N + D, 10 * (N + D)]


def test_a_hybrid_has_the_layers_that_it_is_given():
    model = StateModel(11, D, N, ("linear", "softmax", "delta"))
    assert [layer.kind for layer in model.layers] == ["linear", "softmax", "delta"]
    assert model.numbers_kept(10) == (N * D + N) + 10 * (N + D) + N * D
    logits, weights = model(torch.ones(B, T, dtype=torch.long))
    assert logits.shape == (B, T, 11)
    assert weights is None


def test_an_unknown_kind_is_refused():
    kinds = "softmax, softmax_near, linear, sum, sum_units, forgetting, forgetting_units, delta, gated"
    with pytest.raises(ValueError, match=f"kind must be one of {kinds}, got 'none'"):
        StateLayer(D, N, "none")


def test_a_softmax_that_prefers_what_is_near_gives_the_next_word_e_to_an_eighth_more():
    same, marks = torch.zeros(1, 3, 2), torch.eye(3)[None]  # equal scores; each value is its position
    weights = KINDS["softmax_near"](same, same, marks, torch.zeros(1, 3, 1))[0, 2]  # (3,): of the last position
    assert torch.allclose(weights[1:] / weights[:-1], torch.full((2,), 1 / 8).exp())
