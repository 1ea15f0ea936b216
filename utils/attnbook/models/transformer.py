"""The Transformer: attention alone, between the words of the source, of the target, and from one to the other.

It has the two faces of every model in the book: ``forward`` reads the whole target at once (teacher forcing), and
``start`` / ``step`` / ``select`` write one word at a time, with a cache of keys and values
(:class:`attnbook.decoding.Decoder`). Source: Vaswani et al. 2017.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import Heads, Learned, Sinusoidal, causal_mask, padding_mask, window_mask
from attnbook.attention.masks import kept_causal_mask
from attnbook.decoding import select
from attnbook.models.block import BLOCKS, Block, Memory, TransformerConfig, mean_over_heads, words_in
from attnbook.models.inputs import check_decoder_input, check_source
from attnbook.modes import evaluating


class Maps(NamedTuple):
    """All three attentions of a pass, one tensor per layer.

    Fields:
        encoder: ``(B, H, Tk, Tk)`` each. decoder: ``(B, H, T, T)`` each. cross: ``(B, H, T, Tk)`` each.
        ``None`` in place of each when fused.
    """

    encoder: list[Tensor | None]
    decoder: list[Tensor | None]
    cross: list[Tensor | None]


class TransformerState(NamedTuple):
    """What the decoder keeps between two words.

    Fields:
        past: for each layer, keys and values of the words written so far, ``(B, H, t, D/H)``; ``None`` before them.
        memory: for each layer, the source as its cross-attention sees it.
        written: ``(B,)``, the position of the next target word, as the source is asked from it.
    """

    past: tuple[Heads | None, ...]
    memory: tuple[Memory, ...]
    written: Tensor


class Embedding(nn.Module):
    """Word vectors times √D, plus positions where the configuration adds some, a norm where it has one, then dropout.

    Source: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
    """

    def __init__(self, vocabulary_size: int, config: TransformerConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, config.d_model)
        self.add_positions: Sinusoidal | Learned | None = None
        if config.positions == "sinusoidal":
            self.add_positions = Sinusoidal(config.d_model)
        elif config.positions == "learned":
            self.add_positions = Learned(config.d_model, config.max_length)
        self.scale = config.d_model**0.5 if config.scale_words else 1.0
        self.norm = config.make_norm() if config.norm_words else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        nn.init.normal_(self.words.weight, std=config.d_model**-0.5)

    def forward(self, words: Tensor, start: int = 0) -> Tensor:
        """``words (B, T)``, the first of which stands at position ``start`` -> ``(B, T, D)``."""
        x = self.words(words) * self.scale  # (B, T) -> (B, T, D)
        return self.dropout(self.norm(x if self.add_positions is None else self.add_positions(x, start)))


class Stack(nn.Module):
    """Blocks on top of each other, and after the last the norm that pre-norm needs.

    Args:
        config: of the blocks; ``layers`` says how many.
        cross: blocks with cross-attention.
        block: another class of blocks than the one for the configuration's norm.
    """

    def __init__(self, config: TransformerConfig, cross: bool = False, block: type[Block] | None = None) -> None:
        super().__init__()
        block = BLOCKS[config.norm] if block is None else block
        blocks = nn.ModuleList(block(config, cross) for _ in range(config.layers))
        self.layers: Sequence[Block] = blocks  # type: ignore[assignment]  # torch's list doesn't say of what
        self.last_norm = nn.Identity() if block.ends_normalised else config.make_norm()


def start_as_xavier(stacks: list[nn.Module]) -> None:
    """Draw the matrices of the stacks anew, after Glorot and Bengio 2010 ("Xavier")."""
    for weight in (weight for stack in stacks for weight in stack.parameters() if weight.ndim > 1):
        nn.init.xavier_uniform_(weight)


def past_mask(before: int, new: int, window: int | None, device: torch.device) -> Tensor | None:
    """A word may attend to itself and to those before it, no farther than the window: ``(new, before + new)``.

    ``None`` where that hides nothing: for one word without a window.
    """
    if new == 1 and window is None:
        return None
    allowed = causal_mask(before + new, device, before) if before else kept_causal_mask(new, device)
    return allowed if window is None else allowed & window_mask(before + new, window, device, before)


class Transformer(nn.Module):
    """Encoder and decoder, both stacks of blocks.

    Args:
        source_size, target_size: vocabulary sizes.
        config: see :class:`~attnbook.models.block.TransformerConfig`.
        block: another class of blocks than the one for the configuration's norm, for experiments.

    Source: Vaswani et al. 2017; weights start after Glorot and Bengio 2010 ("Xavier").
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        config: TransformerConfig | None = None,
        block: type[Block] | None = None,
    ) -> None:
        super().__init__()
        self.config = config = TransformerConfig() if config is None else config
        self.encoder, self.decoder = Stack(config, block=block), Stack(config, cross=True, block=block)
        start_as_xavier([self.encoder, self.decoder])
        self.embed_source, self.embed_target = Embedding(source_size, config), Embedding(target_size, config)
        self.output = nn.Linear(config.d_model, target_size, bias=not config.tied)
        if config.tied:
            self.output.weight = self.embed_target.words.weight

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, list[Tensor | None]]:
        """Read ``source (B, Tk)`` with ``lengths (B,)``: annotations, mask, weights by layer.

        Returns:
            annotations ``(B, Tk, D)``, mask ``(B, Tk)``, each layer's weights ``(B, H, Tk, Tk)`` (fused: ``None``).

        Raises:
            ValueError: if the batch is empty, or there is not one length a sentence.
        """
        check_source(source, lengths)
        mask = padding_mask(lengths, source.shape[1]).to(source.device)  # (B, Tk)
        allowed = mask[:, None]  # (B, 1, Tk): every word may attend to every real word
        if self.config.window is not None:
            allowed = allowed & window_mask(source.shape[1], self.config.window, source.device)  # (B, Tk, Tk)
        x, seen = self.embed_source(source), []
        for layer in self.encoder.layers:
            x, _, weights, _ = layer(x, allowed)
            seen.append(weights)
        return self.encoder.last_norm(x), mask, seen

    def start(self, source: Tensor, lengths: Tensor) -> TransformerState:
        """Encode ``source (B, Tk)`` and project it for each decoder layer, once; no word written yet."""
        annotations, mask, _ = self.encode(source, lengths)
        return self._start_from(source, annotations, mask)

    def _start_from(self, source: Tensor, annotations: Tensor, mask: Tensor) -> TransformerState:
        first = torch.zeros_like(source[:, 0])  # (B,)
        at = self.count_source(source)[:, None]  # (B, 1, Tk): the same for all heads
        memory = tuple(layer.project_memory(annotations, mask[:, None], at) for layer in self.decoder.layers)
        return TransformerState((None,) * len(memory), memory, first)

    def count_source(self, source: Tensor) -> Tensor:
        """The positions ``(B, Tk)`` at which cross-attention finds the words of ``source (B, Tk)``."""
        return torch.arange(source.shape[1], device=source.device).expand_as(source)

    def count_target(self, words: Tensor, written: Tensor) -> tuple[Tensor, Tensor]:
        """The positions ``(B, T)`` from which ``words (B, T)`` ask the source, and that of the next word, ``(B,)``."""
        at = written[:, None] + torch.arange(words.shape[1], device=words.device)  # (B, T)
        return at, at[:, -1] + 1

    def read(self, words: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, list[tuple]]:
        """Read the next ``words (B, T)`` of the target, after those in the state.

        Returns:
            logits ``(B, T, V)``, the state after them, and of each layer the weights within the target
            ``(B, H, T, t + T)`` and to the source ``(B, H, T, Tk)``, ``None`` when fused.
        """
        x, state, seen = self._through_blocks(words, state)
        return self.output(self.decoder.last_norm(x)), state, seen

    def _through_blocks(self, words: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, list[tuple]]:
        """As :meth:`read`, with what the last block makes of the words, ``(B, T, D)``, in place of logits."""
        before = words_in(state.past[0])
        mask = past_mask(before, words.shape[1], self.config.window, words.device)  # (T, t + T)
        at, written = self.count_target(words, state.written)  # (B, T), (B,)
        x, past, seen = self.embed_target(words, before), [], []
        for layer, kept, memory in zip(self.decoder.layers, state.past, state.memory, strict=True):
            x, heads, *weights = layer(x, mask, kept, memory, at[:, None])
            past.append(heads)
            seen.append(tuple(weights))
        return x, TransformerState(tuple(past), state.memory, written), seen

    def prefill(self, words: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, Tensor | None]:
        """Read ``words (B, T)`` of the target at once, and return what :meth:`step` returns after the last of them."""
        x, state, seen = self._through_blocks(words, state)
        weights = self.mean_cross_weights(seen)  # (B, T, Tk)
        logits = self.output(self.decoder.last_norm(x[:, -1]))  # (B, V)
        return logits, state, None if weights is None else weights[:, -1]

    def step(self, token: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, Tensor | None]:
        """One word ``token (B,)`` -> logits ``(B, V)``, state, weights to the source ``(B, Tk)`` or ``None``."""
        logits, state, seen = self.read(token[:, None], state)
        weights = self.mean_cross_weights(seen)  # (B, 1, Tk)
        return logits[:, 0], state, None if weights is None else weights[:, 0]

    select = staticmethod(select)

    def forward(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> tuple[Tensor, Tensor | None]:
        """Teacher forcing: all words at once, since the right words are known and the mask hides what comes later.

        Returns:
            logits ``(B, T, V)`` and weights to the source ``(B, T, Tk)``: of the last layer, the mean of its heads;
            ``None`` if fused. :meth:`maps` gives those of each head and layer.

        Raises:
            ValueError: if ``decoder_input`` is not ``(B, T)`` with the batch of ``source`` and T > 0.
        """
        check_decoder_input(decoder_input, source)
        logits, _, seen = self.read(decoder_input, self.start(source, lengths))
        return logits, self.mean_cross_weights(seen)

    @staticmethod
    def mean_cross_weights(seen: list[tuple]) -> Tensor | None:
        """One picture of where the decoder attended: the mean of the last layer's heads, ``(B, T, Tk)``."""
        return mean_over_heads(seen[-1][1])

    @evaluating
    def maps(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> Maps:
        """The weights of every head of all three attentions, under teacher forcing."""
        annotations, mask, encoder = self.encode(source, lengths)
        _, _, seen = self.read(decoder_input, self._start_from(source, annotations, mask))
        return Maps(encoder, *(list(kind) for kind in zip(*seen, strict=True)))
