"""Where files lie that are not of this repository: in a folder that the reader names, or in the system's own."""

import os
from pathlib import Path

from attnbook.extras import needed_from

DATA = "ATTNBOOK_DATA"  # the variable that names a folder with what would else be fetched


def named_folder(variable: str) -> Path | None:
    """The folder that an environment variable names; ``None`` where it names none.

    Raises:
        ValueError: if what it names is no folder.
    """
    named = os.environ.get(variable, "").strip()
    if not named:
        return None
    if not Path(named).is_dir():
        raise ValueError(f"{variable} is {named!r}, which is no folder")
    return Path(named)


def cache_folder() -> Path:
    """Where the system keeps what was fetched once; it need not be there yet."""
    with needed_from("notebooks"):
        import pooch
    return Path(pooch.os_cache("paying-attention"))
