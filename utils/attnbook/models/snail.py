"""SNAIL: causal convolutions, which combine neighbouring positions, and causal attention, which finds any earlier one.

Each block keeps its input and appends its result as further features. A sequence ``(B, T, D)`` therefore gets wider
from block to block, and no feature is lost (chapter 15). Source: Mishra et al. 2018, section 3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import attend, causal_mask
from attnbook.modes import evaluating

BLOCKS = ("convolutions", "attention")


def causal_convolution(x: Tensor, weight: Tensor, bias: Tensor | None = None, dilation: int = 1) -> Tensor:
    """A convolution over time in which an output depends on its own position and on earlier ones, never on later ones.

    Args:
        x: ``(B, T, D)``.
        weight: ``(D_out, D, K)``. The last of its K taps belongs to the position itself, the one before it to the
            position ``dilation`` steps earlier, and so on.
        bias: ``(D_out,)``, or none.
        dilation: distance between two taps, in positions.

    Returns:
        ``(B, T, D_out)``; inputs before the first position count as zeros.

    Source: van den Oord et al. 2016, section 2.1; Mishra et al. 2018, section 3.1.
    """
    past = dilation * (weight.shape[-1] - 1)
    padded = F.pad(x.transpose(1, 2), (past, 0))  # (B, D, past + T)
    return F.conv1d(padded, weight, bias, dilation=dilation).transpose(1, 2)  # (B, T, D_out)


def dilations_for(length: int) -> list[int]:
    """1, 2, 4, …: as many dilations as layers of two taps need until their receptive field covers ``length`` positions.

    The paper's pseudocode prints 2, 4, 8, … instead. With these each output would depend on every second position only
    and never on the one just before it, so we begin with 1, as WaveNet does.

    Raises:
        ValueError: if ``length`` is not positive.

    Source: van den Oord et al. 2016, section 2.1; Mishra et al. 2018, section 3.1.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    return [2**i for i in range(max(1, (length - 1).bit_length()))]


def receptive_field(dilations: Sequence[int], kernel: int = 2) -> int:
    """On how many positions, itself included, one output of a stack of causal convolutions can depend."""
    return 1 + (kernel - 1) * sum(dilations)


class CausalConvolution(nn.Module):
    """:func:`causal_convolution` with parameters of its own and two taps: a position, and one ``dilation`` earlier."""

    def __init__(self, dim: int, filters: int, dilation: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(dim, filters, kernel_size=2, dilation=dilation)
        self.dilation = dilation

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, filters)``."""
        return causal_convolution(x, self.convolution.weight, self.convolution.bias, self.dilation)


class DenseBlock(nn.Module):
    """A gated causal convolution whose result is appended to the input.

    Source: Mishra et al. 2018, section 3.1 and figure 2a; the gate is equation 2 of van den Oord et al. 2016.
    """

    def __init__(self, dim: int, filters: int, dilation: int) -> None:
        super().__init__()
        self.candidate = CausalConvolution(dim, filters, dilation)
        self.gate = CausalConvolution(dim, filters, dilation)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D + filters)``."""
        activations = self.candidate(x).tanh() * self.gate(x).sigmoid()  # (B, T, filters)
        return torch.cat([x, activations], dim=-1)


class TemporalConvolutions(nn.Sequential):
    """The paper's TC block: dense blocks with dilations 1, 2, 4, …, until the last position depends on the first.

    Args:
        dim: features D of the input.
        length: T, the longest sequence.
        filters: how many features each dense block appends. Output: ``width = D + filters · number of blocks``.

    Source: Mishra et al. 2018, section 3.1.
    """

    def __init__(self, dim: int, length: int, filters: int) -> None:
        dilations = dilations_for(length)
        super().__init__(*(DenseBlock(dim + i * filters, filters, dilation) for i, dilation in enumerate(dilations)))
        self.width = dim + len(dilations) * filters


