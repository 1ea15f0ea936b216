"""Attention with a state of fixed size: word by word it is what it is all at once, and what sums over words say."""

import pytest
import torch

from attnbook.attention import causal_mask
from attnbook.attention.linear import (
    delta_rule,
    delta_step,
    forgetting_attention,
    forgetting_step,
    linear_attention,
    linear_step,
    positive_features,
    unit_features,
)

B, T, D, Dv = 2, 7, 4, 3


@pytest.fixture
def inputs(draw):
    return draw(B, T, D), draw(B, T, D, seed=1), draw(B, T, Dv, seed=2)


@pytest.fixture
def rates(draw):
    return draw(B, T, seed=3).sigmoid()


# ---- linear attention


def test_each_context_is_the_weighted_mean_that_the_formula_says(inputs, close):
    query, key, value = inputs
    context, weights = linear_attention(query, key, value)
    assert weights is None
    for b in range(B):
        for t in range(T):
            scores = [(positive_features(query[b, t]) * positive_features(key[b, s])).sum() for s in range(T)]
            wanted = sum(score * value[b, s] for s, score in enumerate(scores)) / sum(scores)
            close(context[b, t], wanted)


def test_with_a_mask_of_all_it_is_what_it_is_without(inputs, close):
    everything = torch.ones(T, T, dtype=torch.bool, device=inputs[0].device)
    close(linear_attention(*inputs, everything)[0], linear_attention(*inputs)[0])


def test_word_by_word_it_is_the_same_under_a_causal_mask(inputs, close):
    wanted, _ = linear_attention(*inputs, causal_mask(T, inputs[0].device))
    state = None
    for t in range(T):
        context, state = linear_step(*(x[:, t] for x in inputs), state)
        close(context, wanted[:, t])
        assert [part.shape for part in state] == [(B, D, Dv), (B, D)]  # as large after seven words as after one


def test_a_row_that_may_attend_to_nothing_gets_zeros_and_no_gradient_that_is_not_a_number(draw):
    leaves = [draw(1, 3, D, seed=seed, grad=True) for seed in range(3)]
    mask = torch.tensor([[False] * 3, [True] * 3, [True, False, False]], device=leaves[0].device)
    context, _ = linear_attention(*leaves, mask)
    assert torch.equal(context[0, 0], torch.zeros_like(context[0, 0]))
    torch.testing.assert_close(context[0, 2], leaves[2][0, 0])
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(context.sum(), leaves))


def test_heads_are_attentions_side_by_side(draw, close):
    query, key, value = (draw(2, 3, T, D, seed=seed) for seed in range(3))
    mask = causal_mask(T, query.device).expand(2, T, T).clone()
    mask[1, :, 0] = False
    context, _ = linear_attention(query, key, value, mask)
    for head in range(3):
        close(context[:, head], linear_attention(query[:, head], key[:, head], value[:, head], mask)[0])


# ---- forgetting


def test_what_was_written_has_faded_by_all_rates_since(inputs, rates, close):
    query, key, value = inputs
    context, weights = forgetting_attention(query, key, value, keep=rates)
    assert weights is None
    for t in range(T):
        wanted = torch.zeros_like(context[:, t])
        for s in range(t + 1):
            factor = rates[:, s + 1 : t + 1].prod(dim=1) * (query[:, t] * key[:, s]).sum(dim=-1)  # (B,)
            wanted = wanted + factor[:, None] * value[:, s]
        close(context[:, t], wanted)


def test_a_memory_that_fades_is_the_same_word_by_word(inputs, rates, close):
    wanted, memory = forgetting_attention(*inputs, keep=rates)[0], None
    for t in range(T):
        context, memory = forgetting_step(*(x[:, t] for x in inputs), rates[:, t], memory)
        close(context, wanted[:, t])


def test_a_memory_that_keeps_nothing_at_all_for_long_has_gradients_that_are_numbers(draw):
    leaves = [draw(1, 50, D, seed=seed, grad=True) for seed in range(3)]
    keep = torch.full((1, 50), 1e-6, dtype=leaves[0].dtype, device=leaves[0].device).requires_grad_()
    context, _ = forgetting_attention(*leaves, keep=keep)
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(context.sum(), [*leaves, keep]))


# ---- the delta rule


GATED = pytest.mark.parametrize("gated", [False, True])  # whether the memory fades as well


@GATED
def test_the_delta_rule_is_the_same_word_by_word(gated, inputs, rates, close):
    query, key, value = inputs
    key, keep = unit_features(key), rates.flip(1) if gated else None
    wanted, weights = delta_rule(query, key, value, rate=rates, keep=keep)
    assert weights is None
    memory = None
    for t in range(T):
        if gated and memory is not None:
            memory = keep[:, t, None, None] * memory
        context, memory = delta_step(query[:, t], key[:, t], value[:, t], rates[:, t], memory)
        close(context, wanted[:, t])


