"""Readers of a set of points for the pointer network, an LSTM and a Transformer; and a glimpse before it points."""

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnbook.attention import Additive, PreparedKeys, attend
from attnbook.models.block import TransformerConfig
from attnbook.models.transformer import Stack


class LSTMEncoder(nn.Module):
    """Read the positions one after the other with an LSTM; each position's state is its key.

    Args:
        hidden: features D of keys and state; each direction has half of them where there are two.
        bidirectional: read also from the last to the first.
        features: of the input; D when left out.

    Raises:
        ValueError: if ``hidden`` is odd and there are two directions.

    Source: Vinyals et al. 2015, section 2.3 (there in one direction).
    """

    def __init__(self, hidden: int, bidirectional: bool = False, features: int | None = None) -> None:
        super().__init__()
        if bidirectional and hidden % 2:
            raise ValueError(f"hidden must be even to be shared between two directions, got {hidden}")
        inputs, width = features or hidden, hidden // 2 if bidirectional else hidden
        self.rnn = nn.LSTM(inputs, width, batch_first=True, bidirectional=bidirectional)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read ``x (B, N, D)``, of which ``mask (B, N)`` marks the real positions, the first of each row.

        Returns:
            keys ``(B, N, D)``, and the decoder's first state: hidden and cell, ``(B, D)`` each.
        """
        if mask.all():  # packing would only cost time
            keys, last = self.rnn(x)  # (B, N, D)
        else:
            packed = pack_padded_sequence(x, mask.sum(dim=-1).cpu(), batch_first=True, enforce_sorted=False)
            states, last = self.rnn(packed)
            keys, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])  # (B, N, D)
        hidden, cell = (part.transpose(0, 1).flatten(1) for part in last)  # (directions, B, width) -> (B, D)
        return keys, (hidden, cell)


class TransformerEncoder(nn.Module):
    """Let each point attend to all the others, without position vectors: the order in which points stand means nothing.

    Args:
        d_model: features D.
        heads, layers, d_ff: see :class:`~attnbook.models.block.TransformerConfig`.

    Source: Vaswani et al. 2017, section 3.1 (pre-norm); Kool et al. 2019, section 3.1, for leaving out positions.
    """

    def __init__(self, d_model: int, heads: int = 8, layers: int = 3, d_ff: int | None = None) -> None:
        super().__init__()
        d_ff = 2 * d_model if d_ff is None else d_ff
        config = TransformerConfig(d_model=d_model, heads=heads, layers=layers, d_ff=d_ff, positions="none")
        self.stack = Stack(config)
        self.first_state = nn.Linear(d_model, 2 * d_model)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Arguments and returns as :meth:`LSTMEncoder.forward`; the first state is read off the mean of the keys."""
        for layer in self.stack.layers:
            x = layer(x, mask[:, None]).x  # (B, 1, N): every position may attend to every real position
        keys = self.stack.last_norm(x)
        real = mask[..., None]  # (B, N, 1)
        mean = keys.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1).clamp(min=1)  # (B, D)
        hidden, cell = self.first_state(mean).chunk(2, dim=-1)
        return keys, (hidden.tanh(), cell.contiguous())  # a GPU's LSTM takes no view into a wider tensor


class Glimpse(nn.Module):
    """Attend to the positions once before pointing: the pointer is asked with the query and the context that comes out.

    Args:
        hidden: features D of queries and keys.

    Source: Bello et al. 2017, appendix A.1. There the context replaces the query; here it is added to it, because at
    first all contexts are nearly the mean of the keys, and nothing is left of the decoder's state. (With the context
    alone, 171 steps of 128 tours of 10 cities did not leave chance.)
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.score = Additive(hidden, hidden, hidden)

    def prepare(self, key: Tensor) -> tuple[PreparedKeys, Tensor]:
        """Keys ``(B, N, D)`` as the score prepares them, and as they are, because they are the values too."""
        return self.score.prepare(key), key

    def forward(self, query: Tensor, prepared: tuple[PreparedKeys, Tensor], mask: Tensor) -> Tensor:
        """Queries ``(B, T, D)`` and a mask ``(B, T, N)`` of what may be attended to -> new queries ``(B, T, D)``."""
        context, _ = attend(query, *prepared, score=self.score, mask=mask)
        return query + context


def make_encoder(kind: str, hidden: int, features: int | None = None) -> nn.Module:
    """An encoder by name: ``"lstm"``, ``"bilstm"`` or ``"transformer"``.

    Args:
        hidden: features D of its keys.
        features: of its input; D when left out. The Transformer takes D only.

    Raises:
        ValueError: for another name, or a Transformer that is to read the features themselves.
    """
    kinds = {
        "lstm": lambda: LSTMEncoder(hidden, features=features),
        "bilstm": lambda: LSTMEncoder(hidden, bidirectional=True, features=features),
        "transformer": lambda: TransformerEncoder(hidden),
    }
    if kind not in kinds:
        raise ValueError(f"encoder must be one of {', '.join(kinds)}, got {kind!r}")
    if kind == "transformer" and features is not None:
        raise ValueError(f"a transformer reads vectors of hidden = {hidden} features; give it embedded points")
    return kinds[kind]()
