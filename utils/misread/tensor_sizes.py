"""How large the tensors are that a function makes on its way: a measure of memory that is the same on every machine."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

_running: list[TensorSizes] = []  # what counts now, the innermost last


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

    def __enter__(self) -> TensorSizes:
        _running.append(self)
        return super().__enter__()

    def __exit__(self, *what: Any) -> None:
        _running.remove(self)
        super().__exit__(*what)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One call of a function of torch's, whose results are counted."""
        result = func(*args, **(kwargs or {}))
        parts = result if isinstance(result, (tuple, list)) else (result,)
        size = max((part.numel() for part in parts if isinstance(part, Tensor)), default=0)
        self.largest = max(self.largest, size)
        if self.most is not None and size > self.most:
            raise RuntimeError(self.excess)
        return result


def limit_in_force() -> tuple[int, str] | None:
    """The limit that the innermost ``with TensorSizes(most, excess):`` sets now, for an answer in another process."""
    limited = [(sizes.most, sizes.excess) for sizes in _running if sizes.most is not None]
    return limited[-1] if limited else None
