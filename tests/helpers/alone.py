"""A package of utils/ that can be installed alone: what it declares, and the wheel that it makes."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).parents[2]


def declared_alone(package: str) -> dict:
    """What the package's own pyproject.toml says of it."""
    return tomllib.loads((ROOT / "utils" / package / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def whole() -> dict:
    """What the pyproject.toml of the whole book says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def installed_alone(package: str, folder: Path) -> list[str]:
    """Build the package's wheel, unpack it into `folder`/site, and return the names of what it needs."""
    shutil.copytree(ROOT / "utils" / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    code = "from setuptools.build_meta import build_wheel; build_wheel('..')"
    subprocess.run([sys.executable, "-c", code], cwd=folder / package, capture_output=True, check=True)
    (wheel,) = folder.glob(f"{package}-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        about = message_from_bytes(packed.read(next(name for name in names if name.endswith("METADATA"))))
        packed.extractall(folder / "site")
    assert f"{package}/py.typed" in names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {package}
    needs = [need for need in about.get_all("Requires-Dist") if "extra ==" not in need]
    return sorted(need.split(">")[0] for need in needs)
