"""The weights of a tiny decoder: what lab 10 writes a cache for."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class TinyWeights(NamedTuple):
    """Of a decoder with one causal attention and nothing else; each W is used as ``x @ W``.

    Fields:
        embedding: ``(V, D)``, one vector per word. positions: ``(Tmax, D)``, one vector per position.
        W_q, W_k, W_v: ``(D, D)``. W_o: ``(D, V)``, from features to logits.
    """

    embedding: Tensor
    positions: Tensor
    W_q: Tensor
    W_k: Tensor
    W_v: Tensor
    W_o: Tensor

    def __repr__(self) -> str:
        (words, dim), positions = self.embedding.shape, len(self.positions)
        return f"weights (V = {words} words, D = {dim} features, {positions} positions)"
