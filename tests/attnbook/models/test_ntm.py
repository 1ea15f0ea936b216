"""The machine is the paper's, step by step, written here with loops over the batch, the heads and the rows."""

import pytest
import torch

from attnbook.models import NTM, LSTMTagger, NTMConfig
from attnbook.models.ntm import AddressLayer

B, T, N = 2, 5, 6
I, O, D, M, R, W = 3, 2, 7, 4, 2, 3  # noqa: E741
H = R + W


def config(**changes):
    return NTMConfig(I, O, D, M, **{"read_heads": R, "write_heads": W, **changes})


@pytest.fixture
def make(device, dtype):
    """``make(**changes)``: a machine, the same weights each time, large enough to make gates and shifts differ."""

    def of_config(**changes) -> NTM:
        torch.manual_seed(1)
        model = NTM(config(**changes)).to(device, dtype)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3.0)
        return model

    return of_config


@pytest.fixture
def inputs(draw):
    return draw(B, T, I, seed=3)


def softplus(x):
    return torch.log1p(torch.exp(x))


def slow_controller(model, x, hidden, cell):
    """The controller of one sequence, from the equations of its cell."""
    if model.config.controller == "feedforward":
        layer = model.controller.layer
        return torch.tanh(layer.weight @ x + layer.bias), cell
    lstm = model.controller.cell
    i, f, c_hat, o = (lstm.weight_ih @ x + lstm.bias_ih + lstm.weight_hh @ hidden + lstm.bias_hh).chunk(4)
    cell = f.sigmoid() * cell + i.sigmoid() * c_hat.tanh()
    return o.sigmoid() * cell.tanh(), cell


def slow_address(numbers, previous, memory):
    """Equations 5 to 9 for one head: ``numbers (M + 6,)``, weights ``(N,)``, memory ``(N, M)``."""
    key, beta = numbers[:M], softplus(numbers[M])
    gate = 1 / (1 + torch.exp(-numbers[M + 1]))
    shift = [torch.exp(number) for number in numbers[M + 2 : M + 5]]
    shift = [number / sum(shift) for number in shift]
    gamma = 1 + softplus(numbers[M + 5])
    scores = [torch.exp(beta * (key @ row) / (key.norm() * row.norm())) for row in memory]
    gated = [gate * score / sum(scores) + (1 - gate) * before for score, before in zip(scores, previous, strict=True)]
    moved = [sum(shift[move + 1] * gated[(i - move) % N] for move in (-1, 0, 1)) for i in range(N)]
    powers = [weight**gamma for weight in moved]
    return torch.stack([power / sum(powers) for power in powers])


