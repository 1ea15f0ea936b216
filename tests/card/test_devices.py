"""What CUDA takes and refuses where tensors of two devices meet."""

import pretended_card
import pytest
import torch
import torch.nn.functional as F
from torch import nn

FIRST = torch.tensor([0])
ROW = torch.zeros(1, 3, dtype=torch.long)
CLASSES = torch.tensor([0, 1, 2])

# Each is given a matrix of the CPU, a matrix of the card.
REFUSED = {
    "+": lambda c, g: c + g,
    "+, the card first": lambda c, g: g + c,
    "mul_": lambda c, g: g.mul_(c),
    "mul_ of the cpu's": lambda c, g: c.mul_(g),
    "clamp_": lambda c, g: g.clamp_(c),
    "@": lambda c, g: c @ g,
    "@, the card first": lambda c, g: g @ c,
    "addmm": lambda c, g: torch.addmm(g, c, g),
    "bmm": lambda c, g: torch.bmm(g[None], c[None]),
    "baddbmm": lambda c, g: torch.baddbmm(g[None], g[None], c[None]),
    "einsum": lambda c, g: torch.einsum("ij,jk", g, c),
    "kron": lambda c, g: torch.kron(g, c),
    "outer": lambda c, g: torch.outer(g[0], c[0]),
    "dot": lambda c, g: torch.dot(g[0], c[0]),
    "cdist": lambda c, g: torch.cdist(g, c),
    "cat": lambda c, g: torch.cat([g, c]),
    "stack": lambda c, g: torch.stack([c, g]),
    "where": lambda c, g: torch.where(g > 0, g, c),
    "where, condition": lambda c, g: torch.where(c > 0, g, g),
    "lerp": lambda c, g: torch.lerp(g, c, 0.5),
    "maximum": lambda c, g: torch.maximum(c, g),
    "equal": lambda c, g: torch.equal(c, g),
    "isin": lambda c, g: torch.isin(g, c),
    "out=": lambda c, g: torch.add(g, g, out=c),
    "masked_fill": lambda c, g: g.masked_fill(c > 0, 1.0),
    "masked_fill of the cpu's": lambda c, g: c.masked_fill(g > 0, 1.0),
    "masked_fill, one mask for all": lambda c, g: g.masked_fill(torch.tensor(True), 1.0),
    "masked_select": lambda c, g: g.masked_select(c > 0),
    "masked_scatter": lambda c, g: g.masked_scatter(c > 0, g),
    "index_select": lambda c, g: g.index_select(0, FIRST),
    "index_copy": lambda c, g: g.index_copy(0, FIRST, g[:1]),
    "index_add_": lambda c, g: g.index_add_(0, CLASSES, g),
    "index_put_": lambda c, g: g.index_put_((FIRST,), c[:1]),
    "put_": lambda c, g: g.put_(FIRST, g[0, :1]),
    "gather": lambda c, g: g.gather(0, ROW),
    "take_along_dim": lambda c, g: torch.take_along_dim(g, ROW, 0),
    "scatter": lambda c, g: g.scatter(0, ROW, 1.0),
    "an index of the card for the cpu": lambda c, g: c[FIRST.to("card")],
    "assignment of a sum": lambda c, g: g.__setitem__(slice(None), c + g),
    "one_hot": lambda c, g: F.one_hot(FIRST, 3) * g,
    "bincount": lambda c, g: torch.bincount(FIRST.to("card"), weights=torch.ones(1)),
    "searchsorted": lambda c, g: torch.searchsorted(g, c),
    "a scalar of the cpu changed": lambda c, g: torch.tensor(1.0).add_(g[0, 0]),
    "dropout": lambda c, g: F.dropout(g) + c,
    "embedding": lambda c, g: F.embedding(FIRST, g),
    "linear": lambda c, g: F.linear(g, c),
    "Linear": lambda c, g: nn.Linear(3, 3)(g),
    "layer_norm": lambda c, g: F.layer_norm(g, (3,), c[0], c[0]),
    "batch_norm": lambda c, g: F.batch_norm(g, c[0], c[0]),
    "conv2d": lambda c, g: F.conv2d(g[None, None], c[None, None]),
    "cross_entropy": lambda c, g: F.cross_entropy(g, CLASSES),
    "nll_loss": lambda c, g: F.nll_loss(g, CLASSES),
    "mse_loss": lambda c, g: F.mse_loss(g, c),
    "attention": lambda c, g: F.scaled_dot_product_attention(g[None], g[None], c[None]),
    "attention's mask": lambda c, g: F.scaled_dot_product_attention(g[None], g[None], g[None], attn_mask=c > 0),
    "LSTM": lambda c, g: nn.LSTM(3, 3).to(g)(g, (c[:1], c[:1])),
    "LSTMCell": lambda c, g: nn.LSTMCell(3, 3).to(g)(g, (c, c)),
    "GRUCell": lambda c, g: nn.GRUCell(3, 3)(g),
}  # fmt: skip
TAKEN = {
    "+ a scalar": lambda c, g: g + torch.tensor(1.0),
    "a scalar *": lambda c, g: torch.tensor(2.0) * g,
    "/ a number": lambda c, g: g / 3,
    "a number -": lambda c, g: 1 - g,
    "** a number": lambda c, g: g**2,
    "a number **": lambda c, g: torch.pow(2, g),
    "pow of a scalar": lambda c, g: g.pow(torch.tensor(2.0)),
    "lerp by a scalar": lambda c, g: torch.lerp(g, g, torch.tensor(0.5)),
    "where, a scalar": lambda c, g: torch.where(g > 0, g, torch.tensor(0.0)),
    "masked_fill by a scalar": lambda c, g: g.masked_fill(g > 0, torch.tensor(0.0)),
    "an index": lambda c, g: g[FIRST],
    "a mask as index": lambda c, g: g[c > 0],
    "assignment of a scalar": lambda c, g: g.__setitem__(0, torch.tensor(1.0)),
    "assignment of a row": lambda c, g: g.__setitem__(0, c[0]),
    "assignment at an index": lambda c, g: g.__setitem__(FIRST, 1.0),
    "assignment at a mask": lambda c, g: g.__setitem__(g > 0, torch.tensor(1.0)),
    "copy_": lambda c, g: g.copy_(c),
    "copy_ to the cpu": lambda c, g: c.copy_(g),
}


