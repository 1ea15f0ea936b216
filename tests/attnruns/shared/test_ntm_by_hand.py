"""The run by hand is the machine's run: the same logits and weights, and the same gradient of every parameter."""

import pytest
import torch

from attnbook.models import NTM, NTMConfig
from attnruns.shared.ntm_by_hand import run_by_hand

B, T, N = 2, 6, 7
LEFT_OUT = [(), ("content",), ("interpolation",), ("shift",), ("sharpening",), ("content", "shift")]


def machine(dtype=torch.float64, scale=3.0, **changes) -> NTM:
    """A machine with weights large enough to make gates and shifts differ."""
    torch.manual_seed(1)
    model = NTM(NTMConfig(3, 2, 8, 4, **changes)).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(scale)
    return model


def draws(*shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def results(run, model, inputs):
    """Logits, weights, and the gradients of a sum that both have a part in."""
    model.zero_grad()
    logits, weights = run(model, inputs, N)
    of_logits, of_weights = draws(logits.shape, weights.shape, dtype=inputs.dtype)
    ((logits * of_logits).sum() + (weights * of_weights).sum()).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    return logits, weights, [torch.zeros(()) if gradient is None else gradient for gradient in gradients]


def plain(model, inputs, rows):
    return model(inputs, rows=rows)


@pytest.mark.parametrize("without", LEFT_OUT, ids=lambda steps: "without " + " and ".join(steps) if steps else "all")
@pytest.mark.parametrize("heads", [(1, 1), (2, 3)])
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_logits_weights_and_gradients_are_those_of_the_machine(controller, heads, without):
    model = machine(controller=controller, read_heads=heads[0], write_heads=heads[1], without=without)
    [inputs] = draws((B, T, 3))
    logits, weights, gradients = results(run_by_hand, model, inputs)
    wanted_logits, wanted_weights, wanted = results(plain, model, inputs)
    torch.testing.assert_close(logits, wanted_logits, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(weights, wanted_weights, rtol=1e-10, atol=1e-12)
    largest = max(gradient.abs().max().item() for gradient in wanted)
    for got, gradient in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(got, gradient.expand_as(got), rtol=1e-8, atol=1e-10 * largest)


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_in_float32_it_is_as_exact_as_the_machine(controller):
    model = machine(torch.float32, 1.0, controller=controller)
    [inputs] = draws((B, T, 3), dtype=torch.float32)
    logits, _, gradients = results(run_by_hand, model, inputs)
    wanted_logits, _, wanted = results(plain, model, inputs)
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits, wanted_logits, rtol=1e-5, atol=1e-6)
    for got, gradient in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(got, gradient, rtol=1e-3, atol=1e-4)


def test_gradients_of_a_loss_of_the_logits_alone_and_of_the_weights_alone():
    model, [inputs] = machine(), draws((B, T, 3))
    for part in (0, 1):
        gradients = []
        for run in (run_by_hand, plain):
            model.zero_grad()
            run(model, inputs, N)[part].square().sum().backward()
            gradients.append(model.controller.layer.weight.grad.clone())
        torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-12)


def test_large_numbers_make_nothing_infinite():
    model = machine(torch.float32, 300.0, controller="lstm")
    [inputs] = draws((B, 30, 3), dtype=torch.float32)
    logits, weights, gradients = results(run_by_hand, model, inputs)
    for tensor in (logits, weights, *gradients):
        assert torch.isfinite(tensor).all()


def test_a_second_derivative_is_refused_instead_of_wrong():
    model, [inputs] = machine(), draws((B, T, 3))
    loss = run_by_hand(model, inputs, N)[0].square().sum()
    [gradient] = torch.autograd.grad(loss, model.address.layer.bias, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 4), (0, 5, 3)])
def test_inputs_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"inputs must have shape \(B, T, 3\)"):
        run_by_hand(machine(), torch.zeros(shape))


def test_another_device_is_refused():
    with pytest.raises(ValueError, match="must be on the CPU, got cpu, meta"):
        run_by_hand(machine(), torch.zeros(B, T, 3, device="meta"))


def test_a_memory_has_at_least_one_row():
    with pytest.raises(ValueError, match="rows must be at least 1"):
        run_by_hand(machine(), torch.zeros(B, T, 3, dtype=torch.float64), rows=0)
