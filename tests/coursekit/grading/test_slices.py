"""Of a package's source what some names need."""

from importlib import import_module
from pathlib import Path

import pytest

from coursekit.grading.slices import Slices

FILES = {
    "ours/__init__.py": "from ours.one import asked, other\n__version__ = '1'\n",
    "ours/one.py": '''\
"""A module."""
from __future__ import annotations
import math, os
from typing import Any
from .two import LIMIT as MOST, SIZE
from ours import three

def helper(x): return math.sqrt(x)
def asked(x: Any) -> Any:
    """Asked for."""
    from ours.inner.four import late
    return helper(x) + MOST + late
def other(x): return os.path, SIZE
def third(): return three.all_of_it
print("a side effect")
''',
    "ours/two.py": "BASE = 3\nLIMIT = BASE + 1\nSIZE = 9\nLIMIT += 1\n",
    "ours/three.py": "x = 1\nall_of_it = 2\nprint('kept')\n",
    "ours/inner/__init__.py": "from ours.three import x\n",
    "ours/inner/four.py": "try:\n    import abc\nexcept OSError:\n    abc = None\nlate = 7 if abc else 0\nrest = 1\n",
}


@pytest.fixture
def slices(tmp_path: Path) -> Slices:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Slices(tmp_path, "ours")


def kept(slices: Slices) -> dict[str, list[str]]:
    return {name: text.strip().splitlines()[1:] for name, text in slices.sources().items()}


def test_a_name_brings_what_it_uses_and_nothing_else(slices):
    slices.add("ours", "asked")
    found = kept(slices)
    assert found["ours"] == ["from ours.one import asked"]
    assert found["ours.two"] == ["BASE = 3", "LIMIT = BASE + 1", "LIMIT += 1"]
    assert found["ours.inner"] == []
    assert found["ours.inner.four"][-1] == "late = 7 if abc else 0"
    one = "\n".join(found["ours.one"])
    assert "import math\n" in one
    assert "from .two import LIMIT as MOST" in one
    assert not any(word in one for word in ("os", "SIZE", "other", "three", "typing", "print"))
    assert "ours.three" not in found


def test_a_module_that_is_imported_is_kept_whole(slices):
    slices.add("ours.one", "third")
    assert kept(slices)["ours.three"] == FILES["ours/three.py"].splitlines()


def test_what_was_kept_can_be_run(slices, tmp_path, monkeypatch):
    slices.add("ours", "asked")
    for name, text in slices.sources().items():
        slices.path(name).write_text(text.replace("ours", "kept_of_ours"))
    (tmp_path / "ours").rename(tmp_path / "kept_of_ours")
    monkeypatch.syspath_prepend(tmp_path)
    assert import_module("kept_of_ours").asked(4) == 2.0 + 5 + 7


@pytest.mark.parametrize("module, name", [("ours.one", "nothing"), ("ours.none", "x"), ("ours", "nothing")])
def test_what_is_not_there_is_said(module, name, slices):
    with pytest.raises(ImportError, match=f"{module}"):
        slices.add(module, name)


def test_it_tells_what_it_holds(slices):
    slices.add("ours.one", "asked")
    assert slices.holds("ours.one", "helper")
    assert slices.holds("ours.inner", "four")
    assert not slices.holds("ours.one", "other")
    assert not slices.holds("ours.three", "x")
