"""A task of a few short strings and a model that knows its answer, for tests that measure and train."""

import pytest
import torch
from torch import nn

from attnbook.data.batching import Task
from attnbook.data.symbols.algorithmic import reversed_strings
from attnbook.data.texts.vocabulary import EOS


class Knowing(nn.Module):
    """Writes the source backwards and looks where it reads; where ``wrong`` stands in the source it slips."""

    def __init__(self, wrong: int | None = None) -> None:
        super().__init__()
        self.wrong = wrong
        self.nothing = nn.Parameter(torch.zeros(1))

    def start(self, source, lengths):
        return source, lengths, 0

    def step(self, token, state):
        source, lengths, t = state
        place = (lengths - 1 - t).clamp_min(0)  # (B,)
        word = source.gather(1, place[:, None])[:, 0].masked_fill(t >= lengths, EOS)
        if self.wrong is not None:
            word = word.masked_fill(word == self.wrong, EOS)
        logits = nn.functional.one_hot(word, 12).float() + self.nothing  # (B, V)
        weights = nn.functional.one_hot(place, source.shape[1]).float()  # (B, Tk)
        return logits, (source, lengths, t + 1), weights

    def forward(self, source, lengths, decoder_input):
        state, steps = self.start(source, lengths), []
        for token in decoder_input.unbind(dim=1):
            logits, state, weights = self.step(token, state)
            steps.append((logits, weights))
        return tuple(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True))


@pytest.fixture
def knowing() -> type[Knowing]:
    """The class of models that know the answer."""
    return Knowing


@pytest.fixture(scope="session")
def task() -> Task:
    """Strings of 2 to 4 letters out of four to be reversed, and of 6 beyond."""
    return reversed_strings("abcd", 2, 4, train=60, validation=6, test_per_size=5, longer=(6,), longer_per_size=4)
