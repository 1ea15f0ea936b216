"""The card computes what the CPU computes, gradients too."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAIR = torch.tensor([1, 2])

# Each is given a matrix (4, 4) of float64, and returns a number.
COMPUTED = {
    "conv1d": lambda x: F.conv1d(x[None], x[None, :, :2]).square().sum(),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2], padding=1).square().sum(),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x[None, None], x[None, None, :2, :2]).square().sum(),
    "max_pool2d": lambda x: F.max_pool2d(x[None, None], 2).sum(),
    "avg_pool2d": lambda x: F.avg_pool2d(x[None, None], 2).square().sum(),
    "interpolate": lambda x: F.interpolate(x[None, None], scale_factor=2).square().sum(),
    "grid_sample": lambda x: F.grid_sample(x[None, None], x.reshape(1, 4, 2, 2).tanh(), align_corners=False).sum(),
    "pad": lambda x: F.pad(x, (1, 1)).square().sum(),
    "attention": lambda x: F.scaled_dot_product_attention(*[x[None, None]] * 3, is_causal=True).square().sum(),
    "layer_norm": lambda x: F.layer_norm(x, (4,)).pow(3).sum(),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True).pow(3).sum(),
    "group_norm": lambda x: F.group_norm(x[None], 2).pow(3).sum(),
    "rms_norm": lambda x: F.rms_norm(x, (4,)).pow(3).sum(),
    "gelu": lambda x: F.gelu(x).sum(),
    "logsumexp": lambda x: x.logsumexp(0).sum(),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.arange(4, device=x.device)),
    "ctc_loss": lambda x: F.ctc_loss(x[:, None].log_softmax(-1), torch.tensor([[1]]), (4,), (1,)),
    "embedding_bag": lambda x: F.embedding_bag(torch.tensor([[0, 1]], device=x.device), x).sum(),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, x).sum(),
    "cdist": lambda x: torch.cdist(x, x.flip(0)).sum(),
    "qr": lambda x: torch.linalg.qr(x)[1].sum(),
    "svdvals": lambda x: torch.linalg.svdvals(x).sum(),
    "rfft": lambda x: torch.fft.rfft(x).abs().sum(),
    "view_as_complex": lambda x: torch.view_as_complex(x.reshape(4, 2, 2)).abs().sum(),
    "cumsum": lambda x: x.cumsum(0).square().sum(),
    "prod": lambda x: x.prod(0).sum(),
    "sort": lambda x: x.sort(dim=1)[0].pow(2).sum(),
    "topk": lambda x: x.topk(2)[0].sum(),
    "unfold": lambda x: x.unfold(0, 2, 1).square().sum(),
    "flip, roll": lambda x: x.flip(0).roll(1).square().sum(),
    "index": lambda x: x[[0, 1]][:, PAIR].square().sum(),
    "index_add": lambda x: x.index_add(0, torch.tensor([0, 0], device=x.device), x[:2]).square().sum(),
    "scatter_add": lambda x: x.scatter_add(0, x[:1].detach().long() * 0, x[:1]).square().sum(),
}


@pytest.mark.parametrize("compute", COMPUTED.values(), ids=COMPUTED)
def test_results_and_gradients_are_the_cpus_and_stay_on_the_card(compute):
    x = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours, theirs = x.to("card").requires_grad_(), x.clone().requires_grad_()
    result, wanted = compute(ours), compute(theirs)
    result.backward()
    wanted.backward()
    assert result.device.type == ours.grad.device.type == "card"
    torch.testing.assert_close(result.cpu(), wanted)
    torch.testing.assert_close(ours.grad.cpu(), theirs.grad)


def trained(optimiser: type, device: str) -> list[torch.Tensor]:
    """The parameters of a small network after three steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 1)).double().to(device)
    x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3).to(device)
    steps = optimiser(model.parameters(), lr=0.1)

    def loss():
        steps.zero_grad()
        error = model(x).square().mean()
        error.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return error

    for _ in range(3):
        steps.step(loss)
    return [parameter.detach().cpu() for parameter in model.parameters()]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adadelta", "LBFGS"])
def test_each_optimiser_goes_the_same_way(name):
    optimiser = getattr(torch.optim, name)
    torch.testing.assert_close(trained(optimiser, "card"), trained(optimiser, "cpu"))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_recurrent_layers_agree(kind, bidirectional):
    torch.manual_seed(0)
    theirs = kind(3, 4, 2, batch_first=True, bidirectional=bidirectional)
    ours, x = copy.deepcopy(theirs).to("card"), torch.randn(2, 5, 3)
    wanted, result = theirs(x)[0], ours(x.to("card"))[0]
    torch.testing.assert_close(result.cpu(), wanted)
    wanted.sum().backward()
    result.sum().backward()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one.grad.cpu(), other.grad)
    packed, wanted = (packed_results(layer, x.to(device)) for layer, device in ((ours, "card"), (theirs, "cpu")))
    torch.testing.assert_close(packed.cpu(), wanted)


def packed_results(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a layer makes of sequences of 5 and 3, ``(2, 5, ...)``."""
    packed = pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
    return pad_packed_sequence(layer(packed)[0], batch_first=True)[0]


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("bias", [False, True])
def test_cells_agree(kind, bias):
    torch.manual_seed(0)
    cell, x = kind(3, 4, bias=bias), torch.randn(2, 3)

    def gradients(device):
        cell.to(device).zero_grad()
        state = cell(x.to(device), cell(x.to(device)))
        (state[0] if isinstance(state, tuple) else state).square().sum().backward()
        return [parameter.grad.cpu().clone() for parameter in cell.parameters()]

    torch.testing.assert_close(gradients("card"), gradients("cpu"))


def test_torchs_own_transformer_agrees_training_and_evaluating_and_on_its_fast_path():
    torch.manual_seed(0)
    layer, x = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), torch.randn(2, 5, 8)

    def results(device):
        layer.to(device)
        with torch.no_grad():
            fast = layer.eval()(x.to(device)).cpu()
        return [layer.train()(x.to(device)).cpu(), layer.eval()(x.to(device)).cpu(), fast]

    torch.testing.assert_close(results("card"), results("cpu"))


def test_mixed_precision_casts_as_on_cuda():
    layer, x = nn.Linear(3, 3).to("card"), torch.ones(2, 3, device="card")
    with torch.autocast("card", dtype=torch.bfloat16):
        y = layer(x)
        assert y.dtype == nn.LSTM(3, 4).to("card")(x[None])[0].dtype == torch.bfloat16
        wide = [y.softmax(-1), F.layer_norm(y, (3,)), F.cross_entropy(y, torch.tensor([0, 1], device="card"))]
    assert {result.dtype for result in wide} == {torch.float32}
    y.float().sum().backward()
    assert layer.weight.grad.dtype == torch.float32


def test_mixed_precision_refuses_the_cross_entropy_of_probabilities():
    with torch.autocast("card", dtype=torch.bfloat16), pytest.raises(RuntimeError, match="unsafe to autocast"):
        F.binary_cross_entropy(torch.tensor([0.5], device="card"), torch.ones(1, device="card"))
