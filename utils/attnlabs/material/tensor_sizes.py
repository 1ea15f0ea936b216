"""How large the tensors are that a function makes on its way, as Lab 12 asks."""

from collections.abc import Callable
from typing import Any

from misread.tensor_sizes import TensorSizes


def largest_tensor(function: Callable, *args: Any) -> tuple[Any, int]:
    """Call ``function(*args)``: its result, and how many numbers the largest tensor holds that it made."""
    with TensorSizes() as sizes:
        result = function(*args)
    return result, sizes.largest
