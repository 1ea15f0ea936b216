"""Four layers with one face."""

import pytest
import torch

from attnbook.attention import attend, causal_mask, window_mask
from attnbook.models.sequence_layers import Convolution, ParameterFreeAttention, Recurrent, SelfAttention

X = torch.randn(2, 7, 4, generator=torch.Generator().manual_seed(0))
LAYERS = {
    "bare": lambda: ParameterFreeAttention(4),
    "fused": lambda: ParameterFreeAttention(4, fused=True),
    "attention": lambda: SelfAttention(4),
    "causal": lambda: SelfAttention(4, causal=True),
    "window": lambda: SelfAttention(4, radius=2),
    "rnn": lambda: Recurrent(4),
    "lstm": lambda: Recurrent(4, "lstm", forget_bias=2.0),
    "convolution": lambda: Convolution(4, 3),
}
# Which places have influence on place 3 of seven.
SEEN = {
    **dict.fromkeys(["bare", "fused", "attention"], range(7)),
    **dict.fromkeys(["causal", "rnn", "lstm"], range(4)),
    "window": range(1, 6),
    "convolution": range(2, 5),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_keeps_the_shape_and_sees_what_it_may(name):
    x = X.clone().requires_grad_()
    out = LAYERS[name]()(x)
    assert out.shape == X.shape
    out[0, 3].sum().backward()
    assert (x.grad.abs().sum(dim=-1) > 0).nonzero().tolist() == [[0, place] for place in SEEN[name]]


def test_bare_is_attend_with_the_input_three_times():
    wanted, _ = attend(X, X, X)
    torch.testing.assert_close(ParameterFreeAttention(4)(X), wanted)
    torch.testing.assert_close(ParameterFreeAttention(4, fused=True)(X), wanted)


def test_self_attention_projects_and_attends():
    layer = SelfAttention(4, causal=True)
    parts = [x(X) for x in (layer.project_query, layer.project_key, layer.project_value)]
    context, weights = layer.attend(X)
    torch.testing.assert_close((context, weights), attend(*parts, mask=causal_mask(7)))


def test_a_window_equals_its_mask():
    layer = SelfAttention(4, radius=2)
    parts = [x(X) for x in (layer.project_query, layer.project_key, layer.project_value)]
    torch.testing.assert_close(layer(X), attend(*parts, mask=window_mask(7, 2))[0])


def test_a_forget_bias_opens_one_gate_and_closes_another():
    torch.manual_seed(1)
    plain = Recurrent(4, "lstm").rnn.bias_ih_l0
    torch.manual_seed(1)
    opened = Recurrent(4, "lstm", forget_bias=5.0).rnn.bias_ih_l0
    torch.testing.assert_close(opened - plain, torch.tensor([-5.0] * 4 + [5.0] * 4 + [0.0] * 8))


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="causal and radius exclude each other"):
        SelfAttention(4, causal=True, radius=2)
    with pytest.raises(ValueError, match="cell must be rnn or lstm, got 'gru'"):
        Recurrent(4, "gru")
    with pytest.raises(ValueError, match="forget_bias is for the LSTM"):
        Recurrent(4, forget_bias=1.0)
    with pytest.raises(ValueError, match="kernel must be odd"):
        Convolution(4, 4)
