"""masked_softmax: what holds for all scores and masks, and what it does on each device."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnbook.attention import attend, masked_log_softmax, masked_softmax
from attnruns.experiments.complexity import peak_bytes

# ---- masked_softmax: what holds for all scores and masks


@st.composite
def scores_with_mask(draw):
    """Scores up to ±10,000 with one to three axes, and a mask of that shape; whole rows may be ``False``."""
    shape = draw(array_shapes(min_dims=1, max_dims=3, max_side=5))
    scores = draw(arrays(np.float64, shape, elements=st.floats(-1e4, 1e4)))
    mask = draw(arrays(np.bool_, shape))
    return torch.from_numpy(scores), torch.from_numpy(mask)


@given(scores_with_mask())
def test_rows_sum_to_one_and_rows_without_a_place_to_zero(drawn):
    scores, mask = drawn
    weights = masked_softmax(scores, mask)
    assert weights.isfinite().all()
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).double())


@given(scores_with_mask())
def test_masked_places_get_exactly_zero(drawn):
    scores, mask = drawn
    assert (masked_softmax(scores, mask)[~mask] == 0).all()


@given(scores_with_mask(), st.floats(-1e4, 1e4))
def test_what_stands_at_a_masked_place_changes_nothing(drawn, other):
    scores, mask = drawn
    changed = torch.where(mask, scores, other)
    assert torch.equal(masked_softmax(changed, mask), masked_softmax(scores, mask))


@given(scores_with_mask())
def test_gradients_are_finite_and_zero_at_masked_places(drawn):
    scores, mask = drawn
    scores.requires_grad_()
    factors = torch.linspace(-1.0, 2.0, scores.numel(), dtype=scores.dtype).view_as(scores)
    (masked_softmax(scores, mask) * factors).sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[~mask] == 0).all()


@given(scores_with_mask(), st.floats(-1e3, 1e3))
def test_adding_a_constant_to_all_scores_changes_nothing(drawn, constant):
    scores, mask = drawn
    torch.testing.assert_close(masked_softmax(scores + constant, mask), masked_softmax(scores, mask))


@given(scores_with_mask(), st.randoms(use_true_random=False))
def test_reordering_the_keys_reorders_the_weights(drawn, chance):
    scores, mask = drawn
    order = list(range(scores.shape[-1]))
    chance.shuffle(order)
    shuffled = masked_softmax(scores[..., order], mask[..., order])
    torch.testing.assert_close(shuffled, masked_softmax(scores, mask)[..., order])


@given(scores_with_mask())
def test_no_mask_is_a_mask_that_allows_everything(drawn):
    scores, mask = drawn
    assert torch.equal(masked_softmax(scores), masked_softmax(scores, torch.ones_like(mask)))


def slow_softmax(scores: list[float], allowed: list[bool]) -> list[float]:
    """Exponentials divided by their sum, one number after the other."""
    exponentials = [math.exp(score) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    return [e / sum(exponentials) if any(allowed) else 0.0 for e in exponentials]


@given(arrays(np.float64, (2, 4), elements=st.floats(-20, 20)), arrays(np.bool_, (2, 4)))
def test_masked_softmax_is_exponentials_divided_by_their_sum(scores, mask):
    got = masked_softmax(torch.from_numpy(scores), torch.from_numpy(mask))
    wanted = [slow_softmax(*rows) for rows in zip(scores.tolist(), mask.tolist(), strict=True)]
    torch.testing.assert_close(got, torch.tensor(wanted, dtype=torch.float64))


# ---- masked_softmax on each device and number type


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_scores_neither_overflow_nor_vanish(device, dtype, size):
    rows = [[size, size, -size], [size, 0.0, size]]
    scores = torch.tensor(rows, device=device, dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, True, False]], device=device)
    weights = masked_softmax(scores, mask)
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    weights.square().sum().backward()
    assert scores.grad.isfinite().all()


def test_a_fully_masked_row_is_zero_and_disturbs_no_gradient(draw, close):
    scores = draw(2, 3, grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]], device=scores.device)
    weights = masked_softmax(scores, mask)
    assert weights[1].tolist() == [0, 0, 0]
    assert weights.dtype == scores.dtype
    (weights[:, 0] ** 2).sum().backward()
    alone = scores.detach()[:1, ::2].requires_grad_()  # the first row's two allowed places, by themselves
    (alone.softmax(-1)[:, 0] ** 2).sum().backward()
    close(scores.grad[:1, ::2], alone.grad)
    assert scores.grad[1].tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("softmax, nothing", [(masked_softmax, 0.0), (masked_log_softmax, -math.inf)])
def test_a_row_of_minus_infinity_is_a_row_that_may_attend_to_nothing(draw, softmax, nothing, masked):
    scores, mask = draw(3, 4), torch.tensor([True, True, False, True], device=draw(1).device) if masked else None
    alone = softmax(scores[0], mask)
    scores[1] = -math.inf
    scores[2, :2] = -math.inf
    weights = softmax(scores.requires_grad_(), mask)
    assert torch.equal(weights[0], alone)
    assert weights[1].tolist() == [nothing] * 4
    assert weights[2, :2].tolist() == [nothing] * 2
    with torch.autograd.detect_anomaly(check_nan=True):
        weights[weights.isfinite()].square().sum().backward()
    assert scores.grad.isfinite().all()
    assert scores.grad[1].tolist() == [0] * 4


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("softmax", [masked_softmax, lambda *inputs: masked_log_softmax(*inputs).exp()])
def test_a_fully_masked_row_does_not_stop_a_training_that_looks_for_nan(draw, softmax):
    scores = draw(2, 3, grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]], device=scores.device)
    with torch.autograd.detect_anomaly(check_nan=True):
        softmax(scores, mask)[:, 0].sum().backward()
    assert scores.grad[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("masked", [False, True])
def test_weights_are_torchs_to_the_bit(draw, masked):
    scores, mask = 5 * draw(6, 7, 9), None
    if masked:
        mask = torch.rand(6, 7, 9, generator=torch.Generator().manual_seed(0)).to(scores.device) > 0.3
        mask[..., 0] = True
    closed = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    assert torch.equal(masked_softmax(scores, mask), closed.softmax(dim=-1))
    assert torch.equal(masked_log_softmax(scores, mask), closed.log_softmax(dim=-1))


@pytest.mark.parametrize("grad", [False, True])
def test_the_plain_path_holds_no_more_than_two_matrices(grad):
    query, key, value = (torch.randn(1, 512, 8, requires_grad=grad) for _ in range(3))
    assert peak_bytes(lambda: attend(query, key, value)) < 2.2 * 4 * 512 * 512


def test_a_nan_at_an_allowed_place_is_not_hidden(draw):
    scores, mask = draw(2, 3), torch.tensor([[True, True, False], [True, False, True]], device=draw(1).device)
    scores[0, 0] = scores[1, 1] = float("nan")
    weights = masked_softmax(scores, mask)
    assert weights[0, :2].isnan().all()
    assert weights[1].isfinite().all()  # the other NaN stands where nobody looks


def test_masked_softmax_leaves_its_input_alone(draw):
    scores, mask = draw(2, 3), torch.tensor([True, False, True], device=draw(1).device)
    before = scores.clone(), mask.clone()
    masked_softmax(scores, mask)
    assert torch.equal(scores, before[0])
    assert torch.equal(mask, before[1])


def test_masked_softmax_has_the_gradient_it_should():
    scores = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    mask = torch.tensor([[True] * 4, [True, False, True, False], [False] * 4])
    assert torch.autograd.gradcheck(lambda scores: masked_softmax(scores, mask), scores.requires_grad_())


@pytest.mark.parametrize("kind", [torch.float32, torch.int64])
def test_masked_softmax_refuses_a_mask_of_numbers(kind):
    message = rf"mask must be boolean \(True = may attend\), got {kind}; use mask.bool\(\)"
    with pytest.raises(TypeError, match=message):
        masked_softmax(torch.zeros(2, 3), torch.ones(2, 3, dtype=kind))


@pytest.mark.parametrize("shape", [(3,), (2, 5), (2, 2, 4), (1, 3, 4)])
def test_masked_softmax_refuses_a_mask_that_does_not_fit(shape):
    with pytest.raises(ValueError, match=r"mask has shape \(.*\) but scores have \(2, 4\)"):
        masked_softmax(torch.zeros(2, 4), torch.ones(shape, dtype=torch.bool))


def test_masked_softmax_refuses_scores_without_a_place():
    with pytest.raises(ValueError, match="scores has no positions to attend to"):
        masked_softmax(torch.zeros(2, 0))


# ---- masked_log_softmax


@given(scores_with_mask())
def test_log_weights_are_the_logarithm_of_the_weights(drawn):
    scores, mask = drawn
    log_weights = masked_log_softmax(scores, mask)
    torch.testing.assert_close(log_weights.exp(), masked_softmax(scores, mask))
    assert (log_weights[~mask] == -math.inf).all()
    assert log_weights[mask].isfinite().all()  # also where the weight itself is too small for its type
    torch.testing.assert_close(masked_log_softmax(scores).exp(), masked_softmax(scores))


@given(scores_with_mask())
def test_gradients_of_log_weights_are_finite_and_zero_at_masked_places(drawn):
    scores, mask = drawn
    scores.requires_grad_()
    masked_log_softmax(scores, mask)[mask].sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[~mask] == 0).all()


def test_log_weights_refuse_what_weights_refuse():
    with pytest.raises(ValueError, match="no positions"):
        masked_log_softmax(torch.zeros(2, 0), torch.ones(2, 0, dtype=torch.bool))
    with pytest.raises(TypeError, match="boolean"):
        masked_log_softmax(torch.zeros(2, 3), torch.ones(2, 3))
    with pytest.raises(ValueError, match="mask has shape"):
        masked_log_softmax(torch.zeros(2, 3), torch.ones(2, 4, dtype=torch.bool))
