"""Benchmarks are scripts, not modules of a package: here is how a test gets hold of one."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from loaded import loaded

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="session")
def load_benchmark() -> Callable[[str], ModuleType]:
    """A function that runs ``benchmarks/NAME.py`` as a module."""

    def load(name: str) -> ModuleType:
        return loaded(FOLDER / f"{name}.py", f"benchmark_{name}")

    return load
