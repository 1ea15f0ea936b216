"""A second device to try an answer on: the graphics card where there is one, else a pretended one.

On the pretended device the arguments keep their memory and their numbers, so an answer may read them. Which tensors
count as lying there is followed through torch's functions, and mixing them with others fails as it does on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from . import values

best_device: Callable[[], torch.device] = partial(torch.device, "cpu")  # a course may name its own way to choose
THERE = torch.device("meta")  # what an answer sees as the device of a tensor that lies on the pretended one
MIXED = ("same device", "is not on the expected device", "device type for generator")  # of torch's messages
_MAY_MIX = {"copy_", "pack_padded_sequence", "__set__", "_has_compatible_shallow_copy_type"}  # on a GPU, too


class Place(Protocol):
    """A device: to call a function there, on arguments that were sent there; and whether a tensor lies there."""

    def send(self, args: tuple) -> tuple: ...
    def call(self, function: Callable, *args: Any) -> Any: ...
    def holds(self, tensor: Tensor) -> bool: ...


def second_device(answer: Callable) -> Place:
    """The place to try an answer at. One that runs in another process (`apart`) is out of our sight: it meets torch's
    own device without numbers, "meta"."""
    if getattr(answer, "apart", False):
        return Real(THERE)
    best = best_device()
    return Pretended() if best.type == "cpu" else Real(best)


class Real:
    """A device of torch's."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def send(self, args: tuple) -> tuple:
        return values.transform(args, self._sent)

    def _sent(self, tensor: Tensor) -> Tensor:
        if self.device.type == "mps" and tensor.dtype == torch.float64:  # it has none
            tensor = tensor.float()
        return tensor.to(str(self.device))  # by name, see `StaysBehind` in lab 8

    def call(self, function: Callable, *args: Any) -> Any:
        return function(*args)

    def holds(self, tensor: Tensor) -> bool:
        return tensor.device.type == self.device.type


class Pretended(TorchFunctionMode):
    """A device without a graphics card. A tensor that was made without `device=` lies outside of it."""

    def __init__(self) -> None:
        super().__init__()
        self.there: dict[int, Tensor] = {}  # by the address of their memory; held, so that no other tensor gets it
        self.blind = False  # inside torch.vmap and the like nothing can be followed, and nothing is said

    def send(self, args: tuple) -> tuple:
        with self:
            return values.transform(args, lambda tensor: tensor.to(str(THERE)))

    def call(self, function: Callable, *args: Any) -> Any:
        with self:
            return function(*args)

    def holds(self, tensor: Tensor) -> bool:
        return self.blind or _address(tensor) in self.there

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs, name = kwargs or {}, getattr(function, "__name__", "")
        if function == Tensor.device.__get__:
            return THERE if self.holds(args[0]) else args[0].device
        given = list(_tensors([*args, *kwargs.values()]))
        self.blind = self.blind or any(map(torch._C._functorch.is_functorch_wrapped_tensor, given))
        if name == "_parse_to":  # of `module.to(device)`, which will send its tensors one by one
            return function(*args, **kwargs)
        wish = _wish(name, args, kwargs)
        if name in _MAY_MIX:
            inside = self.holds(args[0])
        elif wish is not None:
            inside = self._is_inside(wish)
        else:
            self._must_not_meet(name, args, given)
            inside = any(map(self.holds, given))
        made = function(*_at_home(args), **dict(zip(kwargs, _at_home(tuple(kwargs.values())), strict=True)))
        return self._placed(made, given, inside, moved=wish is not None)

    def _is_inside(self, wish: Any) -> bool:
        return self.holds(wish) if isinstance(wish, Tensor) else torch.device(wish) == THERE

    def _must_not_meet(self, name: str, args: tuple, given: list[Tensor]) -> None:
        """Refuse what a GPU refuses: a plain number may come from anywhere, and so may what picks entries there."""
        if name in ("__getitem__", "__setitem__") and self.holds(args[0]):
            return
        if name == "__setitem__":  # entries outside may be filled from anywhere, but not picked by what lies inside
            given = [args[0], *_tensors(args[1])]
        outside = [tensor for tensor in given if tensor.dim() > 0 and not self.holds(tensor)]
        if outside and any(map(self.holds, given)):
            raise RuntimeError("expected all tensors to be on the same device, but one was made on the CPU")

    def _placed(self, made: Any, given: list[Tensor], inside: bool, moved: bool) -> Any:
        if moved and any(made is tensor and self.holds(tensor) != inside for tensor in given):
            made = made.clone()  # not moved in truth, but another tensor from now on
        for tensor in _tensors(made) if inside and not self.blind else ():
            self.there[_address(tensor)] = tensor
        return made


def _wish(name: str, args: tuple, kwargs: dict) -> Any:
    """The device, or the tensor, where the result is wished; None where it follows from the arguments."""
    if kwargs.get("device") is not None:
        return kwargs["device"]
    if name == "cpu":
        return "cpu"
    if name in ("to", "type_as"):
        wishes = [*args[1:2], *([kwargs["other"]] if "other" in kwargs else [])]
        return next((wish for wish in wishes if isinstance(wish, (Tensor, torch.device, str))), None)
    return None


def _at_home(args: tuple) -> tuple:
    """The arguments, with the CPU in place of the pretended device."""
    there = [isinstance(arg, (torch.device, str)) and str(arg) == str(THERE) for arg in args]
    return tuple("cpu" if is_there else arg for is_there, arg in zip(there, args, strict=True))


def _address(tensor: Tensor) -> int:
    """Where the memory begins that a tensor shares with its views; what is empty has none, and stands for itself."""
    return tensor.untyped_storage().data_ptr() or id(tensor)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, slice):
        yield from _tensors([value.start, value.stop, value.step])
    else:
        yield from values.tensors(value)
