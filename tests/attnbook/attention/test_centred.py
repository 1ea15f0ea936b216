"""Luong's local attention against slow loops: windows at both ends, the Gaussian, and the three centres."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.attention import (
    Additive,
    LocalAttention,
    MonotonicCentre,
    PredictedCentre,
    WalkingCentre,
    attend,
    dot,
    gaussian_window,
    local_attend,
    local_window_mask,
    log_gaussian_window,
    padding_mask,
    predicted_centre,
    walking_centre,
)

LENGTHS = torch.tensor([7, 3, 1])


@pytest.fixture
def centre(device, dtype):
    """One in the middle, one at the end of its sentence, one before the beginning."""
    return torch.tensor([3.4, 2.9, -1.0], device=device, dtype=dtype)


# ---- the window


def test_a_window_is_cut_at_both_ends_of_its_sentence(device):
    lengths = torch.tensor([9, 9, 9, 6], device=device)
    centre = torch.tensor([0.0, 4.5, 8.0, 5.0], device=device)
    rows = [row.nonzero()[:, 0].tolist() for row in local_window_mask(centre, lengths, 2)]
    assert rows == [[0, 1, 2], [3, 4, 5, 6], [6, 7, 8], [3, 4, 5]]  # 6, 7 and 8 are padding in the last sentence


@given(st.integers(1, 9), st.floats(-20, 20), st.integers(1, 4))
def test_no_window_is_empty_and_none_reaches_into_the_padding(length, centre, half_width):
    window = local_window_mask(torch.tensor([centre]), torch.tensor([length]), half_width, 12)[0]
    assert window.any()
    assert not window[length:].any()


@given(st.integers(1, 9), st.floats(0, 1), st.integers(1, 4))
def test_inside_the_sentence_a_window_is_what_the_paper_says(length, part, half_width):
    centre = torch.tensor([part * (length - 1)], dtype=torch.float64)
    window = local_window_mask(centre, torch.tensor([length]), half_width)[0].tolist()
    assert window == [abs(s - centre.item()) <= half_width for s in range(length)]


def test_centres_beyond_the_ends_count_as_the_nearest_word():
    window = local_window_mask(torch.tensor([-5.0, 99.0, 4.2]), torch.tensor([6, 6, 5]), 1)
    assert window.int().tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]]


# ---- the Gaussian


def test_the_gaussian_is_equation_10_with_half_the_window_as_sigma(centre, close):
    got = gaussian_window(centre, 3, 7)
    wanted = [[math.exp(-((s - p) ** 2) / (2 * 1.5**2)) for s in range(7)] for p in centre.tolist()]
    close(got, centre.new_tensor(wanted))
    close(log_gaussian_window(centre, 3, 7).exp(), got)


def test_it_is_one_at_the_centre_and_e_to_the_minus_2_at_the_edge():
    row = gaussian_window(torch.tensor([5.0]), 4, 11)[0]
    assert row[5] == 1
    assert row[[1, 9]].tolist() == pytest.approx([math.exp(-2)] * 2)


def test_far_from_the_centre_the_logarithm_stays_finite_and_its_gradient_too():
    centre = torch.tensor([0.0], requires_grad=True)
    assert gaussian_window(centre, 1, 100)[0, -1] == 0  # its logarithm would be -inf, with the gradient NaN
    window = local_window_mask(centre, torch.tensor([100]), 1)
    (log_gaussian_window(centre, 1, 100) + torch.arange(100)).masked_fill(~window, -math.inf).softmax(-1)[
        0, 0
    ].backward()
    assert centre.grad.isfinite().all()
    assert centre.grad.abs() > 0


# ---- local attention


def slowly(query, key, value, centre, lengths, half_width, gaussian):
    """Weights and context position by position, for one query and scores that are plain dots."""
    weights = torch.zeros(len(query), key.shape[1], dtype=query.dtype)
    for b, p in enumerate(centre.tolist()):
        nearest = min(max(p, 0), int(lengths[b]) - 1)
        inside = [s for s in range(int(lengths[b])) if abs(s - nearest) <= half_width]
        peaks = {s: math.exp(-((s - p) ** 2) / (half_width**2 / 2)) if gaussian != "none" else 1.0 for s in inside}
        exps = {s: math.exp(sum((query[b, 0] * key[b, s]).tolist())) for s in inside}
        total = sum(exps[s] * (peaks[s] if gaussian == "bias" else 1) for s in inside)
        for s in inside:
            weights[b, s] = exps[s] * peaks[s] / total
    return (weights[..., None] * value).sum(dim=1), weights


@pytest.mark.parametrize("gaussian", ["none", "product", "bias"])
def test_local_attention_is_what_a_loop_over_positions_gives(gaussian, draw, centre, close):
    query, key, value = draw(3, 1, 4), draw(3, 7, 4, seed=1), draw(3, 7, 5, seed=2)
    words = padding_mask(LENGTHS.to(centre.device), 7)[:, None]
    context, weights = local_attend(
        query, key, value, words, centre=centre, half_width=2, score=lambda q, k: q @ k.mT, gaussian=gaussian
    )
    wanted, wanted_weights = slowly(query.cpu(), key.cpu(), value.cpu(), centre, LENGTHS, 2, gaussian)
    close(context[:, 0].cpu(), wanted)
    close(weights[:, 0].cpu(), wanted_weights)


def test_the_papers_product_is_no_softmax_and_normalised_again_it_is_the_bias(draw, centre, close):
    query, key = draw(3, 1, 4), draw(3, 7, 4, seed=1)
    words = padding_mask(LENGTHS.to(centre.device), 7)[:, None]
    (context, product), (biased, bias) = (
        local_attend(query, key, key, words, centre=centre, half_width=2, gaussian=form) for form in ("product", "bias")
    )
    sums = product.sum(dim=-1, keepdim=True)
    assert (sums < 1).all()
    close(product / sums, bias)
    close(context / sums, biased)
    close(bias.sum(dim=-1), torch.ones_like(bias[..., 0]))


def test_a_strong_score_at_the_edge_overrules_the_bias_but_not_the_product():
    query, key = torch.ones(1, 1, 1), torch.zeros(1, 9, 1)
    key[0, 7] = 20.0
    centre = torch.tensor([4.0])
    product, bias = (
        local_attend(query, key, key, centre=centre, half_width=3, gaussian=form)[1] for form in ("product", "bias")
    )
    assert bias[0, 0, 7] > 0.99
    assert product[0, 0, 7] == pytest.approx(math.exp(-2), abs=1e-3)


def test_a_window_over_the_whole_sentence_is_global_attention(draw, close):
    query, key = draw(3, 1, 4), draw(3, 7, 4, seed=1)
    words, centre = padding_mask(LENGTHS.to(query.device))[:, None], torch.zeros_like(query[:, 0, 0])
    got, weights = local_attend(query, key, key, words, centre=centre, half_width=7, gaussian="none")
    wanted, wanted_weights = attend(query, key, key, words)
    close(got, wanted)
    close(weights, wanted_weights)


@pytest.mark.parametrize("gaussian", ["product", "bias"])
def test_gradients_reach_the_centre_and_agree_with_differences(gaussian):
    query, key = (torch.randn(2, n, 3, dtype=torch.float64, requires_grad=True) for n in (1, 6))
    centre = torch.tensor([2.3, 4.1], dtype=torch.float64, requires_grad=True)
    words = padding_mask(torch.tensor([6, 5]))[:, None]
    torch.autograd.gradcheck(
        lambda q, k, p: local_attend(q, k, k, words, centre=p, half_width=2, gaussian=gaussian)[0], (query, key, centre)
    )


def test_without_a_gaussian_no_gradient_reaches_the_centre(draw):
    centre = draw(2, grad=True)
    value = draw(2, 5, 3, grad=True)
    context, _ = local_attend(draw(2, 1, 3), draw(2, 5, 3), value, centre=centre, half_width=2, gaussian="none")
    context.sum().backward()
    assert centre.grad is None


def test_an_additive_score_and_prepared_keys_serve_as_well(draw, centre, close):
    score = Additive(4, 4, 3).to(centre)
    query, key = draw(3, 1, 4), draw(3, 7, 4, seed=1)
    how = {"centre": centre, "half_width": 2, "score": score}
    once = local_attend(query, score.prepare(key), key, **how)
    for got, wanted in zip(once, local_attend(query, key, key, **how), strict=True):
        close(got, wanted)


# ---- centres


def test_a_predicted_centre_is_equation_9_with_each_sentences_own_length(draw, close):
    hidden, weight, vector = draw(3, 4), draw(5, 4, seed=1), draw(5, seed=2)
    lengths = LENGTHS.to(hidden.device)
    got = predicted_centre(hidden, lengths, weight, vector)
    for b, length in enumerate(LENGTHS.tolist()):
        inner = [math.tanh(sum((row * hidden[b]).tolist())) for row in weight]
        p = length / (1 + math.exp(-sum(v * x for v, x in zip(vector.tolist(), inner, strict=True))))
        close(got[b], hidden.new_tensor(p))
    assert ((got > 0) & (got < lengths)).all()


def test_a_walking_centre_goes_on_by_at_most_the_stride_and_stops_at_the_last_word(draw, close):
    hidden, weight, vector = draw(3, 4), draw(5, 4, seed=1), draw(5, seed=2)
    lengths, previous = LENGTHS.to(hidden.device), hidden.new_tensor([1.0, 1.9, 0.0])
    increment = 3 * (hidden @ weight.T).tanh().matmul(vector).sigmoid()
    got = walking_centre(hidden, previous, lengths, weight, vector)
    close(got, (previous + increment).minimum(hidden.new_tensor([6, 2, 0])))
    far = walking_centre(hidden, previous, lengths * 10, weight, vector, stride=0.5)
    close(far, previous + increment / 6)


def test_the_monotonic_centre_is_the_time_step_up_to_the_last_word(draw):
    hidden = draw(3, 4)
    centre = torch.full_like(hidden[:, 0], -1.0)
    walked = []
    for _ in range(4):
        centre = MonotonicCentre()(hidden, LENGTHS.to(hidden.device), centre)
        walked.append(centre.tolist())
    assert walked == [[0, 0, 0], [1, 1, 0], [2, 2, 0], [3, 2, 0]]
    assert centre.dtype == hidden.dtype


@pytest.mark.parametrize("kind", [PredictedCentre, WalkingCentre])
def test_a_module_is_its_function_with_parameters_that_learn(kind, draw, close):
    hidden = draw(3, 4)
    module, lengths, previous = kind(4).to(hidden), LENGTHS.to(hidden.device) + 5, hidden[:, 0].abs()
    weight, vector = module.state_to_hidden.weight, module.hidden_to_centre.weight[0]
    got = module(hidden, lengths, previous)
    if kind is PredictedCentre:
        close(got, predicted_centre(hidden, lengths, weight, vector))
    else:
        close(got, walking_centre(hidden, previous, lengths, weight, vector))
    got.sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in module.parameters())


def test_the_layer_is_local_attention_at_its_own_centre(draw, close):
    hidden, key = draw(3, 4), draw(3, 7, 4, seed=1)
    lengths, previous = LENGTHS.to(hidden.device), hidden[:, 0].abs()
    asked = hidden[:, None], key, key, padding_mask(lengths, 7)[:, None]
    layer = LocalAttention(WalkingCentre(4), 2, "bias").to(hidden)
    how = {"centre": layer.centre(hidden, lengths, previous), "score": dot}
    context, weights = layer(*asked, **how)
    wanted = local_attend(*asked, **how, half_width=2, gaussian="bias")
    close(context, wanted[0])
    close(weights, wanted[1])


# ---- what is refused


def test_what_does_not_fit_is_refused():
    x, centre, lengths = torch.zeros(2, 3, 4), torch.zeros(2), torch.tensor([3, 2])
    for call in (
        lambda: local_window_mask(centre, lengths, 0.5),
        lambda: gaussian_window(centre, 0, 3),
        lambda: LocalAttention(MonotonicCentre(), 0),
    ):
        with pytest.raises(ValueError, match="half_width must be at least 1, so that no window is empty; got 0"):
            call()
    with pytest.raises(ValueError, match=r"centre must have shape \(B,\), one per sentence"):
        gaussian_window(centre[:, None], 2, 3)
    with pytest.raises(TypeError, match=r"centre must hold real numbers, got torch\.int64"):
        local_window_mask(lengths, lengths, 2)
    for call in (
        lambda: local_attend(x, x, x, centre=centre, half_width=2, gaussian="sum"),
        lambda: LocalAttention(MonotonicCentre(), 2, "sum"),
    ):
        with pytest.raises(ValueError, match="gaussian must be one of none, product, bias, got 'sum'"):
            call()
    for call in (
        lambda: predicted_centre(torch.zeros(2, 3), lengths, torch.zeros(5, 4), torch.zeros(5)),
        lambda: walking_centre(torch.zeros(2, 3), centre, lengths, torch.zeros(5, 4), torch.zeros(5)),
    ):
        with pytest.raises(ValueError, match="hidden has 3 features but the score was made for hidden_dim = 4"):
            call()
