"""What doesn't fit is named: the argument, what came, and what would be right."""

from itertools import product

import pytest
import torch

from attnbook.attention import arguments, attend, attention_weights


@pytest.mark.parametrize("check, value, said", [
    (arguments.check_length, 0, "length must be at least 1, got 0"),
    (arguments.check_radius, -1, r"radius must be at least 0 \(only the position itself\), got -1"),
    (arguments.check_half_width, 0.5, "half_width must be at least 1, so that no window is empty; got 0.5"),
])  # fmt: skip
def test_a_number_out_of_range_is_refused(check, value, said):
    with pytest.raises(ValueError, match=said):
        check(value)
    check(1)


@pytest.mark.parametrize("lengths, error, said", [
    (torch.tensor([1.0]), TypeError, "lengths must be whole numbers, got torch.float32"),
    (torch.ones(2, 2, dtype=torch.long), ValueError, r"lengths must have shape \(B,\) with B > 0, got \(2, 2\)"),
    (torch.tensor([4, -1]), ValueError, r"lengths must lie between 0 and max_length = 5, got \[4, -1\]"),
])  # fmt: skip
def test_lengths_that_are_none_are_refused(lengths, error, said):
    with pytest.raises(error, match=said):
        arguments.check_lengths(lengths, 5)


def test_a_mask_must_be_boolean_and_fit_the_scores():
    scores = torch.zeros(2, 3, 4)
    with pytest.raises(TypeError, match=r"mask must be boolean \(True = may attend\), got torch.float32"):
        arguments.check_mask(torch.ones(3, 4), scores)
    with pytest.raises(ValueError, match=r"mask has shape \(2, 4\) but scores have \(2, 3, 4\); a padding mask"):
        arguments.check_mask(torch.ones(2, 4, dtype=torch.bool), scores)
    with pytest.raises(ValueError, match="scores has no positions to attend to"):
        arguments.check_mask(None, torch.zeros(2, 0))
    arguments.check_mask(torch.ones(4, dtype=torch.bool), scores)


def test_a_bias_must_fit_the_scores():
    query = torch.zeros(2, 3, 4)
    with pytest.raises(ValueError, match=r"bias has shape \(2, 3\) but scores have \(2, 3, 3\)"):
        attention_weights(query, query, bias=torch.zeros(2, 3))


def refused(mask: torch.Tensor, scores: torch.Tensor) -> bool:
    try:
        arguments.check_mask(mask, scores)
    except ValueError:
        return True
    return False


def test_what_torch_broadcasts_to_the_scores_is_a_mask_and_nothing_else():
    """For all masks of up to three axes, of length 0 to 3 each."""
    scores = torch.zeros(2, 1, 3)
    shapes = [shape for axes in range(4) for shape in product(range(4), repeat=axes)]
    masks = [torch.ones(shape, dtype=torch.bool) for shape in [*shapes, (1, 2, 1, 3)]]
    fits = []
    for mask in masks:
        try:
            fits.append(torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape)
        except RuntimeError:
            fits.append(False)
    assert [not refused(mask, scores) for mask in masks] == fits
    assert 0 < sum(fits) < len(fits)


def test_the_two_halves_refuse_alike():
    query, key = torch.zeros(2, 3, 4), torch.zeros(3, 5, 4)
    for call in (lambda: attention_weights(query, key), lambda: attend(query, key, key)):
        with pytest.raises(ValueError, match="key has a batch of 3 but query has 2"):
            call()


def test_features_that_differ_are_named():
    with pytest.raises(ValueError, match="key has 3 features but query has 4; dot scores need the same number"):
        arguments.check_same_features("dot", torch.zeros(1, 4), torch.zeros(1, 3))
    with pytest.raises(ValueError, match="key has 3 features but the score was made for key_dim = 4"):
        arguments.check_features("key", torch.zeros(1, 3), 4)


def test_a_centre_is_a_real_number_per_sentence():
    with pytest.raises(TypeError, match=r"centre must hold real numbers, got torch.int64; use centre.float\(\)"):
        arguments.check_centre(torch.tensor([1]))
    with pytest.raises(ValueError, match=r"centre must have shape \(B,\), one per sentence, got \(2, 1\)"):
        arguments.check_centre(torch.zeros(2, 1))
    with pytest.raises(ValueError, match=r"centre has 2 sentences but lengths has shape \(3,\)"):
        arguments.check_centre(torch.zeros(2), torch.tensor([1, 2, 3]))
    arguments.check_centre(torch.zeros(2), torch.tensor([1, 2]))
