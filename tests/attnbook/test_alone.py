"""The subject can be installed alone: with torch and tqdm, and nothing else of this house."""

from pathlib import Path

import pytest
from alone import declared_alone, installed_alone, whole
from torch_alone import run_alone

IMPORT_ALL = """
import importlib, pkgutil, warnings
warnings.simplefilter("ignore")  # torch mentions that numpy is missing
import attnbook
for module in pkgutil.walk_packages(attnbook.__path__, "attnbook."):
    importlib.import_module(module.name)
from attnbook.seeding import seed_everything
seed_everything(1)
print(attnbook.__file__)
"""


def test_what_it_declares_is_in_step_with_the_book():
    alone, book = declared_alone("attnbook"), whole()
    assert (alone["version"], alone["requires-python"]) == (book["version"], book["requires-python"])
    assert set(alone["dependencies"]) <= set(book["dependencies"])
    assert set(alone["optional-dependencies"]["corpora"]) <= set(book["optional-dependencies"]["notebooks"])


@pytest.mark.slow
def test_its_wheel_needs_torch_and_tqdm_and_every_module_of_it_imports_with_these(tmp_path):
    needs = installed_alone("attnbook", tmp_path)
    assert needs == ["filelock", "torch", "tqdm"]
    (tmp_path / "all.py").write_text(IMPORT_ALL, encoding="utf-8")
    printed = run_alone(tmp_path / "all.py", tmp_path, needs, tmp_path / "site").printed
    assert Path(printed.strip()) == tmp_path / "site" / "attnbook" / "__init__.py"
