"""RMSProp as Graves 2013 writes it."""

import math

import torch
from torch import nn

from attnbook.training import GravesRMSprop


def test_a_step_is_equations_38_to_41():
    weight = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimiser = GravesRMSprop([weight], lr=0.01)
    n = m = move = 0.0
    wanted = 1.0
    for gradient in (3.0, -1.0, 0.5):
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimiser.step()
        n, m = 0.95 * n + 0.05 * gradient**2, 0.95 * m + 0.05 * gradient
        move = 0.9 * move - 0.01 * gradient / math.sqrt(n - m**2 + 1e-4)
        wanted += move
        torch.testing.assert_close(weight.item(), wanted, rtol=1e-12, atol=0.0)


def test_a_gradient_that_never_varies_is_divided_by_the_root_of_the_damping_in_the_end():
    weight = nn.Parameter(torch.zeros(1))
    optimiser = GravesRMSprop([weight], lr=1e-3, momentum=0.0)
    for _ in range(400):
        before = weight.item()
        weight.grad = torch.full((1,), 0.5)
        optimiser.step()
    assert math.isclose(before - weight.item(), 1e-3 * 0.5 / 0.01, rel_tol=1e-2)


def test_parameters_without_a_gradient_stay_and_those_of_a_group_have_its_learning_rate():
    still, slow, fast = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    optimiser = GravesRMSprop([{"params": [still, slow]}, {"params": [fast], "lr": 1e-2}])
    for weight in (slow, fast):
        weight.grad = torch.ones(2)
    optimiser.step()
    assert torch.equal(still, torch.zeros(2))
    torch.testing.assert_close(fast, 100 * slow)


def test_it_goes_on_from_its_state():
    ends = []
    for stops in (False, True):
        weight = nn.Parameter(torch.ones(3))
        optimiser = GravesRMSprop([weight])
        for step in range(4):
            if stops and step == 2:
                state, optimiser = optimiser.state_dict(), GravesRMSprop([weight])
                optimiser.load_state_dict(state)
            weight.grad = torch.arange(3.0) * (step + 1)
            optimiser.step()
        ends.append(weight.detach())
    assert torch.equal(*ends)
