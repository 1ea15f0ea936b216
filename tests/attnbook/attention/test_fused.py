"""The fused kernel gives the context of the plain path, with every kind of mask and bias, and its gradients."""

import pytest
import torch

from attnbook.attention import Cosine, LinearBias, Rotary, attend, causal_mask, dot, padding_mask, window_mask
from attnbook.attention.fused import KEYS, QUERIES, is_causal
from attnruns.experiments.complexity import peak_bytes

B, H, TQ, TK, D, DV = 2, 3, 4, 5, 6, 3


@pytest.fixture
def inputs(draw):
    """``inputs(axes)``: query, key, value that record gradients."""

    def make(axes):
        shapes = ((*axes, TQ, D), (*axes, TK, D), (*axes, TK, DV))
        return [draw(*shape, seed=seed, grad=True) for seed, shape in enumerate(shapes)]

    return make


@pytest.mark.parametrize("axes", [(B,), (B, H)], ids=["3 axes", "4 axes"])
@pytest.mark.parametrize("masked", ["no mask", "rows", "a row of nothing", "one for all"])
@pytest.mark.parametrize("biased", [False, True])
def test_context_and_gradients_are_those_of_the_plain_path(inputs, draw, device, close, axes, masked, biased):
    mask = None
    if masked != "no mask":
        mask = torch.rand(*axes, TQ, TK, generator=torch.Generator().manual_seed(0)).to(device) > 0.4
        mask[..., 0] = True
    if masked == "a row of nothing":
        mask[0, ..., 1, :] = False
    if masked == "one for all":
        mask = mask[(0,) * len(axes)]  # (Tq, Tk)
    bias = draw(*axes, TQ, TK, seed=9) if biased else None
    tensors = inputs(axes)
    plain, weights = attend(*tensors, mask=mask, bias=bias)
    fused, nothing = attend(*tensors, mask=mask, bias=bias, fused=True)
    assert nothing is None
    assert weights.shape == (*axes, TQ, TK)
    close(fused, plain)
    push = torch.linspace(-1, 1, plain.numel(), device=device, dtype=plain.dtype).view_as(plain)
    found, wanted = (torch.autograd.grad((context * push).sum(), tensors) for context in (fused, plain))
    for one, other in zip(found, wanted, strict=True):
        close(one, other)


@pytest.mark.parametrize("score", [dot, Cosine(), lambda query, key: query @ key.mT])
def test_another_score_is_refused(inputs, score):
    with pytest.raises(ValueError, match=r"fused=True knows only the scaled dot score, got .*; leave fused out"):
        attend(*inputs((B,)), score=score, fused=True)


def test_a_bias_that_does_not_fit_is_refused(inputs, draw):
    with pytest.raises(ValueError, match=r"bias has shape \(3, 5\) but scores have \(2, 4, 5\)"):
        attend(*inputs((B,)), bias=draw(3, TK), fused=True)


def test_rotary_queries_and_keys_go_through_the_kernel_as_they_are(inputs, close):
    query, key, value = inputs((B, H))
    turned = [Rotary().rotate(x, torch.arange(x.shape[-2], device=x.device)) for x in (query, key)]
    close(attend(*turned, value, fused=True)[0], attend(*turned, value)[0])


