"""A language model: a Transformer without an encoder, which reads what is written so far and predicts the next word.

``forward`` reads whole sentences; ``start``, ``step`` and ``select`` go on from a beginning word by word, with a cache:
``greedy(model, prompt=words, max_length=20)``, and so on (:mod:`attnbook.decoding`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn

from attnbook.attention import Heads
from attnbook.decoding import select
from attnbook.models.block import Block, TransformerConfig, mean_over_heads, words_in
from attnbook.models.inputs import check_words
from attnbook.models.transformer import Embedding, Stack, past_mask, start_as_xavier
from attnbook.modes import evaluating


class LanguageModelState(NamedTuple):
    """For each layer, keys and values of the words read so far, ``(B, H, t, D/H)``; ``None`` before the first."""

    past: tuple[Heads | None, ...]


class LanguageModel(nn.Module):
    """Blocks without cross-attention: every word attends to itself and to the words before it.

    Args:
        vocabulary_size: number of words, specials included.
        config: see :class:`~attnbook.models.block.TransformerConfig`.
        block: another class of blocks than the one for the configuration's norm.

    Source: Radford et al. 2018, section 3.1.
    """

    def __init__(
        self, vocabulary_size: int, config: TransformerConfig | None = None, block: type[Block] | None = None
    ) -> None:
        super().__init__()
        self.config = config = TransformerConfig() if config is None else config
        self.blocks = Stack(config, block=block)
        start_as_xavier([self.blocks])
        self.embed = Embedding(vocabulary_size, config)
        self.output = nn.Linear(config.d_model, vocabulary_size, bias=not config.tied)
        if config.tied:
            self.output.weight = self.embed.words.weight

    def start(self) -> LanguageModelState:
        """Nothing read yet; a language model has no source."""
        return LanguageModelState((None,) * self.config.layers)

    def read(self, words: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState, list[Tensor | None]]:
        """Read the next ``words (B, T)``.

        Returns:
            logits ``(B, T, V)``, row t predicts the word after word t; the state after them; each layer's weights
            ``(B, H, T, t + T)``, or ``None`` when fused.
        """
        x, past, seen = self._through(self.blocks.layers, words, state)
        return self.output(self.blocks.last_norm(x)), LanguageModelState(tuple(past)), seen

    def _through(
        self, layers: Sequence[Block], words: Tensor, state: LanguageModelState
    ) -> tuple[Tensor, list[Heads], list[Tensor | None]]:
        """What the first ``layers`` make of the words, ``(B, T, D)``; of each its cache after them, and its weights."""
        before = words_in(state.past[0])
        mask = past_mask(before, words.shape[1], self.config.window, words.device)  # (T, t + T)
        x, past, seen = self.embed(words, before), [], []
        for layer, kept in zip(layers, state.past, strict=False):
            x, heads, weights, _ = layer(x, mask, kept)
            past.append(heads)
            seen.append(weights)
        return x, past, seen

    def prefill(self, words: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState, None]:
        """Read ``words (B, T)`` at once, and return what :meth:`step` returns after the last of them.

        Nobody asks what the last block makes of the words before that: it keeps their keys and values, and no more.
        """
        *below, top = self.blocks.layers
        x, past, _ = self._through(below, words, state)
        before = words_in(state.past[-1]) + words.shape[1] - 1
        kept = top.remember(x[:, :-1], state.past[-1]) if words.shape[1] > 1 else state.past[-1]
        x, heads, _, _ = top(x[:, -1:], past_mask(before, 1, self.config.window, words.device), kept)
        return self.output(self.blocks.last_norm(x))[:, 0], LanguageModelState((*past, heads)), None

    def step(self, token: Tensor, state: LanguageModelState) -> tuple[Tensor, LanguageModelState, None]:
        """Read one word ``token (B,)`` -> logits ``(B, V)`` of the next one, the state after it, and no weights.

        A text of L words would have L² of them, where the cache grows by the word.
        """
        logits, state, _ = self.read(token[:, None], state)
        return logits[:, 0], state, None

    select = staticmethod(select)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read ``words (B, T)`` from the beginning.

        Returns:
            logits ``(B, T, V)`` and weights ``(B, T, T)``: of the last layer, the mean of its heads; ``None`` if fused.
            :meth:`maps` gives those of each head and layer.

        Raises:
            ValueError: if ``words`` is not ``(B, T)`` with B > 0 and T > 0.
        """
        check_words(words)
        logits, _, seen = self.read(words, self.start())
        return logits, mean_over_heads(seen[-1])

    @evaluating
    def maps(self, words: Tensor) -> list[Tensor | None]:
        """Each layer's weights ``(B, H, T, T)`` when ``words (B, T)`` are read from the beginning."""
        return self.read(words, self.start())[2]
