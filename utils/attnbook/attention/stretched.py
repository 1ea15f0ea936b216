"""Rotary positions for texts longer than those of training: four ways to make the pairs of features turn more slowly.

A pair of features turns by its frequency, in radians per position. At positions that training never reached, slow pairs
come to angles that no weight has seen. Each way here is a tensor of frequencies ``(D/2,)``, which :class:`Stretched`
turns by; a trained model takes it in the place of its own positions (:func:`stretch`), without a weight being changed.
"""

import math
from typing import Any

import torch
from torch import Tensor

from attnbook.attention.positions import BASE, NoPositions, angles, apply_rotary


def rotary_frequencies(dim: int, base: float = BASE) -> Tensor:
    """θ_i = base^(−2i/D), ``(D/2,)`` float64. A greater base is the first way: Xiong et al. 2023 take 500,000.

    Raises:
        ValueError: if ``dim`` is odd.
    """
    return angles(torch.ones((), dtype=torch.float64), dim, base)  # the angles at position 1


def interpolated_frequencies(dim: int, factor: float, base: float = BASE) -> Tensor:
    """θ_i / s: all pairs turn more slowly, as if positions 0, 1, 2 … were 0, 1/s, 2/s … Source: Chen et al. 2023.

    Args:
        factor: s, how many times as long texts are to be; at least 1.

    Raises:
        ValueError: if ``dim`` is odd, or ``factor`` is under 1.
    """
    _check_factor(factor)
    return rotary_frequencies(dim, base) / factor


def ntk_frequencies(dim: int, factor: float, base: float = BASE) -> Tensor:
    """The base times s^(D/(D−2)): the slowest pair turns s times as slowly, and the fastest as fast as before.

    Arguments and errors as :func:`interpolated_frequencies`; ``dim`` at least 4. Source: Peng et al. 2023
    ("NTK-aware" interpolation).
    """
    _check_factor(factor)
    if dim < 4:
        raise ValueError(f"dim must be at least 4, for there to be a slowest pair and a fastest, got {dim}")
    return rotary_frequencies(dim, base * factor ** (dim / (dim - 2)))


def yarn_frequencies(
    dim: int, factor: float, trained: int, base: float = BASE, slow: float = 1.0, fast: float = 32.0
) -> Tensor:
    """Pairs that turned often in training stay as they are, pairs that did not turn once are interpolated.

    In a text of ``trained`` positions a pair turns r = trained · θ / 2π times. From r = ``slow`` to r = ``fast`` the
    share γ of the old frequency rises from 0 to 1: (1 − γ) θ/s + γ θ. (The authors' program, and ``transformers``, let
    γ rise with the number i of the pair and not with r.)

    Args:
        factor: s. trained: positions in training. slow, fast: α and β in the paper, with its values for LLaMA.

    Raises:
        ValueError: if ``dim`` is odd, ``factor`` is under 1, ``trained`` is not positive, or ``fast`` is not greater
            than ``slow``.

    Source: Peng et al. 2023 ("NTK-by-parts" interpolation; YaRN is this and :func:`yarn_scale`).
    """
    _check_factor(factor)
    if trained < 1:
        raise ValueError(f"trained must be at least 1 position, got {trained}")
    if slow >= fast:
        raise ValueError(f"fast must be greater than slow, got slow = {slow} and fast = {fast}")
    old = rotary_frequencies(dim, base)  # (D/2,)
    turns = trained * old / (2 * math.pi)  # (D/2,): r
    share = ((turns - slow) / (fast - slow)).clamp(0, 1)  # (D/2,): γ
    return (1 - share) * old / factor + share * old


def yarn_scale(factor: float) -> float:
    """0.1 ln s + 1: queries and keys are both multiplied by it, so that scores are sharper by its square.

    Source: Peng et al. 2023 (there √(1/t), with a temperature t of the softmax).
    """
    _check_factor(factor)
    return 0.1 * math.log(factor) + 1


class Stretched(NoPositions):
    """Rotary positions by frequencies that are given; otherwise as :class:`~attnbook.attention.Rotary`.

    Args:
        frequencies: ``(D/2,)`` radians per position. scale: of queries and of keys, see :func:`yarn_scale`.
    """

    def __init__(self, frequencies: Tensor, scale: float = 1.0) -> None:
        super().__init__()
        self.frequencies, self.scale = frequencies, scale  # float64, and no buffer: a model's type would round it

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Turn each pair of ``x (B, H, T, D)`` by the angle of its position, ``positions (T,)`` or ``(B, 1, T)``.

        Raises:
            ValueError: if there is not one frequency for each pair.
        """
        if x.shape[-1] != 2 * len(self.frequencies):
            raise ValueError(f"x has {x.shape[-1]} features, where {len(self.frequencies)} frequencies turn two each")
        return apply_rotary(x, positions, turns=self.turns)

    def turns(self, positions: Tensor, dim: int, dtype: torch.dtype, base: float) -> tuple[Tensor, Tensor]:
        """In the place of :func:`~attnbook.attention.positions.turns`; here no base says how fast a pair turns."""
        exact = torch.promote_types(dtype, torch.float32)  # bfloat16 has too few digits for an angle
        turn = positions.to(exact)[..., None] * self.frequencies.to(positions.device, exact)  # (..., T, D/2)
        return (self.scale * turn.cos()).to(dtype), (self.scale * turn.sin()).to(dtype)


def stretch(model: Any, frequencies: Tensor, scale: float = 1.0) -> None:
    """Let each self-attention of a model of blocks turn by other frequencies from now on, as :class:`Stretched`.

    Args:
        model: a :class:`~attnbook.models.LanguageModel`, such as ``attnbook.models.pretrained.load`` returns.
    """
    for layer in model.blocks.layers:
        layer.self_attention.positions = Stretched(frequencies, scale)


def _check_factor(factor: float) -> None:
    if factor < 1:
        raise ValueError(f"factor must be at least 1 (texts as long as in training), got {factor}")
