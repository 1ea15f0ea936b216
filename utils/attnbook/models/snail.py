"""SNAIL: causal convolutions, which gather what is near, and causal attention, which finds what is far (chapter 15).

Every part keeps what came in and appends what it found, so that a sequence ``(B, T, D)`` gets wider from block to block
while nothing that was known is lost. Source: Mishra et al. 2018.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention import attend, causal_mask

BLOCKS = ("convolutions", "attention")


def causal_convolution(x: Tensor, weight: Tensor, bias: Tensor | None = None, dilation: int = 1) -> Tensor:
    """Each position sees itself and, in strides of ``dilation``, positions before it; never a later one.

    Args:
        x: ``(B, T, D)``.
        weight: ``(D_out, D, K)``, the last of its K taps is the position itself.
        bias: ``(D_out,)``.
        dilation: positions between two taps.

    Returns:
        ``(B, T, D_out)``; what would lie before the beginning counts as zero.

    Source: van den Oord et al. 2016, section 2.1; Mishra et al. 2018, section 3.
    """
    past = dilation * (weight.shape[-1] - 1)
    padded = F.pad(x.transpose(1, 2), (past, 0))  # (B, D, past + T)
    return F.conv1d(padded, weight, bias, dilation=dilation).transpose(1, 2)  # (B, T, D_out)


def dilations_for(length: int) -> list[int]:
    """1, 2, 4, …: the dilations with which two taps per layer reach ``length`` positions back.

    Raises:
        ValueError: if ``length`` is not positive.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    return [2**i for i in range(max(1, (length - 1).bit_length()))]


def receptive_field(dilations: Sequence[int], kernel: int = 2) -> int:
    """How many positions, itself counted, the last of a stack of causal convolutions can see."""
    return 1 + (kernel - 1) * sum(dilations)


class CausalConvolution(nn.Module):
    """:func:`causal_convolution` with a weight of its own, of two taps: a position and one before it."""

    def __init__(self, dim: int, filters: int, dilation: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(dim, filters, kernel_size=2, dilation=dilation)
        self.dilation = dilation

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, filters)``."""
        return causal_convolution(x, self.convolution.weight, self.convolution.bias, self.dilation)


class DenseBlock(nn.Module):
    """A gated causal convolution whose result is appended to what came in.

    Source: Mishra et al. 2018, section 3, algorithm 1; the gate is that of van den Oord et al. 2016.
    """

    def __init__(self, dim: int, filters: int, dilation: int) -> None:
        super().__init__()
        self.candidate = CausalConvolution(dim, filters, dilation)
        self.gate = CausalConvolution(dim, filters, dilation)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D + filters)``."""
        found = self.candidate(x).tanh() * self.gate(x).sigmoid()  # (B, T, filters)
        return torch.cat([x, found], dim=-1)


class TemporalConvolutions(nn.Sequential):
    """Dense blocks with dilations 1, 2, 4, …, until the last position can see the first.

    Args:
        dim: features D that come in. length: T, the longest sequence. filters: what each dense block appends.

    Source: Mishra et al. 2018, section 3, algorithm 1.
    """

    def __init__(self, dim: int, length: int, filters: int) -> None:
        dilations = dilations_for(length)
        super().__init__(*(DenseBlock(dim + i * filters, filters, dilation) for i, dilation in enumerate(dilations)))
        self.width = dim + len(dilations) * filters


class CausalAttentionBlock(nn.Module):
    """Causal attention with one head, whose context is appended to what came in.

    Args:
        dim: features D that come in. key, value: features of the keys and queries, and of the values.

    Source: Mishra et al. 2018, section 3, algorithm 2.
    """

    def __init__(self, dim: int, key: int, value: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(dim, key)
        self.project_key = nn.Linear(dim, key)
        self.project_value = nn.Linear(dim, value)
        # The paper does not say how they start. Alike, similar positions attend to each other from the first step on;
        # drawn apart, attention to pictures stays uniform for a thousand steps, and nothing is learned.
        self.project_key.load_state_dict(self.project_query.state_dict())
        self.width = dim + value

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D + value)``."""
        return torch.cat([x, self.attend(x)[0]], dim=-1)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The contexts ``(B, T, value)`` and the weights ``(B, T, T)``, each row a sum of one over the past."""
        query, key, value = self.project_query(x), self.project_key(x), self.project_value(x)
        return attend(query, key, value, mask=causal_mask(x.shape[1], x.device))


class SnailSizes(NamedTuple):
    """How much each block of a :class:`Snail` appends: ``filters`` per dense block, ``key`` and ``value`` features."""

    filters: int = 32
    key: int = 32
    value: int = 32


class Snail(nn.Module):
    """Blocks of convolutions and of attention in turn, and a linear layer that answers at each position.

    Args:
        inputs: features of each position of the sequence.
        outputs: numbers of an answer, for instance one logit per label.
        length: T, the longest sequence; the convolutions reach so far.
        blocks: their kinds from the input to the output, ``"convolutions"`` or ``"attention"``.
        sizes: of the blocks.
        positions: is applied to the input, as :class:`~attnbook.attention.Sinusoidal`; for attention without
            convolutions, which otherwise does not know the order.

    Raises:
        ValueError: if there are no blocks, or one of another kind.

    Source: Mishra et al. 2018, section 3 and figure 3.
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
            block = (
                TemporalConvolutions(width, length, sizes.filters)
                if kind == "convolutions"
                else CausalAttentionBlock(width, sizes.key, sizes.value)
            )
            self.blocks.append(block)
            width = block.width
        self.output = nn.Linear(width, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """``x (B, T, inputs)`` -> ``(B, T, outputs)``; position t knows of positions 0 … t."""
        x = self.positions(x)
        for block in self.blocks:
            x = block(x)
        return self.output(x)

    @torch.no_grad()
    def maps(self, x: Tensor) -> list[Tensor]:
        """The weights ``(B, T, T)`` of each block of attention, from the input to the output."""
        x, found = self.positions(x), []
        for block in self.blocks:
            if isinstance(block, CausalAttentionBlock):
                found.append(block.attend(x)[1])
            x = block(x)
        return found
