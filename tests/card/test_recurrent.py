"""What cuDNN refuses of recurrent layers."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

LAYERS = pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])


@pytest.fixture
def x() -> torch.Tensor:
    """``(B, T, D)``."""
    return torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0)).to("card")


@LAYERS
def test_there_are_no_gradients_in_evaluation_mode(kind, x):
    layer = kind(3, 4, batch_first=True).to("card").eval()
    with pytest.raises(RuntimeError, match="cudnn RNN backward can only be called in training mode"):
        layer(x)[0].sum().backward()
    with torch.backends.cudnn.flags(enabled=False):  # CUDA's own kernels are less strict
        layer(x)[0].sum().backward()
    assert layer.weight_ih_l0.grad is not None


@LAYERS
def test_without_gradients_evaluation_mode_does(kind, x):
    layer = kind(3, 4, batch_first=True).to("card").eval()
    for without in (torch.no_grad(), torch.inference_mode()):
        with without:
            assert layer(x)[0].shape == (2, 5, 4)


@LAYERS
def test_lengths_of_packed_sequences_are_the_cpus(kind, x):
    with pytest.raises(RuntimeError, match="CPU int64 tensor"):
        pack_padded_sequence(x, torch.tensor([5, 3], device="card"), batch_first=True)
    packed = pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
    assert kind(3, 4, batch_first=True).to("card")(packed)[0].data.shape == (8, 4)


def test_a_state_must_be_contiguous(x):
    layer, state = nn.LSTM(3, 4, batch_first=True).to("card"), torch.zeros(1, 4, 2, device="card").transpose(1, 2)
    with pytest.raises(RuntimeError, match="hx is not contiguous"):
        layer(x, (state, state))
    with pytest.raises(RuntimeError, match="cx is not contiguous"):
        layer(x, (state.contiguous(), state))
    with torch.backends.cudnn.flags(enabled=False):
        assert layer(x, (state, state))[0].shape == (2, 5, 4)
