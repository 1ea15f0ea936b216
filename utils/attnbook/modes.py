"""The mode in which a model is asked: without dropout, whatever mode it is in, and afterwards in that mode again.

In training mode dropout is at work, batch normalisation mixes the examples of a batch, and hard attention draws. What
a model writes, or how good it is, would depend on that without a word being said.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TypeVar

import torch

Work = TypeVar("Work", bound=Callable)


@contextmanager
def evaluation_mode(model) -> Iterator[None]:
    """Inside this block each part of ``model`` is in evaluation mode; afterwards each is in the mode that it had.

    Args:
        model: anything with ``modules()``, in which parts may be frozen in a mode of their own. What has no
            ``modules`` is left alone.
    """
    parts = list(model.modules()) if hasattr(model, "modules") else []
    with _as_before(parts):
        for part in parts:
            part.training = False
        yield


@contextmanager
def training_mode(model: torch.nn.Module) -> Iterator[None]:
    """Inside this block ``model`` is in training mode; afterwards each part of it is in the mode that it had."""
    with _as_before(list(model.modules())):
        model.train()
        yield


@contextmanager
def _as_before(parts: list[torch.nn.Module]) -> Iterator[None]:
    modes = [part.training for part in parts]
    try:
        yield
    finally:
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode  # not train(mode), which would set the parts of this part as well


def evaluating(work: Work) -> Work:
    """Decorate a function whose first argument is a model: inside, it is in evaluation mode, without gradients."""

    @wraps(work)
    def run(model, *arguments, **options):
        with evaluation_mode(model), torch.no_grad():
            return work(model, *arguments, **options)

    return run  # type: ignore[return-value]  # it takes and returns what the function does
