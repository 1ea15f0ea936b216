"""Linear functions in sequences: what is shown when, and the rules that predict them."""

import pytest
import torch

from attnbook.data.worlds.linear_functions import (
    LinearSequences,
    least_squares,
    linear_functions,
    nearest_neighbour,
    predict_zero,
    ridge,
    softmax_neighbours,
)


def by_hand(points, values):
    """One sequence with one feature."""
    points, values = torch.tensor(points)[None, :, None], torch.tensor(values)[None]
    return LinearSequences(torch.zeros(1), points, values, values)


EXAMPLES = by_hand([0.0, 1.0, 3.0, 1.4], [1.0, 3.0, 2.0, 0.0])

# ---- the sequences


def test_each_value_is_shown_one_step_late():
    batch = linear_functions(3, seed=1, length=5, dim=2)
    assert batch.inputs.shape == (3, 5, 3)
    assert torch.equal(batch.inputs[..., :2], batch.points)
    assert torch.equal(batch.inputs[:, 1:, 2], batch.values[:, :-1])
    assert not batch.inputs[:, 0, 2].any()


def test_each_sequence_has_one_function_of_its_own_and_values_of_variance_one():
    batch = linear_functions(2000, dim=4, noise=0.0)
    assert torch.equal(batch.values, batch.true)
    weights = torch.linalg.lstsq(batch.points[:, :4].double(), batch.true[:, :4, None].double()).solution
    later = (batch.points[:, 4:].double() @ weights)[..., 0]
    assert (later - batch.true[:, 4:]).abs().median() < 1e-5
    assert batch.true.square().mean().item() == pytest.approx(1.0, abs=0.05)
    assert weights.std(dim=0).min() > 0.4


def test_noise_is_added_to_what_is_shown_and_stretching_stretches_the_values():
    batch, stretched = linear_functions(500, noise=0.5), linear_functions(500, noise=0.5, scale=2.0)
    assert (batch.values - batch.true).std().item() == pytest.approx(0.5, abs=0.02)
    assert torch.allclose(stretched.true, 2 * batch.true, atol=1e-5)


def test_a_seed_fixes_them():
    one, same, other = (linear_functions(2, seed) for seed in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.points, other.points)


@pytest.mark.parametrize("wrong", [{"count": 0}, {"length": 0}, {"dim": 0}, {"noise": -0.1}])
def test_sizes_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must be at least 1 and noise at least 0"):
        linear_functions(**({"count": 1} | wrong))


def test_a_batch_moves_as_a_whole(device):
    assert all(part.device.type == torch.device(device).type for part in linear_functions(2).to(device))


# ---- the rules


def test_attention_by_distance_by_hand():
    answer = softmax_neighbours(2.0)(EXAMPLES)[0]
    assert answer[3].item() == pytest.approx(2.664, abs=1e-3)  # 0.13 · 1 + 0.80 · 3 + 0.07 · 2
    assert answer[:2].tolist() == [0, 1]


def test_a_large_beta_is_the_nearest_neighbour():
    batch = linear_functions(20, seed=1)
    assert torch.allclose(softmax_neighbours(1e5)(batch), nearest_neighbour(batch), atol=1e-4)
    assert nearest_neighbour(EXAMPLES).tolist() == [[0, 1, 3, 3]]


def test_least_squares_through_the_origin_by_hand():
    answer = least_squares(EXAMPLES)[0]
    assert answer[3].item() == pytest.approx(1.4 * (1 * 3 + 3 * 2) / (1 + 9))


def test_ridge_shrinks_and_without_a_penalty_is_least_squares():
    assert ridge(10.0)(EXAMPLES)[0, 3].item() == pytest.approx(1.4 * 9 / 20)
    batch = linear_functions(10, dim=2)
    assert torch.allclose(ridge(1e-9)(batch)[:, 3:], least_squares(batch)[:, 3:], atol=1e-4)


def test_no_rule_sees_the_value_that_it_predicts():
    batch = linear_functions(4, seed=2)
    changed = batch._replace(values=torch.cat([batch.values[:, :-1], batch.values[:, -1:] + 5], dim=1))
    for rule in (nearest_neighbour, softmax_neighbours(1.0), least_squares, ridge(0.16)):
        assert torch.equal(rule(batch), rule(changed))
    assert not predict_zero(batch).any()


def test_with_noise_ridge_with_the_right_penalty_is_the_best():
    batch = linear_functions(3000, seed=5)

    def error(rule):
        return (rule(batch) - batch.true)[:, 5].square().mean().item()

    assert error(ridge(0.16)) < min(error(ridge(0.01)), error(ridge(2.0)), error(least_squares))
