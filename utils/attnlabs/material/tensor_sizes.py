"""How large the tensors are that a function makes on its way: a measure of memory that is the same on every machine."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class TensorSizes(TorchFunctionMode):
    """Inside ``with TensorSizes() as sizes:`` notes ``sizes.largest``, the numbers in the largest tensor made.

    A view counts as the tensor that it looks like; what torch's own functions make inside of them is not seen.

    Args:
        most: where given, a RuntimeError is raised at the first tensor with more numbers.
        excess: its words.
    """

    def __init__(self, most: int | None = None, excess: str = "a tensor holds too many numbers") -> None:
        super().__init__()
        self.most, self.excess, self.largest = most, excess, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One call of a function of torch's, whose results are counted."""
        result = func(*args, **(kwargs or {}))
        parts = result if isinstance(result, (tuple, list)) else (result,)
        self.largest = max([self.largest] + [part.numel() for part in parts if isinstance(part, Tensor)])
        if self.most is not None and self.largest > self.most:
            raise RuntimeError(self.excess)
        return result


def largest_tensor(function: Callable, *args: Any) -> tuple[Any, int]:
    """Call ``function(*args)``: its result, and how many numbers the largest tensor holds that it made."""
    with TensorSizes() as sizes:
        result = function(*args)
    return result, sizes.largest