def named(table):
    """One test per entry, under its name."""
    return pytest.mark.parametrize("mix", table.values(), ids=table)


@named(REFUSED)
def test_tensors_of_two_devices_are_refused(mix, cpu, card):
    with pytest.raises(RuntimeError, match=r"(?i)same device|devices|device"):
        mix(cpu, card)


@named(TAKEN)
def test_scalars_indices_and_copies_from_the_other_device_are_taken(mix, cpu, card):
    twin = card.cpu()
    result, wanted = mix(cpu, card), mix(cpu, twin)
    assert torch.equal(card.cpu(), twin)
    if wanted is not None:  # an assignment returns nothing
        assert torch.equal(result.cpu(), wanted)


def test_a_tensor_says_where_it_is_and_comes_back(card):
    assert str(card.device) == "card:0"
    assert card.is_card
    assert card.device != torch.device("card")  # as cuda:0 and cuda differ
    assert repr(card).endswith("device='card:0')")
    assert card.to("cpu").device.type == "cpu"
    assert card.tolist() == card.cpu().tolist() == [[1.0] * 3] * 3


def test_numpy_does_not_get_at_its_memory(card):
    with pytest.raises(TypeError, match="can't convert card:0 device type tensor to numpy"):
        card.numpy()


WITH_FLOAT64 = [
    lambda card: card.double(),
    lambda card: card.to(torch.complex128),
    lambda card: torch.zeros(2, dtype=torch.float64, device="card"),
    lambda card: torch.ones(2, dtype=torch.float64).to("card"),
]


def test_a_card_without_float64_refuses_it(card):
    with pretended_card.without_float64():
        for make in WITH_FLOAT64:
            with pytest.raises(TypeError, match="doesn't support float64"):
                make(card)
        assert card.cpu().double().dtype == torch.float64
    assert card.double().dtype == torch.float64


FAULTS = {
    "embedding": lambda: F.embedding(torch.tensor([9], device="card"), torch.ones(3, 2, device="card")),
    "gather": lambda: torch.ones(3, device="card").gather(0, torch.tensor([5], device="card")),
    "index": lambda: torch.ones(3, device="card")[torch.tensor([7], device="card")],
    "cross_entropy": lambda: F.cross_entropy(torch.ones(1, 3, device="card"), torch.tensor([5], device="card")),
    "multinomial": lambda: torch.multinomial(torch.tensor([-1.0, 1.0], device="card"), 1),
}


@pytest.mark.parametrize("find", FAULTS.values(), ids=FAULTS)
def test_what_a_kernel_finds_while_it_runs_stops_the_card(find):
    with pytest.raises(RuntimeError, match="device-side assert") as caught:
        find()
    assert not isinstance(caught.value, IndexError)  # which code made for a CPU might catch
