"""What the rest of torch does with the card: modules, memory, files, differentiation."""

import copy
import io

import pytest
import torch
from torch import nn
from torch.func import jacrev, vmap


def test_a_module_that_moves_keeps_its_parameters_and_its_optimiser():
    layer = nn.Linear(2, 2)
    steps, weight = torch.optim.Adam(layer.parameters(), lr=0.1), layer.weight
    assert layer.to("card").weight is weight
    assert weight.device.type == "card"
    assert weight.requires_grad
    layer(torch.ones(1, 2, device="card")).sum().backward()
    before = weight.detach().clone()
    steps.step()
    assert not torch.equal(weight, before)
    assert layer.to("cpu").weight is weight
    assert weight.grad.device.type == "cpu"


def test_tied_weights_stay_tied():
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    layers[1].weight = layers[0].weight
    layers.to("card")
    assert layers[0].weight is layers[1].weight


def writes_into_views(x: torch.Tensor) -> torch.Tensor:
    """Write into views of ``x (4, 4)`` of many kinds."""
    x[1:3, ::2].fill_(1)
    x.view(2, 8)[0, 0] = 5
    x.t()[3] += 2
    x.unfold(0, 2, 1)[0, 0, 0] = 9
    x.diagonal().mul_(2)
    x.view(torch.int32)[3, 3] = 0
    return x


def test_views_share_their_memory():
    x = writes_into_views(torch.zeros(4, 4, device="card"))
    assert torch.equal(x.cpu(), writes_into_views(torch.zeros(4, 4)))
    assert x.data_ptr() == x.view(-1).data_ptr() == x.detach().data_ptr()


def test_a_change_in_place_is_counted_for_the_backward_pass(card):
    before = card._version
    card.add_(1)
    assert card._version == before + 1


def test_what_is_expanded_cannot_be_written_to(card):
    with pytest.raises(RuntimeError, match="unsupported operation"):
        card.expand(2, 3, 3).add_(1)


def test_results_go_where_out_says_whatever_size_that_had():
    out, ones = torch.empty(0, device="card"), torch.ones(3, device="card")
    assert torch.add(ones, 1, out=out) is out
    assert out.tolist() == [2, 2, 2]
    assert torch.cat([ones, ones], out=torch.empty(0, device="card")).shape == (6,)


def test_memory_can_be_made_larger():
    x = torch.ones(2, device="card").resize_(5)
    x[2:] = 3
    assert x.tolist() == [1, 1, 3, 3, 3]


MADE = {
    "arange": (lambda device: torch.arange(5, device=device), [0, 1, 2, 3, 4]),
    "arange by quarters": (lambda device: torch.arange(0, 1, 0.25, device=device), [0, 0.25, 0.5, 0.75]),
    "linspace": (lambda device: torch.linspace(0, 1, 3, device=device), [0, 0.5, 1]),
    "eye": (lambda device: torch.eye(2, device=device), [[1, 0], [0, 1]]),
    "full": (lambda device: torch.full((2,), 7, device=device), [7, 7]),
    "tril_indices": (lambda device: torch.tril_indices(2, 2, device=device), [[0, 1, 1], [0, 0, 1]]),
    "nonzero": (lambda device: torch.ones(3, device=device).nonzero(), [[0], [1], [2]]),
    "max": (lambda device: torch.eye(2, device=device).max(1).indices, [0, 1]),
    "unique": (lambda device: torch.tensor([1, 1, 2], device=device).unique(), [1, 2]),
}


@pytest.mark.parametrize("make, wanted", MADE.values(), ids=MADE)
def test_what_is_made_on_the_card_is_there(make, wanted):
    made = make("card")
    assert made.device.type == "card"
    assert made.tolist() == wanted


def saved(what: object) -> io.BytesIO:
    """A file that holds ``what``."""
    file = io.BytesIO()
    torch.save(what, file)
    file.seek(0)
    return file


def test_copies_stay_on_the_card(card):
    assert copy.deepcopy(card).device == card.clone().device == card.device


def test_a_file_brings_a_tensor_back_to_the_card_or_where_one_says(card):
    assert torch.load(saved(card)).device == card.device
    assert torch.load(saved(card), map_location="cpu").device.type == "cpu"


def test_weights_go_from_one_device_to_the_other_in_a_file():
    ours, theirs = nn.Linear(2, 2).to("card"), nn.Linear(2, 2)
    ours.load_state_dict(torch.load(saved(theirs.state_dict())))
    assert torch.equal(ours.weight.cpu(), theirs.weight)
    theirs.load_state_dict(torch.load(saved(ours.state_dict()), map_location="card"))
    assert theirs.weight.device.type == "cpu"


def test_numerical_and_computed_gradients_agree():
    x = torch.randn(3, device="card", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (x * x.sin()).sum(), x)


def test_functions_are_mapped_and_differentiated():
    assert jacrev(lambda x: x * x)(torch.ones(3, device="card")).tolist() == (2 * torch.eye(3)).tolist()
    assert vmap(lambda x: x.sin().sum())(torch.ones(3, 2, device="card")).device.type == "card"


class Fails(torch.autograd.Function):
    """The identity, whose backward pass raises."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("from the card's thread")


def test_an_error_of_the_backward_pass_arrives_as_it_is():
    x = torch.ones(3, device="card", requires_grad=True)
    with pytest.raises(ValueError, match="from the card's thread"):
        Fails.apply(x).sum().backward()


def test_a_gradient_finds_its_way_back_to_the_cpu():
    x = torch.ones(3, requires_grad=True)
    (x.to("card") * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_what_is_kept_for_the_backward_pass_can_lie_on_the_cpu():
    x = torch.ones(3, device="card", requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept.cpu(), lambda kept: kept.to("card")):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]
