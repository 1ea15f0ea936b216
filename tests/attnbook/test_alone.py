"""The subject can be installed alone: with torch and tqdm, and nothing else of this house."""

import subprocess
import sys
from pathlib import Path

import pytest
from alone import declared_alone, installed_alone, whole

# What an environment with torch and tqdm lacks, made unfindable; numpy is one of them.
IMPORT_ALL = """if True:
    import importlib, pkgutil, sys, warnings
    sys.path[:0] = [sys.argv[1]]
    others = "matplotlib numpy IPython sklearn babel pooch sacrebleu tokenizers".split()
    others += "coursekit misread attnlabs attnruns attnpages".split()
    sys.modules.update(dict.fromkeys(others))
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
    assert installed_alone("attnbook", tmp_path) == ["filelock", "torch", "tqdm"]
    command = [sys.executable, "-c", IMPORT_ALL, str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "site" / "attnbook" / "__init__.py"
