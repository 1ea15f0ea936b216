"""The scores: eight ways to ask how well a query fits a key, behind one interface.

Each is a small module, ``score(query (..., Tq, Dq), key (..., Tk, Dk)) -> (..., Tq, Tk)``; the leading axes are the
batch, or batch and heads. What depends on the keys alone is done in :meth:`Score.project_key`, and a decoder does it
once per sentence with :meth:`Score.prepare`; what depends on the query is done in :meth:`Score.compare`.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention.arguments import check_features, check_same_features
from attnbook.attention.precision import at_least_float32


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
    def at_first_position(cls, mask: Tensor) -> "Alignment":
        """Start before the first word: all weight on position 0, nothing summed yet. ``mask (B, Tk)``."""
        previous = torch.zeros(mask.shape, device=mask.device)  # (B, Tk)
        previous[:, 0] = 1.0
        return cls(previous, torch.zeros_like(previous))


class PreparedKeys(NamedTuple):
    """Keys as a score has prepared them: a recurrent decoder asks the same keys at each step, and so does it once.

    Fields:
        features: ``(..., Tk, A)``, what the score made of the keys.
        alignment: where the decoder has attended so far, for scores that want to know.
    """

    features: Tensor
    alignment: Alignment | None = None

    def at(self, alignment: Alignment) -> "PreparedKeys":
        """The same keys for a decoder that has attended to ``alignment``. Most scores do not care."""
        return self._replace(alignment=alignment)


def key_features(key: Tensor | PreparedKeys) -> Tensor:
    """The features of keys, ``(..., Tk, Dk)``, whether a score has prepared them or not."""
    return key.features if isinstance(key, PreparedKeys) else key


class Score(nn.Module):
    """What all scores share. A new score writes :meth:`compare`, and :meth:`project_key` if the keys need work."""

    has_fused_kernel = False  # whether torch has a kernel that computes this score, the softmax and the sum at once

    def project_key(self, key: Tensor) -> Tensor:
        """Do the work that depends on the keys alone: ``(..., Tk, Dk)`` -> ``(..., Tk, A)``."""
        return key

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        """Score ``query (..., Tq, Dq)`` against prepared keys: ``(..., Tq, Tk)``."""
        raise NotImplementedError(f"{type(self).__name__} must say how to compare a query with the keys")

    def prepare(self, key: Tensor) -> PreparedKeys:
        """Prepare ``key (..., Tk, Dk)``; the score takes the result in place of the keys."""
        return PreparedKeys(self.project_key(key))

    def forward(self, query: Tensor, key: Tensor | PreparedKeys) -> Tensor:
        return self.compare(query, key if isinstance(key, PreparedKeys) else self.prepare(key))


class Dot(Score):
    """q · k. No parameters; query and key live in the same space. Source: Luong et al. 2015, section 3.1, "dot"."""

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        check_same_features("dot", query, keys.features)
        return query @ keys.features.mT  # (..., Tq, D) @ (..., D, Tk) -> (..., Tq, Tk)


class ScaledDot(Dot):
    """q · k / √D: the variance of the score no longer grows with D. Source: Vaswani et al. 2017, equation 1."""

    has_fused_kernel = True

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        return super().compare(query / query.shape[-1] ** 0.5, keys)  # before the product, which float16 may not hold


class General(Score):
    """qᵀ W k: a learnt table says which feature of the query goes with which of the key.

    Args:
        query_dim, key_dim: features of query and key, which may differ.

    Source: Luong et al. 2015, section 3.1, "general" (the formula has no number).
    """

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        self.query_dim = query_dim
        self.key_to_query = nn.Linear(key_dim, query_dim, bias=False)

    def project_key(self, key: Tensor) -> Tensor:
        check_features("key", key, self.key_to_query.in_features)
        return self.key_to_query(key)  # (..., Tk, Dk) -> (..., Tk, Dq)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        check_features("query", query, self.query_dim)
        return query @ keys.features.mT  # (..., Tq, Dq) @ (..., Dq, Tk) -> (..., Tq, Tk)


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

    def project_key(self, key: Tensor) -> Tensor:
        rows = at_least_float32(key)  # in float16 eps would be 0
        return (rows / rows.norm(dim=-1, keepdim=True).clamp_min(self.eps)).to(key.dtype)  # (..., Tk, D), of length 1

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        check_same_features("cosine", query, keys.features)
        cosines = self.project_key(query) @ keys.features.mT  # (..., Tq, Tk)
        return self.log_beta.exp().to(query.dtype) * cosines


class Additive(Score):
    """vᵀ tanh(W_q q + W_k k), also called concat: W_q q + W_k k is one W on q and k laid end to end.

    Args:
        query_dim, key_dim: features of query and key.
        hidden: features of the space in which they are added, A.

    Source: Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1, "concat" (the formula has no number).
    """

    def __init__(self, query_dim: int, key_dim: int, hidden: int) -> None:
        super().__init__()
        self.query_to_hidden = nn.Linear(query_dim, hidden, bias=False)
        self.key_to_hidden = nn.Linear(key_dim, hidden)
        self.hidden_to_score = nn.Linear(hidden, 1, bias=False)

    def project_key(self, key: Tensor) -> Tensor:
        check_features("key", key, self.key_to_hidden.in_features)
        return self.key_to_hidden(key)  # (..., Tk, Dk) -> (..., Tk, A)

    def add_pairs(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        """W_q q + W_k k for each pair of a query and a key: ``(..., Tq, Tk, A)``."""
        check_features("query", query, self.query_to_hidden.in_features)
        queries = self.query_to_hidden(query)  # (..., Tq, Dq) -> (..., Tq, A)
        return queries[..., :, None, :] + keys.features[..., None, :, :]  # (..., Tq, 1, A) + (..., 1, Tk, A)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        pairs = self.add_pairs(query, keys)  # (..., Tq, Tk, A)
        return self.hidden_to_score(pairs.tanh())[..., 0]  # (..., Tq, Tk, A) -> (..., Tq, Tk)


class MLP(Additive):
    """One layer deeper than Additive: vᵀ ReLU(W ReLU(W_q q + W_k k) + b).

    Args: as :class:`Additive`.
    """

    def __init__(self, query_dim: int, key_dim: int, hidden: int) -> None:
        super().__init__(query_dim, key_dim, hidden)
        self.hidden_to_hidden = nn.Linear(hidden, hidden)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        deeper = self.hidden_to_hidden(self.add_pairs(query, keys).relu()).relu()  # (..., Tq, Tk, A)
        return self.hidden_to_score(deeper)[..., 0]  # (..., Tq, Tk)


class Location(Score):
    """W q: the query alone says where to look; what the keys hold is never asked.

    Args:
        query_dim: features of the query.
        max_length: the number of positions it can point at. A longer source is an error.

    Source: Luong et al. 2015, equation 8.
    """

    def __init__(self, query_dim: int, max_length: int) -> None:
        super().__init__()
        self.query_to_positions = nn.Linear(query_dim, max_length)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        positions, known = keys.features.shape[-2], self.query_to_positions.out_features
        if positions > known:
            raise ValueError(f"key has {positions} positions but this location score knows only max_length = {known}")
        check_features("query", query, self.query_to_positions.in_features)
        return self.query_to_positions(query)[..., :positions]  # (..., Tq, max_length) -> (..., Tq, Tk)


class LocationAware(Additive):
    """vᵀ tanh(W_q q + W_k k + W_f f): what a position holds, and whether the decoder has just been near it.

    f = the previous weights and the sum of all weights so far, or one of them, seen through a convolution along the
    source.

    Args:
        query_dim, key_dim, hidden: as :class:`Additive`.
        filters: how many features the convolution makes of each position.
        width: how many neighbouring positions a filter sees (odd).
        sees: what the filters receive, "previous" and "total", or one of them: the fields of :class:`Alignment`.

    Raises:
        ValueError: if ``width`` is even (a filter must have a middle), ``sees`` is empty or names something else,
            or a decoder has no alignment to give.

    Source: Chorowski et al. 2015, equations 7 to 9 (there the previous weights only; the running sum is ours to add).
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        hidden: int,
        filters: int = 8,
        width: int = 7,
        sees: tuple[str, ...] = Alignment._fields,
    ) -> None:
        super().__init__(query_dim, key_dim, hidden)
        if width % 2 == 0:
            raise ValueError(f"width must be odd, so that a filter has a middle; got {width}")
        if not sees or not set(sees) <= set(Alignment._fields):
            raise ValueError(f"sees must name one or more of {Alignment._fields}; got {sees}")
        self.sees = sees
        self.filters = nn.Conv1d(len(sees), filters, width, padding=width // 2, bias=False)
        self.filters_to_hidden = nn.Linear(filters, hidden, bias=False)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        if keys.alignment is None:
            raise ValueError("LocationAware needs the earlier weights: use score.prepare(key).at(alignment) as the key")
        rows = [getattr(keys.alignment, name) for name in self.sees]  # each (..., Tk)
        seen = torch.stack(rows, dim=-2).to(query.dtype)  # (..., S, Tk): S = 2, if the score sees both
        filtered = self.filters(seen.flatten(0, -3)).unflatten(0, seen.shape[:-2])  # (..., F, Tk)
        nearby = self.filters_to_hidden(filtered.mT)  # (..., Tk, F) -> (..., Tk, A)
        return super().compare(query, PreparedKeys(keys.features + nearby))  # (..., Tq, Tk)


class Sharpened(Score):
    """β · another score: the larger β, the more the best position takes. β = 1/τ, where τ is called the temperature.

    Args:
        score: the score to sharpen; it is kept as it is.
        beta: a number, or a function of the number of positions ``Tk``.

    Source: Chorowski et al. 2015, section 2.3 ("sharpening"); Graves et al. 2014, equation 5, for a learnt β.
    """

    def __init__(self, score: Score, beta: float | Callable[[int], float]) -> None:
        super().__init__()
        self.score = score
        self.beta = beta if callable(beta) else lambda positions: beta

    def project_key(self, key: Tensor) -> Tensor:
        return self.score.project_key(key)

    def compare(self, query: Tensor, keys: PreparedKeys) -> Tensor:
        return self.beta(keys.features.shape[-2]) * self.score.compare(query, keys)


dot = Dot()
scaled_dot = ScaledDot()
cosine = Cosine()
