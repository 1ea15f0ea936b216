"""Positions: five ways to tell attention, which does not know order, where a word stands.

Two kinds add something to the word vectors (:class:`Sinusoidal`, :class:`Learned`). Two tell attention itself, and only
how far apart a query and a key are: :class:`Rotary` turns both before they are compared, :class:`LinearBias` lowers
the score of those that are far apart. The fifth is to say nothing (:class:`NoPositions`).
"""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor, nn

from attnbook.attention.arguments import check_length
from attnbook.attention.precision import at_least_float32
from attnbook.device import on_cpu

BASE = 10000.0  # of the angles, in both papers below; models for longer texts have a greater one


def angles(positions: Tensor, dim: int, base: float = BASE) -> Tensor:
    """The angle of each pair of features at each position, t · base^(−2i/D), in radians.

    Args:
        positions: ``(..., T)`` numbers, as float32 or float64.
        dim: D, even; a pair is made of two neighbouring features.
        base: the greater it is, the slower the last pairs turn.

    Returns:
        ``(..., T, D/2)``; the first pair turns fastest, one radian a position.

    Raises:
        ValueError: if ``dim`` is odd.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if dim < 2 or dim % 2:
        raise ValueError(f"dim must be even, since features turn in pairs; got {dim}")
    pairs = torch.arange(0, dim, 2, device=positions.device, dtype=positions.dtype)  # (D/2,): 0, 2, 4, …
    return positions[..., None] * base ** (-pairs / dim)  # (..., T, 1) * (D/2,) -> (..., T, D/2)


def sinusoidal_positions(length: int, dim: int, start: int = 0) -> Tensor:
    """Sine on the even, cosine on the odd features, of the angles of positions ``start`` … ``start + length − 1``.

    Returns:
        ``(length, dim)`` float64, to be cast to what it is added to.

    Raises:
        ValueError: if ``dim`` is odd or ``length`` is not positive.

    Source: Vaswani et al. 2017, section 3.5.
    """
    check_length(length)
    turned = angles(torch.arange(start, start + length, dtype=torch.float64), dim)  # (T, D/2)
    return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)  # (T, D/2, 2) -> (T, D)


def kept_positions(length: int, dim: int, like: Tensor, start: int = 0) -> Tensor:
    """:func:`sinusoidal_positions` from ``start`` >= 0 on, in the number type and on the device of ``like``.

    To reckon a table on the CPU in float64 and to carry it to a device takes longer than what is done with it there, so
    each is made once and kept. The result is a part of it: nobody may write into it.

    Returns:
        ``(length, dim)``.

    Raises:
        ValueError: as :func:`sinusoidal_positions`, or if ``start`` is negative.
    """
    check_length(length)
    if start < 0:
        raise ValueError(f"start must be at least 0, the first position of a table, got {start}")
    rows = max(256, 1 << (start + length - 1).bit_length())  # a power of two, so that few tables serve all lengths
    return _table(rows, dim, like.dtype, like.device)[start : start + length]


@lru_cache(maxsize=16)
@torch.inference_mode(False)  # a tensor made in inference mode could not be trained with later
def _table(rows: int, dim: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """``(rows, dim)`` of :func:`sinusoidal_positions`."""
    return sinusoidal_positions(rows, dim).to(device, dtype)


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


@torch.inference_mode(False)  # what is kept must be fit to be trained with later
def turns(positions: Tensor, dim: int, dtype: torch.dtype, base: float = BASE) -> tuple[Tensor, Tensor]:
    """Cosine and sine of :func:`angles` at ``positions (..., T)``: ``(..., T, D/2)`` each, as ``dtype``.

    Angles grow with the position, so they keep their digits until these are taken; bfloat16 has too few.
    """
    turn = angles(positions.to(torch.promote_types(dtype, torch.float32)), dim, base)  # (..., T, D/2)
    return turn.cos().to(dtype), turn.sin().to(dtype)


# Of one positions tensor, known by its identity: all layers of a model ask from the same one, which nobody may write
# into, and only the first of them has to reckon.
kept_turns = lru_cache(maxsize=16)(turns)


@lru_cache(maxsize=16)
@torch.inference_mode(False)
def kept_range(start: int, end: int, device: torch.device) -> Tensor:
    """The positions ``start`` … ``end − 1``, ``(T,)``: the same tensor each time, for :func:`kept_turns`."""
    return torch.arange(start, end, device=device)


def apply_rotary(x: Tensor, positions: Tensor, base: float = BASE, turns: Callable = turns) -> Tensor:
    """Turn each pair of features of ``x (..., T, D)`` by the angle of its position, ``positions (..., T)``.

    Source: Su et al. 2021, equation 34.
    """
    cos, sin = turns(positions.to(x.device), x.shape[-1], x.dtype, base)  # (..., T, D/2) each
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, D/2) each
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., T, D/2, 2) -> (..., T, D)


@lru_cache(maxsize=16)
@torch.inference_mode(False)
def kept_points(positions: Tensor, dim: int, dtype: torch.dtype, base: float = BASE) -> Tensor:
    """:func:`turns` as points cos + i sin on the unit circle, ``(..., T, D/2)`` complex numbers of two ``dtype``."""
    return torch.complex(*turns(positions, dim, dtype, base))


def turn_pairs(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    """:func:`apply_rotary` with pairs of ``x (..., T, D)`` as complex numbers: one product with :func:`kept_points`.

    On a CPU this is ten times as fast, since no half of a pair is picked from memory alone.

    Source: Su et al. 2021, equation 12.
    """
    wide = at_least_float32(x).contiguous()
    pairs = torch.view_as_complex(wide.view(*x.shape[:-1], -1, 2))  # (..., T, D) -> (..., T, D/2)
    turned = pairs * kept_points(positions, x.shape[-1], wide.dtype, base)
    return torch.view_as_real(turned).view(x.shape).to(x.dtype)  # (..., T, D/2) -> (..., T, D)


class Sinusoidal(nn.Module):
    """Add :func:`sinusoidal_positions` to word vectors. No parameters; any length.

    Args:
        dim: features of the word vectors, even.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """``x (B, T, D)``, whose first word stands at position ``start``, plus its positions."""
        return x + kept_positions(x.shape[1], self.dim, x, start)


