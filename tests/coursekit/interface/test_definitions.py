"""What the sources of a package define: names, homes, signatures, parts."""

import pytest

from coursekit.interface.definitions import modules_of

CORE = '''"""The core."""
from typing import NamedTuple, overload
from dataclasses import dataclass, field

@overload
def attend(query: int) -> int: ...
def attend(query: int, *, fused: bool = False) -> int:
    """Attend."""

def _hidden(): ...

class Layer:
    """A layer."""
    def __init__(self, size: int = 3) -> None: ...
    def forward(self, x: int) -> int:
        """Run."""
    @property
    def width(self) -> int:
        """How wide."""
    @staticmethod
    def of(x: int) -> int:
        """Make."""
    def untold(self): ...

@dataclass(frozen=True)
class Sizes:
    """Sizes."""
    width: int
    names: list = field(default_factory=list)
    deep: int = 2
'''


@pytest.fixture
def core(tmp_path):
    (tmp_path / "house/room").mkdir(parents=True)
    (tmp_path / "house/__init__.py").write_text("")
    (tmp_path / "house/room/__init__.py").write_text("from house.room.core import Layer, attend\n")
    (tmp_path / "house/room/core.py").write_text(CORE)
    (module,) = (one for one in modules_of(tmp_path, "house") if one.name == "house.room.core")
    return module


def test_a_name_is_imported_from_the_package_that_exports_it(core):
    assert [one.path for one in core.definitions] == [
        "house.room.attend", "house.room.Layer", "house.room.core.Sizes",
    ]  # fmt: skip
    assert core.words == "The core."


def test_a_signature_is_the_sources_and_of_an_overloaded_function_the_last(core):
    attend, layer, sizes = core.definitions
    assert attend.signature == "(query: int, *, fused: bool=False) -> int"
    assert attend.words == "Attend."
    assert layer.signature == "(size: int=3)"
    assert sizes.signature == "(width: int, names: list = ..., deep: int = 2)"


def test_of_a_class_the_parts_with_a_docstring_are_told(core):
    parts = {part.name: part for part in core.definitions[1].parts}
    assert parts.keys() == {"forward", "width", "of"}
    assert (parts["forward"].kind, parts["forward"].signature) == ("method", "(x: int) -> int")
    assert (parts["width"].kind, parts["width"].options) == ("property", {"type": "int"})
    assert (parts["of"].options, parts["of"].signature) == ({"staticmethod": ""}, "(x: int) -> int")
