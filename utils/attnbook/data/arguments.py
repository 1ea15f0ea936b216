"""What the functions that take several texts ask of them, said once."""

from collections.abc import Iterable
from typing import Any


def check_texts(**texts: Iterable[Any]) -> None:
    """Raise a TypeError for an argument that is one text where several are wanted: its letters would pass for them."""
    for name, given in texts.items():
        if isinstance(given, str):
            raise TypeError(f"{name} must be a list of texts, got one text, {given[:40]!r}; put it in a list")
