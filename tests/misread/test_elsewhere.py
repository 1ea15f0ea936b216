"""A pretended second device: numbers as ever, a GPU's strictness about where tensors lie."""

import copy

import pytest
import torch
from torch import nn

from misread import elsewhere, values
from misread.elsewhere import Pretended, Real, second_device

X = torch.tensor([[3.0, 1.0], [0.0, 2.0]])


@pytest.fixture
def place(device):
    """The pretended device, and each real one that is there: they agree."""
    return Pretended() if device.type == "cpu" else Real(device)


def lies_there(place, function, *args):
    """Whether each tensor of the result does."""
    return [place.holds(tensor) for tensor in values.tensors(place.call(function, *place.send(args)))]


def new_module(x):
    return nn.Linear(2, 2).to(x.device)(x)


def new_module_with_device(x):
    return nn.Linear(2, 2, device=x.device)(x)


def with_gradient(x):
    x = x.clone().requires_grad_()
    (x**2).sum().backward()
    return x.grad


def written_into(x):
    result = torch.zeros_like(x)
    result[0] = torch.ones(2)  # a copy, which may come from anywhere
    return result + x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: [*x],
        lambda x: x.max(dim=-1),
        lambda x: x.mT.contiguous(),
        lambda x: x + torch.arange(2, device=x.device),
        lambda x: x + torch.arange(2).to(x.device),
        lambda x: x + torch.ones(2, dtype=torch.float64).to(x),
        lambda x: x + x.new_zeros(2) + torch.full_like(x, 3.0) + torch.zeros(2).type_as(x),
        lambda x: torch.tensor(x.tolist(), device=x.device),
        lambda x: torch.where(x > 0, x, torch.tensor(0.0)),
        lambda x: x[torch.arange(2), torch.tensor([1, 0])],
        lambda x: torch.vmap(lambda row: row * 2)(x),
        lambda x: nn.Parameter(x) * 2,
        copy.deepcopy,
        new_module,
        new_module_with_device,
        with_gradient,
        written_into,
    ],
)
def test_a_result_that_follows_its_input_lies_there(place, function):
    found = lies_there(place, function, X)
    assert found
    assert all(found)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.cpu(),
        lambda x: torch.tensor(x.tolist()),
        lambda x: torch.zeros(2, 2).copy_(x),
        lambda x: torch.zeros(2) if x.sum() > 0 else x,
    ],
)
def test_a_result_on_the_cpu_does_not(place, function):
    assert lies_there(place, function, X) == [False]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + torch.zeros(2),
        lambda x: torch.zeros(2) + x,
        lambda x: x @ torch.eye(2),
        lambda x: x + x.cpu(),
        lambda x: torch.cat([x, torch.zeros(1, 2)]),
        lambda x: torch.einsum("ij, jk -> ik", x, torch.ones(2, 2)),
        lambda x: torch.arange(2)[x.argmax(dim=-1)],
        lambda x: torch.where(x > 0, x, torch.zeros(2)),
        lambda x: x.clone().add_(torch.randn(2)),
        lambda x: nn.Linear(2, 2)(x),
    ],
)
def test_tensors_of_two_devices_do_not_meet(place, function):
    with pytest.raises(RuntimeError) as caught:
        lies_there(place, function, X)
    assert any(words in str(caught.value) for words in elsewhere.MIXED)


def test_the_numbers_are_those_of_the_input(place):
    (sent,) = place.send((X,))
    assert place.call(lambda x: (x.tolist(), x.max().item(), int(x.argmax())), sent) == (X.tolist(), 3.0, 0)


def test_what_is_sent_to_the_pretended_device_shares_no_memory_and_leaves_the_input_alone():
    place = Pretended()
    (sent,) = place.send((X,))
    place.call(lambda x: x.zero_(), sent)
    assert X.sum() == 6
    assert not place.holds(X)


def test_an_answer_in_another_process_meets_the_device_without_numbers(monkeypatch):
    class Apart:
        apart = True

    assert second_device(Apart()).device == torch.device("meta")
    monkeypatch.setenv("ATTNBOOK_DEVICE", "cpu")
    assert isinstance(second_device(len), Pretended)
    monkeypatch.setattr(elsewhere, "best_device", lambda: torch.device("mps"))
    assert second_device(len).device.type == "mps"


def test_apples_chips_have_no_float64():
    sent = []

    class Sent(torch.Tensor):
        def to(self, *where, **more):
            sent.append((self.dtype, where))
            return self

    Real(torch.device("mps")).send((X.double().as_subclass(Sent), X.as_subclass(Sent)))
    assert sent == [(torch.float32, ("mps",))] * 2
