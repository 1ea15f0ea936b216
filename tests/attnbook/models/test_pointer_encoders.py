"""Two readers of places: what lies beyond a row's places is hidden, and only one of them knows an order."""

import pytest
import torch

from attnbook.attention import padding_mask
from attnbook.models.pointer_encoders import LSTMEncoder, TransformerEncoder, make_encoder

D, LENGTHS = 8, [3, 5, 1]
KINDS = ["lstm", "bilstm", "transformer"]


@pytest.fixture
def mask(device):
    return padding_mask(torch.tensor(LENGTHS, device=device))


@pytest.fixture
def make(device, dtype):
    """``make(kind)``: an encoder, the same weights each time."""

    def of_kind(kind: str):
        torch.manual_seed(1)
        return make_encoder(kind, D).to(device, dtype)

    return of_kind


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_one_a_place_and_the_state_has_two_parts(kind, make, mask, draw):
    keys, (hidden, cell) = make(kind)(draw(3, 5, D), mask)
    assert keys.shape == (3, 5, D)
    assert hidden.shape == cell.shape == (3, D)


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_beyond_a_row_is_not_read_and_gets_no_gradient(kind, make, mask, draw, close):
    encoder, x = make(kind), draw(3, 5, D, grad=True)
    keys, state = encoder(x, mask)
    (keys[mask].square().sum() + sum(part.square().sum() for part in state)).backward()
    assert (x.grad[~mask] == 0).all()
    assert (x.grad[mask] != 0).any(dim=-1).all()
    for row, length in enumerate(LENGTHS):
        alone, last = encoder(x[row : row + 1, :length], mask[row : row + 1, :length])
        close(alone[0], keys[row, :length])
        for got, wanted in zip(last, state, strict=True):
            close(got[0], wanted[row])


@pytest.mark.parametrize("kind", KINDS)
def test_the_transformer_knows_no_order_and_an_lstm_does(kind, make, mask, draw):
    encoder, x, order = make(kind), draw(1, 5, D), [3, 0, 4, 1, 2]
    keys, (hidden, _) = encoder(x, mask[1:2])
    moved, (other, _) = encoder(x[:, order], mask[1:2])
    same = torch.allclose(moved, keys[:, order], atol=1e-5) and torch.allclose(other, hidden, atol=1e-5)
    assert same == (kind == "transformer")


def test_two_directions_share_the_features(make, mask, draw):
    encoder, x = LSTMEncoder(D, bidirectional=True), torch.randn(1, 5, D, requires_grad=True)
    encoder(x, mask.cpu()[1:2])[0][0, 0].sum().backward()
    assert (x.grad[0, 4] != 0).any()  # the first place knows of the last
    one, x = LSTMEncoder(D), torch.randn(1, 5, D, requires_grad=True)
    one(x, mask.cpu()[1:2])[0][0, 0].sum().backward()
    assert (x.grad[0, 1:] == 0).all()


def test_layers_and_hidden_features_are_as_asked():
    encoder = TransformerEncoder(D, heads=2, layers=2, d_ff=11)
    assert len(encoder.stack.layers) == 2
    assert encoder.stack.layers[0].feed_forward.widen.out_features == 11
    assert TransformerEncoder(D).stack.layers[0].feed_forward.widen.out_features == 2 * D


def test_unknown_kinds_and_odd_halves_are_refused():
    with pytest.raises(ValueError, match="lstm, bilstm, transformer, got 'gru'"):
        make_encoder("gru", D)
    with pytest.raises(ValueError, match="even"):
        make_encoder("bilstm", 7)


def test_an_unknown_encoder_is_refused():
    with pytest.raises(ValueError, match=r"encoder must be one of .*lstm.*, got 'gru'"):
        make_encoder("gru", D)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_rows_without_padding_come_out_the_same_whether_others_have_some(bidirectional, draw, close):
    x = draw(3, 5, 8)
    encoder = LSTMEncoder(8, bidirectional).to(x)
    full, mixed = torch.ones(3, 5, dtype=torch.bool), torch.arange(5) < torch.tensor([[5], [3], [5]])
    (keys, states), (others, other_states) = encoder(x, full), encoder(x, mixed)
    rows = torch.tensor([0, 2])
    close(keys[rows], others[rows])
    for state, other in zip(states, other_states, strict=True):
        close(state[rows], other[rows])


def test_a_row_without_places_begins_like_a_mean_of_zero_and_spoils_no_other(draw, close, device, dtype):
    encoder, x = TransformerEncoder(D).to(device, dtype), draw(2, 4, D)
    _, (hidden, cell) = encoder(x, padding_mask(torch.tensor([4, 0], device=device)))
    _, alone = encoder(x[:1], padding_mask(torch.tensor([4], device=device)))
    close(hidden[0], alone[0][0])
    close(torch.cat([hidden[1].atanh(), cell[1]]), encoder.first_state.bias)
