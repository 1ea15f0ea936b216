"""What stands in grading for names and modules of attnbook that answers do not need: it does nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from coursekit import ROOMS


class _LeftOut:
    """Does nothing, whatever is done with it, so that a cell that draws or trains costs nothing and goes on."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __mro_entries__(self, bases: tuple) -> tuple:
        return ()  # a class may be derived from it

    def __repr__(self) -> str:
        return type(self).__name__


def left_out(name: str) -> Any:
    """A stand-in for `name`. Its type says what it is: that is what a message shows of it."""
    return type(f"{name}, left out in grading", (_LeftOut,), {})()


def is_left_out(value: Any) -> bool:
    """Whether a value is such a stand-in."""
    return issubclass(type(value), _LeftOut)


def left_out_of(module: str) -> Callable[[str], Any]:
    """What a module answers, as its `__getattr__`, where it lacks a name."""

    def attribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return left_out(f"{module}.{name}")

    return attribute


class LeftOut(MetaPathFinder, Loader):
    """The last who is asked for a module: one of the book's packages that is not there is an empty one."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """A package for a name of ours, and nothing for others."""
        return ModuleSpec(name, self, is_package=True) if name.split(".")[0] in ROOMS else None

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        """It holds nothing, and answers each question for a name with a stand-in."""
        module.__getattr__ = left_out_of(module.__name__)  # type: ignore[method-assign]


def fill_gaps() -> None:
    """From now on a stand-in is found for whatever the modules of attnbook lack, and for those that are not there."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ROOMS and not name.startswith("coursekit"):
            module.__getattr__ = left_out_of(name)  # type: ignore[method-assign]
    sys.meta_path.append(LeftOut())
