"""Figures of generated pairs: agreement and chance by hand, distances by their formula."""

import pytest
import torch

from attnbook.data.pictures.captions import digit_images
from attnbook.data.pictures.digit_pairs import crop_digits, digit_pairs
from attnbook.measure.images import agreement_and_chance, frechet_distance, mode_counts, nearest_digits, side_shares


def test_agreement_and_chance_by_hand():
    left, right = torch.tensor([0, 0, 1, 2]), torch.tensor([0, 1, 1, 1])
    agreement, chance = agreement_and_chance(left, right)
    assert agreement == 2 / 4
    assert chance == pytest.approx((2 / 4) * (1 / 4) + (1 / 4) * (3 / 4) + 0)


def test_a_generator_that_always_makes_the_same_digit_has_agreement_one_and_chance_one():
    same = torch.full((7,), 4)
    assert agreement_and_chance(same, same) == (1, 1)


def test_independent_digits_agree_as_often_as_chance_says():
    chance = torch.Generator().manual_seed(0)
    left = torch.multinomial(torch.tensor([0.7, 0.2, 0.1]), 20_000, replacement=True, generator=chance)
    right = torch.multinomial(torch.tensor([0.3, 0.3, 0.4]), 20_000, replacement=True, generator=chance)
    agreement, expected = agreement_and_chance(left, right, classes=3)
    assert expected == pytest.approx(0.21 + 0.06 + 0.04, abs=0.01)
    assert agreement == pytest.approx(expected, abs=0.01)


def test_counts_by_class_on_either_side():
    counts = mode_counts(torch.tensor([0, 0, 1, 2]), torch.tensor([0, 1, 1, 1]), classes=3)
    assert counts.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("figure", [agreement_and_chance, mode_counts])
@pytest.mark.parametrize(
    "left, right, words",
    [
        ([], [], r"N > 0, got \(0,\) and \(0,\)"),
        ([1, 2], [1], r"got \(2,\) and \(1,\)"),
        ([[1]], [[1]], r"got \(1, 1\)"),
        ([0, 10], [1, 1], "must lie from 0 to 9, got 0 to 10"),
        ([0, 1], [1, -1], "must lie from 0 to 9, got -1 to 1"),
    ],
)
def test_what_are_no_pairs_is_refused(figure, left, right, words):
    with pytest.raises(ValueError, match=words):
        figure(torch.tensor(left, dtype=torch.long), torch.tensor(right, dtype=torch.long))


# ---- distances


def exactly(mean, root):
    """A sample whose mean and covariance are just these: ``root`` is a matrix A with A Aᵀ = Σ."""
    size = len(mean)
    points = torch.cat([torch.eye(size), -torch.eye(size)]).double() * (size - 0.5) ** 0.5  # covariance 1
    return points @ root.T + mean


def test_the_distance_of_a_sample_to_itself_is_zero_and_only_means_and_covariances_count():
    one = torch.randn(50, 6, generator=torch.Generator().manual_seed(0))
    assert frechet_distance(one, one) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(one, one.flip(0)) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(one, one + 2) == pytest.approx(6 * 4, rel=1e-6)


def test_distances_of_normal_distributions_are_those_of_the_formula():
    mean, other = torch.tensor([1.0, -2.0, 0.5]).double(), torch.tensor([0.0, 1.0, 0.5]).double()
    stretch, shrink = (
        torch.diag(torch.tensor([2.0, 1.0, 3.0])).double(),
        torch.diag(torch.tensor([1.0, 1.0, 0.5])).double(),
    )
    # Where covariances commute: the squared distance of the means, and of the standard deviations.
    expected = (1 + 9) + (1 + 0 + 2.5**2)
    assert frechet_distance(exactly(mean, stretch), exactly(other, shrink)) == pytest.approx(expected)


def test_covariances_that_do_not_commute_need_the_root_of_their_product():
    chance = torch.Generator().manual_seed(1)
    one, other = (torch.randn(3, 3, generator=chance).double() for _ in range(2))
    zero = torch.zeros(3).double()
    first, second = one @ one.T, other @ other.T
    root = torch.linalg.eigvals(first @ second).real.sqrt().sum()  # tr (Σ₁ Σ₂)^½
    expected = (first.trace() + second.trace() - 2 * root).item()
    assert frechet_distance(exactly(zero, one), exactly(zero, other)) == pytest.approx(expected)
    assert frechet_distance(exactly(zero, other), exactly(zero, one)) == pytest.approx(expected)


def test_fewer_samples_than_features_give_a_number():
    assert frechet_distance(torch.randn(4, 9), torch.randn(5, 9)) > 0


@pytest.mark.parametrize("one, other", [((3, 2), (3, 4)), ((3,), (3,)), ((1, 2), (3, 2))])
def test_features_that_cannot_be_compared_are_refused(one, other):
    with pytest.raises(ValueError, match=r"one and other must be \(N, D\) and \(M, D\)"):
        frechet_distance(torch.zeros(one), torch.zeros(other))


def test_the_nearest_training_image_names_a_digit():
    images, labels = digit_images()
    found, distances = nearest_digits(images[:6].view(3, 2, 8, 8) + 0.001)
    assert torch.equal(found, labels[:6].view(3, 2))
    torch.testing.assert_close(distances, torch.full((3, 2), 0.008), rtol=0.05, atol=0)
    held_out, truth = digit_images(held_out=True)
    assert (nearest_digits(held_out)[0] == truth).double().mean() > 0.93


def test_real_pairs_agree_by_their_nearest_images():
    labels, _ = nearest_digits(crop_digits(digit_pairs(200, 0, held_out=True).image))
    agreement, chance = agreement_and_chance(*labels.unbind(dim=1))
    assert agreement > 0.96
    assert 0.4 < chance < 0.6


# ---- where attention goes


def test_shares_of_regions_by_hand():
    weights = torch.tensor([[[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.0, 1.0, 0.0]]])  # (1, 3, 3)
    sides = [torch.tensor([True, False, False]), torch.tensor([False, True, True])]
    torch.testing.assert_close(side_shares(weights, sides), torch.tensor([[[0.5, 0.5], [0.1, 0.9]]]))


def test_uniform_attention_gives_each_region_its_share_of_the_positions():
    sides = [torch.arange(8) < 2, torch.arange(8) >= 4]
    shares = side_shares(torch.full((3, 8, 8), 1 / 8), sides)
    torch.testing.assert_close(shares, torch.tensor([0.25, 0.5]).expand(3, 2, 2))


@pytest.mark.parametrize("weights, side", [((8, 8), 8), ((2, 8, 8), 7)])
def test_regions_of_another_map_are_refused(weights, side):
    with pytest.raises(ValueError, match=r"weights must be \(B, T, T\) and sides \(T,\)"):
        side_shares(torch.zeros(weights), [torch.zeros(side, dtype=torch.bool)])


def test_a_region_without_a_position_is_refused():
    sides = [torch.tensor([True, True]), torch.tensor([False, False])]
    with pytest.raises(ValueError, match="sides holds a region without a position"):
        side_shares(torch.full((1, 2, 2), 0.5), sides)


def test_samples_are_compared_on_each_device_whether_it_has_float64_or_not(device):
    draw = torch.Generator().manual_seed(0)
    one, other = torch.randn(9, 3, generator=draw), torch.randn(7, 3, generator=draw)
    assert frechet_distance(one.to(device), other.to(device)) == frechet_distance(one, other)
    left, right = torch.tensor([1, 2, 3]), torch.tensor([1, 0, 3])
    assert agreement_and_chance(left.to(device), right.to(device)) == agreement_and_chance(left, right)
