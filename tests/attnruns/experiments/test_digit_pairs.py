"""The experiment on pairs of digits: recipes are what their names say, and every figure is counted right."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch.nn.utils import parametrize

from attnbook.data.pictures.digit_pairs import crop_digits, digit_pairs
from attnbook.models.sagan import FeatureMapAttention
from attnruns.experiments import digit_pairs as experiment
from attnruns.shared.dense_positions import DensePositions
from attnruns.shared.judge import trained_judge
from attnruns.shared.runner import Job

CPU_RECIPES = [name for name, recipe in experiment.RECIPES.items() if not recipe.gpu]


@pytest.fixture
def small(monkeypatch):
    """Everything in miniature."""
    monkeypatch.setattr(experiment, "TRAINING", {**experiment.TRAINING, "batch": 4})
    monkeypatch.setattr(experiment, "EVERY", 2)
    monkeypatch.setattr(experiment, "MONITORED", 8)
    monkeypatch.setattr(experiment, "TESTS", 12)
    monkeypatch.setattr(experiment, "ATTENDED", 5)
    judge = trained_judge(steps=3)
    monkeypatch.setattr(experiment, "trained_judge", lambda: judge)
    experiment.real_features.cache_clear()
    yield
    experiment.real_features.cache_clear()


@pytest.mark.parametrize("name", experiment.RECIPES)
def test_each_pair_of_networks_is_what_its_name_says(name):
    model, recipe = experiment.build(name), experiment.RECIPES[name]
    assert (model.generator.attention is not None) == (name not in ("none", "discriminator_only"))
    assert (model.discriminator.attention is not None) == (name not in ("none", "generator_only"))
    layers = [layer for layer in model.modules() if isinstance(layer, FeatureMapAttention)]
    assert len(layers) == recipe.generator + recipe.discriminator
    reductions = {layer.output.out_channels / layer.value.out_channels for layer in layers}
    assert reductions <= {8 if name == "narrow_values" else 2}
    normalised = [module for module in model.modules() if parametrize.is_parametrized(module)]
    assert bool(normalised) == (name != "no_spectral_norm")
    gammas = {gamma for gamma in model.gammas().values() if gamma is not None}
    assert gammas <= {1.0 if name == "gamma_one" else 0.0}
    assert recipe.rates() == (1e-3 if name == "two_rates" else 2e-3, 2e-3)
    assert (recipe.classes == (0, 1)) == (name not in ("four_digits", "large"))


def test_dense_layers_stand_where_attention_would_with_as_many_parameters():
    dense, both = experiment.build("dense"), experiment.build("both")
    assert [type(network.attention) for network in (dense.generator, dense.discriminator)] == [DensePositions] * 2
    for one, other in ((dense.generator, both.generator), (dense.discriminator, both.discriminator)):
        sizes = [sum(part.numel() for part in network.parameters()) for network in (one, other)]
        assert sizes[0] == sizes[1]


def test_dense_layers_join_the_two_ends():
    model = experiment.RECIPES["dense"].build()
    for network in (model.generator, model.discriminator):
        network.attention.gamma.data.fill_(0.5)
    noise = model.generator.noise(4).requires_grad_()
    [gradient] = torch.autograd.grad(model.eval()(noise)[..., :8].sum(), noise)
    assert gradient[..., 4:].abs().max() > 0


def test_what_is_too_long_for_a_cpu_is_only_offered_on_a_gpu():
    assert experiment.RECIPES["large"].gpu
    assert set(CPU_RECIPES) <= set(experiment.STEPS)
    assert ("large" in experiment.STEPS) == (experiment.best_device().type == "cuda")


def test_a_chapter_shows_three_seeds_with_attention_and_one_without():
    assert experiment.RECIPES["both"].kept == (0, 1, 2)
    assert experiment.RECIPES["none"].kept == (0,)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["both", "none", "dense"]), indirect=["best"])
def test_a_run_trains_and_measures(name, small, best, tmp_path):
    figures = checked_run(experiment, Job(name, 0, 3), tmp_path, best, kept=name != "dense")
    assert figures["curves"]["step"] == [0, 2, 3]
    assert all(len(curve) == 3 for curve in figures["curves"].values())
    assert (figures["generator_attention"] is None) == (name != "both")
    assert (figures["curves"]["gamma_generator"] == [None] * 3) == (name == "none")


# ---- figures


def test_real_pairs_are_judged_by_class(small, monkeypatch):
    pairs = digit_pairs(10, 1)
    labels = iter([torch.stack([pairs.label, pairs.label.roll(1)], dim=1)])
    figures = experiment.judged(pairs.image, lambda digits: next(labels))
    assert figures["left"][:2] == torch.bincount(pairs.label).tolist()
    assert figures["left"] == figures["right"]
    assert figures["agreement"] == (pairs.label == pairs.label.roll(1)).double().mean().item()
    assert sum(figures["same"]) == 10 * figures["agreement"]
    assert sum(figures["left"][2:]) == 0


def test_the_pair_distance_sees_what_the_digit_distance_cannot(monkeypatch):
    monkeypatch.setattr(experiment, "trained_judge", lambda: Pixels())
    experiment.real_features.cache_clear()
    pairs = digit_pairs(600, 7, held_out=True).image
    mixed = torch.cat([pairs[..., :16], pairs[..., 16:].roll(1, dims=0)], dim=-1)  # the same digits, other partners
    together, apart = experiment.distances(pairs, (0, 1)), experiment.distances(mixed, (0, 1))
    experiment.real_features.cache_clear()
    assert apart["digit_distance"] == pytest.approx(together["digit_distance"], abs=1e-4)
    assert apart["pair_distance"] > together["pair_distance"] + 0.5


class Pixels:
    """A judge whose features are the pixels."""

    def features(self, digits):
        return digits.flatten(-2)


def test_neighbours_judge_without_training():
    figures = experiment.by_neighbours(digit_pairs(50, 3).image)
    assert figures["neighbour_agreement"] == 1
    assert figures["neighbour_distance"] == 0  # they are training images


def test_regions_are_where_the_digits_lie():
    first, second = (region.view(4, 16) for region in experiment.digit_regions(8, 32))
    assert first[:, :4].all()
    assert second[:, 12:].all()
    assert (first.sum(), second.sum()) == (16, 16)
    canvas = torch.zeros(1, 1, 32, 32)
    first, second = (region.view(16, 16) for region in experiment.digit_regions(32, 32))
    canvas[0, 0] = (first | second).float().repeat_interleave(2, 0).repeat_interleave(2, 1)
    assert crop_digits(canvas).min() == 1
    assert canvas.sum() == 128


def test_a_leader_is_who_gets_most_of_the_attention_of_both():
    weights = torch.zeros(4, 64, 64)
    weights[:3, :, 0] = 0.8  # three images whose positions attend to the first digit
    weights[3, :, 63] = 0.6
    figures = experiment.attention_shares(weights, 8, 32)
    assert figures["shares"] == [[0.6, 0.15], [0.6, 0.15]]
    assert figures["leader"] == pytest.approx((3 * 0.8 + 0.6) / 4)
    assert figures["first_leads"] == 0.75
    assert figures["uniform"] == 0.25
    assert experiment.attention_shares(None, 8, 32) is None
