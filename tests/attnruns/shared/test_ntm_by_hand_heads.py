"""Heads by hand do what the package's functions do, and their way back is autograd's."""

import numpy as np
import pytest
import torch

from attnbook.models import NTMConfig
from attnbook.models.ntm_addressing import address, erase_and_add, in_range
from attnruns.shared.ntm_by_hand_heads import sigmoid, use_heads, use_heads_back

B, N, M, R, W = 2, 5, 3, 2, 2
NUMBERS = (R + W) * (M + 6) + W * 2 * M


def config(*without):
    return NTMConfig(width=M, read_heads=R, write_heads=W, without=without)


@pytest.fixture
def given():
    """Numbers of the linear layers, weights that sum to 1, and a memory, each with a gradient."""
    generator = torch.Generator().manual_seed(0)
    numbers, weights, memory = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((B, NUMBERS), (B, R + W, N), (B, N, M))
    )
    return [tensor.requires_grad_() for tensor in (numbers, weights.softmax(dim=-1).detach(), memory)]


def by_autograd(numbers, weights, memory, chosen):
    """Weights, memory and reads by the functions of the package."""
    told, orders = numbers.split(((R + W) * (M + 6), W * 2 * M), dim=1)
    weights = address(in_range(told.unflatten(1, (R + W, M + 6))), weights, memory, chosen.without)
    erase, add = orders.unflatten(1, (W, 2 * M)).chunk(2, dim=-1)
    memory = erase_and_add(memory, weights[:, R:], erase.sigmoid(), add)
    return weights, memory, weights[:, :R] @ memory


@pytest.mark.parametrize("without", [(), ("content",), ("interpolation",), ("shift",), ("sharpening",)])
def test_heads_look_write_and_go_back_as_the_functions_of_the_package(without, given):
    chosen = config(*without)
    weights, memory, reads = by_autograd(*given, chosen)
    used = use_heads(*(tensor.detach().numpy() for tensor in given), chosen)
    torch.testing.assert_close(torch.from_numpy(used.weights), weights.detach())
    torch.testing.assert_close(torch.from_numpy(used.memory), memory.detach())
    parts = weights, memory, reads
    generator = torch.Generator().manual_seed(1)
    gradients = [torch.randn(part.shape, generator=generator, dtype=torch.float64) for part in parts]
    wanted = torch.autograd.grad(parts, given, gradients, allow_unused=True)
    d_looked, d_after, d_reads = (gradient.numpy() for gradient in gradients)
    d_numbers, d_memory, d_weights = use_heads_back(d_reads.reshape(B, -1), d_after, d_looked, used, chosen)
    for got, tensor in zip((d_numbers, d_weights, d_memory), wanted, strict=True):
        torch.testing.assert_close(torch.from_numpy(got), torch.zeros(got.shape).double() if tensor is None else tensor)


def test_a_sigmoid_of_any_number_is_from_0_to_1_and_right_in_between():
    with np.errstate(all="raise", under="ignore"):
        assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]
    numbers = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(sigmoid(numbers), 1 / (1 + np.exp(-numbers)))


def test_what_came_in_is_left_as_it_was(given):
    arrays = [tensor.detach().numpy() for tensor in given]
    before = [array.copy() for array in arrays]
    used = use_heads(*arrays, config())
    gradients = np.ones((B, R * M)), np.ones((B, N, M)), np.ones((B, R + W, N))
    use_heads_back(*gradients, used, config())
    for array, old in zip(arrays, before, strict=True):
        assert (array == old).all()
    assert all((gradient == 1).all() for gradient in gradients)
