"""What stands in grading for a name that a lab's notebook imports, and that its answers do not need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


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