class Learned(nn.Module):
    """Add a trained vector for each position. Positions that training never showed are left as they were at the start.

    Args:
        dim: features of the word vectors.
        max_length: how many positions have a vector; a longer sequence is an error.

    Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(self, dim: int, max_length: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(max_length, dim) * dim**-0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """``x (B, T, D)``, whose first word stands at position ``start``, plus its positions.

        Raises:
            ValueError: if a position lies beyond ``max_length``.
        """
        end = start + x.shape[1]
        if end > len(self.vectors):
            raise ValueError(f"position {end - 1} has no vector: max_length is {len(self.vectors)}")
        return x + self.vectors[start:end]


class NoPositions(nn.Module):
    """What multi-head attention asks of positions; this one says nothing about them.

    Positions are numbers, ``(Tq,)`` and ``(Tk,)``, or ``(B, 1, Tq)`` and ``(B, 1, Tk)`` where sentences differ.
    """

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Turn queries or keys of the heads, ``x (B, H, T, D/H)``, by their positions; here not at all."""
        return x

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """What is added to the scores of queries and keys at these positions, ``(H, Tq, Tk)``; here nothing."""
        return None


class Rotary(NoPositions):
    """Turn query and key, each by its own position: their dot product then depends on the distance alone.

    Args:
        base: of the angles, see :func:`angles`.

    Source: Su et al. 2021, section 3.2.
    """

    def __init__(self, base: float = BASE) -> None:
        super().__init__()
        self.base = base

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        if on_cpu(x) and not torch.is_grad_enabled():
            return turn_pairs(x, positions, self.base)
        return apply_rotary(x, positions, self.base, kept_turns)


class LinearBias(NoPositions):
    """A penalty on the score that grows with the distance; each head has a slope of its own.

    Args:
        heads: H; slopes are 2^(−8h/H) for h = 1 … H.
        learn: let training set the slopes; all start at 1 then, and stay above 0.

    Raises:
        ValueError: if ``heads`` is not positive.

    Source: Press et al. 2022, section 3 (there for causal attention, with fixed slopes).
    """

    def __init__(self, heads: int, learn: bool = False) -> None:
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, got {heads}")
        self.heads = heads
        self.halvings = nn.Parameter(torch.zeros(heads)) if learn else None  # (H,): log2 of one over the slope

    @property
    def slopes(self) -> Tensor:
        """How much the score falls per position of distance, ``(H,)``, in float32 or float64.

        Fixed ones follow from H, so no module keeps them, and nothing that is loaded or converted can change them.
        """
        if self.halvings is None:
            return 2.0 ** -(8.0 * torch.arange(1, self.heads + 1) / self.heads)
        return 2.0 ** -at_least_float32(self.halvings)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        distance = (queries[..., :, None] - keys[..., None, :]).abs()  # (Tq, Tk), or (B, 1, Tq, Tk)
        slopes = self.slopes.to(distance.device)  # (H,)
        return slopes[:, None, None] * -distance  # (H, 1, 1) * (Tq, Tk) -> (H, Tq, Tk)