class CausalAttentionBlock(nn.Module):
    """Scaled dot-product attention with one head and a causal mask, whose context is appended to the input.

    Args:
        dim: features D of the input.
        key: features of queries and keys.
        value: features of values. Output: ``width = D + value``.

    Source: Mishra et al. 2018, section 3.1 and figure 2b.
    """

    def __init__(self, dim: int, key: int, value: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(dim, key)
        self.project_key = nn.Linear(dim, key)
        self.project_value = nn.Linear(dim, value)
        # The paper does not say how they are initialised. If queries and keys begin with the same weights, similar
        # positions attend to each other from the first step on. Drawn independently, they left attention to pictures
        # nearly uniform for a thousand steps of our training, and nothing was learned.
        self.project_key.load_state_dict(self.project_query.state_dict())
        self.width = dim + value

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D + value)``."""
        return torch.cat([x, self.attend(x)[0]], dim=-1)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The contexts ``(B, T, value)`` and the weights ``(B, T, T)``: row = query, and each row sums to one."""
        query, key, value = self.project_query(x), self.project_key(x), self.project_value(x)
        return attend(query, key, value, mask=causal_mask(x.shape[1], x.device))


class SnailSizes(NamedTuple):
    """Sizes of the blocks of a :class:`Snail`.

    Fields:
        filters: features that each dense block appends.
        key: features of queries and keys.
        value: features that each attention block appends.
    """

    filters: int = 32
    key: int = 32
    value: int = 32


def _block(kind: str, dim: int, length: int, sizes: SnailSizes) -> TemporalConvolutions | CausalAttentionBlock:
    if kind == "convolutions":
        return TemporalConvolutions(dim, length, sizes.filters)
    return CausalAttentionBlock(dim, sizes.key, sizes.value)


class Snail(nn.Module):
    """Blocks of convolutions and of attention, one after the other, and a linear layer that predicts at each position.

    Args:
        inputs: features of each position of the sequence.
        outputs: features of each prediction, for instance one logit per label.
        length: T, the longest sequence; the receptive field of each block of convolutions covers it.
        blocks: their kinds from the input to the output, ``"convolutions"`` or ``"attention"``.
        sizes: of the blocks; 32 of each when left out.
        positions: a module that is applied to the input, such as :class:`~attnbook.attention.Sinusoidal`. Attention
            without convolutions needs it wherever the order matters.

    Raises:
        ValueError: if there are no blocks, or one of another kind.

    Source: Mishra et al. 2018, section 3 and figure 1.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        length: int,
        blocks: Sequence[str] = ("attention", "convolutions", "attention"),
        sizes: SnailSizes | None = None,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if not blocks or any(kind not in BLOCKS for kind in blocks):
            raise ValueError(f"blocks must be some of {', '.join(BLOCKS)}, at least one; got {list(blocks)}")
        sizes = SnailSizes() if sizes is None else sizes
        self.positions = nn.Identity() if positions is None else positions
        self.blocks = nn.ModuleList()
        width = inputs
        for kind in blocks:
            block = _block(kind, width, length, sizes)
            self.blocks.append(block)
            width = block.width
        self.output = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read ``x (B, T, inputs)``; the prediction at t depends on positions 0 … t.

        Returns:
            predictions ``(B, T, outputs)`` and weights ``(B, T, T)`` of the last block of attention; ``None`` without
            one. :meth:`maps` gives those of each.
        """
        x, seen = self._read(x)
        return self.output(x), seen[-1] if seen else None

    @evaluating
    def maps(self, x: Tensor) -> list[Tensor]:
        """The attention weights ``(B, T, T)`` of each block of attention, from the input to the output."""
        return self._read(x)[1]

    def _read(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        x, seen = self.positions(x), []
        for block in self.blocks:
            if isinstance(block, CausalAttentionBlock):
                context, weights = block.attend(x)
                x = torch.cat([x, context], dim=-1)
                seen.append(weights)
            else:
                x = block(x)
        return x, seen
