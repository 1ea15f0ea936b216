"""A notebook that runs the weights of others (`"needs"` in its metadata) is skipped where these are not kept."""

import json
from functools import cache
from pathlib import Path

import pytest

from attnbook.models.pretrained.fetching import kept


@cache
def missing_weights(notebook: Path) -> tuple[str, ...]:
    """The names of the weights that a notebook needs and this machine does not keep."""
    about = json.loads(notebook.read_text(encoding="utf-8"))["metadata"].get("attnbook", {})
    return tuple(name for name in about.get("needs", ()) if kept(name) is None)


def skip_without_weights(items: list[pytest.Item]) -> None:
    """Mark each cell of such a notebook, with the command that brings the weights."""
    for item in items:
        if item.path.suffix == ".ipynb" and (missing := missing_weights(item.path)):
            commands = " && ".join(f"python -m attnbook.pretrained {name}" for name in missing)
            item.add_marker(pytest.mark.skip(reason=f"{' and '.join(missing)} not here: {commands}"))
