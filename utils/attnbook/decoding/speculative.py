"""Speculative decoding: guess several words cheaply, check them all in one reading, keep those that the model accepts.

To read five words takes a large model hardly longer than to read one: its weights must be fetched from memory once. So
a draft guesses k words, the model reads them together, and a rule decides how many stay. What is written has exactly
the model's own distribution, however bad the draft is; a bad one only saves nothing.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.decoding.sampling import sampling_probabilities
from attnbook.modes import evaluating, evaluation_mode
from attnbook.positive import check_positive
from attnbook.trees import map_tensors


def speculative_accept(
    guessed: Tensor, draft: Tensor, model: Tensor, generator: torch.Generator | None = None
) -> tuple[int, int]:
    """How many guessed words stay, and the word after them.

    Guess x stays with probability min(1, p(x) / q(x)). In the place of the first that does not stay, a word is drawn
    from what p has more than q, max(0, p − q), renormalised; after all k, a word from p.

    Args:
        guessed: ``(k,)`` words, k >= 0, each drawn from its row of ``draft``.
        draft: q ``(k, V)``, the draft's probabilities. model: p ``(k + 1, V)``, the model's, at the same positions and
            after the last guess.
        generator: of the random numbers, on the device of the model.

    Returns:
        the number of guesses that stay, 0 … k, and the next word.

    Raises:
        ValueError: if the shapes do not fit together.

    Source: Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2.
    """
    count = len(guessed)
    if draft.shape != (count, model.shape[-1]) or model.shape[:-1] != (count + 1,):
        raise ValueError(
            f"for {count} guesses draft must be ({count}, V) and model ({count + 1}, V), "
            f"got {tuple(draft.shape)} and {tuple(model.shape)}"
        )
    at = torch.arange(count, device=model.device)
    ratio = model[at, guessed] / draft[at, guessed]  # (k,)
    chance = torch.rand(count, generator=generator, device=model.device)
    stay = int((chance < ratio).cumprod(dim=0).sum())  # as many as there are before the first that does not
    left = model[stay] if stay == count else (model[stay] - draft[stay]).clamp(min=0)  # (V,)
    return stay, int(left.multinomial(1, generator=generator))  # it renormalises


def prompt_lookup(words: Tensor, most: int, size: int = 3) -> Tensor:
    """Guess that the text goes on as it did after the last earlier occurrence of its last ``size`` words.

    Where there is none, of its last ``size`` − 1 words, and so on. No model is asked.

    Args:
        words: ``(t,)``, all so far. most: how many words are guessed at most.

    Returns:
        ``(k,)``, k <= ``most``; none if even the last word is new.

    Raises:
        ValueError: if ``most`` or ``size`` is not positive.

    Source: Saxena 2023 ("prompt lookup decoding").
    """
    if most < 1 or size < 1:
        raise ValueError(f"most and size must be at least 1, got {most} and {size}")
    for length in range(min(size, len(words) - 1), 0, -1):
        windows = words[:-1].unfold(0, length, 1)  # (t − length, length): all but the last words themselves
        places = (windows == words[-length:]).all(dim=1).nonzero()[:, 0]
        if len(places):
            start = int(places[-1]) + length
            return words[start : start + most]
    return words[:0]


class Guess(NamedTuple):
    """What a draft proposes: words ``(k,)``, and the probabilities ``(k, V)`` that it drew them from."""

    words: Tensor
    chances: Tensor


Draft = Callable[[Tensor], Guess]  # of all words so far, (t,)


def lookup_draft(vocabulary: int, most: int = 5, size: int = 3) -> Draft:
    """A draft by :func:`prompt_lookup`. It is sure of each guess, so its probabilities are 1 and 0."""

    def guess(words: Tensor) -> Guess:
        found = prompt_lookup(words, most, size)  # (k,)
        return Guess(found, torch.nn.functional.one_hot(found, vocabulary).float())

    return guess


class ModelDraft:
    """A draft by a smaller language model of the same vocabulary, for one text: its cache goes on from guess to guess.

    Args:
        small: the model. most: how many words it guesses. temperature, generator: as of :func:`speculate`.
    """

    def __init__(
        self, small: Any, most: int = 5, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> None:
        self.small, self.most, self.temperature, self.generator = small, most, temperature, generator
        self.state, self.known = small.start(), 0  # known: how many words of the text it has read

    def __call__(self, words: Tensor) -> Guess:
        """Go on from ``words (t,)``, of which some guesses that it had read itself may be gone again."""
        self.known = min(self.known, len(words) - 1)
        self.state = first_words(self.state, self.known)
        fresh, drawn, chances = words[self.known :], [], []
        with evaluation_mode(self.small), torch.no_grad():
            for _ in range(self.most):
                logits, self.state, _ = self.small.read(fresh[None], self.state)
                self.known += len(fresh)
                chances.append(probabilities(logits[0, -1:], self.temperature))  # (1, V)
                fresh = chances[-1].multinomial(1, generator=self.generator)[0]  # (1,)
                drawn.append(fresh)
        return Guess(torch.cat(drawn), torch.cat(chances))


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """``(T, V)`` -> ``(T, V)`` float32; temperature 0 gives the likeliest word the probability 1."""
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).float()
    return sampling_probabilities(logits.float(), temperature)


def first_words(state: Any, words: int) -> Any:
    """A language model's state as it was after its first ``words`` words: its cache ``(B, H, t, D/H)``, cut."""
    return map_tensors(lambda part: part[:, :, :words], state)


class Speculated(NamedTuple):
    """What was written, ``(L,)``, and how often the model read: L words for ``readings`` readings of its weights."""

    words: Tensor
    readings: int


@evaluating
def speculate(
    model: Any, prompt: Tensor, draft: Draft, *, max_length: int, temperature: float = 0.0,
    generator: torch.Generator | None = None, ends: tuple[int, ...] = (),
) -> Speculated:  # fmt: skip
    """Go on from ``prompt (t,)``; with temperature 0 the words are those of greedy search.

    Args:
        model: a language model with ``start`` and ``read``, and a cache as long as the text.
        draft: :func:`lookup_draft`, :class:`ModelDraft`, or another.
        max_length: words at most. temperature: of the model, and of a draft that is a model.
        ends: words after which the text is over.

    Raises:
        ValueError: if the prompt is not ``(t,)`` with t > 0, or ``max_length`` is not positive.

    Source: Leviathan et al. 2023, section 2.
    """
    if prompt.ndim != 1 or len(prompt) == 0:
        raise ValueError(f"prompt must have shape (t,) with t > 0, got {tuple(prompt.shape)}")
    check_positive(max_length=max_length)
    words, state, known, readings = prompt, model.start(), 0, 0
    while (room := len(prompt) + max_length - len(words)) > 0:
        guess = Guess(*(part[: room - 1] for part in draft(words)))
        fresh = torch.cat([words[known:], guess.words])  # what the model has not read yet
        logits, state, _ = model.read(fresh[None], state)
        readings += 1
        chances = probabilities(logits[0, -len(guess.words) - 1 :], temperature)  # (k + 1, V)
        stay, word = speculative_accept(*guess, chances, generator)
        known = len(words) + stay  # the last word is drawn, not read
        state = first_words(state, known)
        new = torch.cat([guess.words[:stay], words.new_tensor([word])])
        over = torch.isin(new, words.new_tensor(ends)).nonzero()[:1, 0]  # where the text ends, if it does
        words = torch.cat([words, new[: int(over) + 1] if len(over) else new])
        if len(over):
            break
    return Speculated(words[len(prompt) :], readings)
