"""Layers that differ in one line: what they keep of the words before, a cache that grows or a state of fixed size."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnbook.attention.core import attend
from attnbook.attention.linear import delta_rule, forgetting_attention, linear_attention, unit_features
from attnbook.attention.masks import causal_mask


def _softmax(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Keeps every key and value."""
    return attend(query, key, value, causal_mask(key.shape[1], key.device))[0]


def _softmax_near(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Keeps every key and value, and prefers those that are near: a score falls by 1 / 8 per word (linear bias)."""
    at = torch.arange(key.shape[1], device=key.device, dtype=key.dtype)
    return attend(query, key, value, causal_mask(key.shape[1], key.device), bias=(at - at[:, None]) / 8)[0]


def _linear(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Keeps the sum of φ(k) vᵀ."""
    return linear_attention(query, key, value, causal_mask(key.shape[1], key.device))[0]


def _sum(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Keeps the sum of k vᵀ: nothing is made positive, nothing fades, nothing is corrected."""
    return (query @ key.mT).tril() @ value


def _sum_units(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """The delta rule without its correction: keeps the sum of β k vᵀ, with keys of length 1."""
    return _sum(unit_features(query), unit_features(key), rates.sigmoid() * value, rates)


def _forgetting(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """A selective state space with one decay for all features: Δ = softplus(rate), a = exp(−Δ), and Δ v is written."""
    pace = F.softplus(rates[..., 0])  # (B, T)
    return forgetting_attention(query, key, pace[..., None] * value, keep=(-pace).exp())[0]


def _forgetting_units(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """The gated delta rule without its correction: the sum of β k vᵀ fades, with keys of length 1."""
    beta, keep = rates.sigmoid().unbind(dim=-1)  # (B, T) each
    return forgetting_attention(unit_features(query), unit_features(key), beta[..., None] * value, keep=keep)[0]


def _delta(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Corrects what it holds under a key."""
    return delta_rule(unit_features(query), unit_features(key), value, rate=rates[..., 0].sigmoid())[0]


def _gated(query: Tensor, key: Tensor, value: Tensor, rates: Tensor) -> Tensor:
    """Fades, and then corrects: the second rate says how much stays."""
    beta, keep = rates.sigmoid().unbind(dim=-1)  # (B, T) each
    return delta_rule(unit_features(query), unit_features(key), value, rate=beta, keep=keep)[0]


KINDS: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    "softmax": _softmax,
    "softmax_near": _softmax_near,
    "linear": _linear,
    "sum": _sum,
    "sum_units": _sum_units,
    "forgetting": _forgetting,
    "forgetting_units": _forgetting_units,
    "delta": _delta,
    "gated": _gated,
}
# What the biases of a word's rates are at first, one per rate: where fading is learned, 98 % stays.
RATES_AT_FIRST = {"forgetting": (-4.0,), "forgetting_units": (0.0, 4.0), "gated": (0.0, 4.0)}


class StateLayer(nn.Module):
    """Query, key and value of each word, each mixed with that of the word before; one head of one of ``KINDS``; a norm.

    The mixing with the word before (a "short convolution", here of width 2) lets a layer file a value under the key in
    front of it. Mamba, DeltaNet and others have it too, of width 4.

    Args:
        dim: features D of each word, and of a value.
        features: N, of queries and keys. A state has N · D numbers, where there is one.
        kind: one of ``KINDS``.

    Raises:
        ValueError: for an unknown kind.

    Source: Katharopoulos et al. 2020 (linear); Dao and Gu 2024 (forgetting); Yang et al. 2024, section 3
        (delta); Yang et al. 2025 (gated).
    """

    def __init__(self, dim: int, features: int, kind: str) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        self.kind, self.sizes = kind, [features, features, dim]
        self.project = nn.Linear(dim, sum(self.sizes), bias=False)  # queries, keys and values side by side
        self.before = nn.Conv1d(sum(self.sizes), sum(self.sizes), kernel_size=2, groups=sum(self.sizes))
        at_first = torch.tensor(RATES_AT_FIRST.get(kind, (0.0,)))
        self.rate = nn.Linear(dim, len(at_first))
        self.norm = nn.RMSNorm(dim)
        self.project_output = nn.Linear(dim, dim, bias=False)
        self.rate.bias.data.copy_(at_first)

    def forward(self, x: Tensor) -> Tensor:
        """``(B, T, D)`` -> ``(B, T, D)``; each word sees itself and those before it."""
        mixed = self.before(F.pad(self.project(x).mT, (1, 0)))  # (B, 2N + D, 1 + T) -> (B, 2N + D, T)
        query, key, value = mixed.mT.split(self.sizes, dim=-1)  # (B, T, N), (B, T, N), (B, T, D)
        context = KINDS[self.kind](query, key, value, self.rate(x))  # (B, T, D)
        return self.project_output(self.norm(context))

    def numbers_kept(self, words: int) -> int:
        """How many numbers it must keep after so many words to read the next; the one word before is left out."""
        features, _, dim = self.sizes
        if self.kind.startswith("softmax"):
            return words * (features + dim)
        return features * dim + (features if self.kind == "linear" else 0)


class StateModel(nn.Module):
    """Words, pre-norm blocks of a :class:`StateLayer` and a feed-forward of twice the width, and the next word.

    Args:
        vocabulary_size: V. dim: D. features: N. kinds: of the layers, one each; of several kinds, a hybrid.
    """

    def __init__(self, vocabulary_size: int, dim: int, features: int, kinds: tuple[str, ...]) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, dim)
        self.layers = nn.ModuleList(StateLayer(dim, features, kind) for kind in kinds)
        self.feed_forwards = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim)) for _ in kinds
        )
        self.norms = nn.ModuleList(nn.RMSNorm(dim) for _ in range(2 * len(kinds) + 1))
        self.output = nn.Linear(dim, vocabulary_size)

    def forward(self, words: Tensor) -> tuple[Tensor, None]:
        """``words (B, T)`` -> logits ``(B, T, V)`` of what comes after each, and no weights."""
        x = self.words(words)  # (B, T, D)
        sublayers = [part for pair in zip(self.layers, self.feed_forwards, strict=True) for part in pair]
        for norm, sublayer in zip(self.norms, sublayers, strict=False):  # the last norm is the output's
            x = x + sublayer(norm(x))
        return self.output(self.norms[-1](x)), None

    def numbers_kept(self, words: int) -> int:
        """How many numbers all layers keep after so many words."""
        return sum(layer.numbers_kept(words) for layer in self.layers)  # type: ignore[operator]
