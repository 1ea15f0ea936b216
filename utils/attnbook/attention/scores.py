"""The scores: eight ways to ask how well a query fits a key, behind one interface.

Each is a small module, ``score(query (B, Tq, Dq), key (B, Tk, Dk)) -> (B, Tq, Tk)``. What depends on the keys alone
is done once, in :meth:`Score.prepare`; what depends on the query is done in :meth:`Score.compare`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Alignment(NamedTuple):
    """Where a decoder has looked so far, for scores that want to know.

    Fields:
        previous: ``(B, Tk)`` weights of the step before.
        total: ``(B, Tk)`` sum of the weights of all steps before.
    """

    previous: Tensor
    total: Tensor

    def add(self, weights: Tensor) -> "Alignment":
        """Return the alignment after one more step with ``weights (B, Tk)``."""
        return Alignment(weights, self.total + weights)

    @classmethod
    def at_first_place(cls, mask: Tensor) -> "Alignment":
        """Start before the first word: all weight on place 0, nothing summed yet. ``mask (B, Tk)``."""
        previous = torch.zeros(mask.shape, device=mask.device)  # (B, Tk)
        previous[:, 0] = 1.0
        return cls(previous, torch.zeros_like(previous))


class Score(nn.Module):
    """What all scores share. A new score writes :meth:`compare`, and :meth:`prepare` if the keys need work."""

    def prepare(self, key: Tensor) -> Tensor:
        """Do the work that depends on the keys alone, once a sentence. ``(B, Tk, Dk)`` -> ``(B, Tk, ...)``."""
        return key

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Score ``query (B, Tq, Dq)`` against prepared keys: ``(B, Tq, Tk)``."""
        raise NotImplementedError(f"{type(self).__name__} must say how to compare a query with the keys")

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return self.compare(query, self.prepare(key))

    def at(self, alignment: Alignment) -> Callable[[Tensor, Tensor], Tensor]:
        """Return :meth:`compare` for a decoder that has looked at ``alignment``. Most scores do not care."""
        return self.compare

    def placed(self, queries: Tensor, keys: Tensor) -> "Score":
        """Return this score for queries and keys that stand at these places. Most scores do not care."""
        return self


