"""attend and Attention: against loops, against torch's own attention, and what always holds."""

import math

import pytest
import torch
import torch.nn.functional as F

from attnbook.attention import Additive, Attention, Dot, ScaledDot, attend, causal_mask, dot, padding_mask

# ---- attend

B, TQ, TK, D, DV = 2, 3, 4, 5, 6


def masks(device: torch.device) -> dict[str, torch.Tensor | None]:
    """A mask of each shape that fits ``(B, Tq, Tk)``; in each, each query may attend to something."""
    return {
        "none": None,
        "keys": torch.tensor([True, False, True, True], device=device),
        "causal": causal_mask(TK, device)[-TQ:],
        "padding": padding_mask(torch.tensor([4, 2], device=device))[:, None],
        "queries": torch.ones(B, TQ, 1, dtype=torch.bool, device=device),
        "full": torch.rand(B, TQ, TK, generator=torch.Generator().manual_seed(1)).gt(0.4).to(device),
    }


MASKS = list(masks(torch.device("cpu")))


def slow_softmax(scores: list[float], allowed: list[bool]) -> list[float]:
    """Exponentials divided by their sum, one number after the other."""
    exponentials = [math.exp(score) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    return [e / sum(exponentials) if any(allowed) else 0.0 for e in exponentials]


@pytest.fixture
def inputs(draw):
    """Query, key and value that record gradients."""
    shapes = (B, TQ, D), (B, TK, D), (B, TK, DV)
    return tuple(draw(*shape, seed=seed, grad=True) for seed, shape in enumerate(shapes))


def gradients(context: torch.Tensor, inputs: tuple) -> tuple:
    """Gradients of an uneven sum of the context with respect to query, key and value."""
    factors = torch.linspace(-1, 2, context.numel(), device=context.device, dtype=context.dtype)
    return torch.autograd.grad((context.flatten() * factors).sum(), inputs)


def test_the_fused_path_takes_prepared_keys_too(inputs, close):
    query, key, value = inputs
    score = ScaledDot()
    fused, _ = attend(query, score.prepare(key), value, score=score, fused=True)
    close(fused, attend(query, key, value)[0])


@pytest.mark.parametrize("name", MASKS)
def test_attend_equals_a_loop_over_queries(inputs, device, close, name):
    query, key, value = (tensor.detach() for tensor in inputs)
    mask = masks(device)[name]
    context, weights = attend(query, key, value, score=dot, mask=mask)
    full = torch.ones(B, TQ, TK, dtype=torch.bool, device=device) if mask is None else mask.expand(B, TQ, TK)
    for b in range(B):
        for i in range(TQ):
            scores = [float(query[b, i] @ key[b, j]) for j in range(TK)]
            row = query.new_tensor(slow_softmax(scores, full[b, i].tolist()))
            close(weights[b, i], row)
            close(context[b, i], sum(row[j] * value[b, j] for j in range(TK)))


@pytest.mark.parametrize("name", MASKS)
def test_attend_equals_torch_in_values_and_gradients(inputs, device, close, name):
    mask = masks(device)[name]
    context, _ = attend(*inputs, mask=mask)
    wanted = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    close(context, wanted)
    for got, right in zip(gradients(context, inputs), gradients(wanted, inputs), strict=True):
        close(got, right)


@pytest.mark.parametrize("name", [*MASKS, "a row of nothing", "nothing at all"])
def test_the_fused_path_equals_the_plain_one(inputs, device, name):
    mask = masks(device)["full"]
    if name in MASKS:
        mask = masks(device)[name]
    elif name == "a row of nothing":
        mask[1, 2] = False
    else:
        mask = torch.zeros_like(mask)
    context, weights = attend(*inputs, mask=mask)
    fused, nothing = attend(*inputs, mask=mask, fused=True)
    assert weights.shape == (B, TQ, TK)
    assert nothing is None
    torch.testing.assert_close(fused, context, rtol=1e-5, atol=1e-5)
    for got, right in zip(gradients(fused, inputs), gradients(context, inputs), strict=True):
        torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_may_be_broadcast(inputs, device, name):
    mask = masks(device)[name]
    if mask is not None:
        context, weights = attend(*inputs, mask=mask)
        full_context, full_weights = attend(*inputs, mask=mask.expand(B, TQ, TK))
        assert torch.equal(context, full_context)
        assert torch.equal(weights, full_weights)
    assert attend(*inputs, mask=mask)[0].shape == (B, TQ, DV)


@pytest.mark.parametrize("fused", [False, True])
def test_a_mask_per_sentence_holds_for_all_heads_where_there_are_as_many(draw, device, close, fused):
    query, key, value = (draw(2, 2, 3, D, seed=seed) for seed in range(3))  # two sentences, two heads
    mask = torch.tensor([[[True, False, False]], [[False, True, True]]], device=device).expand(2, 3, 3)
    context, weights = attend(query, key, value, mask=mask, fused=fused)
    for b in range(2):
        alone = attend(query[b], key[b], value[b], mask=mask[b])
        close(context[b], alone[0])
        assert fused or torch.equal(weights[b].eq(0), ~mask[b].expand(2, 3, 3))


def test_the_order_of_the_pairs_does_not_matter(inputs, device, close):
    query, key, value = inputs
    mask, order = masks(device)["full"], [2, 0, 3, 1]
    context, weights = attend(query, key, value, mask=mask)
    shuffled, shuffled_weights = attend(query, key[:, order], value[:, order], mask=mask[..., order])
    close(shuffled, context)
    close(shuffled_weights, weights[..., order])


@pytest.mark.parametrize("fused", [False, True])
def test_a_query_that_may_attend_to_nothing_gets_zeros(inputs, device, fused):
    mask = masks(device)["full"]
    mask[0, 1] = False
    context, weights = attend(*inputs, mask=mask, fused=fused)
    assert context[0, 1].tolist() == [0] * DV
    assert fused or weights[0, 1].tolist() == [0] * TK
    of_query, of_key, of_value = gradients(context, inputs)
    assert all(gradient.isfinite().all() for gradient in (of_query, of_key, of_value))
    assert of_query[0, 1].tolist() == [0] * D


def test_nothing_leaks_from_or_to_a_masked_pair(inputs, device):
    query, key, value = inputs
    mask = padding_mask(torch.tensor([4, 2], device=device))[:, None]
    context, _ = attend(query, key, value, mask=mask)
    _, key_gradient, value_gradient = gradients(context, inputs)
    assert key_gradient[1, 2:].eq(0).all()
    assert value_gradient[1, 2:].eq(0).all()
    other_key, other_value = key.detach().clone(), value.detach().clone()
    other_key[1, 2:] += 100
    other_value[1, 2:] -= 100
    assert torch.equal(attend(query, other_key, other_value, mask=mask)[0], context)


def test_attend_takes_any_callable_as_score(inputs, device):
    context, weights = attend(*inputs, score=lambda query, key: query.new_zeros(B, TQ, TK))
    torch.testing.assert_close(weights, torch.full_like(weights, 1 / TK))
    torch.testing.assert_close(context, inputs[2].mean(dim=1, keepdim=True).expand_as(context))


def test_attend_leaves_its_inputs_alone_and_keeps_their_kind(inputs, device, dtype):
    before = [tensor.detach().clone() for tensor in inputs]
    context, weights = attend(*inputs, mask=masks(device)["full"])
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(inputs, before, strict=True))
    assert context.dtype == weights.dtype == dtype
    assert context.device.type == weights.device.type == device.type


