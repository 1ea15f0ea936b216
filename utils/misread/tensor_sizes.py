"""How many numbers a function's tensors hold on its way: a measure of memory that is the same on every machine."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import Tensor
from torch.overrides import TorchFunctionMode

_running: list[TensorSizes] = []  # what counts now, the innermost last


class Limits(NamedTuple):
    """What is allowed, None where everything is.

    Args:
        most: numbers in one tensor. excess: the words of the RuntimeError at the first tensor with more.
        kept: numbers in all new tensors that exist at the same time, and the words.
        made: numbers in all new tensors together, those included that are gone, and the words.
    """

    most: int | None = None
    excess: str = "a tensor holds too many numbers"
    kept: tuple[int, str] | None = None
    made: tuple[int, str] | None = None


class TensorSizes(TorchFunctionMode):
    """Inside ``with TensorSizes() as sizes:`` notes ``sizes.largest``, the numbers in the largest tensor made.

    There a view counts as the tensor that it looks like; ``sizes.kept`` and ``sizes.made`` leave views out, because
    they need no memory. What torch's own functions make inside of them is not seen. Takes what ``Limits`` takes.
    """

    def __init__(self, *limits: Any, **named: Any) -> None:
        super().__init__()
        self.limits, self.largest, self.kept, self.made = Limits(*limits, **named), 0, 0, 0
        self._alive: dict[int, weakref.ref[Tensor]] = {}
        self.rests = False

    def __enter__(self) -> TensorSizes:
        _running.append(self)
        return super().__enter__()

    def __exit__(self, *what: Any) -> None:
        _running.remove(self)
        super().__exit__(*what)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One call of a function of torch's, whose results are counted."""
        result = func(*args, **(kwargs or {}))
        if self.rests:
            return result
        parts = result if isinstance(result, (tuple, list)) else (result,)
        for part in (part for part in parts if isinstance(part, Tensor)):
            self.largest = max(self.largest, part.numel())
            if self.limits.most is not None and part.numel() > self.limits.most:
                raise RuntimeError(self.limits.excess)
            if not part._is_view() and id(part) not in self._alive:
                self._new(part)
        return result

    def _new(self, tensor: Tensor) -> None:
        key, size = id(tensor), tensor.numel()

        def gone(_: Any) -> None:
            self.kept -= size
            del self._alive[key]

        self._alive[key] = weakref.ref(tensor, gone)
        self.kept, self.made = self.kept + size, self.made + size
        for count, limit in ((self.kept, self.limits.kept), (self.made, self.limits.made)):
            if limit is not None and count > limit[0]:
                raise RuntimeError(limit[1])


def limit_in_force() -> Limits | None:
    """The limits that the innermost ``with TensorSizes(…):`` with any sets now, for an answer in another process."""
    limits = [sizes.limits for sizes in _running]
    limited = [some for some in limits if (some.most, some.kept, some.made) != (None, None, None)]
    return limited[-1] if limited else None


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Inside, no tensor is counted: what sends an answer's arguments to another process is not the answer's own."""
    counting = [sizes for sizes in _running if not sizes.rests]
    for sizes in counting:
        sizes.rests = True
    try:
        yield
    finally:
        for sizes in counting:
            sizes.rests = False