@GATED
def test_the_delta_rule_is_the_papers_product_of_matrices(gated, inputs, rates, close):
    """Yang et al. 2024: S_t = (I − β k kᵀ) S_{t−1} + β k vᵀ, and gated (2025) with a_t S_{t−1} in place of S_{t−1};
    here for one sentence, with matrices written out."""
    query, key, value = (x[0] for x in inputs)
    key, memory = unit_features(key), torch.zeros(D, Dv, dtype=query.dtype, device=query.device)
    keep, wanted = rates.flip(1) if gated else None, []
    for t in range(T):
        erase = torch.eye(D, dtype=query.dtype, device=query.device) - rates[0, t] * torch.outer(key[t], key[t])
        before = keep[0, t] * memory if gated else memory
        memory = erase @ before + rates[0, t] * torch.outer(key[t], value[t])
        wanted.append(memory.T @ query[t])
    found = delta_rule(query[None], key[None], value[None], rate=rates[:1], keep=keep[:1] if gated else None)[0][0]
    close(found, torch.stack(wanted))


def test_a_delta_rule_that_keeps_all_is_the_plain_one_and_its_keep_has_the_shape_of_the_words(inputs, rates, close):
    close(delta_rule(*inputs, rate=rates, keep=torch.ones_like(rates))[0], delta_rule(*inputs, rate=rates)[0])
    with pytest.raises(ValueError, match="keep must have shape"):
        delta_rule(*inputs, rate=rates, keep=rates[:, 1:])


def test_in_a_gated_delta_rule_a_word_left_out_by_the_mask_lets_nothing_fade(inputs, rates, close):
    query, key, value = inputs
    mask = torch.ones(len(query), 1, T, dtype=torch.bool, device=rates.device)
    mask[:, :, 2] = False
    kept = [t for t in range(T) if t != 2]
    found = delta_rule(query, key, value, mask, rate=rates, keep=rates)[0][:, kept]
    close(found, delta_rule(*(x[:, kept] for x in inputs), rate=rates[:, kept], keep=rates[:, kept])[0])


def test_a_key_told_twice_answers_with_its_last_value_where_linear_attention_adds_both(close, draw):
    key, first, second = unit_features(draw(1, D)), draw(1, Dv, seed=1), draw(1, Dv, seed=2)
    one = torch.ones(1, dtype=key.dtype, device=key.device)
    _, memory = delta_step(key, key, first, one)
    context, _ = delta_step(key, key, second, one, memory)
    close(context, second)
    _, memory = forgetting_step(key, key, first, one)
    close(forgetting_step(key, key, second, one, memory)[0], first + second)


# ---- what both of the last two take


FAMILIES = {"keep": forgetting_attention, "rate": delta_rule}


@pytest.mark.parametrize("name", FAMILIES)
def test_words_left_out_by_the_mask_change_nothing(name, inputs, rates, close):
    mask = torch.tensor([[1, 1, 0, 0, 1, 1, 1], [1, 0, 1, 0, 1, 0, 1]], device=rates.device).bool()[:, None]
    found, _ = FAMILIES[name](*inputs, mask, **{name: rates})
    for b in range(B):
        real = mask[b, 0]
        alone, _ = FAMILIES[name](*(x[b : b + 1, real] for x in inputs), **{name: rates[b : b + 1, real]})
        close(found[b : b + 1, real], alone)


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_and_their_mask_are_those_of_each_head_alone(name, draw, close):
    query, key, value = (draw(2, 3, T, D, seed=seed) for seed in range(3))
    rates, mask = draw(2, 3, T, seed=3).sigmoid(), torch.ones(2, 1, T, dtype=torch.bool, device=query.device)
    mask[0, 0, 2] = False
    found, _ = FAMILIES[name](query, key, value, mask, **{name: rates})
    for head in range(3):
        alone, _ = FAMILIES[name](*(x[:, head] for x in (query, key, value)), mask, **{name: rates[:, head]})
        close(found[:, head], alone)


@pytest.mark.parametrize("name", FAMILIES)
def test_rates_of_another_shape_are_refused(name):
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match=rf"{name} must have shape \(2, 5\), one per position, got \(2, 5, 1\)"):
        FAMILIES[name](x, x, x, **{name: torch.ones(2, 5, 1)})


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mask_that_differs_between_queries_is_refused(name):
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match=r"mask must have shape \(B, 1, Tk\), one row for all queries"):
        FAMILIES[name](x, x, x, causal_mask(5)[None], **{name: torch.ones(2, 5)})


def test_shapes_that_do_not_fit_are_refused():
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match="key has 3 features but query has 4; linear scores need the same number"):
        linear_attention(x, x[..., :3], x)
    with pytest.raises(ValueError, match="query, key and value must have the same B and T"):
        delta_rule(x[:, :3], x, x, rate=torch.ones(2, 5))
    with pytest.raises(TypeError, match="mask must be boolean"):
        linear_attention(x, x, x, torch.ones(5, 5))