def slow(model, sequence):
    """One sequence: logits ``(T, O)`` and weights ``(T, H, N)``."""
    like = sequence.new_zeros
    memory = like(N, M) + 1e-6
    weights = [torch.eye(N).to(sequence)[0] for _ in range(H)]
    reads, hidden, cell, said, looked = [memory[0]] * R, like(D), like(D), [], []
    for x in sequence:
        hidden, cell = slow_controller(model, torch.cat([x, *reads]), hidden, cell)
        numbers = (model.address.layer.weight @ hidden + model.address.layer.bias).view(H, M + 6)
        weights = [slow_address(numbers[h], weights[h], memory) for h in range(H)]
        orders = (model.erase_and_add.weight @ hidden + model.erase_and_add.bias).view(W, 2, M)
        for w, (erase, _) in zip(weights[R:], orders, strict=True):
            erase = 1 / (1 + torch.exp(-erase))
            memory = torch.stack([row * (1 - share * erase) for row, share in zip(memory, w, strict=True)])
        for w, (_, add) in zip(weights[R:], orders, strict=True):
            memory = torch.stack([row + share * add for row, share in zip(memory, w, strict=True)])
        reads = [sum(share * row for share, row in zip(w, memory, strict=True)) for w in weights[:R]]
        said.append(model.output.weight @ torch.cat([hidden, *reads]) + model.output.bias)
        looked.append(torch.stack(weights))
    return torch.stack(said), torch.stack(looked)


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_the_machine_is_the_equations_of_the_paper(controller, make, inputs, dtype):
    model = make(controller=controller)
    logits, weights = model(inputs, rows=N)
    wanted, wanted_weights = (torch.stack(part) for part in zip(*(slow(model, row) for row in inputs), strict=True))
    tolerance = 1e-3 if dtype == torch.float32 else 1e-9  # an empty memory: directions of rows of 1e-6
    torch.testing.assert_close(weights, wanted_weights, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(logits, wanted, rtol=tolerance, atol=tolerance)


def test_the_gradient_is_that_of_the_equations(device, float64):
    models = []
    for _ in range(2):
        torch.manual_seed(1)
        models.append(NTM(config()).to(device, float64))
    inputs = torch.randn(B, 3, I, generator=torch.Generator().manual_seed(0), dtype=float64).to(device)
    models[0](inputs, rows=N)[0].pow(2).sum().backward()
    sum(slow(models[1], row)[0].pow(2).sum() for row in inputs).backward()
    for (name, got), wanted in zip(models[0].named_parameters(), models[1].parameters(), strict=True):
        assert wanted.grad.abs().sum() > 0, name
        torch.testing.assert_close(got.grad, wanted.grad, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_gradients_through_a_run_are_those_of_small_differences():
    torch.manual_seed(0)
    model = NTM(NTMConfig(2, 1, 3, 2, controller="lstm", fill=0.5)).double()
    names, values = zip(*model.named_parameters(), strict=True)
    inputs = torch.randn(1, 2, 2, dtype=torch.float64)

    def logits(*parameters):
        return torch.func.functional_call(model, dict(zip(names, parameters, strict=True)), (inputs, 3))[0]

    assert torch.autograd.gradcheck(logits, tuple(value.detach().requires_grad_() for value in values))


@pytest.mark.parametrize("size", [0.0, 1.0, 300.0])
def test_every_number_a_head_is_told_is_in_its_range(size, draw):
    hidden = size * draw(B, D, seed=1)
    layer = AddressLayer(D, H, M).to(hidden)
    address = layer(hidden)
    assert [tuple(part.shape) for part in address] == [(B, H, last) for last in (M, 1, 1, 3, 1)]
    assert bool((address.beta >= 0).all())
    assert bool(((address.gate >= 0) & (address.gate <= 1)).all())
    assert bool((address.shift >= 0).all())
    torch.testing.assert_close(address.shift.sum(dim=-1), torch.ones_like(address.shift[..., 0]))
    assert bool((address.gamma >= 1).all())


@pytest.mark.parametrize("start", ["first", "uniform"])
def test_the_machine_begins_as_its_configuration_says(start, make, dtype):
    model = make(start=start, fill=0.25)
    state = model.initial_state(B, N)
    assert state.memory.shape == (B, N, M)
    assert bool((state.memory == 0.25).all())
    assert state.memory.dtype == dtype
    first = torch.eye(N)[0] if start == "first" else torch.full((N,), 1 / N)
    torch.testing.assert_close(state.weights, first.to(state.weights).expand(B, H, N))
    torch.testing.assert_close(state.reads, torch.full_like(state.reads, 0.25))
    assert state.reads.shape == (B, R, M)
    assert state.controller.abs().sum() == 0


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_steps_are_the_run_and_a_run_goes_on_from_a_state(controller, make, inputs, close):
    model = make(controller=controller)
    record = model.record(inputs, N)
    state = model.initial_state(B, N)
    for t in range(T):
        logits, state = model.step(inputs[:, t], state)
        close(logits, record.logits[:, t])
        close(state.weights, record.weights[:, t])
    for got, wanted in zip(state, record.state, strict=True):
        close(got, wanted)
    halfway = model.record(inputs[:, :2], N).state
    close(model(inputs[:, 2:], state=halfway)[0], record.logits[:, 2:])


def test_a_record_keeps_what_every_head_was_told(make, inputs):
    record = make().record(inputs, N)
    assert record.weights.shape == (B, T, H, N)
    assert [tuple(part.shape) for part in record.address] == [(B, T, H, last) for last in (M, 1, 1, 3, 1)]
    torch.testing.assert_close(record.weights.sum(dim=-1), torch.ones_like(record.weights[..., 0]))


def test_one_machine_runs_on_any_number_of_rows(make, inputs):
    model = make()
    for rows in (1, 4, 50):
        logits, weights = model(inputs, rows=rows)
        assert logits.shape == (B, T, O)
        assert weights.shape == (B, T, H, rows)
        assert bool(logits.isfinite().all())


def test_a_sequence_alone_is_answered_as_in_company_and_later_inputs_change_nothing_before(make, inputs, close):
    model = make()
    logits, _ = model(inputs, rows=N)
    close(model(inputs[1:, :3], rows=N)[0], logits[1:, :3])


def test_a_step_left_out_has_no_use_for_its_parameters(make, inputs):
    whole = make()
    for step, part in {"content": slice(0, M + 2), "interpolation": M + 1, "shift": slice(M + 2, M + 5),
                       "sharpening": M + 5}.items():  # fmt: skip
        model = make(without=(step,))
        logits, _ = model(inputs, rows=N)
        logits.pow(2).sum().backward()
        gradient = model.address.layer.weight.grad.unflatten(0, (H, M + 6))
        assert gradient[:, part].abs().sum() == 0
        assert gradient.abs().sum() > 0
        assert not torch.allclose(logits, whole(inputs, rows=N)[0])


def test_a_long_run_of_a_machine_with_large_weights_stays_finite(device):
    torch.manual_seed(0)
    model = NTM(NTMConfig()).to(device)
    with torch.no_grad():
        for parameter in model.address.parameters():
            parameter.mul_(100.0)
    inputs = torch.randint(2, (2, 60, 9), generator=torch.Generator().manual_seed(0)).float().to(device)
    logits, weights = model(inputs, rows=20)
    logits.sum().backward()
    assert bool(logits.isfinite().all())
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert all(bool(parameter.grad.isfinite().all()) for parameter in model.parameters())


def test_the_baseline_answers_step_by_step_and_knows_no_later_input(device):
    torch.manual_seed(0)
    model = LSTMTagger(I, O, D).to(device)
    inputs = torch.randn(B, T, I, generator=torch.Generator().manual_seed(0)).to(device)
    logits, weights = model(inputs, rows=N)
    assert weights is None
    assert logits.shape == (B, T, O)
    torch.testing.assert_close(model(inputs[:, :3])[0], logits[:, :3])


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("controller must be one of feedforward, lstm, got 'gru'", {"controller": "gru"}),
        ("start must be one of first, uniform, got 'last'", {"start": "last"}),
        ("read_heads must be at least 1, got 0", {"read_heads": 0}),
        ("width must be at least 1, got 0", {"width": 0}),
        ("without must be a tuple of some of content, interpolation, shift, sharpening", {"without": ("gate",)}),
        ("without must be a tuple of some of content", {"without": "content"}),
    ],
)
def test_configurations_of_no_machine_are_refused(message, changes):
    with pytest.raises(ValueError, match=message):
        NTMConfig(**changes)


@pytest.mark.parametrize("kind", [NTM, LSTMTagger])
@pytest.mark.parametrize("shape", [(3, 9), (2, 0, 9), (0, 2, 9), (2, 3, 8)])
def test_inputs_of_another_shape_are_refused(kind, shape):
    with pytest.raises(ValueError, match=r"inputs must have shape \(B, T, 9\) with B > 0 and T > 0, got \("):
        kind()(torch.ones(shape))


def test_a_memory_has_at_least_one_row():
    with pytest.raises(ValueError, match="batch and rows must be at least 1, got 2 and 0"):
        NTM()(torch.ones(2, 3, 9), rows=0)
