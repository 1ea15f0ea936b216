"""A reader whose every word is known beforehand: what caches are tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from misread.fakes import Fake, check_shape, check_words

State = Tensor | tuple[Tensor, ...]


class FakeReader(Fake):
    """`read(words (B, n), state (B, 3)) -> (logits (B, n, V), state (B, 3))`: n words at once, after those read before.

    Sentence b says `script[b]` as long as it reads the prompt and then its own words, each once and in order;
    from the first other word on it says something else. The state holds each sentence's number, how many words
    it has read, and whether it was led astray. Like a cache it needs no word twice, and says so when it gets
    more than one word beyond `enough`, which is how many it needs: the prompt, and each word of the answer but
    the last (which may be read, too). With `apart` the state is a tuple of two, `(B, 2)` and `(B, 1)`, as the
    lab's own cache is one.
    """

    def __init__(self, script: Tensor, noise: Tensor, enough: int, apart: bool = False):
        self.script, self.noise = script, noise  # (B, P + L), (B, P + L, V)
        self.enough, self.given, self.apart = enough, 0, apart

    def __call__(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        state = self._joined(state)
        self._check(words, state)
        row, read, astray = state.long().unbind(1)  # (B,) each
        logits = []
        for word in words.unbind(1):
            at = read.clamp(max=self.script.shape[1] - 2)
            astray = astray | (word != self.script[row, at])
            said = (self.script[row, at + 1] + astray) % self.noise.shape[2]  # (B,)
            logits.append(self.noise[row, at] + 3.5 * F.one_hot(said, self.noise.shape[2]))  # (B, V)
            read = read + 1
        return torch.stack(logits, 1), self._state(torch.stack([row, read, astray.long()], 1).to(state.dtype))

    def _state(self, state: Tensor) -> State:
        return (state[:, :2], state[:, 2:]) if self.apart else state

    def _joined(self, state: State) -> Tensor:
        if not self.apart:
            return cast(Tensor, state)
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise TypeError(f"read: the state is a {type(state).__name__}; it must be a tuple of two, as it came")
        return torch.cat(tuple(state), dim=1)  # (B, 3)

    def _check(self, words: Tensor, state: Tensor) -> None:
        check_shape("read", "state", state, "B", 3, hint="; give back the state that read returned")
        wanted = (len(state), "n" if words.numel() else 1)
        check_shape("read", "words", words, *wanted, hint=", and (B, 1) for one new word")
        check_words("read", "words", words, state)
        self.given += words.shape[1]
        if self.given > self.enough + 1:  # the last word, which nothing follows, need not be read and may be
            raise RuntimeError(
                f"read: the prompt, and each new word but the last, are {self.enough} words per sentence, and more "
                "were given. The state remembers the words before: give each word once"
            )

    def start(self) -> State:
        """The state before the first word."""
        rows = torch.arange(self.script.shape[0], dtype=self.noise.dtype)
        return self._state(torch.stack([rows, torch.zeros_like(rows), torch.zeros_like(rows)], dim=1))

    def transformed(self, change: Callable[[Tensor], Tensor]) -> FakeReader:
        """A copy that has read nothing, in which `change` was applied to each tensor."""
        made = super().transformed(change)
        made.given = 0
        return made

    def size(self) -> int:
        return self.script.numel()

    def __repr__(self) -> str:
        sentences = [" ".join(map(str, row)) for row in self.script.tolist()]
        return f"a reader that goes on with the prompts like this: {' | '.join(sentences)}"


def fake_reader(draw, prompts: int, ends: list[int | None], answer: int, words: int, eos: int) -> FakeReader:
    """A random reader for prompts of so many words. Sentence b ends with word `ends[b]` of its answer, or not at all
    (None) within `answer` words. What would come after an end are other words."""
    others = torch.tensor([word for word in range(words) if word not in (eos, eos - 1)])
    script = others[draw.integers(0, len(others), len(ends), prompts + answer + 2)]
    for row, end in enumerate(ends):
        if end is not None:
            script[row, prompts + end] = eos
    noise = draw.uniform(len(ends), prompts + answer + 2, words, low=-1.5, high=1.5)
    return FakeReader(script, noise, prompts + answer - 1)
