"""A small recurrent decoder with random weights: what a beam search is tried on."""

import torch
from torch import Tensor

from misread.fakes import Fake, check_shape, check_words


class FakeWriter(Fake):
    """`step(token (N,), state) -> (logits (N, V), state)`, with a state of one, two or three tensors.

    Two: `(N, D)` each. One: the second of them alone. Three: `(N, D)`, `(N, 1, D)`, `(N,)`, the last all that was
    written so far as one number. All depend on all words written, so a beginning with the state of another one is
    soon found out.
    """

    def __init__(self, embedding: Tensor, between: Tensor, out: Tensor, bias: Tensor, parts: int = 2):
        self.embedding, self.between = embedding, between  # (V, D), (D, D)
        self.out, self.bias, self.parts = out, bias, parts  # (D, V), (V,)

    def __call__(self, token: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        self._check(token, state)
        hidden, trace = state[0], state[self.parts > 1].flatten(1)  # of one part both are the same
        trace = 0.5 * trace + self.embedding[token]  # (N, D)
        hidden = torch.tanh(hidden @ self.between + trace)  # (N, D)
        logits = hidden @ self.out + self.bias  # (N, V)
        if self.parts == 1:
            return logits, (trace,)
        if self.parts == 2:
            return logits, (hidden, trace)
        told = 0.5 * state[2] + token  # (N,)
        return logits + torch.sin(told[:, None] + self.bias), (hidden, trace[:, None], told)

    def _check(self, token: Tensor, state: tuple[Tensor, ...]) -> None:
        if not isinstance(state, (tuple, list)) or len(state) != self.parts:
            raise TypeError(
                f"step: the state is a {type(state).__name__}; it must be a tuple of {self.parts}, as it came"
            )
        check_shape("step", "token", token, "N", hint=", one word per beginning")
        check_words("step", "token", token, state[0])
        dim = self.embedding.shape[1]
        for part, row in zip(state, ((dim,), (1, dim) if self.parts == 3 else (dim,), ()), strict=False):
            hint = f": each of the {len(token)} beginnings needs a row of its own"
            check_shape("step", "state", part, len(token), *row, hint=hint)

    def size(self) -> int:
        return self.embedding.numel()

    def __repr__(self) -> str:
        return f"a decoder of {len(self.embedding)} words"


def fake_writer(draw, words: int, dim: int, eos: int, likes_to_end: float, parts: int = 2) -> FakeWriter:
    """A random decoder; the larger `likes_to_end`, the sooner its sentences end."""
    bias = torch.zeros(words, dtype=torch.float64)
    bias[eos] = likes_to_end
    return FakeWriter(1.2 * draw.normal(words, dim), draw.normal(dim, dim), 1.3 * draw.normal(dim, words), bias, parts)


def long_winded(draw, words: int, bos: int, eos: int) -> FakeWriter:
    """A writer that ends with its first word or not at all, and finds all other words nearly alike."""
    writer = fake_writer(draw, words, 2, eos, 0.0)
    writer.embedding[:, 0], writer.embedding[bos, 0] = -1.5, 2.5
    writer.between[:, 0], writer.out[0] = 0.0, 0.0
    writer.out[1] *= 0.1
    writer.out[0, eos] = 6.0  # likely at first, and never again
    return writer
