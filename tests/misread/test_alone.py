"""The engine can be installed alone: with torch and numpy, and nothing else of this house."""

import subprocess
import sys
from pathlib import Path

import pytest
from alone import declared_alone, installed_alone, whole

# What an environment with torch and numpy lacks, made unfindable; a check then names a mistake, without a notebook.
NAME_A_MISTAKE = """if True:
    import importlib, pkgutil, sys
    sys.path[:0] = [sys.argv[1], "."]
    others = "matplotlib tqdm IPython sklearn babel pooch sacrebleu tokenizers nbformat".split()
    others += "coursekit attnbook attnlabs attnruns attnpages".split()
    sys.modules.update(dict.fromkeys(others))
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
    assert installed_alone("misread", tmp_path) == ["numpy", "torch"]
    (tmp_path / "doubling.py").write_text("def doubled(x):\n    return 2 * x\n", encoding="utf-8")
    command = [sys.executable, "-c", NAME_A_MISTAKE, str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    file, kind = done.stdout.splitlines()
    assert Path(file) == tmp_path / "site" / "misread" / "__init__.py"
    assert kind == "off by a factor"
