"""A small recurrent decoder with random weights: what a beam search is tried on."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class ToyWriter:
    """`step(token (N,), state) -> (logits (N, V), state)`, with a state of two tensors, `(N, D)` each.

    Both depend on all words written so far, so a beginning with the state of another one is soon found out.
    """

    def __init__(self, embedding: Tensor, between: Tensor, out: Tensor, bias: Tensor):
        self.embedding, self.between = embedding, between  # (V, D), (D, D)
        self.out, self.bias = out, bias  # (D, V), (V,)

    def __call__(self, token: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        self._look_at(token, state)
        hidden, trace = state
        trace = 0.5 * trace + self.embedding[token]  # (N, D)
        hidden = torch.tanh(hidden @ self.between + trace)  # (N, D)
        return hidden @ self.out + self.bias, (hidden, trace)

    def _look_at(self, token: Tensor, state: tuple[Tensor, Tensor]) -> None:
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise TypeError(f"step: the state is a {type(state).__name__}; it must be a tuple of two, as it came")
        if token.dim() != 1:
            raise ValueError(f"step: token has shape {tuple(token.shape)}; wanted (N,), one word a beginning")
        if token.is_floating_point():
            raise TypeError(f"step: token is {token.dtype}; a word's number is an integer (torch.long)")
        for part in state:
            if tuple(part.shape) != (len(token), self.embedding.shape[1]):
                raise ValueError(
                    f"step: {len(token)} tokens came with a state of shape {tuple(part.shape)}; each of the N "
                    f"beginnings needs a row of its own: ({len(token)}, {self.embedding.shape[1]})"
                )
        if token.device != state[0].device:
            raise RuntimeError(f"step: token on {token.device} is not on the expected device {state[0].device}")

    def transformed(self, change: Callable[[Tensor], Tensor]) -> ToyWriter:
        """A copy in which `change` was applied to each tensor."""
        return ToyWriter(*(change(part) for part in (self.embedding, self.between, self.out, self.bias)))

    def size(self) -> int:
        return self.embedding.numel()

    def __repr__(self) -> str:
        return f"a decoder of {len(self.embedding)} words"


def toy_writer(draw, words: int, dim: int, eos: int, likes_to_end: float) -> ToyWriter:
    """A random decoder; the larger `likes_to_end`, the sooner its sentences end."""
    bias = torch.zeros(words, dtype=torch.float64)
    bias[eos] = likes_to_end
    return ToyWriter(1.2 * draw.normal(words, dim), draw.normal(dim, dim), 1.3 * draw.normal(dim, words), bias)
