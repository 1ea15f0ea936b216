"""Loops around a model's ``step``: how a trained decoder, recurrent or Transformer, writes a sentence.

A model has ``start(source, lengths) -> state`` and ``step(token, state) -> (logits, state, weights)``. The first axis
of every tensor in a state is the batch, so a sentence can be taken out of it, or taken twice.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.data.batching import Example, Task
from attnbook.data.vocabulary import BOS, EOS
from attnbook.threads import small_on_one_thread


class Decoded(NamedTuple):
    """What a decoder wrote.

    Fields:
        tokens: ``(B, L)``; after its end symbol a sentence repeats it.
        weights: ``(B, L, Tk)`` where it looked at each step, or ``None`` for a model without attention.
    """

    tokens: Tensor
    weights: Tensor | None


def greedy(model, source: Tensor, lengths: Tensor, max_length: int, bos: int = BOS, eos: int = EOS) -> Decoded:
    """Take the likeliest word at each step, until each sentence has met its own end symbol.

    Args:
        model: anything with ``start(source, lengths) -> state`` and ``step(token, state) -> (logits, state, weights)``.
        source: ``(B, Tk)``; ``lengths``: ``(B,)``.
        max_length: stop here even if some sentence has not ended.

    Returns:
        tokens ``(B, L)`` with L <= max_length, and weights ``(B, L, Tk)`` or ``None``.

    Raises:
        ValueError: if ``max_length`` is not positive.
    """
    return _write(model, source, lengths, max_length, lambda logits: logits.argmax(dim=-1), bos, eos)


def sample(
    model,
    source: Tensor,
    lengths: Tensor,
    max_length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    bos: int = BOS,
    eos: int = EOS,
) -> Decoded:
    """Draw each word from :func:`sampling_probabilities`; otherwise as :func:`greedy`.

    Args:
        temperature, top_k, top_p: see :func:`sampling_probabilities`.
        generator: of the random numbers, on the device of the model.
    """

    def draw(logits: Tensor) -> Tensor:
        return sampling_probabilities(logits, temperature, top_k, top_p).multinomial(1, generator=generator)[:, 0]

    return _write(model, source, lengths, max_length, draw, bos, eos)


@small_on_one_thread
@torch.no_grad()
def _write(model, source, lengths, max_length: int, choose: Callable[[Tensor], Tensor], bos: int, eos: int) -> Decoded:
    _check_max_length(max_length)
    state = model.start(source, lengths)
    token = torch.full((len(source),), bos, device=source.device)  # (B,)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)  # (B,)
    tokens, weights = [], []
    for _ in range(max_length):
        logits, state, step_weights = model.step(token, state)
        token = choose(logits).masked_fill(ended, eos)  # (B, V) -> (B,)
        ended = ended | (token == eos)
        tokens.append(token)
        weights.append(step_weights)
        if ended.all():
            break
    return Decoded(torch.stack(tokens, dim=1), None if weights[0] is None else torch.stack(weights, dim=1))


def _check_max_length(max_length: int) -> None:
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")


def sampling_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Turn logits into the probabilities to draw from: sharpened, then cut to the likeliest words, then renormalised.

    Args:
        logits: ``(B, V)``.
        temperature: τ; scores are divided by it. Below 1 the likely words gain, above 1 the unlikely ones.
        top_k: keep the k likeliest words (ties with the last one stay too).
        top_p: keep the smallest set of likeliest words whose probabilities reach p, the "nucleus".

    Returns:
        ``(B, V)``, each row sums to 1.

    Raises:
        ValueError: if ``temperature`` is not above 0, ``top_k`` not from 1 to V, or ``top_p`` not above 0 and up to 1.

    Source: Fan et al. 2018, section 5.4 (top-k); Holtzman et al. 2020, section 3.1 (nucleus).
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}; for 0 use greedy")
    scores = logits / temperature
    if top_k is not None:
        if not 1 <= top_k <= logits.shape[-1]:
            raise ValueError(f"top_k must lie in 1..{logits.shape[-1]}, the words there are; got {top_k}")
        least = scores.topk(top_k, dim=-1).values[..., -1:]  # (B, 1)
        scores = scores.masked_fill(scores < least, float("-inf"))
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
        ordered, places = scores.softmax(dim=-1).sort(dim=-1, descending=True)  # (B, V) each
        before = ordered.cumsum(dim=-1) - ordered  # what likelier words hold already: the first word always stays
        drop = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, places, before >= top_p)
        scores = scores.masked_fill(drop, float("-inf"))
    return scores.softmax(dim=-1)


def select(state: Any, rows: Tensor) -> Any:
    """Take sentences ``rows (N,)`` out of a state: of every tensor in it, in tuples and named tuples at any depth."""
    if isinstance(state, Tensor):
        return state.index_select(0, rows)
    if isinstance(state, tuple):
        parts = [select(part, rows) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    return state


class Beams(NamedTuple):
    """What a beam search kept, best first.

    Fields:
        tokens: ``(B, W, L)``; after its end symbol a sentence repeats it.
        scores: ``(B, W)``, log-probability (nats) over the length penalty; −inf where there are fewer than W.
    """

    tokens: Tensor
    scores: Tensor


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """((5 + length) / 6)^alpha: a log-probability is divided by it, or each further word would only be punished.

    Args:
        length: words, the end symbol counted. alpha: 0 = no penalty; 0.6 to 1 is usual.

    Source: Wu et al. 2016, equation 14.
    """
    return ((5.0 + length) / 6.0) ** alpha


@small_on_one_thread
@torch.no_grad()
def beam(
    model,
    source: Tensor,
    lengths: Tensor,
    max_length: int,
    width: int = 4,
    alpha: float = 0.0,
    bos: int = BOS,
    eos: int = EOS,
) -> Beams:
    """Keep the ``width`` best beginnings at each step; a sentence that has ended stays among them as it is.

    Args:
        width: W, how many beginnings are kept. With 1 this is :func:`greedy`; with all there are, an exhaustive search.
        alpha: of :func:`length_penalty`, by which beginnings are ranked.

    Raises:
        ValueError: if ``max_length`` or ``width`` is not positive.

    Source: Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7, for the penalty.
    """
    _check_max_length(max_length)
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    batch, device = len(source), source.device
    first = torch.arange(batch, device=device).repeat_interleave(width)  # (B·W,): each sentence W times
    state = select(model.start(source, lengths), first)
    tokens = torch.full((batch, width, 1), bos, device=device)  # (B, W, 1)
    total = torch.full((batch, width), float("-inf"), device=device)  # (B, W) log-probabilities
    total[:, 0] = 0.0  # at first there is one beginning, not W equal ones
    size, ended = torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool)  # (B, W)
    for _ in range(max_length):
        logits, state, _ = model.step(tokens[..., -1].flatten(), state)
        words = logits.log_softmax(dim=-1).view(batch, width, -1)  # (B, W, V)
        total, size, parent, word = _best(total, size, ended, words, width, alpha, eos)
        tokens = torch.cat([tokens.gather(1, parent[..., None].expand_as(tokens)), word[..., None]], dim=-1)
        ended = ended.gather(1, parent) | (word == eos)
        state = select(state, (parent + width * torch.arange(batch, device=device)[:, None]).flatten())
        if ended.all():
            break
    return Beams(tokens[..., 1:], total / length_penalty(size, alpha))


def _best(total, size, ended, words, width: int, alpha: float, eos: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The W best continuations: log-probability, length, the beginning that each continues, its word; (B, W) each."""
    stay = torch.full_like(words[0, 0], float("-inf"))  # (V,): an ended sentence goes on with eos only, for nothing
    stay[eos] = 0.0
    totals = total[..., None] + torch.where(ended[..., None], stay, words)  # (B, W, V)
    sizes = (size + ~ended)[..., None].expand_as(totals)  # (B, W, V)
    ranked = (totals / length_penalty(sizes, alpha)).flatten(1)  # (B, W·V)
    best = ranked.topk(width, dim=-1).indices  # (B, W), best first
    vocabulary = words.shape[-1]
    picked = [part.flatten(1).gather(1, best) for part in (totals, sizes)]
    return *picked, best // vocabulary, best % vocabulary


