"""Loops around a model's ``step``: how a trained decoder, recurrent or Transformer, writes a sentence.

A model writes in evaluation mode (:mod:`attnbook.modes`), and is left in the mode in which it was.

A loop knows nothing of a model but :class:`Decoder`, and nothing of its state but that the model can go on from it.
Each loop reads a prompt first, and then its own words. For a model with a source the prompt is the start symbol; a
language model has no source, and goes on from the words that it is given.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from attnbook.attention.masks import padding_mask
from attnbook.data.batching import Example, Task
from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding.penalties import coverage_penalty, length_penalty
from attnbook.decoding.sampling import check_temperature, chooser
from attnbook.modes import evaluating, evaluation_mode
from attnbook.threads import small_on_one_thread
from attnbook.trees import map_tensors

State = TypeVar("State")


class Decoder(Protocol[State]):
    """What decoding asks of a model: seq2seq, LSTMN, Transformer, language model and pointer network all meet it.

    What a state holds is the model's own affair. Most are named tuples of tensors with the batch first, and leave
    :meth:`select` to the function :func:`select`. A model that can read many words at once may have one method more,
    ``prefill(words (B, t), state)``: what the last of as many steps returns, when nobody asks for the others' logits.
    """

    def start(self, *source: Any, **named: Any) -> State:
        """The state before the first word: of ``source (B, Tk)`` with ``lengths (B,)``, or of nothing."""

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State, Tensor | None]:
        """Read one word ``token (B,)``. The state that is given stays as it is: one may go on from it twice.

        Returns:
            logits ``(B, V)`` of the next word (log-probabilities are logits too), the state after this one, and
            where the model looked, ``(B, Tk)``, or ``None`` without attention.
        """

    def select(self, state: State, rows: Tensor) -> State:
        """The state of the sentences ``rows (N,)`` alone, in this order; one may be named twice, or not at all."""


DecoderModule = Any  # an nn.Module that is a Decoder too: Python has no type for both


def select(state: Any, rows: Tensor) -> Any:
    """Take sentences ``rows (N,)`` out of a state: of every tensor in it (:mod:`attnbook.trees`)."""
    return map_tensors(lambda tensor: tensor.index_select(0, rows), state)


class Decoded(NamedTuple):
    """What a decoder wrote.

    Fields:
        tokens: ``(B, L)``; after its end symbol a sentence repeats it.
        weights: ``(B, L, Tk)`` where it looked at each step, or ``None`` for a model without attention. Where a model
            looks at its own past, there is one position more at each step, and zeros stand where none was yet.
    """

    tokens: Tensor
    weights: Tensor | None


def greedy(
    model: Decoder, *source: Tensor, max_length: int, prompt: Tensor | None = None, bos: int = BOS, eos: int = EOS
) -> Decoded:
    """Take the likeliest word at each step, until each sentence has met its own end symbol.

    Args:
        source: what the model starts from: ``(B, Tk)`` and lengths ``(B,)``; nothing for a language model.
        max_length: stop here even if some sentence has not ended; words of the prompt don't count.
        prompt: ``(B, t)``, read before the first word is written; when left out, ``bos`` in each sentence.

    Returns:
        tokens ``(B, L)`` with L <= max_length, without the prompt, and weights ``(B, L, Tk)`` or ``None``.

    Raises:
        ValueError: if ``max_length`` is not positive, there is neither source nor prompt, or the prompt is not
            ``(B, t)`` with B of the source and t > 0.
    """
    return _write(model, source, max_length, chooser(0), prompt, bos, eos)


def sample(
    model: Decoder,
    *source: Tensor,
    max_length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    prompt: Tensor | None = None,
    bos: int = BOS,
    eos: int = EOS,
) -> Decoded:
    """Draw each word from :func:`sampling_probabilities`; otherwise as :func:`greedy`.

    Args:
        temperature, top_k, top_p: see :func:`sampling_probabilities`.
        generator: of the random numbers, on the device of the model.
    """

    check_temperature(temperature)
    return _write(model, source, max_length, chooser(temperature, top_k, top_p, generator), prompt, bos, eos)


@small_on_one_thread
def _write(
    model: Decoder, source: tuple, max_length: int, choose: Callable, prompt: Tensor | None, bos: int, eos: int
) -> Decoded:
    words = stream(model, *source, max_length=max_length, choose=choose, prompt=prompt, bos=bos, eos=eos)
    tokens, weights = zip(*words, strict=True)  # (B,) and (B, Tk) of each step
    return Decoded(torch.stack(tokens, dim=1), _stack_weights(weights))


@torch.no_grad()  # which torch lets go of while a generator waits
def stream(
    model: Decoder,
    *source: Tensor,
    max_length: int,
    choose: Callable[[Tensor], Tensor],
    prompt: Tensor | None = None,
    bos: int = BOS,
    eos: int = EOS,
) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Write word by word, and hand out each as soon as it is chosen: what :func:`greedy` and :func:`sample` collect.

    The model is in evaluation mode from the first word to the last, and afterwards in the mode that it had.

    Args:
        choose: logits ``(B, V)`` -> words ``(B,)``; see :func:`~attnbook.decoding.sampling.chooser`.
        source, max_length, prompt, bos, eos: as of :func:`greedy`.

    Yields:
        the words ``(B,)``, and where the model looked, ``(B, Tk)`` or ``None``.

    Raises:
        ValueError: as :func:`greedy`, when the first word is asked for.
    """
    _check_positive(max_length=max_length)
    with evaluation_mode(model):
        words, state = _prompt(source, prompt, bos), model.start(*source)
        ended = torch.zeros_like(words[:, 0], dtype=torch.bool)  # (B,)
        for _ in range(max_length):
            logits, state, weights = _read_words(model, words, state)
            token = choose(logits).masked_fill(ended, eos)  # (B, V) -> (B,)
            ended, words = ended | (token == eos), token[:, None]
            yield token, weights
            if ended.all():
                return


