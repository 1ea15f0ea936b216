"""Looking inside a language model: surprise by position, attention to the first position, early answers.

Nothing here changes the model. "First" is the first position of the text, to which many trained models attend when they
have nothing to fetch: an attention sink.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice

import torch
from torch import Tensor, nn

from attnbook.attention import MultiHeadAttention, causal_mask, sink_mask, window_mask
from attnbook.measure.cache import grouped_cache_bytes
from attnbook.measure.induction import without_head
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.block import Read
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
def read_under(model: LanguageModel, words: Tensor, mask: Tensor | Sequence[Tensor], since: int = 0) -> Tensor:
    """Logits of the positions from ``since`` on, ``(B, T - since, V)``, when attention is allowed where a mask says so.

    The mask ``(T, T)`` is that of every layer; a list has one for each.
    """
    *_, last = _between_blocks(model, words, mask)
    return model.output(model.blocks.last_norm(last[:, since:]))


def nats_under(model: LanguageModel, texts: Iterable[Tensor], mask: Tensor) -> Tensor:
    """Nats with which each token after the first surprised, each text ``(T,)`` read alone: ``(texts, T - 1)``."""
    return torch.cat([surprises(read_under(model, text[None], mask), text[None]) for text in texts])


@evaluating
def residuals(model: LanguageModel, words: Tensor, blocks: int | None = None) -> list[Tensor]:
    """What stands in the residual connection before the first block and after each: L + 1 tensors ``(B, T, D)``.

    With ``blocks``, the model reads with the first of them only, and there are ``blocks + 1`` tensors.
    """
    between = _between_blocks(model, words, causal_mask(words.shape[1], words.device))
    return list(islice(between, None if blocks is None else blocks + 1))


def _between_blocks(model: LanguageModel, words: Tensor, mask: Tensor | Sequence[Tensor]) -> Iterator[Tensor]:
    """What enters the first block, and what leaves each: ``(B, T, D)``. The mask is one for all, or one for each."""
    layers = list(model.blocks.layers)
    masks = [mask.to(words.device)] * len(layers) if isinstance(mask, Tensor) else mask
    x = model.embed(words)
    yield x
    for layer, allowed in zip(layers, masks, strict=True):
        x, *_ = layer(x, allowed.to(words.device))
        yield x


@evaluating
def read_on(model: LanguageModel, x: Tensor, block: int, since: int = 0) -> Tensor:
    """Logits of the positions from ``since`` on, ``(B, T - since, V)``, when the model goes on from ``x (B, T, D)``.

    ``x`` stands in the residual connection after so many blocks, as in :func:`residuals`: 0 is before the first.
    """
    mask = causal_mask(x.shape[1], x.device)
    for layer in model.blocks.layers[block:]:
        x, *_ = layer(x, mask)
    return model.output(model.blocks.last_norm(x[:, since:]))


@evaluating
def logit_lens(model: LanguageModel, words: Tensor) -> Tensor:
    """Logits of the word after the last, read off after each block as if it were the last: ``(L + 1, B, V)``.

    Source: nostalgebraist 2020.
    """
    last = torch.stack([x[:, -1] for x in residuals(model, words)])  # (L + 1, B, D)
    return model.output(model.blocks.last_norm(last))


@evaluating
def contributions(model: LanguageModel, words: Tensor, direction: Tensor) -> Tensor:
    """What the word vector and each sublayer add to a logit after ``words (B, T)``: ``(2 L + 1, B)``, in their order.

    The last vector of the residual connection is a sum, and so is the logit: the last norm divides the whole sum by one
    number, its root mean square.

    Args:
        direction: ``(D,)``, the row of the output layer that makes the logit, or the difference of two rows.

    Raises:
        ValueError: unless the model is pre-norm with a last norm that divides and subtracts nothing.

    Source: Elhage et al. 2021.
    """
    norm = model.blocks.last_norm
    if not isinstance(norm, nn.RMSNorm) or norm.eps is None:
        raise ValueError(f"the last norm must be an RMSNorm, got {type(norm).__name__}")
    stream = _between_sublayers(model, words)  # (2 L + 1, B, D), at the last word
    added = torch.cat([stream[:1], stream.diff(dim=0)])  # the word vector, then what each sublayer adds
    divisor = (stream[-1].pow(2).mean(dim=-1, keepdim=True) + norm.eps).sqrt()  # (B, 1)
    return (added / divisor * norm.weight) @ direction  # (2 L + 1, B, D) @ (D,) -> (2 L + 1, B)


def _between_sublayers(model: LanguageModel, words: Tensor) -> Tensor:
    """What stands in the residual connection at the last word, before the first sublayer and after each."""
    found: list[Tensor] = []
    with ExitStack() as stack:
        for layer in model.blocks.layers:  # what enters this norm is the sum after attention
            handle = layer.norm_feed_forward.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0]))
            stack.callback(handle.remove)
        before, *after = _between_blocks(model, words, causal_mask(words.shape[1], words.device))
    both = [x[:, -1] for pair in zip(found, after, strict=True) for x in pair]
    return torch.stack([before[:, -1], *both])


@evaluating
def without_each_block(model: LanguageModel, words: Tensor) -> Tensor:
    """Nats per token of ``words (B, T)``: with all blocks, and when each in turn adds nothing; ``(L + 1,)``."""
    *before, last = residuals(model, words)
    starts = [(last, len(before)), *((x, number) for number, x in enumerate(before, start=1))]
    return torch.stack([surprises(read_on(model, x, block), words).mean() for x, block in starts])


@contextmanager
def added_at_end(model: LanguageModel, block: int, vector: Tensor) -> Iterator[None]:
    """Inside this block of code, ``vector (D,)`` is added to what block number ``block``, from 1 on, hands on at the
    last position.

    Raises:
        ValueError: if the model has no such block.
    """
    layers = model.blocks.layers
    if not 1 <= block <= len(layers):
        raise ValueError(f"block must be from 1 to {len(layers)}, got {block}")

    def add(_module: nn.Module, _inputs: tuple, read: Read) -> Read:
        return read._replace(x=torch.cat([read.x[:, :-1], read.x[:, -1:] + vector], dim=1))

    handle = layers[block - 1].register_forward_hook(add)
    try:
        yield
    finally:
        handle.remove()


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
