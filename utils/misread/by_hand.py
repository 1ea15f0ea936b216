"""Notice when a function that is to find a gradient by hand lets torch find it.

However autograd is called, under whatever name it was imported, backward mode ends in one engine and forward
mode in one function. Both are watched, not forbidden: an error could be caught and hidden. So are the
derivatives that torch has as operations of their own, such as that of the softmax: they do without the engine."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from unittest import mock

import torch
from torch.autograd import Variable
from torch.autograd.forward_ad import dual_level
from torch.utils._python_dispatch import TorchDispatchMode

GRAD, BACKWARD, FUNC, FORWARD = "autograd.grad", "backward", "torch.func", "forward mode"
DERIVATIVE = "a derivative of torch's own"
_TORCH = str(Path(torch.__file__).parent)
_watching: list[list[str]] = []  # what is written down now, the innermost last


def note(way: str) -> None:
    """Write down a use of autograd that was seen in another process."""
    if _watching:
        _watching[-1].append(way)


class _Watched:
    """Torch's engine, which writes down who called it."""

    def __init__(self, engine, seen: list[str]):
        self._engine, self._seen = engine, seen

    def __getattr__(self, name: str):
        return getattr(self._engine, name)

    def run_backward(self, *args, **options):
        self._seen.append(_way())
        return self._engine.run_backward(*args, **options)


class _Derivatives(TorchDispatchMode):
    """Writes down that a derivative was called by itself, as `_softmax_backward_data` or the `grad_fn` of a result."""

    def __init__(self, seen: list[str]):
        super().__init__()
        self._seen = seen

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or torch imports its compiler, seconds of modules, inside the time limit of the first answer

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if "backward" in operation._schema.name:
            self._seen.append(DERIVATIVE)
        return operation(*args, **(kwargs or {}))


def _way() -> str:
    """By which way of torch's the engine was reached; None of torch's functions knows."""
    frame: FrameType | None = sys._getframe(2)
    way = GRAD
    while frame is not None and frame.f_code.co_filename.startswith(_TORCH):
        if "_functorch" in frame.f_code.co_filename:
            return FUNC
        way = BACKWARD if frame.f_code.co_name == "backward" else way
        frame = frame.f_back
    return way


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    """The ways in which autograd was used inside, in order."""
    seen: list[str] = []
    enter = dual_level.__enter__

    def noting(level):
        seen.append(FUNC if "_functorch" in sys._getframe(1).f_code.co_filename else FORWARD)
        return enter(level)

    engine = _Watched(Variable._execution_engine, seen)
    _watching.append(seen)
    try:
        with (
            mock.patch.object(Variable, "_execution_engine", engine),
            mock.patch.object(dual_level, "__enter__", noting),
            _Derivatives(seen),
        ):
            yield seen
    finally:
        _watching.pop()