def same_features(name: str, query: Tensor, key: Tensor) -> None:
    """Raise a ValueError unless ``query`` and ``key`` have as many features; ``name`` is the score's."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"key has {key.shape[-1]} features but query has {query.shape[-1]}; "
            f"{name} scores need the same number (use General for different ones)"
        )


def _check_features(name: str, tensor: Tensor, wanted: int) -> None:
    if tensor.shape[-1] != wanted:
        raise ValueError(f"{name} has {tensor.shape[-1]} features but the score was made for {name}_dim = {wanted}")


class Dot(Score):
    """q · k. No parameters; query and key live in the same space. Source: Luong et al. 2015, equation 8, "dot"."""

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        same_features("dot", query, prepared)
        return query @ prepared.mT  # (B, Tq, D) @ (B, D, Tk) -> (B, Tq, Tk); heads, if any, side by side


class ScaledDot(Dot):
    """q · k / √D: the variance of the score no longer grows with D. Source: Vaswani et al. 2017, equation 1."""

    def turn(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """What to do with query and key before the dot; here nothing. Rotary positions turn both."""
        return query, key

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        return super().compare(query, prepared) / query.shape[-1] ** 0.5


class General(Score):
    """qᵀ W k: a learnt table says which feature of the query goes with which of the key.

    Args:
        query_dim, key_dim: features of query and key, which may differ.

    Source: Luong et al. 2015, equation 8, "general".
    """

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        self.query_dim = query_dim
        self.key_to_query = nn.Linear(key_dim, query_dim, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        _check_features("key", key, self.key_to_query.in_features)
        return self.key_to_query(key)  # (B, Tk, Dk) -> (B, Tk, Dq)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        _check_features("query", query, self.query_dim)
        return query @ prepared.transpose(1, 2)  # (B, Tq, Dq) @ (B, Dq, Tk) -> (B, Tq, Tk)


class Cosine(Score):
    """β · cos(q, k): only the direction counts; β says how sharply.

    Cosines lie between −1 and 1, so without a β above 1 the weights stay almost uniform.

    Args:
        beta: the sharpness to start with.
        learn_beta: let training set it.
        eps: guards the division when a vector is all zeros (its cosine is then 0).

    Raises:
        ValueError: if ``beta`` is not above 0.

    Source: Graves et al. 2014, equations 5 and 6.
    """

    def __init__(self, beta: float = 1.0, learn_beta: bool = False, eps: float = 1e-8) -> None:
        super().__init__()
        if beta <= 0:
            raise ValueError(f"beta must be above 0, got {beta}; it says how sharply to look")
        self.eps = eps
        self.log_beta = nn.Parameter(torch.tensor(float(beta)).log(), requires_grad=learn_beta)

    def prepare(self, key: Tensor) -> Tensor:
        return key / key.norm(dim=-1, keepdim=True).clamp_min(self.eps)  # (B, Tk, D), rows of length 1

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        same_features("cosine", query, prepared)
        cosines = self.prepare(query) @ prepared.transpose(1, 2)  # (B, Tq, Tk)
        return self.log_beta.exp().to(query.dtype) * cosines


class Additive(Score):
    """vᵀ tanh(W_q q + W_k k), also called concat: W_q q + W_k k is one W on q and k laid end to end.

    Args:
        query_dim, key_dim: features of query and key.
        hidden: features of the space in which they are added, A.

    Source: Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, equation 8, "concat".
    """

    def __init__(self, query_dim: int, key_dim: int, hidden: int) -> None:
        super().__init__()
        self.query_to_hidden = nn.Linear(query_dim, hidden, bias=False)
        self.key_to_hidden = nn.Linear(key_dim, hidden)
        self.hidden_to_score = nn.Linear(hidden, 1, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        _check_features("key", key, self.key_to_hidden.in_features)
        return self.key_to_hidden(key)  # (B, Tk, Dk) -> (B, Tk, A)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        _check_features("query", query, self.query_to_hidden.in_features)
        pairs = self.query_to_hidden(query)[:, :, None] + prepared[:, None]  # (B, Tq, 1, A) + (B, 1, Tk, A)
        return self.hidden_to_score(pairs.tanh())[..., 0]  # (B, Tq, Tk, A) -> (B, Tq, Tk)


class MLP(Additive):
    """One layer deeper than Additive: vᵀ ReLU(W ReLU(W_q q + W_k k) + b).

    Args: as :class:`Additive`.
    """

    def __init__(self, query_dim: int, key_dim: int, hidden: int) -> None:
        super().__init__(query_dim, key_dim, hidden)
        self.hidden_to_hidden = nn.Linear(hidden, hidden)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        _check_features("query", query, self.query_to_hidden.in_features)
        pairs = self.query_to_hidden(query)[:, :, None] + prepared[:, None]  # (B, Tq, Tk, A)
        deeper = self.hidden_to_hidden(pairs.relu()).relu()  # (B, Tq, Tk, A)
        return self.hidden_to_score(deeper)[..., 0]  # (B, Tq, Tk)


class Location(Score):
    """W q: the query alone says where to look; what the keys hold is never asked.

    Args:
        query_dim: features of the query.
        max_length: the number of places it can point at. A longer source is an error.

    Source: Luong et al. 2015, equation 9.
    """

    def __init__(self, query_dim: int, max_length: int) -> None:
        super().__init__()
        self.query_to_places = nn.Linear(query_dim, max_length)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        places, known = prepared.shape[1], self.query_to_places.out_features
        if places > known:
            raise ValueError(f"key has {places} places but this location score knows only max_length = {known}")
        _check_features("query", query, self.query_to_places.in_features)
        return self.query_to_places(query)[..., :places]  # (B, Tq, max_length) -> (B, Tq, Tk)


class LocationAware(Additive):
    """vᵀ tanh(W_q q + W_k k + W_f f): what a place holds, and whether the decoder has just been near it.

    f = the previous weights and the sum of all weights so far, seen through a convolution along the source.

    Args:
        query_dim, key_dim, hidden: as :class:`Additive`.
        filters: how many features the convolution makes of each place.
        width: how many neighbouring places a filter sees (odd).

    Raises:
        ValueError: if ``width`` is even (a filter must have a middle), or a decoder has no alignment to give.

    Source: Chorowski et al. 2015, equations 7 to 9 (there the previous weights only; the running sum is ours to add).
    """

    def __init__(self, query_dim: int, key_dim: int, hidden: int, filters: int = 8, width: int = 7) -> None:
        super().__init__(query_dim, key_dim, hidden)
        if width % 2 == 0:
            raise ValueError(f"width must be odd, so that a filter has a middle; got {width}")
        self.filters = nn.Conv1d(2, filters, width, padding=width // 2, bias=False)
        self.filters_to_hidden = nn.Linear(filters, hidden, bias=False)

    def compare(self, query: Tensor, prepared: Tensor, alignment: Alignment | None = None) -> Tensor:
        if alignment is None:
            raise ValueError("LocationAware needs the earlier weights: use score.at(alignment) as the score")
        seen = torch.stack(alignment, dim=1).to(prepared.dtype)  # (B, 2, Tk)
        nearby = self.filters_to_hidden(self.filters(seen).transpose(1, 2))  # (B, F, Tk) -> (B, Tk, A)
        return super().compare(query, prepared + nearby)  # (B, Tq, Tk)

    def at(self, alignment: Alignment) -> Callable[[Tensor, Tensor], Tensor]:
        """Return :meth:`compare` with the decoder's ``alignment`` filled in."""
        return partial(self.compare, alignment=alignment)


class Sharpened(Score):
    """β · another score: the larger β, the more the best place takes. β = 1/τ, where τ is called the temperature.

    Args:
        score: the score to sharpen; it is kept as it is.
        beta: a number, or a function of the number of places ``Tk``.

    Source: Chorowski et al. 2015, section 2.3 ("sharpening"); Graves et al. 2014, equation 5, for a learnt β.
    """

    def __init__(self, score: Score, beta: float | Callable[[int], float]) -> None:
        super().__init__()
        self.score = score
        self.beta = beta if callable(beta) else lambda places: beta

    def prepare(self, key: Tensor) -> Tensor:
        return self.score.prepare(key)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        return self._sharpen(self.score.compare, query, prepared)

    def at(self, alignment: Alignment) -> Callable[[Tensor, Tensor], Tensor]:
        """Return the sharpened comparison for a decoder that has looked at ``alignment``."""
        return partial(self._sharpen, self.score.at(alignment))

    def placed(self, queries: Tensor, keys: Tensor) -> Score:
        """Return the sharpened score for queries and keys that stand at these places."""
        return Sharpened(self.score.placed(queries, keys), self.beta)

    def _sharpen(self, compare: Callable[[Tensor, Tensor], Tensor], query: Tensor, prepared: Tensor) -> Tensor:
        return self.beta(prepared.shape[-2]) * compare(query, prepared)  # (…, Tk, D)


dot = Dot()
scaled_dot = ScaledDot()
cosine = Cosine()