def _read_prompt(model: Decoder[State], source: tuple, prompt: Tensor | None, bos: int) -> tuple[Tensor, State]:
    """Start, and read the prompt but for its last word ``(B,)``, which is returned with the state before it."""
    words, state = _prompt(source, prompt, bos), model.start(*source)
    if words.shape[1] > 1:
        _, state, _ = _read_words(model, words[:, :-1], state)
    return words[:, -1], state


def _prompt(source: tuple, prompt: Tensor | None, bos: int) -> Tensor:
    """The words ``(B, t)`` from which the model goes on."""
    if prompt is None:
        if not source:
            raise ValueError("without a source there must be a prompt, (B, t), from which the model goes on")
        return torch.full((len(source[0]), 1), bos, device=source[0].device)  # (B, 1)
    if prompt.ndim != 2 or 0 in prompt.shape or (source and len(prompt) != len(source[0])):
        batch = len(source[0]) if source else "B"
        raise ValueError(f"prompt must have shape ({batch}, t) with B, t > 0, got {tuple(prompt.shape)}")
    return prompt


def _read_words(model: Decoder[State], words: Tensor, state: State) -> tuple[Tensor, State, Tensor | None]:
    """What a step returns after the last of ``words (B, t)``: read at once by a model that can, else one by one."""
    if words.shape[1] > 1 and hasattr(model, "prefill"):
        return model.prefill(words, state)
    *before, last = words.unbind(dim=1)
    for token in before:
        _, state, _ = model.step(token, state)
    return model.step(last, state)


def _stack_weights(weights: Sequence[Tensor | None]) -> Tensor | None:
    """``(B, Tk)`` of each step -> ``(B, L, Tk)``; earlier steps may have fewer positions, and get zeros there."""
    given = [row for row in weights if row is not None]
    if not given:
        return None
    if len(given[0][0]) < len(given[-1][0]):
        given = [F.pad(row, (0, given[-1].shape[-1] - row.shape[-1])) for row in given]
    return torch.stack(given, dim=1)


def _check_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")


class Beams(NamedTuple):
    """What a beam search kept, best first.

    Fields:
        tokens: ``(B, W, L)``; after its end symbol a sentence repeats it.
        scores: ``(B, W)``, log-probability (nats) over the length penalty, plus the coverage penalty; −inf where there
            are fewer than W.
    """

    tokens: Tensor
    scores: Tensor


class Beginnings(NamedTuple):
    """What a beam search is at: the W best beginnings of each sentence, best first.

    Fields:
        tokens: ``(B, W, t)``, their words.
        total: ``(B, W)``, their log-probability in nats; −inf where there are fewer than W.
        size: ``(B, W)``, how many words they have, the end symbol counted, and what stands after it not.
        ended: ``(B, W)`` bool, whether they are whole sentences.
        coverage: ``(B, W, Tk)``, the attention weight that each source word has got from their words, and 1 at
            padding; ``(B, W, 0)`` where nobody asks for it.
    """

    tokens: Tensor
    total: Tensor
    size: Tensor
    ended: Tensor
    coverage: Tensor

    @classmethod
    def empty(cls, covered: Tensor, width: int) -> "Beginnings":
        """No words yet, and ``covered (B, Tk)`` of the source; and so there is one beginning, not W equal ones."""
        total = torch.full((len(covered), width), float("-inf"), device=covered.device)  # (B, W)
        total[:, 0] = 0.0
        tokens = torch.zeros(*total.shape, 0, dtype=torch.long, device=covered.device)  # (B, W, 0)
        coverage = covered[:, None].expand(-1, width, -1)  # (B, W, Tk)
        return cls(tokens, total, torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool), coverage)

    def attended(self, weights: Tensor | None) -> "Beginnings":
        """Add what the next word of each attends to, ``weights (B·W, Tk)``; ended sentences attend no more."""
        if self.coverage.shape[-1] == 0:
            return self
        if weights is None:
            raise ValueError("beta needs attention weights, and this model has none; leave beta at 0")
        added = weights.view_as(self.coverage).masked_fill(self.ended[..., None], 0.0)  # (B, W, Tk)
        return self._replace(coverage=self.coverage + added)

    def ranks(self, alpha: float, beta: float) -> Tensor:
        """By what they are compared, ``(B, W)``: equation 14 of Wu et al. 2016."""
        return self.total / length_penalty(self.size, alpha) + coverage_penalty(self.coverage, beta)


