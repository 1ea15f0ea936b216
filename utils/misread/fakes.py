"""What the engine asks of an argument that carries tensors: a copy with other tensors, and how many there are."""

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


def check_shape(part: str, name: str, tensor: object, *wanted: str | int, hint: str = "") -> None:
    """Raise ValueError, or TypeError for what is no tensor, unless a tensor has the shape that `part` wants.

    A letter stands for any size; `hint` follows the message.
    """
    shape = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{part}: {name} is of type {type(tensor).__name__}; wanted a tensor {shape}{hint}")
    pairs = zip(tensor.shape, wanted, strict=False)
    if tensor.dim() != len(wanted) or any(size != want for size, want in pairs if isinstance(want, int)):
        raise ValueError(f"{part}: {name} has shape {tuple(tensor.shape)}; wanted {shape}{hint}")


def check_words(part: str, name: str, words: Tensor, state: Tensor) -> None:
    """Raise TypeError unless words are whole numbers, RuntimeError unless they are on the state's device."""
    if words.is_floating_point():
        raise TypeError(f"{part}: {name} is {words.dtype}; a word's number is an integer (torch.long)")
    check_device(part, name, words, state)


def check_device(part: str, name: str, tensor: Tensor, other: Tensor) -> None:
    """Raise RuntimeError, in the words that torch has for it, unless two tensors are on one device."""
    if tensor.device != other.device:
        raise RuntimeError(f"{part}: {name} on {tensor.device} is not on the expected device {other.device}")
