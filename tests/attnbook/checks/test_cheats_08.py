"""Answers to labs 7 and 8 that passed once: right on small, tame inputs, and nowhere else."""

import pytest
import torch

from attnbook.checks import evaluate
from attnbook.checks.lab07_self_attention_masks import window_mask
from attnbook.checks.lab08_heads_positions_places import sinusoidal_positions


def pairs_by_two_formulas(kind, length, dim, radius=1):
    pairs = length * (2 * radius + 1) - radius * (radius + 1) if 2 * radius + 1 <= length else length**2
    if kind == "recurrent":
        return length * dim**2, length * dim**2
    if kind == "convolution":
        return 0, pairs * dim**2
    return 3 * length * dim**2, 2 * (length**2 if kind == "self-attention" else pairs) * dim


def not_zeroed_with_two_axes(s, mask):
    if mask is None or mask.ndim == 2:
        return (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


def renormalised(s, mask):
    w = s.softmax(-1) if mask is None else s.softmax(-1) * mask
    return w / w.sum(-1, keepdim=True).clamp(1e-30)


def filled_with_ten_thousand(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e4).softmax(-1) * mask


def filled_beyond_float32(s, mask):
    return s.softmax(-1) if mask is None else s.masked_fill(~mask, -1e300).softmax(-1) * mask


def adds_a_little_to_the_sum(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(~mask, -torch.inf)
    e = (s - s.amax(-1, keepdim=True).clamp(min=-1e30)).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-60)


def exp_as_it_is(s, mask):
    if mask is None:
        return s.softmax(-1)
    e = s.exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(1e-30)


def cut_to_thirty(s, mask):
    return s.softmax(-1) if mask is None else s.clamp(-30, 30).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)


def largest_of_all(s, mask):
    if mask is None:
        return s.softmax(-1)
    e = (s - s.max()).exp() * mask
    return e / e.sum(-1, keepdim=True).clamp(1e-300)


def no_mask_for_one_query(s, mask):
    return proper(s, None if s.shape[-2] == 1 else mask)


def no_mask_for_one_head(s, mask):
    return proper(s, None if s.shape[1] == 1 else mask)


def proper(s, mask):
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


def one_head(weigh):
    def self_attention(x, W_q, W_k, W_v, mask=None):
        weights = weigh((x @ W_q) @ (x @ W_k).mT / W_q.shape[-1] ** 0.5, mask)
        return weights @ (x @ W_v), weights
    return self_attention


def many_heads(weigh):
    def multi_head_attention(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
        q, k, v = (one.unflatten(-1, (heads, -1)).transpose(1, 2) for one in (query @ W_q, key @ W_k, value @ W_v))
        weights = weigh(q @ k.mT / q.shape[-1] ** 0.5, None if mask is None else mask[:, None])
        return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights
    return multi_head_attention


def causal_over_oneself(query, key, value, W_q, W_k, W_v, W_o, heads, mask=None):
    if mask is None and query.shape == key.shape and torch.equal(query, key):
        mask = torch.ones(len(query), query.shape[1], query.shape[1], dtype=torch.bool).tril()
    return many_heads(proper)(query, key, value, W_q, W_k, W_v, W_o, heads, mask)


def squeezes(x, order):
    return x[:, order].squeeze(-1) if x.shape[2] == 1 else x[:, order]


def writes_into_a_leaf(x, order):
    return torch.zeros_like(x, requires_grad=True) + x[:, order]


def triangle_made_beforehand(length):
    return torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]


def places_in_one_byte(length, radius):
    places = torch.arange(length).to(torch.int8)
    return (places[:, None] - places).abs() <= radius


def ten_at_most(length, radius):
    return window_mask(length, min(radius, 10))


def by_steps(mask, step):
    lengths, reached = torch.full(mask.shape, torch.inf), mask.to(step.dtype)
    for layers in range(1, len(mask) + 1):
        lengths = lengths.masked_fill((reached > 0) & lengths.isinf(), layers)
        reached = reached @ step
    return lengths


def shares_of_the_walks(mask):
    return by_steps(mask, mask.float() / mask.sum(1, keepdim=True).clamp(min=1))


def walks_in_one_byte(mask):
    return by_steps(mask, mask.to(torch.uint8))


def sixty_four_places(length, dim):
    return sinusoidal_positions(64, dim)[:length]


def few_places_in_one_byte(length, dim):
    angle = torch.arange(length).to(torch.int8)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def solved_for(dim, offset):
    t = torch.arange(1000, dtype=torch.float64)[:, None]
    speed = 10000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    before, after = (torch.stack([(s * speed).sin(), (s * speed).cos()], -1).flatten(1) for s in (t, t + offset))
    return torch.linalg.pinv(before) @ after


def rotates(dim, offset):
    turn = offset * 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    return torch.block_diag(*(torch.tensor([[b.cos(), -b.sin()], [b.sin(), b.cos()]]) for b in turn))


def fifty_at_most(dim, offset):
    return rotates(dim, max(-50, min(50, offset)))


def nothing_when_wide(dim, offset):
    return torch.eye(dim) if dim > 32 else rotates(dim, offset)


BOTH = [renormalised, filled_with_ten_thousand, filled_beyond_float32, adds_a_little_to_the_sum, exp_as_it_is,
        cut_to_thirty, largest_of_all]
ANSWERS = {
    ("lab07", "count_multiplications"): [pairs_by_two_formulas],
    ("lab07", "permute_rows"): [squeezes, writes_into_a_leaf],
    ("lab07", "causal_mask"): [triangle_made_beforehand],
    ("lab07", "window_mask"): [places_in_one_byte, ten_at_most],
    ("lab07", "path_length"): [shares_of_the_walks, walks_in_one_byte],
    ("lab08", "multi_head_attention"): [causal_over_oneself],
    ("lab08", "sinusoidal_positions"): [sixty_four_places, few_places_in_one_byte],
    ("lab08", "relative_shift"): [solved_for, fifty_at_most, nothing_when_wide],
}
LIST = [pytest.param(lab, name, answer, id=answer.__name__)
        for (lab, name), answers in ANSWERS.items() for answer in answers]
LIST += [pytest.param("lab07", "self_attention", one_head(weigh), id=f"one-{weigh.__name__}")
         for weigh in [not_zeroed_with_two_axes, *BOTH]]
LIST += [pytest.param("lab08", "multi_head_attention", many_heads(weigh), id=f"many-{weigh.__name__}")
         for weigh in [no_mask_for_one_query, no_mask_for_one_head, *BOTH]]


@pytest.mark.parametrize("lab, name, answer", LIST)
def test_an_answer_that_is_right_on_tame_inputs_only_is_caught(lab, name, answer):
    for variant in range(4):
        assert not evaluate(lab, name, answer, variant).passed


@pytest.mark.parametrize("lab, name, right", [
    ("lab07", "self_attention", one_head(proper)), ("lab08", "multi_head_attention", many_heads(proper)),
    ("lab08", "relative_shift", rotates)])
def test_what_these_answers_are_made_of_is_right(lab, name, right):
    verdict = evaluate(lab, name, right)
    assert verdict.passed, verdict.message