class WithoutCache:
    """A Transformer that forgets its keys and values and reads the whole beginning again for each word.

    The same words as with the cache, only slower: there to measure what the cache is worth (chapter 10).
    """

    def __init__(self, model) -> None:
        self.model = model

    def parameters(self):
        """Those of the model."""
        return self.model.parameters()

    def start(self, source: Tensor, lengths: Tensor) -> tuple[Any, Tensor]:
        """The encoded source, and no words yet ``(B, 0)``."""
        return self.model.start(source, lengths), source[:, :0]

    def step(self, token: Tensor, state: tuple[Any, Tensor]) -> tuple[Tensor, tuple[Any, Tensor], Tensor | None]:
        """One word ``token (B,)``, after which all words so far are read again."""
        encoded, words = state
        words = torch.cat([words, token[:, None]], dim=1)  # (B, t + 1)
        logits, _, seen = self.model.read(words, encoded)
        weights = self.model.mean_cross_weights(seen)  # (B, t + 1, Tk)
        return logits[:, -1], (encoded, words), None if weights is None else weights[:, -1]


def translate(model, task: Task, examples: Sequence[Example]) -> tuple[list[list[str]], Tensor | None]:
    """Write the answers to ``examples`` greedily, in words, with room for a quarter more words than the longest.

    Returns:
        for each example the words before the end symbol, and the weights ``(B, L, Tk)`` or ``None``.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    tokens, weights = greedy(model, batch.source, batch.lengths, max_length=batch.target.shape[1] * 5 // 4)
    return [task.target_vocabulary.decode(row) for row in tokens.tolist()], weights