def test_attend_has_the_gradient_it_should():
    numbers = torch.randn(3, 2, 3, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    inputs = [part.clone().requires_grad_() for part in numbers]
    mask = torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    assert torch.autograd.gradcheck(lambda *inputs: attend(*inputs, mask=mask), inputs)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    "shapes, message",
    [
        (((2, 5), (2, 4, 5), (2, 4, 6)), r"query must have 3 axes \(B, T, D\), or 4 with heads, got shape \(2, 5\)"),
        (((2, 3, 5), (2, 1, 4, 5), (2, 4, 6)), "key has 4 axes but query has 3; heads are for all or none"),
        (((2, 3, 5), (2, 4, 5), (2, 4)), r"value must have 3 axes \(B, T, D\), or 4 with heads, got shape \(2, 4\)"),
        (((2, 3, 3, 5), (2, 1, 4, 5), (2, 1, 4, 6)), "key has 1 heads but query has 3"),
        (((0, 3, 5), (0, 4, 5), (0, 4, 6)), r"query is an empty batch: shape \(0, 3, 5\)"),
        (((2, 3, 5), (3, 4, 5), (3, 4, 6)), "key has a batch of 3 but query has 2"),
        (((2, 3, 5), (2, 4, 5), (1, 4, 6)), "value has a batch of 1 but query has 2"),
        (((2, 3, 5), (2, 4, 5), (2, 3, 6)), "value has 3 positions but key has 4; there is one value per key"),
        (((2, 3, 5), (2, 0, 5), (2, 0, 6)), "key has no positions to attend to: its axis Tk has length 0"),
        (((2, 3, 5), (2, 4, 7), (2, 4, 6)), "key has 7 features but query has 5; dot scores need the same"),
    ],
)
def test_attend_refuses_shapes_that_do_not_fit(shapes, message, fused):
    with pytest.raises(ValueError, match=message):
        attend(*(torch.zeros(shape) for shape in shapes), fused=fused)


