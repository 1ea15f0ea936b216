"""Positions: the papers' formulas number by number, distance alone where only distance shall count, order seen."""

import cmath
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.attention import (
    Learned,
    LinearBias,
    MultiHeadAttention,
    NoPositions,
    Rotary,
    Sinusoidal,
    apply_rotary,
    relative_shift,
    scaled_dot,
    sinusoidal_positions,
)
from attnbook.attention.positions import angles, kept_positions, turn_pairs

B, H, T, D = 2, 8, 6, 8
offsets = st.floats(-50, 50)


def equal(got, wanted):
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-10)


# ---- sinusoidal


@pytest.mark.parametrize("start", [0, 7, -3])
def test_each_entry_is_the_papers_formula(start):
    slow = [
        [f((start + t) / 10000 ** (2 * i / D)) for i in range(D // 2) for f in (math.sin, math.cos)] for t in range(T)
    ]
    equal(sinusoidal_positions(T, D, start), torch.tensor(slow, dtype=torch.float64))


@given(st.integers(-100, 100))
def test_the_first_pair_turns_one_radian_a_place(place):
    turned = angles(torch.tensor([place, place + 1.0], dtype=torch.float64), D)
    assert (turned[1, 0] - turned[0, 0]).item() == pytest.approx(1)
    assert turned[0, 0].item() == pytest.approx(place)


@given(st.integers(1, 30))
def test_one_matrix_takes_each_position_to_the_one_k_further(k):
    positions = sinusoidal_positions(40, D, start=-5)
    equal(positions[:-k] @ relative_shift(D, k), positions[k:])
    equal(positions[k:] @ relative_shift(D, -k), positions[:-k])


@given(offsets, offsets)
def test_shifts_are_rotations_and_add_up(a, b):
    equal(relative_shift(D, a) @ relative_shift(D, b), relative_shift(D, a + b))
    equal(relative_shift(D, a) @ relative_shift(D, a).T, torch.eye(D, dtype=torch.float64))
    assert torch.linalg.det(relative_shift(D, a)).item() == pytest.approx(1)


@pytest.mark.parametrize("dim", [0, 3, -2])
def test_an_odd_number_of_features_is_refused(dim):
    for use in (
        lambda: sinusoidal_positions(4, dim),
        lambda: relative_shift(dim, 1),
        lambda: apply_rotary(torch.zeros(2, 3), torch.arange(2)),
    ):
        with pytest.raises(ValueError, match=f"dim must be even, since features turn in pairs; got ({dim}|3)"):
            use()


@pytest.mark.parametrize("length", [0, -1])
def test_a_length_below_one_is_refused(length):
    with pytest.raises(ValueError, match=f"length must be at least 1, got {length}"):
        sinusoidal_positions(length, D)


@pytest.mark.parametrize("start, length", [(0, 1), (0, 6), (5, 1), (250, 6), (255, 1), (256, 300), (1000, 7)])
@pytest.mark.parametrize("half", [None, torch.float16, torch.bfloat16])
def test_what_is_kept_is_to_the_bit_what_is_made_anew(start, length, half, device, dtype):
    like = torch.zeros(1, device=device, dtype=half or dtype)
    for _ in range(2):  # made, and then kept
        kept = kept_positions(length, D, like, start)
        assert torch.equal(kept, sinusoidal_positions(length, D, start).to(like))
        assert (kept.dtype, kept.device) == (like.dtype, like.device)


def test_a_table_that_was_first_asked_for_in_inference_mode_can_be_trained_with():
    like, weight = torch.zeros(1, dtype=torch.float64), torch.ones(18, 18, dtype=torch.float64, requires_grad=True)
    with torch.inference_mode():
        kept_positions(3, 18, like)
    (kept_positions(3, 18, like) @ weight).sum().backward()
    assert weight.grad.isfinite().all()


def test_a_table_begins_at_position_0():
    with pytest.raises(ValueError, match="start must be at least 0, the first position of a table, got -1"):
        kept_positions(3, D, torch.zeros(1), -1)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        kept_positions(0, D, torch.zeros(1))


# ---- what is added to word vectors


def adders(device, dtype):
    return Sinusoidal(D), Learned(D, max_length=2 * T).to(device, dtype)


def test_positions_are_added_and_later_words_get_later_ones(draw, device, dtype, close):
    x = draw(B, T, D)
    sinusoidal, learned = adders(device, dtype)
    close(sinusoidal(x), x + sinusoidal_positions(T, D).to(device, dtype))
    close(learned(x), x + learned.vectors[:T])
    for add in (sinusoidal, learned):
        parts = [add(word, start) for start, word in enumerate(x.split(1, dim=1))]
        close(torch.cat(parts, dim=1), add(x))
        assert add(x).dtype == dtype
        assert add(x).device.type == device.type


@pytest.mark.parametrize("length, start, place", [(7, 0, 6), (1, 6, 6), (3, 9, 11)])
def test_a_place_that_was_never_learned_is_refused(length, start, place):
    with pytest.raises(ValueError, match=f"position {place} has no vector: max_length is 6"):
        Learned(D, 6)(torch.zeros(1, length, D), start)


def test_every_learned_place_is_usable_and_trained():
    learned = Learned(D, 6)
    learned(torch.zeros(B, 6, D)).sum().backward()
    assert learned.vectors.grad.eq(B).all()
    assert not list(Sinusoidal(D).parameters())


# ---- what attention is told


def turned_slowly(x: torch.Tensor, place: int) -> list[complex]:
    """Each pair of features as a complex number, times e^(i · place · θ)."""
    pairs = zip(x[0::2].tolist(), x[1::2].tolist(), strict=True)
    return [complex(*pair) * cmath.exp(1j * place / 10000 ** (2 * i / len(x))) for i, pair in enumerate(pairs)]


def test_the_rotary_score_equals_complex_numbers_multiplied_one_by_one(draw, close):
    query, key = draw(B, 3, D), draw(B, T, D, seed=1)
    places = torch.arange(T, device=query.device)
    scores = scaled_dot(Rotary().rotate(query, places[-3:]), Rotary().rotate(key, places))
    for b in range(B):
        for i in range(3):
            for j in range(T):
                q, k = turned_slowly(query[b, i], T - 3 + i), turned_slowly(key[b, j], j)
                slow = sum((a * c.conjugate()).real for a, c in zip(q, k, strict=True)) / math.sqrt(D)
                close(scores[b, i, j], scores.new_tensor(slow))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(-60, 60))
def test_after_turning_only_the_distance_counts(query_place, key_place, shift):
    query, key = torch.randn(2, 1, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def score(query_at, key_at):
        return apply_rotary(query, torch.tensor([query_at])) @ apply_rotary(key, torch.tensor([key_at])).T

    equal(score(query_place, key_place), score(query_place + shift, key_place + shift))


def test_turning_keeps_norms_and_the_first_place(draw, device, close):
    x = draw(B, H, T, D)
    turned = apply_rotary(x, torch.arange(T, device=device))
    close(turned.norm(dim=-1), x.norm(dim=-1))
    close(turned[:, :, 0], x[:, :, 0])
    assert (turned - x)[:, :, 1:].abs().amax(dim=-1).min() > 0.01


def test_far_places_are_turned_as_well_in_bfloat16_as_its_digits_allow():
    x, places = torch.ones(1, D), torch.tensor([1001])
    short = apply_rotary(x.bfloat16(), places)
    assert short.dtype == torch.bfloat16
    torch.testing.assert_close(short.float(), apply_rotary(x, places), rtol=0, atol=0.02)


@pytest.mark.parametrize("kind, atol", [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 0.03)])
def test_pairs_turn_as_complex_numbers_as_they_turn_one_by_one(kind, atol):
    x = torch.randn(B, T, H, D, generator=torch.Generator().manual_seed(0)).to(kind).transpose(1, 2)
    places = torch.arange(990, 990 + T).expand(B, 1, T)
    torch.testing.assert_close(turn_pairs(x, places, 500.0), apply_rotary(x, places, 500.0), rtol=0, atol=atol)


def test_rotary_turns_the_same_with_and_without_gradients(draw, device, close):
    x, places = draw(B, H, T, D), torch.arange(T, device=device)
    with torch.no_grad():
        without = Rotary(500.0).rotate(x, places)
    close(without, Rotary(500.0).rotate(x, places))


def test_slopes_of_eight_heads_are_the_papers():
    assert LinearBias(8).slopes.tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert not list(LinearBias(8).parameters())
    assert not LinearBias(8).state_dict()


@pytest.mark.parametrize("learn", [False, True])
def test_slopes_survive_a_model_that_is_made_without_memory_and_then_loaded(learn):
    weights = LinearBias(6, learn).state_dict()
    with torch.device("meta"):
        made = LinearBias(6, learn)
    made.to_empty(device="cpu").load_state_dict(weights)
    assert torch.equal(made.slopes, LinearBias(6, learn).slopes)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("learn", [False, True])
def test_a_linear_bias_of_far_positions_keeps_its_digits_in_half_precision(kind, learn):
    at, of = torch.tensor([4001]), torch.tensor([0, 1, 2])
    found = LinearBias(12, learn).to(kind).bias(at, of)
    assert torch.equal(found, LinearBias(12, learn).bias(at, of))


def test_the_linear_bias_equals_a_loop_over_heads_and_places(device, dtype, close):
    positions = LinearBias(H).to(device, dtype)
    bias = positions.bias(torch.arange(T - 3, T, device=device), torch.arange(T, device=device))
    penalties = [-(2 ** -(h + 1)) * abs(T - 3 + i - j) for h in range(H) for i in range(3) for j in range(T)]
    slow = torch.tensor(penalties).view(H, 3, T)
    close(bias.to(dtype), slow.to(device, dtype))


def test_each_kind_says_one_thing_and_nothing_else(draw, device):
    x, places = draw(B, H, T, D), torch.arange(T, device=device)
    assert NoPositions().rotate(x, places) is x
    assert LinearBias(H).rotate(x, places) is x
    assert NoPositions().bias(places, places) is None
    assert Rotary().bias(places, places) is None


# ---- order


@pytest.mark.parametrize("kind", ["nothing", "sinusoidal", "learned", "rotary", "linear_bias"])
def test_self_attention_sees_the_order_of_words_only_through_positions(kind, draw, device, dtype, close):
    told = {"rotary": Rotary(), "linear_bias": LinearBias(2)}.get(kind)
    layer = MultiHeadAttention(D, 2, positions=told).to(device, dtype)
    sinusoidal, learned = adders(device, dtype)
    add = {"sinusoidal": sinusoidal, "learned": learned}.get(kind, lambda x: x)
    x, order = draw(B, T, D), [3, 0, 5, 1, 4, 2]
    shuffled, wanted = layer(*[add(x[:, order])] * 3)[0], layer(*[add(x)] * 3)[0][:, order]
    if kind == "nothing":
        close(shuffled, wanted)
    else:
        assert (shuffled - wanted).abs().amax(dim=(0, 2)).min() > 1e-3


def test_only_the_distance_of_query_and_key_counts(draw, device, dtype, close):
    query, key = draw(2, H, 3, D), draw(2, H, 5, D, seed=1)
    at, of = torch.tensor([4, 0, 2], device=device), torch.tensor([1, 1, 3, 0, 9], device=device)
    rotary, bias = Rotary(), LinearBias(H).to(device, dtype)
    here = scaled_dot(rotary.rotate(query, at), rotary.rotate(key, of))
    close(here, scaled_dot(rotary.rotate(query, at + 7), rotary.rotate(key, of + 7)))
    assert not torch.allclose(here, scaled_dot(rotary.rotate(query, at + 7), rotary.rotate(key, of)))
    close(bias.bias(at, of), bias.bias(at + 7, of + 7))
    close(bias.bias(at, of)[0, 0], -bias.slopes[0] * (at[0] - of).abs())


def test_sentences_may_have_places_of_their_own(draw, device, dtype, close):
    x, bias = draw(2, H, 3, D), LinearBias(H).to(device, dtype)
    at = torch.tensor([[4, 0, 2], [1, 1, 0]], device=device)
    of = torch.tensor([[1, 1, 3, 0, 9], [0, 0, 1, 1, 2]], device=device)
    turned, penalties = Rotary().rotate(x, at[:, None]), bias.bias(at[:, None], of[:, None])
    assert penalties.shape == (2, H, 3, 5)
    for b in range(2):
        close(turned[b], Rotary().rotate(x[b], at[b]))
        close(penalties[b], bias.bias(at[b], of[b]))
