"""Looking inside a language model: surprise by position, attention to the first position, early answers.

Nothing here changes the model. "First" is the first position of the text, to which many trained models attend when they
have nothing to fetch: an attention sink.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from attnbook.attention import MultiHeadAttention, causal_mask, sink_mask, window_mask
from attnbook.measure.cache import grouped_cache_bytes
from attnbook.measure.induction import without_head
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.modes import evaluating


def surprises(logits: Tensor, words: Tensor) -> Tensor:
    """Nats with which each word surprised: ``logits (B, T, V)`` and ``words (B, T)`` -> ``(B, T - 1)``."""
    return nn.functional.cross_entropy(logits[:, :-1].float().mT, words[:, 1:], reduction="none")


def read_in_chunks(model: LanguageModel, words: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Read a long text ``words (B, T)`` through the cache, ``size`` words at a time, so that no T × T matrix is made.

    Yields:
        float32 logits ``(B, t, V)``, and the words ``(B, t)`` that came next; T − 1 positions in all.
    """
    state = model.start()
    for begin in range(0, words.shape[1] - 1, size):
        logits, state, _ = model.read(words[:, begin : begin + size], state)
        following = words[:, begin + 1 : begin + size + 1]
        yield logits[:, : following.shape[1]].float(), following


def first_position_share(weights: Tensor, after: int = 16) -> Tensor:
    """The mean weight that queries from position ``after`` on give to the first: ``(B, H, T, T)`` -> ``(H,)``.

    Source: Xiao et al. 2024, section 3.1.

    Raises:
        ValueError: if no position is left.
    """
    if not 0 < after < weights.shape[-1]:
        raise ValueError(f"after must lie between 1 and {weights.shape[-1] - 1}, got {after}")
    return weights[:, :, after:, 0].mean(dim=(0, 2))


def sinks_and_window(length: int, window: int, sinks: int) -> Tensor:
    """The last ``window`` positions, the present one among them, and the first ``sinks``: ``(T, T)`` bool."""
    return causal_mask(length) & (window_mask(length, window - 1) | sink_mask(length, sinks))


@evaluating
def read_under(model: LanguageModel, words: Tensor, mask: Tensor) -> Tensor:
    """Logits ``(B, T, V)`` when attention is allowed where ``mask (T, T)`` says so, in every layer."""
    *_, last = _between_blocks(model, words, mask.to(words.device))
    return model.output(model.blocks.last_norm(last))


@evaluating
def residuals(model: LanguageModel, words: Tensor) -> list[Tensor]:
    """What stands in the residual connection before the first block and after each: L + 1 tensors ``(B, T, D)``."""
    return list(_between_blocks(model, words, causal_mask(words.shape[1], words.device)))


def _between_blocks(model: LanguageModel, words: Tensor, mask: Tensor) -> Iterator[Tensor]:
    """What enters the first block, and what leaves each: ``(B, T, D)``."""
    x = model.embed(words)
    yield x
    for layer in model.blocks.layers:
        x, *_ = layer(x, mask)
        yield x


@evaluating
def logit_lens(model: LanguageModel, words: Tensor) -> Tensor:
    """Logits of the word after the last, read off after each block as if it were the last: ``(L + 1, B, V)``.

    Source: nostalgebraist 2020.
    """
    last = torch.stack([x[:, -1] for x in residuals(model, words)])  # (L + 1, B, D)
    return model.output(model.blocks.last_norm(last))


@contextmanager
def without_heads(
    attentions: Sequence[MultiHeadAttention],
    heads: Sequence[tuple[int, int]],
    instead: Sequence[Tensor | float] | None = None,
) -> Iterator[None]:
    """Inside this block, each ``(layer, head)``, from 0 on, adds nothing, or what ``instead`` holds for it.

    Args:
        instead: for each head 0 or a vector ``(D/H,)``, as :func:`~attnbook.measure.induction.without_head` takes it.

    Raises:
        ValueError: if there is no such layer or head, or ``instead`` has another length than ``heads``.
    """
    vectors = [0.0] * len(heads) if instead is None else instead
    if len(vectors) != len(heads):
        raise ValueError(f"instead must hold one value per head, {len(heads)}, got {len(vectors)}")
    with ExitStack() as stack:
        for (layer, head), vector in zip(heads, vectors, strict=True):
            if not 0 <= layer < len(attentions):
                raise ValueError(f"layer must be from 0 to {len(attentions) - 1}, got {layer}")
            stack.enter_context(without_head(attentions[layer], head, vector))
        yield


def attentions_of(model: LanguageModel) -> list[MultiHeadAttention]:
    """The self-attention of each layer."""
    return [layer.self_attention for layer in model.blocks.layers]


def cache_bytes(config: TransformerConfig, bytes_per_number: int = 4) -> int:
    """Bytes that the cache of keys and values grows by with each word."""
    heads = config.heads if config.key_value_heads is None else config.key_value_heads
    return grouped_cache_bytes(config.layers, heads, config.d_model // config.heads, bytes_per_number)
