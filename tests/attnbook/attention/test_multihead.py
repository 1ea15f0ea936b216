"""MultiHeadAttention: against torch's own, against a loop over heads, and what no head may see."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_layers import copy_attention

from attnbook.attention import (
    Additive,
    Cosine,
    Dot,
    General,
    Heads,
    LinearBias,
    MultiHeadAttention,
    Rotary,
    apply_rotary,
    attend,
    causal_mask,
    merge_heads,
    padding_mask,
    split_heads,
)
from attnbook.decoding import select

B, TQ, TK, DIM, HEADS = 2, 3, 4, 12, 3


def masks(device: torch.device) -> dict[str, torch.Tensor | None]:
    """Masks as a model makes them; in each, each query may attend to something."""
    padding, causal = padding_mask(torch.tensor([4, 2], device=device))[:, None], causal_mask(TK, device)[-TQ:]
    return {"none": None, "causal": causal, "padding": padding, "both": padding & causal}


MASKS = list(masks(torch.device("cpu")))


@pytest.fixture
def inputs(draw):
    """Query, key and value that record gradients."""
    return tuple(draw(B, places, DIM, seed=seed, grad=True) for seed, places in enumerate((TQ, TK, TK)))


@pytest.fixture
def make(device, dtype):
    """``make(heads, **options)``: a layer in which no bias is zero."""

    def build(heads: int = HEADS, **options) -> MultiHeadAttention:
        torch.manual_seed(1)
        layer = MultiHeadAttention(DIM, heads, **options)
        for parameter in layer.parameters():
            nn.init.normal_(parameter, std=0.4)
        return layer.to(device, dtype)

    return build


def gradients(output: torch.Tensor, inputs) -> tuple:
    """Gradients of an uneven sum of the output with respect to the inputs."""
    factors = torch.linspace(-1, 2, output.numel(), device=output.device, dtype=output.dtype)
    return torch.autograd.grad((output.flatten() * factors).sum(), inputs, retain_graph=True)


# ---- split, merge


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_merging_undoes_splitting(batch, length, heads, features):
    x = torch.arange(batch * length * heads * features).view(batch, length, -1)
    split = split_heads(x, heads)
    assert split.shape == (batch, heads, length, features)
    assert torch.equal(merge_heads(split), x)
    assert torch.equal(split_heads(merge_heads(split), heads), split)


def test_a_head_gets_neighbouring_features():
    x = torch.arange(2 * 3 * 6).view(2, 3, 6)
    assert torch.equal(split_heads(x, 3)[:, 1], x[..., 2:4])


@pytest.mark.parametrize("heads", [0, -1, 4, 7])
def test_features_must_be_shared_equally(heads):
    with pytest.raises(ValueError, match=f"6 features can't be shared equally among {heads} heads"):
        split_heads(torch.zeros(1, 2, 6), heads)
    with pytest.raises(ValueError, match=f"dim = 6 features can't be shared equally among {heads} heads"):
        MultiHeadAttention(6, heads)


# ---- the layer


@pytest.mark.parametrize("name", MASKS)
def test_the_layer_equals_torchs_in_output_weights_and_gradients(make, inputs, device, dtype, close, name):
    ours, theirs = make(), nn.MultiheadAttention(DIM, HEADS, batch_first=True).to(device, dtype)
    copy_attention(ours, theirs)
    output, weights = ours(*inputs, masks(device)[name])
    no_key = ~masks(device)["padding"][:, 0] if name in ("padding", "both") else None
    no_pair = ~masks(device)["causal"] if name in ("causal", "both") else None
    wanted, wanted_weights = theirs(*inputs, no_key, attn_mask=no_pair, average_attn_weights=False)
    close(output, wanted)
    close(weights, wanted_weights)
    for got, right in zip(gradients(output, inputs), gradients(wanted, inputs), strict=True):
        close(got, right)
    parts = ours.project_query, ours.project_key, ours.project_value
    close(torch.cat(gradients(output, [part.weight for part in parts])), *gradients(wanted, [theirs.in_proj_weight]))
    close(torch.cat(gradients(output, [part.bias for part in parts])), *gradients(wanted, [theirs.in_proj_bias]))


SCORES = {
    "scaled_dot": lambda: None,
    "dot": Dot,
    "cosine": lambda: Cosine(beta=3.0),
    "general": lambda: General(DIM // HEADS, DIM // HEADS),
    "additive": lambda: Additive(DIM // HEADS, DIM // HEADS, 5),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("name", MASKS)
def test_the_layer_equals_a_loop_over_heads(make, inputs, device, close, name, kind):
    layer, mask, width = make(score=SCORES[kind]()), masks(device)[name], DIM // HEADS
    parts = (layer.project_query, layer.project_key, layer.project_value)
    query, key, value = (project(x) for project, x in zip(parts, inputs, strict=True))
    output, weights = layer(*inputs, mask)
    contexts = []
    for head in range(HEADS):
        own = slice(head * width, (head + 1) * width)
        context, seen = attend(query[..., own], key[..., own], value[..., own], mask, score=layer.score)
        contexts.append(context)
        close(weights[:, head], seen)
    close(output, layer.project_output(torch.cat(contexts, dim=-1)))


def test_rotary_positions_turn_each_heads_queries_and_keys(make, inputs, close):
    plain, rotary = make(), make(positions=Rotary())
    query = split_heads(plain.project_query(inputs[0]), HEADS)
    key = split_heads(plain.project_key(inputs[1]), HEADS)
    at, keys_at = torch.arange(TK - TQ, TK).to(query.device), torch.arange(TK).to(query.device)
    scores = apply_rotary(query, at) @ apply_rotary(key, keys_at).mT / (DIM / HEADS) ** 0.5
    close(rotary(*inputs)[1], scores.softmax(dim=-1))


def test_a_linear_bias_is_added_to_each_heads_scores(make, inputs, device, dtype, close):
    positions = LinearBias(HEADS).to(device, dtype)
    plain, biased = make(), make(positions=positions)
    distance = (torch.arange(TK - TQ, TK)[:, None] - torch.arange(TK)).abs().to(device)
    penalties = torch.stack([-slope * distance for slope in positions.slopes])  # (H, Tq, Tk)
    wanted = (plain(*inputs)[1].log() + penalties).softmax(dim=-1)
    close(biased(*inputs)[1], wanted)


@pytest.mark.parametrize("heads", [1, 2, 3, 12])
def test_output_and_weights_have_their_shapes_and_rows_sum_to_one(make, inputs, close, heads):
    output, weights = make(heads)(*inputs)
    assert output.shape == (B, TQ, DIM)
    assert weights.shape == (B, heads, TQ, TK)
    close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


def test_the_number_of_parameters_does_not_depend_on_the_heads():
    numbers = {sum(p.numel() for p in MultiHeadAttention(DIM, heads).parameters()) for heads in (1, 2, 3, 4, 6, 12)}
    assert numbers == {4 * (DIM * DIM + DIM)}
    assert sum(p.numel() for p in MultiHeadAttention(DIM, 3, bias=False).parameters()) == 4 * DIM * DIM


POSITIONS = {"none": lambda: None, "rotary": Rotary, "linear_bias": lambda: LinearBias(HEADS)}
positions = pytest.mark.parametrize("kind", POSITIONS)


@positions
@pytest.mark.parametrize("name", [*MASKS, "a row of nothing", "nothing at all"])
def test_the_fused_layer_equals_the_plain_one(make, inputs, device, close, name, kind):
    mask = masks(device).get(name)
    if name not in MASKS:
        mask = torch.ones(B, TQ, TK, dtype=torch.bool, device=device)
        mask[1, 2 if name == "a row of nothing" else slice(None)] = False
    output, weights = make(positions=POSITIONS[kind]())(*inputs, mask)
    fused, nothing = make(positions=POSITIONS[kind](), fused=True)(*inputs, mask)
    assert weights.shape == (B, HEADS, TQ, TK)
    assert nothing is None
    close(fused, output)
    for got, right in zip(gradients(fused, inputs), gradients(output, inputs), strict=True):
        close(got, right)


@pytest.mark.parametrize("fused", [False, True])
def test_a_query_that_may_attend_to_nothing_gets_the_output_bias(make, inputs, device, close, fused):
    layer, mask = make(fused=fused), torch.ones(B, TQ, TK, dtype=torch.bool, device=device)
    mask[1, 2] = False
    output, _ = layer(*inputs, mask)
    close(output[1, 2], layer.project_output.bias)
    assert all(gradient.isfinite().all() for gradient in gradients(output, inputs))
    assert gradients(output[1, 2], inputs)[0].eq(0).all()


@positions
@pytest.mark.parametrize("fused", [False, True])
def test_the_future_and_padding_have_no_gradient_at_all(make, draw, device, kind, fused):
    layer, x = make(positions=POSITIONS[kind](), fused=fused), draw(B, TK, DIM, grad=True)
    query = draw(B, TK, DIM, seed=1)
    mask = causal_mask(TK, device) & padding_mask(torch.tensor([4, 2], device=device))[:, None]
    for place in range(TK):
        (gradient,) = gradients(layer(query, x, x, mask)[0][:, place], [x])
        seen = gradient.ne(0).any(dim=-1)
        assert torch.equal(seen, mask[:, place])


@positions
def test_projecting_first_and_attending_later_is_the_layer(make, inputs, device, kind):
    layer, (query, key, value), mask = make(positions=POSITIONS[kind]()), inputs, masks(device)["both"]
    at, keys_at = torch.arange(TK - TQ, TK, device=device), torch.arange(TK, device=device)
    heads = layer.project(key, value, keys_at)
    assert heads.key.shape == heads.value.shape == (B, HEADS, TK, DIM // HEADS)
    for got, right in zip(layer.attend(query, heads, mask, at, keys_at), layer(query, key, value, mask), strict=True):
        assert torch.equal(got, right)


@positions
def test_keys_can_be_appended_to_those_that_were_projected_before(make, inputs, device, close, kind):
    layer, (_, key, value) = make(positions=POSITIONS[kind]()), inputs
    whole = layer.project(key, value, torch.arange(TK, device=device))
    first = layer.project(key[:, :1], value[:, :1], torch.arange(1, device=device))
    both = first.append(layer.project(key[:, 1:], value[:, 1:], torch.arange(1, TK, device=device)))
    close(both.key, whole.key)
    close(both.value, whole.value)


def test_dtype_and_device_follow_the_input(make, inputs, device, dtype):
    for result in make()(*inputs, masks(device)["both"]):
        assert result.dtype == dtype
        assert result.device.type == device.type


def test_the_layer_refuses_what_attend_refuses(make, inputs, device):
    with pytest.raises(TypeError, match=r"mask must be boolean .* got torch.float32"):
        make()(*inputs, torch.ones(TQ, TK, device=device))
    with pytest.raises(ValueError, match=r"mask has shape \(2, 4\) but scores have \(2, 3, 3, 4\)"):
        make()(*inputs, torch.ones(B, TK, dtype=torch.bool, device=device))
    with pytest.raises(ValueError, match="value has 3 positions but key has 4; there is one value per key"):
        make()(*inputs[:2], inputs[2][:, 1:])
    with pytest.raises(ValueError, match="fused=True knows only the scaled dot score, got Cosine"):
        make(score=Cosine(), fused=True)(*inputs)
    with pytest.raises(ValueError, match=r"bias has shape \(5, 3, 4\) but scores have \(2, 3, 3, 4\)"):
        make(positions=LinearBias(5).to(device))(*inputs)


# ---- grouped queries


@positions
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("fused", [False, True])
def test_grouped_queries_equal_a_layer_whose_key_and_value_heads_are_repeated(
    make, inputs, device, close, kind, name, fused
):
    grouped = make(6, key_value_heads=2, positions=LinearBias(6) if kind == "linear_bias" else POSITIONS[kind]())
    whole = make(6, positions=grouped.positions)
    for part in ("project_query", "project_output"):
        getattr(whole, part).load_state_dict(getattr(grouped, part).state_dict())
    for part in ("project_key", "project_value"):
        few, many = getattr(grouped, part), getattr(whole, part)
        for theirs, ours in zip(many.parameters(), few.parameters(), strict=True):
            heads = ours.detach().unflatten(0, (2, DIM // 6))  # (G, D/H, …)
            theirs.data.copy_(heads.repeat_interleave(3, dim=0).flatten(0, 1))
    grouped.fused = fused
    output, weights = grouped(*inputs, masks(device)[name])
    wanted, wanted_weights = whole(*inputs, masks(device)[name])
    close(output, wanted)
    if not fused:
        close(weights, wanted_weights)
    for got, right in zip(gradients(output, inputs), gradients(wanted, inputs), strict=True):
        close(got, right)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_with_fewer_heads_of_keys_and_values_there_are_fewer_weights_and_less_is_kept(make, inputs, device, groups):
    layer = make(4, key_value_heads=groups)
    kept = layer.project(inputs[1], inputs[2], torch.arange(TK, device=device))
    assert kept.key.shape == kept.value.shape == (B, groups, TK, DIM // 4)
    width = DIM // 4 * groups
    assert sum(p.numel() for p in layer.parameters()) == 2 * (DIM * DIM + DIM) + 2 * (DIM * width + width)


@pytest.mark.parametrize("groups", [0, 3, 8, -2])
def test_heads_must_be_shared_equally_by_heads_of_keys_and_values(groups):
    with pytest.raises(ValueError, match=f"key_value_heads must divide heads = 4, got {groups}"):
        MultiHeadAttention(DIM, 4, key_value_heads=groups)


def some_heads(length: int, seed: int) -> Heads:
    return Heads(*torch.randn(2, 3, 2, length, 4, generator=torch.Generator().manual_seed(seed)))


def test_appending_copies_only_when_the_room_is_full():
    kept, whole, moved = some_heads(3, 0), some_heads(3, 0), 0
    with torch.no_grad():
        for number in range(1, 60):
            new, before = some_heads(1, number), kept.key.data_ptr()
            kept = kept.append(new)
            moved += kept.key.data_ptr() != before
            whole = Heads(*(torch.cat(pair, dim=2) for pair in zip(whole, new, strict=True)))
            assert torch.equal(kept.key, whole.key)
            assert torch.equal(kept.value, whole.value)
    assert moved == 4  # to 8, 18, 38 and 78 positions


@pytest.mark.parametrize("rows", [None, [1, 1, 0]])
def test_what_was_appended_to_can_be_continued_twice_and_keeps_what_it_had(rows):
    with torch.no_grad():
        kept = some_heads(3, 0).append(some_heads(1, 1))
        if rows is not None:
            kept = select(kept, torch.tensor(rows))
        before = kept.key.clone()
        one, other = kept.append(some_heads(1, 2)), kept.append(some_heads(1, 3))
        again = one.append(some_heads(1, 4))
    assert torch.equal(kept.key, before)
    for continued, seed in ((one, 2), (other, 3)):
        assert torch.equal(continued.key, torch.cat([before, some_heads(1, seed).key], dim=2))
    assert torch.equal(again.key, torch.cat([one.key, some_heads(1, 4).key], dim=2))


def test_with_gradients_appending_leaves_what_they_need():
    kept, first, second = (some_heads(1, seed) for seed in range(3))
    first.key.requires_grad_()
    longer = kept.append(first)
    squares = longer.key.square().sum()
    longer.append(second)
    squares.backward()
    torch.testing.assert_close(first.key.grad, 2 * first.key.detach())


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("mask", [None, torch.tensor([[True, False, True, True]])])
def test_one_word_asks_shared_keys_as_the_last_of_several_does(fused, mask, device, dtype, close):
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 4, fused=fused, key_value_heads=2).to(device, dtype)
    x = torch.randn(3, 4, 8).to(device, dtype)
    mask = None if mask is None else mask.to(device)
    several, theirs = attention(x[:, 2:], x, x, mask)
    one, ours = attention(x[:, 3:], x, x, mask)
    close(one, several[:, 1:])
    assert (ours is None) == fused
    if not fused:
        close(ours, theirs[:, :, 1:])
