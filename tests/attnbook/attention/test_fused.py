"""The fused kernel gives the context of the plain path, with every kind of mask and bias, and its gradients."""

import pytest
import torch

from attnbook.attention import Cosine, Rotary, attend, dot

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
