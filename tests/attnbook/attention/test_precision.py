"""Half precision and autocast: what overflows, vanishes or stands still in 16 bits does none of it here."""

import math

import pytest
import torch

from attnbook.attention import (
    Cosine,
    LinearBias,
    MonotonicCentre,
    MultiHeadAttention,
    ScaledDot,
    attend,
    banded_attention,
    blocked_attention,
    gaussian_window,
    local_attend,
    local_window_mask,
    online_softmax_sum,
    predicted_centre,
    sliding_window_attention,
    walking_centre,
)
from attnbook.attention.hard import location_log_probs
from attnbook.attention.precision import at_least_float32
from attnbook.models.ntm_addressing import content_weights, sharpen
from attnbook.models.transformer_xl import RelativeAttention

HALVES = [torch.float16, torch.bfloat16]
halves = pytest.mark.parametrize("half", HALVES, ids=["float16", "bfloat16"])


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.int64])
def test_what_is_narrower_becomes_float32_and_the_others_stay(kind):
    assert at_least_float32(torch.ones(2).to(kind)).dtype == torch.float32
    for x in (torch.ones(2), torch.ones(2).double()):
        assert at_least_float32(x) is x


# ---- scores

ATTENTIONS = {
    "attend": lambda q, k, v: attend(q, k, v)[0],
    "fused": lambda q, k, v: attend(q, k, v, fused=True)[0],
    "blocked": lambda q, k, v: blocked_attention(q, k, v, block=1)[0],
    "banded": lambda q, k, v: banded_attention(q, k, v, radius=1)[0],
    "sliding": lambda q, k, v: sliding_window_attention(q, k, v, radius=1)[0],
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_a_product_beyond_float16_whose_score_is_not_gives_the_right_context(name):
    query, value = torch.full((1, 2, 4), 150.0), torch.tensor([[[1.0], [3.0]]])  # q · k = 90,000
    context = ATTENTIONS[name](*(x.half() for x in (query, query, value)))
    assert context.dtype == torch.float16
    assert context.flatten().tolist() == [2.0, 2.0]


def test_relative_scores_of_such_queries_are_finite_too():
    layer = RelativeAttention(4, 1, *(torch.nn.Parameter(torch.full((1, 4), 75.0)) for _ in range(2)))
    layer.project_distance.weight.data = 300 * torch.eye(4)  # (q + v) · r = 90,000 and more
    layer, query = layer.half(), torch.full((1, 1, 2, 4), 75.0).half()
    assert layer.relative_scores(query, 2).isfinite().all()


@halves
def test_the_cosine_of_zero_rows_is_zero(half):
    zeros, ones = torch.zeros(1, 2, 4, dtype=half), torch.ones(1, 3, 4, dtype=half)
    assert Cosine()(zeros, ones).eq(0).all()
    assert Cosine()(ones, zeros).eq(0).all()


@halves
def test_cosines_of_short_and_of_long_vectors_are_those_of_their_directions(half):
    query = torch.tensor([[[3.0, 4.0]]], dtype=half)
    for length in (2.0**-14, 2.0**13):  # in float16 the square of either is out of range
        assert Cosine()(query, length * query).item() == pytest.approx(1, abs=0.01)


@halves
def test_a_turing_machine_that_looks_in_an_empty_memory_looks_everywhere(half):
    weights = content_weights(torch.ones(1, 4, dtype=half), torch.ones(1, 1, dtype=half), torch.zeros(1, 8, 4).to(half))
    assert weights.dtype == half
    assert weights.tolist() == [[1 / 8] * 8]


@halves
def test_rows_without_weight_get_none_by_sharpening(half):
    weights = torch.zeros(1, 10_000, dtype=half)
    weights[0, 0] = 1.0
    assert sharpen(weights, torch.ones(1, 1, dtype=half))[0, 0].item() == 1


def test_the_logarithm_of_a_small_weight_is_its_own():
    weights = torch.tensor([[[1e-6, 1.0]]]).half()
    assert location_log_probs(weights, torch.tensor([[0]])).item() == pytest.approx(math.log(1e-6), abs=0.1)


@halves
@pytest.mark.parametrize("fused", [False, True])
def test_a_layer_with_linear_biases_keeps_its_number_type(half, fused, draw):
    x = draw(2, 5, 8).to(half)
    layer = MultiHeadAttention(8, 2, positions=LinearBias(2), fused=fused).to(x.device, half)
    output, weights = layer(x, x, x)
    assert output.dtype == half
    assert fused or weights.dtype == half
    whole = layer.float()
    torch.testing.assert_close(output.float(), whole(*[x.float()] * 3)[0], rtol=0.05, atol=0.02)


# ---- positions


@halves
def test_a_monotonic_centre_walks_on_through_a_long_text(half):
    centre, lengths, rule = torch.full((1,), -1.0, dtype=half), torch.tensor([5000]), MonotonicCentre()
    for _ in range(3000):
        centre = rule(torch.zeros(1, 2, dtype=half), lengths, centre)
    assert centre.tolist() == [2999.0]


def test_walking_and_predicted_centres_stand_between_the_positions_that_bfloat16_has():
    hidden, weight, vector = torch.ones(1, 2).bfloat16(), torch.ones(2, 2).bfloat16(), torch.zeros(2).bfloat16()
    lengths = torch.tensor([1001])
    assert predicted_centre(hidden, lengths, weight, vector).tolist() == [500.5]
    walked = walking_centre(hidden, torch.tensor([300.0]), lengths, weight, vector, stride=1.0)
    assert walked.tolist() == [300.5]


@halves
def test_a_window_far_to_the_right_has_its_width_and_its_middle(half):
    centre, lengths = torch.tensor([1024.0], dtype=half), torch.tensor([3000])
    window = local_window_mask(centre, lengths, half_width=2)[0]
    assert window.nonzero().flatten().tolist() == [1022, 1023, 1024, 1025, 1026]
    bells = gaussian_window(centre, 2, 3000), gaussian_window(centre.float(), 2, 3000)
    assert torch.equal(*bells)


@halves
@pytest.mark.parametrize("gaussian", ["none", "product", "bias"])
def test_local_attention_keeps_the_number_type_of_its_inputs(half, gaussian, draw):
    query, key = draw(1, 1, 4), draw(1, 600, 4, seed=1)
    how = {"centre": torch.tensor([400.0], device=key.device), "half_width": 3, "gaussian": gaussian}
    whole = local_attend(query, key, key, **how)
    found = local_attend(*(x.to(half) for x in (query, key, key)), **how)
    for short, exact in zip(found, whole, strict=True):
        assert short.dtype == half
        torch.testing.assert_close(short.to(exact.dtype), exact, rtol=0.05, atol=0.02)


# ---- blocks


def test_a_running_sum_goes_on_where_bfloat16_would_stand_still():
    keys = torch.zeros(1, 4096, 2).bfloat16()
    values = (torch.arange(4096) % 2)[None, :, None].bfloat16()
    assert blocked_attention(keys[:, :1], keys, values, block=1)[0].item() == 0.5
    context, logs = online_softmax_sum(keys[:, None, :, 0].split(1, dim=-1), values.split(1, dim=1))
    assert context.item() == 0.5
    assert logs.item() == pytest.approx(math.log(4096))


@halves
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_blocks_err_no_more_than_those_of_the_whole(half, causal):
    draws = torch.Generator().manual_seed(0)
    exact = [torch.randn(1, 128, 16, generator=draws) for _ in range(3)]
    short = [x.to(half).requires_grad_() for x in exact]
    wanted = [x.detach().double().requires_grad_() for x in short]
    mask = torch.ones(128, 128, dtype=torch.bool).tril() if causal else None
    right = torch.autograd.grad(attend(*wanted, mask=mask)[0].square().sum(), wanted)

    def error(context):
        found = torch.autograd.grad(context.square().sum(), short)
        return max((a - b).norm() / b.norm() for a, b in zip(found, right, strict=True))

    assert error(blocked_attention(*short, causal=causal, block=8)[0]) <= error(attend(*short, mask=mask)[0])


@pytest.mark.parametrize("inside", [False, True])
def test_autocast_leaves_context_and_gradients_as_they_are(inside):
    """``inside``: the backward pass, too, runs under autocast."""
    draws = torch.Generator().manual_seed(0)
    leaves = [torch.randn(1, 6, 4, generator=draws).requires_grad_() for _ in range(3)]
    wanted = torch.autograd.grad(blocked_attention(*leaves, block=2)[0].square().sum(), leaves)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = blocked_attention(*leaves, block=2)[0].square().sum()
        found = torch.autograd.grad(loss, leaves) if inside else None
    found = torch.autograd.grad(loss, leaves) if found is None else found
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one, other)


def test_scaling_before_the_product_is_the_same_score(draw, close):
    query, key = draw(2, 3, 6), draw(2, 4, 6, seed=1)
    close(ScaledDot()(query, key), query @ key.mT / math.sqrt(6))
