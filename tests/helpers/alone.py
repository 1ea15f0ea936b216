"""A package of utils/ that can be installed alone: what it declares, and the wheel that it makes."""

import subprocess
import sys
import tomllib
from email import message_from_bytes
from pathlib import Path

from coursekit.teaching.wheel import build_wheel

ROOT = Path(__file__).parents[2]


def declared_alone(package: str) -> dict:
    """What the package's own pyproject.toml says of it."""
    return tomllib.loads((ROOT / "utils" / package / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def whole() -> dict:
    """What the pyproject.toml of the whole book says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def installed_alone(package: str, folder: Path) -> list[str]:
    """Build the wheel that a release holds, let pip install it into `folder`/site, and return what it needs."""
    name, content = build_wheel(ROOT, package)
    (folder / name).write_bytes(content)
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", "--quiet"]
    subprocess.run([*pip, "--target", folder / "site", folder / name], capture_output=True, check=True)
    assert {path.name.split("-")[0] for path in (folder / "site").iterdir()} == {package}
    assert (folder / "site" / package / "py.typed").is_file()
    (about,) = (folder / "site").glob("*.dist-info")
    assert (about / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    held = message_from_bytes((about / "METADATA").read_bytes()).get_all("Requires-Dist")
    return sorted(need.split(">")[0] for need in held if "extra ==" not in need)
