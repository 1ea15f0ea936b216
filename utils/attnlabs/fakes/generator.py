"""A generator of random numbers as an argument, which a student can copy from the message of a check."""

from __future__ import annotations

import torch


class Generator(torch.Generator):
    """A generator that tells a student where it begins."""

    def __new__(cls, seed: int) -> Generator:
        made = super().__new__(cls)
        made.manual_seed(seed)
        return made

    def __repr__(self) -> str:
        return f"torch.Generator().manual_seed({self.initial_seed()})"