@small_on_one_thread
@evaluating
def beam(
    model: Decoder,
    *source: Tensor,
    max_length: int,
    width: int = 4,
    alpha: float = 0.0,
    beta: float = 0.0,
    prompt: Tensor | None = None,
    bos: int = BOS,
    eos: int = EOS,
) -> Beams:
    """Keep the ``width`` best beginnings at each step; a sentence that has ended stays among them as it is.

    Args:
        source, max_length, prompt: as :func:`greedy`.
        width: W, how many beginnings are kept. With 1 this is :func:`greedy`; with all there are, an exhaustive search.
        alpha, beta: of :func:`length_penalty` and :func:`coverage_penalty`, by which beginnings and ended sentences
            are ranked at each step. (Wu et al. rank ended sentences alone by them.)

    Raises:
        ValueError: if ``max_length`` or ``width`` is not positive; if there is a ``beta``, but no source with its
            lengths, or no attention; or as :func:`greedy`.

    Source: Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7, for the penalties.
    """
    _check_positive(max_length=max_length, width=width)
    token, state = _read_prompt(model, source, prompt, bos)
    kept = Beginnings.empty(_covered(token, source, beta), width)
    sentence = torch.arange(len(token), device=token.device)[:, None]  # (B, 1)
    rows = sentence.expand(-1, width).flatten()  # (B·W,): each sentence W times
    token, state = token[rows], model.select(state, rows)
    for _ in range(max_length):
        logits, state, weights = model.step(token, state)
        kept, parent = _best(kept.attended(weights), logits.log_softmax(dim=-1), alpha, beta, eos)
        rows = (width * sentence + parent).flatten()  # (B·W,): whose state each takes
        token, state = kept.tokens[..., -1].flatten(), model.select(state, rows)
        if kept.ended.all():
            break
    return Beams(kept.tokens, kept.ranks(alpha, beta))


def _covered(token: Tensor, source: tuple, beta: float) -> Tensor:
    """What is covered before the first word, ``(B, Tk)``: the padding; ``(B, 0)`` if coverage doesn't count."""
    if not beta:
        return torch.zeros(len(token), 0, device=token.device)
    if len(source) != 2:
        raise ValueError(f"beta needs a source and its lengths, whose words are to be covered; got {len(source)} parts")
    words, lengths = source
    return (~padding_mask(lengths.to(token.device), words.shape[1])).float()


def _best(kept: Beginnings, words: Tensor, alpha: float, beta: float, eos: int) -> tuple[Beginnings, Tensor]:
    """The W best of all continuations by ``words (B·W, V)``, and the beginning that each continues, ``(B, W)``."""
    stay = torch.full_like(words[0], float("-inf"))  # (V,): an ended sentence goes on with eos only, for nothing
    stay[eos] = 0.0
    words = words.view(*kept.total.shape, -1)  # (B, W, V)
    totals = kept.total[..., None] + torch.where(kept.ended[..., None], stay, words)  # (B, W, V)
    sizes = (kept.size + ~kept.ended)[..., None].expand_as(totals)  # (B, W, V)
    covered = coverage_penalty(kept.coverage, beta)[..., None]  # (B, W, 1): the next word itself changes it no more
    ranked = (totals / length_penalty(sizes, alpha) + covered).flatten(1)  # (B, W·V)
    best = ranked.topk(kept.total.shape[1], dim=-1).indices  # (B, W), best first
    parent, word = best // words.shape[-1], best % words.shape[-1]  # (B, W) each
    tokens = kept.tokens.gather(1, parent[..., None].expand_as(kept.tokens))  # (B, W, t)
    tokens = torch.cat([tokens, word[..., None]], dim=-1)  # (B, W, t + 1)
    total, size = (part.flatten(1).gather(1, best) for part in (totals, sizes))
    coverage = kept.coverage.gather(1, parent[..., None].expand_as(kept.coverage))  # (B, W, Tk)
    return Beginnings(tokens, total, size, kept.ended.gather(1, parent) | (word == eos), coverage), parent


class WithoutCache:
    """A Transformer that forgets its keys and values and reads the whole beginning again for each word.

    The same words as with the cache, only slower: there to measure what the cache is worth (chapter 10).
    """

    def __init__(self, model) -> None:
        self.model = model

    def parameters(self):
        """Those of the model."""
        return self.model.parameters()

    def modules(self):
        """The model and its parts."""
        return self.model.modules()

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

    select = staticmethod(select)


def translate(model: Any, task: Task, examples: Sequence[Example]) -> tuple[list[list[str]], Tensor | None]:
    """Write the answers to ``examples`` greedily, in words, with room for a quarter more words than the longest.

    Returns:
        for each example the words before the end symbol, and the weights ``(B, L, Tk)`` or ``None``.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    tokens, weights = greedy(model, batch.source, batch.lengths, max_length=batch.target.shape[1] * 5 // 4)
    return [task.target_vocabulary.decode(row) for row in tokens.tolist()], weights