@pytest.mark.parametrize("fused", [False, True])
def test_attend_refuses_a_mask_of_floats(inputs, device, fused):
    with pytest.raises(TypeError, match=r"mask must be boolean .* got torch.float32; use mask.bool\(\)"):
        attend(*inputs, mask=torch.ones(B, TQ, TK, device=device), fused=fused)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("shape", [(B, TK), (B, TQ, TK + 1), (B, TK, TQ), (1, B, TQ, TK)])
def test_attend_says_that_a_padding_mask_needs_an_axis_for_the_queries(inputs, device, shape, fused):
    mask = torch.ones(shape, dtype=torch.bool, device=device)
    message = r"mask has shape .* but scores have \(2, 3, 4\); a padding mask .* mask\[:, None, :\]"
    with pytest.raises(ValueError, match=message):
        attend(*inputs, mask=mask, fused=fused)


@pytest.mark.parametrize("score", [Dot(), dot, Additive(D, D, 3), lambda query, key: query @ key.mT])
def test_the_fused_path_refuses_another_score(score):
    message = r"(?s)fused=True knows only the scaled dot score, got .*; leave fused out"
    with pytest.raises(ValueError, match=message):
        attend(torch.zeros(B, TQ, D), torch.zeros(B, TK, D), torch.zeros(B, TK, DV), score=score, fused=True)


# ---- Attention


def test_the_layer_is_attend_with_its_own_score(inputs, device, dtype):
    layer = Attention(Additive(D, D, 3)).to(device, dtype)
    mask = masks(device)["padding"]
    for got, right in zip(layer(*inputs, mask), attend(*inputs, score=layer.score, mask=mask), strict=True):
        assert torch.equal(got, right)
    assert {name for name, _ in layer.named_parameters()} == {
        "score." + name for name, _ in layer.score.named_parameters()
    }


def test_the_layer_trains_its_score(inputs, device, dtype):
    layer = Attention(Additive(D, D, 3)).to(device, dtype)
    layer(*inputs)[0].square().sum().backward()
    # One number added to all scores changes no weight, but the bias of the keys sits inside the tanh.
    assert all(parameter.grad.abs().sum() > 0 for parameter in layer.parameters())


def test_the_fused_layer_gives_the_same_context(inputs, close):
    context, nothing = Attention(ScaledDot(), fused=True)(*inputs)
    assert nothing is None
    close(context, Attention(ScaledDot())(*inputs)[0])
