"""Positions for sequences longer than those of training: heads with a hard window, and positions drawn at random."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnbook.attention.positions import BASE, NoPositions, Rotary


class HardBias(NoPositions):
    """No positions, but some heads see only the last few words ("Hard-ALiBi"): a bias of 0 there, −∞ farther back.

    Args:
        windows: of each head, how many words it sees, itself included; ``None`` = all. For causal attention.

    Raises:
        ValueError: if there is no head, or a window is not positive.

    Source: Jelassi et al. 2024, section 4.1; their program gives head i the last i words.
    """

    def __init__(self, windows: Sequence[int | None]) -> None:
        super().__init__()
        if not windows or any(window is not None and window < 1 for window in windows):
            raise ValueError(f"windows must hold a positive number or None for each head, got {windows!r}")
        self.windows = tuple(windows)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        back = queries[..., :, None] - keys[..., None, :]  # (Tq, Tk)
        reach = [torch.inf if window is None else window for window in self.windows]  # (H,)
        hidden = back >= torch.tensor(reach, device=back.device)[:, None, None]  # (H, Tq, Tk)
        return torch.zeros(hidden.shape, device=back.device).masked_fill(hidden, -torch.inf)


class WindowedRotary(Rotary):
    """Rotary positions whose heads see only the last few words, so that no distance is ever new. For causal attention.

    Args:
        window: how many words a head sees, itself included.

    Raises:
        ValueError: if ``window`` is not positive.

    Source: Yang et al. 2025 ("RoPE to NoPE and Back Again"), whose layers with such windows take turns with layers that
    see everything and know no positions.
    """

    def __init__(self, window: int, base: float = BASE) -> None:
        super().__init__(base)
        if window < 1:
            raise ValueError(f"window must be positive, got {window}")
        self.window = HardBias((window,))

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.window.bias(queries, keys)  # (1, Tq, Tk), the same for each head


class Drawn:
    """Rising positions, drawn at random from 0 … ``longest`` − 1, the same for all layers until the next draw.

    Args:
        longest: how many positions there are; no sequence may be longer.

    Source: Ruoss et al. 2023, section 3.
    """

    def __init__(self, longest: int) -> None:
        self.longest, self.at = longest, torch.arange(longest)

    def draw(self, length: int) -> None:
        """Draw positions for a sequence of ``length`` words, by torch's global generator.

        Raises:
            ValueError: if ``length`` is over ``longest``.
        """
        if length > self.longest:
            raise ValueError(f"length must be at most longest = {self.longest}, got {length}")
        self.at = torch.randperm(self.longest)[:length].sort().values  # (T,)


class RandomRotary(Rotary):
    """Rotary positions of which each sequence gets a draw; for whole sequences only.

    Args:
        drawn: whose :meth:`Drawn.draw` was called for this length.
    """

    def __init__(self, drawn: Drawn, base: float = BASE) -> None:
        super().__init__(base)
        self.drawn = drawn

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().rotate(x, self.drawn.at.to(x.device)[positions.to(x.device)])
