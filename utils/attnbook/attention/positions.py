"""Positions: five ways to tell attention, which does not know order, where a word stands.

Two kinds add something to the word vectors (:class:`Sinusoidal`, :class:`Learned`). Two change the score of query and
key, and know only how far apart they are (:class:`Rotary`, :class:`LinearBias`). The fifth is to say nothing.

Where a score needs places, keys stand at 0 … Tk − 1 and the queries are the last Tq of them: in self-attention these
are the same words, and a decoder that writes a word at a time asks from the last place.
"""

import torch
from torch import Tensor, nn

from attnbook.attention.scores import ScaledDot, Score, scaled_dot


def angles(positions: Tensor, dim: int) -> Tensor:
    """The angle of each pair of features at each position, t · 10000^(−2i/D), in radians.

    Args:
        positions: ``(T,)`` numbers, as float.
        dim: D, even; a pair is made of two neighbouring features.

    Returns:
        ``(T, D/2)``; the first pair turns fastest, one radian a place.

    Raises:
        ValueError: if ``dim`` is odd.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if dim < 2 or dim % 2:
        raise ValueError(f"dim must be even, since features turn in pairs; got {dim}")
    pairs = torch.arange(0, dim, 2, device=positions.device, dtype=positions.dtype)  # (D/2,): 0, 2, 4, …
    return positions[:, None] * 10000.0 ** (-pairs / dim)  # (T, 1) * (D/2,) -> (T, D/2)


def sinusoidal_positions(length: int, dim: int, start: int = 0) -> Tensor:
    """Sine on the even, cosine on the odd features, of the angles of places ``start`` … ``start + length − 1``.

    Returns:
        ``(length, dim)`` float64, to be cast to what it is added to.

    Raises:
        ValueError: if ``dim`` is odd or ``length`` is not positive.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    turned = angles(torch.arange(start, start + length, dtype=torch.float64), dim)  # (T, D/2)
    return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)  # (T, D/2, 2) -> (T, D)


def relative_shift(dim: int, offset: float) -> Tensor:
    """The matrix M with p(t) M = p(t + offset) for every t: one rotation for each pair of features.

    Returns:
        ``(dim, dim)`` float64, used as ``positions @ M``.

    Raises:
        ValueError: if ``dim`` is odd.

    Source: Vaswani et al. 2017, section 3.5 (stated there: "a linear function").
    """
    turn = angles(torch.tensor([float(offset)], dtype=torch.float64), dim)[0]  # (D/2,)
    # (sin a, cos a) @ [[cos b, −sin b], [sin b, cos b]] = (sin(a + b), cos(a + b))
    blocks = torch.stack([turn.cos(), -turn.sin(), turn.sin(), turn.cos()], dim=-1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Turn each pair of features of ``x (..., T, D)`` by the angle of its position ``positions (T,)``.

    Source: Su et al. 2021, equation 34.
    """
    # Angles grow with the place, so they keep their digits until sine and cosine are taken; bfloat16 has too few.
    turn = angles(positions.to(x.device, torch.promote_types(x.dtype, torch.float32)), x.shape[-1])  # (T, D/2)
    cos, sin = turn.cos().to(x.dtype), turn.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, D/2) each
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., T, D/2, 2) -> (..., T, D)


class Sinusoidal(nn.Module):
    """Add :func:`sinusoidal_positions` to word vectors. No parameters; any length.

    Args:
        dim: features of the word vectors, even.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """``x (B, T, D)``, whose first word stands at place ``start``, plus its positions."""
        return x + sinusoidal_positions(x.shape[1], self.dim, start).to(x)


class Learned(nn.Module):
    """Add a trained vector for each place. Places that training never showed are left as they were at the start.

    Args:
        dim: features of the word vectors.
        max_length: how many places have a vector; a longer sequence is an error.

    Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(self, dim: int, max_length: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(max_length, dim) * dim**-0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """``x (B, T, D)``, whose first word stands at place ``start``, plus its positions.

        Raises:
            ValueError: if a place lies beyond ``max_length``.
        """
        end = start + x.shape[1]
        if end > len(self.vectors):
            raise ValueError(f"place {end - 1} has no vector: max_length is {len(self.vectors)}")
        return x + self.vectors[start:end]


class Rotary(ScaledDot):
    """Scaled dot of query and key, each turned by its own place: only the distance between them is left.

    Source: Su et al. 2021, section 3.2.
    """

    def turn(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Turn the keys as places 0 … Tk − 1 and the queries as the last Tq of these."""
        places = torch.arange(key.shape[-2], device=key.device)  # (Tk,)
        return rotate(query, places[len(places) - query.shape[-2] :]), rotate(key, places)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        return super().compare(*self.turn(query, prepared))


class LinearBias(Score):
    """Scaled dot, minus a penalty that grows with the distance; each head has a slope of its own, not learnt.

    Args:
        heads: H; slopes are 2^(−8h/H) for h = 1 … H.

    Raises:
        ValueError: if ``heads`` is not positive, or the query has another number of heads.

    Source: Press et al. 2022, section 3 (there for causal attention; we take the distance in both directions).
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, got {heads}")
        slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)  # (H,)
        self.register_buffer("slopes", slopes, persistent=False)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        if query.ndim != 4 or query.shape[1] != len(self.slopes):
            raise ValueError(f"query must be (B, {len(self.slopes)}, Tq, D), a slope a head; got {tuple(query.shape)}")
        places = torch.arange(prepared.shape[-2], device=query.device)  # (Tk,)
        distance = (places[len(places) - query.shape[-2] :, None] - places).abs()  # (Tq, Tk)
        penalty = self.slopes[:, None, None] * distance  # (H, 1, 1) * (Tq, Tk) -> (H, Tq, Tk)
        return scaled_dot(query, prepared) - penalty.to(query.dtype)  # (B, H, Tq, Tk)
