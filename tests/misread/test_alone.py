"""The engine can be installed alone: with torch and numpy, and nothing else of this house."""

from pathlib import Path

import pytest
from alone import declared_alone, installed_alone, whole
from torch_alone import run_alone

# A check names a mistake, without a notebook. The function has a file, because its source is read.
NAME_A_MISTAKE = """
import importlib, pkgutil
import misread
for module in pkgutil.walk_packages(misread.__path__, "misread."):
    importlib.import_module(module.name)
from misread.exercise import Exercise
from misread.judge import judge
from doubling import doubled
found = judge(Exercise(doubled, cases=lambda draw: [(draw.normal(*draw.sizes(2)),)]), lambda x: x * 4)
print(misread.__file__, found.kind, sep="\\n")
"""


def test_what_it_declares_is_in_step_with_the_book():
    alone, book = declared_alone("misread"), whole()
    assert (alone["version"], alone["requires-python"]) == (book["version"], book["requires-python"])
    assert set(alone["dependencies"]) <= set(book["dependencies"])


@pytest.mark.slow
def test_its_wheel_needs_torch_and_numpy_and_finds_a_mistake_with_these(tmp_path):
    needs = installed_alone("misread", tmp_path)
    assert needs == ["numpy", "torch"]
    (tmp_path / "site" / "doubling.py").write_text("def doubled(x):\n    return 2 * x\n", encoding="utf-8")
    (tmp_path / "named.py").write_text(NAME_A_MISTAKE, encoding="utf-8")
    file, kind = run_alone(tmp_path / "named.py", tmp_path, needs, tmp_path / "site").printed.splitlines()
    assert Path(file) == tmp_path / "site" / "misread" / "__init__.py"
    assert kind == "off by a factor"
