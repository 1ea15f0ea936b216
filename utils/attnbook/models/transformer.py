"""The Transformer: attention alone, between the words of the source, of the target, and from one to the other.

It has the two faces of every model in the book: ``forward`` reads the whole target at once (teacher forcing), and
``start`` / ``step`` write one word at a time, with a cache of keys and values. Source: Vaswani et al. 2017.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import Learned, Sinusoidal, causal_mask, padding_mask, window_mask
from attnbook.attention.multihead import Heads
from attnbook.models.inputs import check_decoder_input, check_source
from attnbook.models.transformer_layers import DecoderLayer, EncoderLayer, TransformerConfig


class Maps(NamedTuple):
    """All three attentions of a pass, one tensor a layer.

    Fields:
        encoder: ``(B, H, Tk, Tk)`` each. decoder: ``(B, H, T, T)`` each. cross: ``(B, H, T, Tk)`` each.
    """

    encoder: list[Tensor]
    decoder: list[Tensor]
    cross: list[Tensor]


class TransformerState(NamedTuple):
    """What the decoder keeps between two words.

    Fields:
        past: for each layer, keys and values of the words written so far, ``(B, H, t, D/H)``.
        memory: for each layer, keys and values of the source, ``(B, H, Tk, D/H)``.
        mask: ``(B, Tk)`` bool, ``True`` at real source words.
        places: ``(B, Tk)``, where the source words stand. written: ``(B,)``, where the next target word does.
    """

    past: tuple[Heads | None, ...]
    memory: tuple[Heads, ...]
    mask: Tensor
    places: Tensor
    written: Tensor


def count_places(words: Tensor, separator: int | None, start: Tensor) -> Tensor:
    """Where ``words (B, T)`` stand, ``(B, T)``, counted on from ``start (B,)``.

    Words are counted one by one, or, with a separator, item by item: it is the first word of the next item.
    """
    new = torch.ones_like(words) if separator is None else (words == separator).long()  # (B, T)
    counted = new.cumsum(dim=1) + start[:, None]
    return counted - 1 if separator is None else counted


class Embedding(nn.Module):
    """Word vectors times √D, plus positions where the configuration adds some, then dropout.

    Source: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
    """

    def __init__(self, vocabulary_size: int, config: TransformerConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, config.dim)
        self.add_positions = None
        if config.positions == "sinusoidal":
            self.add_positions = Sinusoidal(config.dim)
        elif config.positions == "learned":
            self.add_positions = Learned(config.dim, config.max_length)
        self.dropout = nn.Dropout(config.dropout)
        nn.init.normal_(self.words.weight, std=config.dim**-0.5)

    def forward(self, words: Tensor, start: int = 0) -> Tensor:
        """``words (B, T)``, the first of which stands at place ``start`` -> ``(B, T, D)``."""
        x = self.words(words) * self.words.embedding_dim**0.5  # (B, T) -> (B, T, D)
        return self.dropout(x if self.add_positions is None else self.add_positions(x, start))


class Stack(nn.Module):
    """Layers on top of each other, and the norm after the last that pre-norm needs."""

    def __init__(self, layer: type[nn.Module], config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layer(config) for _ in range(config.layers))
        self.last_norm = nn.LayerNorm(config.dim) if config.norm == "pre" else nn.Identity()


class Transformer(nn.Module):
    """Encoder and decoder made of attention and feed-forward layers.

    Args:
        source_size, target_size: vocabulary sizes.
        config: see :class:`~attnbook.models.transformer_layers.TransformerConfig`.

    Source: Vaswani et al. 2017; weights start after Glorot and Bengio 2010 ("Xavier").
    """

    def __init__(self, source_size: int, target_size: int, config: TransformerConfig | None = None) -> None:
        super().__init__()
        config = TransformerConfig() if config is None else config
        self.config = config
        self.encoder, self.decoder = Stack(EncoderLayer, config), Stack(DecoderLayer, config)
        for weight in self.parameters():
            if weight.ndim > 1:
                nn.init.xavier_uniform_(weight)
        self.embed_source, self.embed_target = Embedding(source_size, config), Embedding(target_size, config)
        self.output = nn.Linear(config.dim, target_size, bias=not config.tied)
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
        mask = padding_mask(lengths.to(source.device), source.shape[1])  # (B, Tk)
        allowed = mask[:, None]  # (B, 1, Tk): every word may look at every real word
        if self.config.window is not None:
            allowed = allowed & window_mask(source.shape[1], self.config.window, source.device)  # (B, Tk, Tk)
        x, seen = self.embed_source(source), []
        for layer in self.encoder.layers:
            x, weights = layer(x, allowed)
            seen.append(weights)
        return self.encoder.last_norm(x), mask, seen

    def start(self, source: Tensor, lengths: Tensor) -> TransformerState:
        """Encode ``source (B, Tk)`` and project it for each decoder layer, once; no word written yet."""
        annotations, mask, _ = self.encode(source, lengths)
        return self._remember(source, annotations, mask)

    def _remember(self, source: Tensor, annotations: Tensor, mask: Tensor) -> TransformerState:
        memory = tuple(layer.cross_attention.remember(annotations, annotations) for layer in self.decoder.layers)
        first = torch.zeros_like(source[:, 0])  # (B,)
        separator = None if self.config.separators is None else self.config.separators[0]
        places = count_places(source, separator, first)  # (B, Tk)
        return TransformerState((None,) * len(memory), memory, mask, places, first)

    def read(self, words: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, list[tuple]]:
        """Read the next ``words (B, T)`` of the target, after those in the state.

        Returns:
            logits ``(B, T, V)``, the state after them, and the two weights of each layer.
        """
        before = 0 if state.past[0] is None else state.past[0].key.shape[2]
        x, past, seen = self.embed_target(words, before), [], []
        separator = None if self.config.separators is None else self.config.separators[1]
        at = count_places(words, separator, state.written)  # (B, T)
        self_mask = self._self_mask(before, words.shape[1], words.device)
        places = (at[:, None], state.places[:, None])  # (B, 1, T), (B, 1, Tk): the same for all heads
        for layer, kept, memory in zip(self.decoder.layers, state.past, state.memory, strict=True):
            x, heads, weights = layer(x, kept, memory, self_mask, state.mask[:, None], places)
            past.append(heads)
            seen.append(weights)
        state = state._replace(past=tuple(past), written=at[:, -1] + (separator is None))
        return self.output(self.decoder.last_norm(x)), state, seen

    def read_on(self, words: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, Tensor | None]:
        """As :meth:`read`, with one picture of where it looked: weights to the source ``(B, T, Tk)``.

        They are those of the last layer, the mean of its heads; ``None`` when fused.
        """
        logits, state, seen = self.read(words, state)
        across = seen[-1][1]  # (B, H, T, Tk)
        return logits, state, None if across is None else across.mean(dim=1)

    def _self_mask(self, before: int, new: int, device: torch.device) -> Tensor:
        """Each new word may look at itself and what was before it: ``(new, before + new)``."""
        total = before + new
        allowed = causal_mask(total, device, before)
        if self.config.window is not None:
            allowed = allowed & window_mask(total, self.config.window, device, before)
        return allowed

    def step(self, token: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState, Tensor | None]:
        """One word ``token (B,)`` -> logits ``(B, V)``, state, weights to the source ``(B, Tk)`` or ``None``."""
        logits, state, weights = self.read_on(token[:, None], state)
        return logits[:, 0], state, None if weights is None else weights[:, 0]

    def forward(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> tuple[Tensor, Tensor | None]:
        """Teacher forcing: all words at once, since the right words are known and the mask hides what comes later.

        Returns:
            logits ``(B, T, V)`` and weights to the source ``(B, T, Tk)``, as in :meth:`read_on`.

        Raises:
            ValueError: if ``decoder_input`` is not ``(B, T)`` with the batch of ``source`` and T > 0.
        """
        check_decoder_input(decoder_input, source)
        logits, _, weights = self.read_on(decoder_input, self.start(source, lengths))
        return logits, weights

    @torch.no_grad()
    def maps(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> Maps:
        """The weights of every head of all three attentions, under teacher forcing."""
        annotations, mask, encoder = self.encode(source, lengths)
        _, _, seen = self.read(decoder_input, self._remember(source, annotations, mask))
        return Maps(encoder, *(list(kind) for kind in zip(*seen, strict=True)))
