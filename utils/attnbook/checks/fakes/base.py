"""What the engine asks of an argument that carries tensors: a copy with other tensors, and how many there are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import Tensor


class Fake:
    """Keeps tensors, or tuples of them, as attributes. `words` says to a student what it is."""

    words = ""

    def transformed(self, change: Callable[[Tensor], Tensor]) -> Any:
        """A copy in which `change` was applied to each tensor."""
        made = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(made, name, change(value))
            elif isinstance(value, tuple):
                setattr(made, name, tuple(change(part) for part in value))
        return made

    def size(self) -> int:
        """How many numbers it holds."""
        held = [value if isinstance(value, tuple) else (value,) for value in vars(self).values()]
        return sum(part.numel() for value in held for part in value if isinstance(part, Tensor))

    def __repr__(self) -> str:
        return self.words
