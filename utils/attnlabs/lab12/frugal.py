"""Exercises that also ask how an answer treats its numbers: once, never too many at a time, or without a gradient."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from misread.exercise import Exercise
from misread.sandbox import Run
from misread.tensor_sizes import TensorSizes

MANY = 20  # blocks, so many that what is kept of all of them stands out
AT_ONCE = 2  # blocks that may be alive while the next one is asked for: the loop's own, and one to spare


class Once:
    """An iterator over blocks that can be gone through once, and notices when the blocks are collected."""

    def __init__(self, name: str, blocks: tuple[Tensor, ...]):
        self.name, self._waiting, self.given = name, list(blocks), list[weakref.ref]()
        self.over = False

    def __iter__(self) -> Once:
        if self.over:
            raise RuntimeError(f"{self.name} can be gone through only once, and you began a second time")
        return self

    def __next__(self) -> Tensor:
        if any(block is not None and block._version for block in (given() for given in self.given)):
            raise RuntimeError(f"{self.name}: you write into a block, which belongs to the caller; make a new tensor")
        if sum(block() is not None for block in self.given) > AT_ONCE:
            raise RuntimeError(
                f"{self.name}: you keep the earlier blocks; use each one, and do not collect them in a list"
            )
        if not self._waiting:
            self.over = True
            raise StopIteration
        block = self._waiting.pop(0).clone()
        if not block.requires_grad:  # else the graph of the gradients keeps it, which is nobody's fault
            self.given.append(weakref.ref(block))
        return block

    def __getitem__(self, index: object) -> Tensor:
        raise TypeError(f"{self.name} cannot be indexed, since it gives its blocks one after the other: use a for loop")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of Python's own protocols, which ask for such names
            raise AttributeError(name)
        raise AttributeError(
            f"this is an iterator, which has no `{name}`: its blocks are tensors, and a for loop gives them one by one"
        )

    def __len__(self) -> int:
        raise TypeError(f"{self.name} does not know how many blocks are still to come: use a for loop")


@dataclass(frozen=True, eq=False)
class OnePass(Exercise):
    """Its arguments are tuples of blocks; an answer receives each as an iterator that ends."""

    def run(self, function: Callable, args: tuple) -> Run:
        """One call, with iterators in the place of the tuples; of many blocks, most may not be kept in any form."""

        @functools.wraps(function)
        def with_iterators(*given: Any) -> Any:
            pairs = zip(self.parameters, given, strict=True)
            with TensorSizes(kept=_kept(given[0])):
                return function(*(Once(name, arg) if isinstance(arg, tuple) else arg for name, arg in pairs))

        return super().run(with_iterators, args)


def _kept(blocks: tuple[Tensor, ...]) -> tuple[int, str] | None:
    """What an answer may keep: of many blocks three quarters of their numbers, ten times what it needs."""
    if len(blocks) < MANY:
        return None
    return 3 * sum(block.numel() for block in blocks) // 4, (
        "at this block, your tensors hold nearly as many numbers as all blocks together; keep only a maximum, a total "
        "and a sum of values for each row"
    )


@dataclass(frozen=True, eq=False)
class Frugal(Exercise):
    """No tensor of an answer may hold more numbers than `most(*args)`; `excess` tells a student so. All of them
    together may hold `made(*args)`: how many, and the words."""

    most: Callable[..., int] = lambda *args: 2**62
    excess: str = "one of your tensors is too large"
    made: Callable[..., tuple[int, str] | None] = lambda *args: None

    def run(self, function: Callable, args: tuple) -> Run:
        """One call, in which every tensor is counted."""

        @functools.wraps(function)
        def counted(*given: Any) -> Any:
            with TensorSizes(self.most(*given), self.excess, made=self.made(*given)):
                return function(*given)

        return super().run(counted, args)


def _reached(result: Tensor, given: list) -> bool:
    """Whether a gradient flows from a result to what was given. A slice that was taken under `torch.no_grad()` may say
    that it wants a gradient, although nothing is behind it."""
    if not result.requires_grad:
        return False
    leaves = [x for x in given if isinstance(x, Tensor)]
    try:
        with torch.enable_grad():
            return any(slope is not None for slope in torch.autograd.grad(result.sum(), leaves, allow_unused=True))
    except RuntimeError:  # of an answer in another process: there is no graph that a gradient could go back through
        return False


@dataclass(frozen=True, eq=False)
class Detached(Exercise):
    """Its result must be cut from the graph, whichever of the arguments carries a gradient."""

    def run(self, function: Callable, args: tuple) -> Run:
        """One call, and a second one that looks for the graph."""

        @functools.wraps(function)
        def looked_at(*given: Any) -> Any:
            result = function(*given)
            with torch.enable_grad():
                leaves = [x.clone().requires_grad_() if isinstance(x, Tensor) else x for x in given]
                graded = [
                    x.clone() if isinstance(x, Tensor) else x for x in leaves
                ]  # torch lets nobody write into a leaf
                again = function(*graded)
            for name, x in zip(self.parameters, graded, strict=True):
                if isinstance(x, Tensor) and not x.requires_grad:
                    raise RuntimeError(f"`{name}` itself was cut from its graph, as `detach_()` does; use `detach()`")
            if isinstance(again, Tensor) and _reached(again, leaves):
                raise RuntimeError("the result still belongs to the graph of the gradients; detach it")
            return result

        return super().run(looked_at, args)
