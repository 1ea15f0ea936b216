"""The one interface, ``(query, key, value, mask) -> (context, weights)``: every family takes it and means it."""

from inspect import Parameter, signature

import pytest
import torch

from attnbook.attention import (
    Attention,
    LatentAttention,
    LocalAttention,
    MonotonicCentre,
    MultiHeadAttention,
    ScaledDot,
    attend,
    banded_attention,
    blocked_attention,
    causal_mask,
    delta_rule,
    forgetting_attention,
    global_attention,
    global_mask,
    hard_attend,
    linear_attention,
    local_attend,
    local_window_mask,
    sliding_window_attention,
    straight_through_attend,
    window_mask,
)

FAMILIES = [
    attend,
    hard_attend,
    straight_through_attend,
    local_attend,
    sliding_window_attention,
    banded_attention,
    global_attention,
    blocked_attention,
    linear_attention,
    forgetting_attention,
    delta_rule,
    Attention(ScaledDot()).forward,
    MultiHeadAttention(4, 2).forward,
    LatentAttention(4, 2, 2, 2).forward,
    LocalAttention(MonotonicCentre(), 1).forward,
]
B, T, D = 3, 7, 4


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__qualname__)
def test_the_mask_stands_fourth_and_what_follows_it_has_to_be_named(family):
    first, rest = list(signature(family).parameters.items())[:4], list(signature(family).parameters.values())[4:]
    assert [name for name, _ in first] == ["query", "key", "value", "mask"]
    assert first[3][1].default is None
    assert all(parameter.kind is Parameter.KEYWORD_ONLY for parameter in rest)


def wanted(name: str, words: torch.Tensor) -> torch.Tensor:
    """What a family may attend to, beside ``words``."""
    device = words.device
    sees = {
        "whole": words,
        "fused": words,
        "blocked": words,
        "blocked causal": words & causal_mask(T, device),
        "sliding": words & window_mask(T, 2, device),
        "banded": words & window_mask(T, 2, device),
        "banded causal": words & window_mask(T, 2, device) & causal_mask(T, device),
        "global": words & (window_mask(T, 2, device) | global_mask(T, torch.tensor([1], device=device))),
    }
    return sees[name].expand(B, T, T)


CALLS = {
    "whole": attend,
    "fused": lambda *inputs: attend(*inputs, fused=True),
    "blocked": lambda *inputs: blocked_attention(*inputs, block=2),
    "blocked causal": lambda *inputs: blocked_attention(*inputs, block=2, causal=True),
    "sliding": lambda *inputs: sliding_window_attention(*inputs, radius=2),
    "banded": lambda *inputs: banded_attention(*inputs, radius=2),
    "banded causal": lambda *inputs: banded_attention(*inputs, radius=2, causal=True),
    "global": lambda *inputs: global_attention(
        *inputs, radius=2, everywhere=torch.tensor([1], device=inputs[0].device)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_mask_of_words_means_the_same_in_every_family(name, draw, close):
    """One sentence with padding in front, one with a hole, and an empty one, whose rows are zero."""
    leaves = [draw(B, T, D, seed=seed, grad=True) for seed in range(3)]
    words = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0, 0], [0] * 7], device=leaves[0].device).bool()
    context, _ = CALLS[name](*leaves, words[:, None])
    expected, _ = attend(*leaves, wanted(name, words[:, None]))
    close(context, expected)
    found, right = (torch.autograd.grad(x.sin().sum(), leaves, retain_graph=True) for x in (context, expected))
    for one, other in zip(found, right, strict=True):
        close(one, other)


def test_blocks_take_any_mask_with_heads_or_without(draw, close):
    for shape, seen in (((2, 5, 4), (2, 5, 5)), ((2, 3, 5, 4), (2, 5, 5)), ((2, 3, 5, 4), (2, 3, 5, 5))):
        query, key, value = (draw(*shape, seed=seed) for seed in range(3))
        mask = torch.rand(seen, generator=torch.Generator().manual_seed(0)).gt(0.6).to(query.device)
        close(blocked_attention(query, key, value, mask, block=2)[0], attend(query, key, value, mask)[0])


def test_second_derivatives_of_blocks_under_a_mask_are_those_of_small_differences():
    draws = torch.Generator().manual_seed(0)
    leaves = [torch.randn(1, 4, n, generator=draws, dtype=torch.float64, requires_grad=True) for n in (2, 2, 3)]
    mask = torch.tensor([[[False, False, True, True], [True, False, True, False], [False] * 4, [True] * 4]])
    assert torch.autograd.gradgradcheck(lambda *inputs: blocked_attention(*inputs, mask, block=2)[0], leaves)


def test_local_attention_sees_the_words_of_the_mask_within_its_window(draw, close):
    """A sentence ends with its last word: a centre beyond it counts as that word; a hole within it stays closed."""
    query, key = draw(2, 1, 4), draw(2, T, 4, seed=1)
    words = torch.tensor([[1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0]], device=query.device).bool()[:, None]
    centre = torch.tensor([5.0, 3.0], device=query.device)
    _, weights = local_attend(query, key, key, words, centre=centre, half_width=1, gaussian="none")
    window = local_window_mask(centre, torch.tensor([3, 6], device=query.device), 1, T)
    close(weights, attend(query, key, key, words & window[:, None])[1])
    assert (weights > 0).nonzero()[:, 2].tolist() == [1, 2, 2, 4]


@pytest.mark.parametrize("name", ["sliding", "banded", "global"])
def test_a_window_refuses_a_mask_that_differs_between_queries(name):
    x = torch.zeros(2, T, 4)
    message = r"mask must have shape \(B, 1, Tk\), one row for all queries, got \(2, 7, 7\); how far a query sees"
    with pytest.raises(ValueError, match=message):
        CALLS[name](x, x, x, torch.ones(2, T, T, dtype=torch.bool))
    with pytest.raises(TypeError, match="mask must be boolean"):
        CALLS[name](x, x, x, torch.ones(2, 1, T))
    with pytest.raises(ValueError, match=r"mask has shape \(2, 1, 6\) but scores have \(2, 1, 7\)"):
        CALLS[name](x, x, x, torch.ones(2, 1, T - 1, dtype=torch.bool))
