"""Lab 17: where a student's own functions for positions are plugged into the book's Transformer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnbook.attention.positions import NoPositions, Sinusoidal, sinusoidal_positions
from attnbook.models import Transformer

DrawPositions = Callable[[int, int, torch.Generator], Tensor]
RelativeBias = Callable[[int, int, Tensor], Tensor]


class RandomSlots:
    """Positions that source and target share, drawn anew for each batch.

    Args:
        draw: ``draw(length, longest, generator)``, positions in ascending order, ``(length,)``.
        longest: how many positions there are.
        seed: of the generator.
    """

    def __init__(self, draw: DrawPositions, longest: int, seed: int) -> None:
        self.draw, self.longest = draw, longest
        self.generator = torch.Generator().manual_seed(seed)
        self.drawn = torch.arange(0)

    def renew(self, source_length: int) -> None:
        """Draw for a source of so many words, and for a target that may become a quarter longer.

        Raises:
            ValueError: if there are not enough positions.
        """
        wanted = source_length * 5 // 4 + 3
        if wanted > self.longest:
            raise ValueError(f"a source of {source_length} words needs {wanted} positions; longest is {self.longest}")
        self.drawn = self.draw(wanted, self.longest, self.generator)


class AtSlots(nn.Module):
    """Add the sinusoids of drawn positions to word vectors; the source's draws anew, and the target's follows."""

    def __init__(self, slots: RandomSlots, dim: int, draws: bool) -> None:
        super().__init__()
        self.slots, self.dim, self.draws = slots, dim, draws

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """``x (B, T, D)``, whose first word is number ``start`` of its sequence, plus its positions."""
        if self.draws:
            self.slots.renew(x.shape[1])
        table = sinusoidal_positions(self.slots.longest, self.dim).float()  # (longest, D)
        return x + table[self.slots.drawn[start : start + x.shape[1]]].to(x)  # (T, D)


def use_randomised_positions(model: Transformer, draw: DrawPositions, longest: int, seed: int = 0) -> Transformer:
    """Let the words of a Transformer with sinusoids stand at positions that ``draw(length, longest, generator)`` gives.

    Source and target share one draw per batch: word i of both stands at the same position.

    Raises:
        ValueError: if the model adds no sinusoids.

    Source: Ruoss et al. 2023, section 3 (there for encoders).
    """
    slots, dim = RandomSlots(draw, longest, seed), model.config.d_model
    for embedding, draws in ((model.embed_source, True), (model.embed_target, False)):
        if not isinstance(embedding.add_positions, Sinusoidal):
            raise ValueError(f"positions must be 'sinusoidal', the model has {model.config.positions!r}")
        embedding.add_positions = AtSlots(slots, dim, draws)  # type: ignore[assignment]  # it takes their place
    return model


class PluggedBias(NoPositions):
    """The bias of a student's ``relative_bias(query_length, key_length, slopes)``; one learned slope per head."""

    def __init__(self, relative_bias: RelativeBias, heads: int) -> None:
        super().__init__()
        self.relative_bias = relative_bias
        self.halvings = nn.Parameter(torch.zeros(heads))  # (H,): slopes start at 1 and stay above 0

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``(H, Tq, Tk)`` for queries that stand at ``queries``, the same in all sentences; keys count from 0."""
        at = queries.reshape(-1, queries.shape[-1])[0]  # (Tq,)
        return self.relative_bias(int(at.max()) + 1, keys.shape[-1], 2.0**-self.halvings)[:, at]


def use_relative_bias(model: Transformer, relative_bias: RelativeBias) -> Transformer:
    """Let cross-attention of a Transformer add the bias of ``relative_bias(query_length, key_length, slopes)``."""
    for layer in model.decoder.layers:
        layer.cross_attention.positions = PluggedBias(relative_bias, layer.cross_attention.heads)
    return model
