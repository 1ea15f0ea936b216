"""Four ways to let the positions of a sequence know of each other: ``(B, T, D)`` in, ``(B, T, D)`` out.

Self-attention, whole or in a window, a recurrent network, a convolution: the rows of the table in Vaswani et al. 2017.
"""

from torch import Tensor, nn

from attnbook.attention import attend, causal_mask, scaled_dot
from attnbook.attention.local import sliding_window_attention


class ParameterFreeAttention(nn.Module):
    """Self-attention with nothing to learn: query, key and value are the input itself.

    Args:
        dim: features D; unused, as there are no projections.
        fused: use torch's fused kernel, which never holds all T × T scores at once.
    """

    def __init__(self, dim: int, fused: bool = False) -> None:
        super().__init__()
        self.fused = fused

    def forward(self, x: Tensor) -> Tensor:
        """Mix the positions of ``x (B, T, D)``."""
        return attend(x, x, x, score=scaled_dot, fused=self.fused)[0]


class SelfAttention(nn.Module):
    """Self-attention with three projections, one head.

    Args:
        dim: features D of input, query, key, value and output.
        causal: let each position see itself and the past only.
        radius: let each position see only those at most so far away; ``None`` lets it see all.

    Raises:
        ValueError: if both ``causal`` and a ``radius`` are given.

    Source: Vaswani et al. 2017, section 3.2.1, with the projections of 3.2.2.
    """

    def __init__(self, dim: int, causal: bool = False, radius: int | None = None) -> None:
        super().__init__()
        if causal and radius is not None:
            raise ValueError("causal and radius exclude each other: the window looks to both sides")
        self.project_query = nn.Linear(dim, dim, bias=False)
        self.project_key = nn.Linear(dim, dim, bias=False)
        self.project_value = nn.Linear(dim, dim, bias=False)
        self.causal, self.radius = causal, radius

    def forward(self, x: Tensor) -> Tensor:
        """Mix the positions of ``x (B, T, D)``."""
        return self.attend(x)[0]

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the contexts ``(B, T, D)`` and the weights ``(B, T, T)``, or ``(B, T, 2 · radius + 1)``."""
        query, key, value = self.project_query(x), self.project_key(x), self.project_value(x)  # (B, T, D) each
        if self.radius is not None:
            return sliding_window_attention(query, key, value, radius=self.radius)
        mask = causal_mask(x.shape[1], x.device) if self.causal else None
        return attend(query, key, value, score=scaled_dot, mask=mask)


class Recurrent(nn.Module):
    """A recurrent network: each state from its word and the state before.

    Args:
        dim: features D of input and state.
        cell: ``"rnn"`` (tanh) or ``"lstm"``.
        forget_bias: add it to the LSTM's forget gates, and take it from the input gates, before training:
            with 0 half of a memory is lost at each step, with 5 less than a hundredth.

    Raises:
        ValueError: for another cell, or a forget bias without gates.

    Source: Elman 1990; Hochreiter and Schmidhuber 1997; Tallec and Ollivier 2018 for the bias.
    """

    def __init__(self, dim: int, cell: str = "rnn", forget_bias: float = 0.0) -> None:
        super().__init__()
        if cell not in ("rnn", "lstm"):
            raise ValueError(f"cell must be rnn or lstm, got {cell!r}")
        if forget_bias and cell == "rnn":
            raise ValueError(f"forget_bias is for the LSTM, an rnn has no gates; got {forget_bias}")
        self.rnn = {"rnn": nn.RNN, "lstm": nn.LSTM}[cell](dim, dim, batch_first=True)
        if forget_bias:
            bias = self.rnn.bias_ih_l0.data  # (4 · D,): input gate, forget gate, new memory, output gate
            bias[:dim] -= forget_bias
            bias[dim : 2 * dim] += forget_bias

    def forward(self, x: Tensor) -> Tensor:
        """Read ``x (B, T, D)`` from left to right; return the states."""
        return self.rnn(x)[0]


class Convolution(nn.Module):
    """A convolution over the positions: each sees ``kernel`` of them, itself in the middle.

    Args:
        dim: features D of input and output.
        kernel: an odd number.
    """

    def __init__(self, dim: int, kernel: int = 3) -> None:
        super().__init__()
        if kernel < 1 or kernel % 2 == 0:
            raise ValueError(f"kernel must be odd, with as many neighbours on each side of a position; got {kernel}")
        self.convolution = nn.Conv1d(dim, dim, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        """Mix the positions of ``x (B, T, D)``."""
        return self.convolution(x.transpose(1, 2)).transpose(1, 2)  # (B, D, T) inside
