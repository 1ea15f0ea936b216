"""Which memory an answer's results have in common with its arguments: over the wire each tensor becomes one of its own.

So the answer's process says it (`shared`), and the grader makes the same views of its own arguments (`joined`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from coursekit.grading import wire
from misread import values


class Recent:
    """The latest results of calls, each with what is to be known about it; all are forgotten when they grow too large.

    Whoever holds them sees it when a later call writes into one of them."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Any, Any]] = {}
        self.size = 0

    def keep(self, key: int, result: Any, tensors: Sequence[Tensor], about: Any) -> None:
        """Keep a result, whose tensors these are, under a key."""
        self.size += sum(tensor.nbytes for tensor in tensors)
        if self.size > wire.LARGEST:
            self.found, self.size = {}, 0
        self.found[key] = result, about

    def find(self, key: int) -> tuple[Any, Any] | None:
        """The result, and what is known about it; None where it was forgotten, or never kept."""
        return self.found.get(key)


Share = tuple[int, int, list[int]]  # number of the argument's tensor; where in its memory it begins; its strides


def shared(results: Sequence[Tensor], given: Sequence[Tensor]) -> list[Share | None]:
    """For each result tensor, the argument's tensor in whose memory it lies, or None.

    By address, and not by storage: what `torch.from_numpy(mask.numpy())` gives back has another storage."""
    with torch._C.DisableTorchFunctionSubclass():  # a subclass may answer for itself, but not here
        return [_share(result, given) for result in results]


def _share(result: Tensor, given: Sequence[Tensor]) -> Share | None:
    if not _has_memory(result):
        return None
    for number, tensor in enumerate(given):
        if _has_memory(tensor) and tensor.dtype == result.dtype:
            offset = result.data_ptr() - tensor.untyped_storage().data_ptr()
            if 0 <= offset < tensor.untyped_storage().nbytes() and offset % result.element_size() == 0:
                return number, offset // result.element_size(), list(result.stride())
    return None


def _has_memory(tensor: Tensor) -> bool:
    return tensor.layout is torch.strided and tensor.device.type == "cpu" and tensor.numel() > 0


def joined(result: Any, tensors: Sequence[Tensor], shares: Any, given: Sequence[Tensor]) -> Any:
    """A result that was decoded, with views of the arguments' tensors in place of those that were such views.

    Raises WireError for shares that `shared` did not make. A view that holds other numbers than came is none."""
    try:
        views = {id(tensor): _view(tensor, share, given) for tensor, share in zip(tensors, shares or (), strict=False)
                 if share is not None}  # fmt: skip
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        raise wire.WireError(f"{type(error).__name__}: {error}") from None
    return values.transform(result, lambda tensor: views.get(id(tensor), tensor)) if views else result


def _view(tensor: Tensor, share: Any, given: Sequence[Tensor]) -> Tensor:
    number, offset, strides = share
    view = given[number].detach().as_strided(tensor.shape, strides, offset)
    return view if view.dtype == tensor.dtype and values.same(view, tensor) else tensor
