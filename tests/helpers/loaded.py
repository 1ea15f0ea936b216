"""A file of Python that lies in no package, as a module."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


def loaded(path: Path, name: str = "") -> ModuleType:
    """Run the file and return its module, which is called like the file where no other ``name`` is given."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def loaded_beside(path: Path) -> Iterator[ModuleType]:
    """The same for a file that imports others of its folder, as Sphinx lets its extensions do."""
    sys.path.insert(0, str(path.parent))
    try:
        yield loaded(path)
    finally:
        sys.path.remove(str(path.parent))
