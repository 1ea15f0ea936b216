"""The subject can be installed alone: with torch and tqdm, and nothing else of this house."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALONE = ROOT / "utils" / "attnbook" / "pyproject.toml"
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
    alone = tomllib.loads(ALONE.read_text(encoding="utf-8"))["project"]
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (alone["version"], alone["requires-python"]) == (whole["version"], whole["requires-python"])
    assert set(alone["dependencies"]) <= set(whole["dependencies"])
    assert set(alone["optional-dependencies"]["corpora"]) <= set(whole["optional-dependencies"]["notebooks"])


@pytest.mark.slow
def test_its_wheel_needs_torch_and_tqdm_and_every_module_of_it_imports_with_these(tmp_path):
    shutil.copytree(ALONE.parent, tmp_path / "attnbook", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from setuptools.build_meta import build_wheel; build_wheel('..')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "attnbook", capture_output=True, check=True)
    (wheel,) = tmp_path.glob("attnbook-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        about = message_from_bytes(packed.read(next(name for name in names if name.endswith("METADATA"))))
        packed.extractall(tmp_path / "site")
    needs = [need for need in about.get_all("Requires-Dist") if "extra ==" not in need]
    assert sorted(need.split(">")[0] for need in needs) == ["filelock", "torch", "tqdm"]
    assert "attnbook/py.typed" in names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"attnbook"}
    command = [sys.executable, "-c", IMPORT_ALL, str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "site" / "attnbook" / "__init__.py"
