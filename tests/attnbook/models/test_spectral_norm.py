"""Spectral normalisation: torch's, step for step, and the largest singular value in the end."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from attnbook.models.spectral_norm import SpectralNorm, spectral_norm_step, spectrally_normalised


@pytest.fixture
def twins():
    """A convolution under our spectral norm, and the same one under torch's, from the same vectors."""
    torch.manual_seed(0)
    ours, theirs = (nn.Conv2d(3, 5, 3, dtype=torch.float64) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    spectrally_normalised(ours)
    parametrizations.spectral_norm(theirs)
    with torch.no_grad():
        theirs.parametrizations.weight[0]._u.copy_(ours.parametrizations.weight[0].u)
        theirs.parametrizations.weight[0]._v.copy_(ours.parametrizations.weight[0].v)
    return ours, theirs


def assert_equal_weights(ours, theirs):
    torch.testing.assert_close(ours.weight, theirs.weight, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("uses", [1, 2, 30])
def test_one_and_many_power_iterations_give_torchs_weight(twins, uses):
    for layer in twins:
        for _ in range(uses - 1):
            assert layer.weight.isfinite().all()  # a use, and so a power iteration
    assert_equal_weights(*twins)


def test_evaluation_leaves_the_vectors_and_training_goes_on_from_them(twins):
    ours, theirs = twins
    for layer in twins:
        layer.eval()
    before = ours.parametrizations.weight[0].v
    assert_equal_weights(ours, theirs)
    assert ours.parametrizations.weight[0].v is before
    for layer in twins:
        layer.train()
    assert_equal_weights(ours, theirs)
    assert not torch.equal(ours.parametrizations.weight[0].v, before)


def test_a_training_with_two_passes_per_step_takes_the_same_way_as_torchs(twins):
    image = torch.randn(2, 3, 6, 6, dtype=torch.float64)
    for layer in twins:
        optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(5):
            loss = layer(image).square().mean() - layer(image + 1).tanh().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    for ours, theirs in zip(*(layer.parameters() for layer in twins), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-11, atol=1e-12)
    for layer in twins:
        layer.eval()
    assert_equal_weights(*twins)


def test_sigma_approaches_the_largest_singular_value_from_below():
    torch.manual_seed(1)
    weight = torch.randn(6, 2, 3, 3, dtype=torch.float64)
    v = torch.randn(18, dtype=torch.float64)
    v = v / v.norm()
    sigmas = []
    for _ in range(200):
        u, v = spectral_norm_step(weight, v)
        sigmas.append((u @ weight.flatten(1) @ v).item())
    largest = torch.linalg.matrix_norm(weight.flatten(1), ord=2).item()
    assert sigmas == pytest.approx(sorted(sigmas), abs=1e-12)
    assert sigmas[0] < largest - 0.01
    assert sigmas[-1] == pytest.approx(largest, abs=1e-9)
    assert u.norm().item() == pytest.approx(1)
    assert v.norm().item() == pytest.approx(1)


def test_a_step_by_hand():
    weight = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    u, v = spectral_norm_step(weight, torch.tensor([0.6, 0.8]))
    torch.testing.assert_close(u, torch.tensor([1.2, 0.8]) / 2.08**0.5)
    torch.testing.assert_close(v, torch.tensor([2.4, 0.8]) / 6.4**0.5)


def test_a_normalised_layer_shortens_no_vector_by_less_than_one():
    torch.manual_seed(2)
    layer = spectrally_normalised(nn.Linear(7, 4, bias=False))
    for _ in range(100):
        weight = layer.weight
    assert torch.linalg.matrix_norm(weight, ord=2).item() == pytest.approx(1, abs=1e-4)


def test_no_gradient_flows_through_the_vectors():
    layer = spectrally_normalised(nn.Linear(3, 2))
    assert not layer.parametrizations.weight[0].u.requires_grad
    assert {name for name, _ in layer.named_parameters()} == {"bias", "parametrizations.weight.original"}
    assert {name for name, _ in layer.named_buffers()} == {"parametrizations.weight.0.u", "parametrizations.weight.0.v"}


def test_it_is_only_there_when_asked_for():
    assert not parametrize.is_parametrized(spectrally_normalised(nn.Linear(3, 2), enabled=False))


def test_the_type_follows_the_weight():
    assert SpectralNorm(torch.randn(2, 3, dtype=torch.float64)).u.dtype == torch.float64


@pytest.mark.parametrize("layer", [nn.ReLU(), nn.LayerNorm(3)])
def test_a_layer_without_a_matrix_is_refused(layer):
    with pytest.raises(ValueError, match=f"at least two axes, got {type(layer).__name__}"):
        spectrally_normalised(layer)
