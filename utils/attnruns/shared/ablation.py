"""Transformers with a part taken away, changed or switched off, for chapters 08 and 09: no general model needs this."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from attnbook.attention import Dot, Heads, MultiHeadAttention
from attnbook.attention.positions import NoPositions
from attnbook.models.block import Block, Seen, TransformerConfig
from attnbook.models.transformer import Transformer


class WithoutResidual(Block):
    """A pre-norm block without the residual connections around the sublayers in ``without``."""

    without: frozenset[str] = frozenset({"self", "cross", "feed_forward"})

    def residual(
        self, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], tuple[Tensor, Seen]]
    ) -> tuple[Tensor, Seen]:
        """f(norm(x)) where the connection is taken away, else as :meth:`Block.residual`."""
        if all(norm is not getattr(self, f"norm_{name}", None) for name in self.without):
            return super().residual(norm, x, sublayer)
        out, seen = sublayer(norm(x))
        return self.dropout(out), seen


class WithoutNorm(Block):
    """A block, x + f(x), in which nothing is normalised, not even after the last."""

    ends_normalised = True  # no norm is to be added after the last of these, either

    def __init__(self, config: TransformerConfig, cross: bool = False) -> None:
        super().__init__(config, cross)
        for name in [name for name, _ in self.named_children() if name.startswith("norm_")]:
            setattr(self, name, nn.Identity())


class _Nothing(nn.Module):
    """A sublayer that adds nothing to the residual stream."""

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``, all 0."""
        return torch.zeros_like(x)


class WithoutFeedForward(Block):
    """A block of attention alone: no feed-forward, nor the norm in front of it."""

    def __init__(self, config: TransformerConfig, cross: bool = False) -> None:
        super().__init__(config, cross)
        for name, part in {"feed_forward": _Nothing(), "norm_feed_forward": nn.Identity()}.items():
            setattr(self, name, part)


class WithoutSelfAttention(Block):
    """A block whose self-attention adds nothing: words of one sequence never meet, but for cross-attention.

    Blocks that don't stand on one of the ``sides`` are whole.
    """

    sides: frozenset[str] = frozenset({"encoder", "decoder"})

    def attend_to_self(
        self, x: Tensor, mask: Tensor | None, past: Heads | None
    ) -> tuple[Tensor, tuple[Heads, Tensor | None]]:
        """As :meth:`Block.attend_to_self`, with an output of zeros on the sides that are named."""
        out, seen = super().attend_to_self(x, mask, past)
        side = "decoder" if hasattr(self, "cross_attention") else "encoder"
        return torch.zeros_like(out) if side in self.sides else out, seen


class WithoutEncoderSelfAttention(WithoutSelfAttention):
    """As :class:`WithoutSelfAttention`, in an encoder alone."""

    sides = frozenset({"encoder"})


class WithoutDecoderSelfAttention(WithoutSelfAttention):
    """As :class:`WithoutSelfAttention`, in a decoder alone."""

    sides = frozenset({"decoder"})


class UnscaledAttention(Block):
    """A block whose attentions don't divide their scores by √(D/H)."""

    def __init__(self, config: TransformerConfig, cross: bool = False) -> None:
        super().__init__(config, cross)
        for attention in (part for part in self.modules() if isinstance(part, MultiHeadAttention)):
            attention.score = Dot()


class ItemCounting(Transformer):
    """A Transformer whose cross-attention counts the items of a list instead of words.

    The second item of the target looks for the second of the source: each word's position is the number of separators
    up to it, itself counted in.

    Args:
        separators: the word of the source, and the one of the target, that part the items.
    """

    def __init__(
        self, source_size: int, target_size: int, config: TransformerConfig, separators: tuple[int, int]
    ) -> None:
        super().__init__(source_size, target_size, config)
        self.separators = separators

    def count_source(self, source: Tensor) -> Tensor:
        return (source == self.separators[0]).cumsum(dim=1)  # (B, Tk)

    def count_target(self, words: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
        at = written[:, None] + (words == self.separators[1]).cumsum(dim=1)  # (B, T)
        return at, at[:, -1]


@contextmanager
def switched_off(model: Transformer, part: str) -> Iterator[None]:
    """Let a trained pre-norm model run without one kind of part: inside the ``with``, what the part would add is 0.

    Args:
        part: ``"positions"``, ``"self-attention"`` (both), ``"encoder self-attention"``, ``"decoder self-attention"``,
            ``"cross-attention"``, ``"feed-forward"``, ``"residual connections"`` (a sublayer's output takes the place
            of its input) or ``"layer norm"`` (what enters it leaves it unchanged).

    Raises:
        ValueError: for another part.
    """
    encoder, decoder = list(model.encoder.layers), list(model.decoder.layers)
    blocks = [*encoder, *decoder]
    silent: dict[str, list[nn.Module]] = {
        "encoder self-attention": [block.self_attention.project_output for block in encoder],
        "decoder self-attention": [block.self_attention.project_output for block in decoder],
        "self-attention": [block.self_attention.project_output for block in blocks],
        "cross-attention": [block.cross_attention.project_output for block in decoder],
        "feed-forward": [block.feed_forward for block in blocks],
    }
    with ExitStack() as after:
        if part in silent:
            for module in silent[part]:
                after.callback(module.register_forward_hook(lambda module, inputs, out: 0 * out).remove)
        elif part == "layer norm":
            for module in (module for module in model.modules() if isinstance(module, nn.LayerNorm)):
                after.callback(module.register_forward_hook(lambda module, inputs, out: inputs[0]).remove)
        elif part == "positions":
            _without_positions(model, after)
        elif part == "residual connections":
            for block in blocks:
                after.callback(setattr, block, "__class__", block.__class__)
                block.__class__ = WithoutResidual
        else:
            known = ", ".join([*silent, "positions", "residual connections", "layer norm"])
            raise ValueError(f"part must be one of {known}, got {part!r}")
        yield


def _without_positions(model: Transformer, after: ExitStack) -> None:
    """Positions are added to words, or they turn queries and keys: neither is done until ``after`` is over."""
    for embedding in (model.embed_source, model.embed_target):
        if embedding.add_positions is not None:
            after.callback(embedding.add_positions.register_forward_hook(lambda module, inputs, out: inputs[0]).remove)
    for attention in (module for module in model.modules() if isinstance(module, MultiHeadAttention)):
        after.callback(setattr, attention, "positions", attention.positions)
        attention.positions = NoPositions()
