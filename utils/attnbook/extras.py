"""Packages that only some parts of this one need: what to install where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_from(extra: str) -> Iterator[None]:
    """Import in this block what comes with an extra of ``pyproject.toml``; models and labs do without.

    Raises:
        ModuleNotFoundError: if it is missing; the message says in one sentence what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        raise ModuleNotFoundError(
            f"{package} is not installed; it comes with the book's extra {extra!r}, which "
            f"`pip install '.[{extra}]'` installs in the book's folder",
            name=error.name,
        ) from error
