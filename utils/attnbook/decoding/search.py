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

from attnbook.data.batching import Example, Task
from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding.sampling import check_temperature, chooser
from attnbook.modes import evaluation_mode
from attnbook.positive import check_positive
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
    check_positive(max_length=max_length)
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


def read_prompt(model: Decoder[State], source: tuple, prompt: Tensor | None, bos: int) -> tuple[Tensor, State]:
    """Start, and read the prompt except for its last word ``(B,)``, which is returned with the state before it.

    Raises:
        ValueError: as :func:`greedy`, for a prompt.
    """
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
