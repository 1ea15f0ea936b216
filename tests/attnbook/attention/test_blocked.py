"""Attention in blocks against attention as a whole: values, gradients, and how little it holds."""

import math

import pytest
import torch

from attnbook.attention import attend, blocked_attention, causal_mask, online_softmax_sum
from attnbook.attention.blocked import Running, blocks_of
from attnruns.experiments.complexity import peak_bytes

SHAPES = [((2, 7, 4), (2, 9, 4), (2, 9, 3)), ((2, 3, 7, 4), (2, 3, 7, 4), (2, 3, 7, 5))]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=["without heads", "with heads"])


@pytest.mark.parametrize("block", [1, 2, 5, 64])
def test_a_softmax_in_blocks_is_the_softmax_of_the_whole(draw, close, block):
    scores, values = 5 * draw(2, 3, 11), draw(2, 11, 4, seed=1)
    parts = zip(scores.split(block, dim=-1), values.split(block, dim=-2), strict=True)
    context, logs = online_softmax_sum(*zip(*parts, strict=True))
    close(context, scores.softmax(dim=-1) @ values)
    close(logs, scores.logsumexp(dim=-1, keepdim=True))


def test_large_scores_do_not_overflow_in_whatever_order_they_come(draw):
    values = draw(1, 3, 2)
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        scores = torch.tensor([[[-1e4, 0.0, 1e4]]], dtype=values.dtype, device=values.device)[..., order]
        context, logs = online_softmax_sum(scores.split(1, dim=-1), values.split(1, dim=-2))
        assert torch.equal(context[0, 0], values[0, order.index(2)])
        assert logs.item() == 1e4


def test_four_scores_by_hand():
    running = Running(*(torch.tensor([[x]]) for x in (-torch.inf, 0.0, 0.0)))
    running = running.add(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0], [2.0]]))
    assert running.largest.item() == 1
    assert running.total.item() == pytest.approx(1 + 2.718281828**-1)
    running = running.add(torch.tensor([[3.0, 3.0]]), torch.tensor([[4.0], [6.0]]))
    assert running.largest.item() == 3
    assert running.total.item() == pytest.approx(2.718281828**-3 + 2.718281828**-2 + 2)


@shapes
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_blocks_give_what_the_whole_gives(draw, close, shape, causal, block):
    query, key, value = (draw(*sizes, seed=seed) for seed, sizes in enumerate(shape))
    before = key.shape[-2] - query.shape[-2]
    mask = causal_mask(key.shape[-2], query.device, before) if causal else None
    context, weights = blocked_attention(query, key, value, causal=causal, block=block)
    close(context, attend(query, key, value, mask)[0])
    assert weights is None


@shapes
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_those_of_the_whole(draw, close, shape, causal):
    leaves = [draw(*sizes, seed=seed, grad=True) for seed, sizes in enumerate(shape)]
    again = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    before = leaves[1].shape[-2] - leaves[0].shape[-2]
    mask = causal_mask(leaves[1].shape[-2], leaves[0].device, before) if causal else None
    blocked_attention(*leaves, causal=causal, block=2)[0].sin().sum().backward()
    attend(*again, mask=mask)[0].sin().sum().backward()
    for one, other in zip(leaves, again, strict=True):
        close(one.grad, other.grad)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_are_those_of_small_differences(causal):
    draws = torch.Generator().manual_seed(0)
    leaves = [torch.randn(1, 4, n, generator=draws, dtype=torch.float64, requires_grad=True) for n in (2, 2, 3)]
    assert torch.autograd.gradcheck(lambda *tensors: blocked_attention(*tensors, causal=causal, block=3)[0], leaves)


def test_a_second_derivative_by_hand():
    query, key, value = torch.tensor([[[1.0]]]), torch.tensor([[[1.0], [0.0]]]), torch.tensor([[[1.0], [0.0]]])
    query.requires_grad_()
    (first,) = torch.autograd.grad(blocked_attention(query, key, value)[0].sum(), query, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), query)
    share = 1 / (1 + math.exp(-1))  # the context is the sigmoid of the query
    assert first.item() == pytest.approx(share * (1 - share))
    assert second.item() == pytest.approx(share * (1 - share) * (1 - 2 * share))  # −0.0909


@pytest.mark.parametrize("causal", [False, True])
def test_second_derivatives_are_those_of_small_differences(causal):
    draws = torch.Generator().manual_seed(0)
    leaves = [torch.randn(1, 4, n, generator=draws, dtype=torch.float64, requires_grad=True) for n in (2, 2, 3)]
    assert torch.autograd.gradgradcheck(lambda *tensors: blocked_attention(*tensors, causal=causal, block=3)[0], leaves)


def test_input_is_left_as_it_was(draw):
    x = draw(1, 6, 4)
    before = x.clone()
    blocked_attention(x, x, x, causal=True, block=2)
    assert torch.equal(x, before)


def test_it_holds_far_less_than_all_scores():
    length = 512
    query, key, value = (torch.randn(1, length, 8) for _ in range(3))
    one_matrix = 4 * length * length  # bytes
    assert peak_bytes(lambda: attend(query, key, value)) >= 2 * one_matrix
    assert peak_bytes(lambda: blocked_attention(query, key, value, block=64)) < one_matrix / 8


def test_for_the_gradients_it_keeps_one_number_per_query_beside_input_and_context():
    leaves = [torch.randn(1, 512, 8, requires_grad=True) for _ in range(3)]
    assert peak_bytes(lambda: blocked_attention(*leaves, block=64)[0].sum().backward()) < 4 * 512 * 512 / 4
    assert peak_bytes(lambda: attend(*leaves)[0].sum().backward()) > 2 * 4 * 512 * 512


def test_positions_are_cut_into_runs():
    assert blocks_of(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]


def test_what_does_not_fit_is_refused():
    x = torch.zeros(2, 5, 4)
    with pytest.raises(ValueError, match="key has 3 features but query has 4"):
        blocked_attention(x, x[..., :3], x)
    with pytest.raises(ValueError, match="block must be at least 1 position, got 0"):
        blocked_attention(x, x, x, block=0)
    with pytest.raises(ValueError, match="causal attention has a key for each query, got 5 queries, 4 keys"):
        blocked_attention(x, x[:, :4], x[:, :4], causal=True)
    with pytest.raises(ValueError, match="score_blocks is empty"):
        online_softmax_sum([], [])
    with pytest.raises(ValueError, match="zip"):
        online_softmax_sum([x], [])
