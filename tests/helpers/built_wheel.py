"""The book's wheel, built once for all workers of a run."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from coursekit.teaching.wheel import build_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """The name and the content of the wheel, as `build_wheel` gives them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the workers share
    with FileLock(folder / "wheel.lock"):
        found = list(folder.glob("*.whl"))
        if not found:
            name, content = build_wheel(Path(__file__).parents[2])
            (folder / name).write_bytes(content)
            return name, content
        return found[0].name, found[0].read_bytes()