@pytest.mark.parametrize("axes", [(B,), (B, H)], ids=["3 axes", "4 axes"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("trained", [False, True])
def test_a_row_of_minus_infinity_in_the_bias_is_zero_on_both_paths(inputs, draw, axes, masked, trained):
    bias = draw(*axes, TQ, TK, seed=9)
    bias[0, ..., 1, :] = -torch.inf
    bias[..., 2, 0] = -torch.inf
    mask = torch.ones(TQ, TK, dtype=torch.bool, device=bias.device) if masked else None
    if masked:
        bias[..., 3, :2], mask[3, 2:] = -torch.inf, False  # closed between the two of them
    tensors = inputs(axes) + ([bias.requires_grad_()] if trained else [])
    contexts = [attend(*tensors[:3], mask=mask, bias=bias, fused=fused)[0] for fused in (False, True)]
    torch.testing.assert_close(*contexts, rtol=1e-5, atol=1e-5)
    assert contexts[0][0, ..., 1, :].eq(0).all()
    grads = [torch.autograd.grad(context.square().sum(), tensors) for context in contexts]
    for one, other in zip(*grads, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [[[-1e5, -1e5]], [[1e5, 1e5 - 1]], [[-1e5, -torch.inf]], [[-torch.inf] * 2]])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_bias_beyond_the_range_of_half_precision_is_that_of_the_plain_path(dtype, bias):
    query, key, value = torch.zeros(1, 1, 4), torch.ones(1, 2, 4), torch.arange(8.0).reshape(1, 2, 4)
    halves = [one.to(dtype) for one in (query, key, value)]
    context, _ = attend(*halves, bias=torch.tensor(bias), fused=True)
    plain, _ = attend(query, key, value, bias=torch.tensor(bias))
    torch.testing.assert_close(context.float(), plain, rtol=1e-2, atol=1e-2)


def test_the_largest_bias_is_looked_for_where_the_mask_is_open():
    halves = [torch.zeros(1, 1, 4), torch.ones(1, 3, 4), torch.arange(12.0).reshape(1, 3, 4)]
    given = {"bias": torch.tensor([[0.0, -1e5, -1e5]]), "mask": torch.tensor([[False, True, True]])}
    context, _ = attend(*(one.half() for one in halves), fused=True, **given)
    assert context.tolist() == [[[6.0, 7.0, 8.0, 9.0]]]


# ---- what reaches the kernel


def test_a_causal_mask_is_known_by_its_numbers():
    mask, scores = causal_mask(5), torch.zeros(2, 3, 5, 5)
    assert is_causal(mask, scores)
    assert is_causal(mask[None], scores)
    others = [mask.T, window_mask(5, 1), mask & window_mask(5, 1), mask.expand(2, 1, 5, 5), torch.ones_like(mask)]
    changed = mask.clone()
    changed[4, 0] = False
    assert not any(is_causal(other, scores) for other in [*others, changed, mask[:, :1], mask[-1]])
    assert not is_causal(causal_mask(5, start=2), torch.zeros(2, 3, 3, 5))


@pytest.mark.parametrize("axes", [(B,), (B, H)], ids=["3 axes", "4 axes"])
def test_a_causal_mask_gives_the_kernels_own_causal_context(draw, close, device, axes):
    query, key, value = (draw(*axes, TQ, D, seed=seed) for seed in range(3))
    mask = causal_mask(TQ, device)
    close(attend(query, key, value, mask=mask, fused=True)[0], attend(query, key, value, mask=mask)[0])


@pytest.mark.parametrize("axes", [(B,), (B, H)], ids=["3 axes", "4 axes"])
@pytest.mark.parametrize("length", [QUERIES + 1, 3 * QUERIES, 2 * KEYS - 1])
def test_blocks_of_causal_queries_give_the_context_of_all_at_once(draw, close, device, axes, length):
    query, key, value = (draw(*axes, length, D, seed=seed) for seed in range(3))
    mask = causal_mask(length, device)
    whole = attend(query, key, value, mask=mask, fused=True)[0]  # a gradient may be asked for
    with torch.no_grad():
        close(attend(query, key, value, mask=mask, fused=True)[0], whole)


T = 256  # positions, for the tests of memory
MATRIX = 4 * T * T  # bytes of one head's scores


@pytest.mark.parametrize(
    "name, matrices", [("none", 0), ("causal", 0.3), ("window", 3), ("padding", 0.1), ("bias", 3 * 8)]
)
def test_no_mask_is_expanded_to_batch_and_heads(name, matrices):
    """Beside what the kernel holds without a mask; all heads of all sentences would be 32 matrices."""
    query, key, value = (torch.randn(4, 8, T, 16) for _ in range(3))
    at = torch.arange(T)
    given = {
        "none": {},
        "causal": {"mask": causal_mask(T)},
        "window": {"mask": window_mask(T, 9)},
        "padding": {"mask": padding_mask(torch.tensor([T, T - 1, 9, 5]))[:, None]},
        "bias": {"bias": LinearBias(8).bias(at, at)},  # one matrix per head
    }
    alone = peak_bytes(lambda: attend(query, key, value, fused=True))
    held = peak_bytes(lambda: attend(query, key, value, fused=True, **given[name]))
    assert held <= alone + query.numel() * 4 + matrices * MATRIX
