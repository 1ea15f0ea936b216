"""The book's wheel, and archives that are the same byte for byte whenever they are made."""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from coursekit import ROOMS, CourseError

ALONE = ("attnbook", "misread")  # packages that are wheels of their own, too
SOURCES = ("pyproject.toml", "LICENSE", "LICENSE-text", *(f"utils/{name}" for name in ROOMS), "results")
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold: when it was made is nobody's business
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")
# uncompressed, because `archive` compresses it, and what it holds is mostly weights
BUILD = "from setuptools.build_meta import build_wheel; build_wheel('dist', {'--build-option': '--compression=stored'})"


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip file with these contents by name, in the order of the names and without dates."""
    return zipped_in_order({name: files[name] for name in sorted(files)})


def zipped_in_order(files: Mapping[str, bytes], stored: Callable[[str], bool] = lambda name: False) -> bytes:
    """The same in the order in which the files come; those that are `stored` are not compressed."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as zipped:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_STORED if stored(name) else zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            zipped.writestr(entry, content)
    return held.getvalue()


def contents(zipped: bytes) -> dict[str, bytes]:
    """What an archive holds, by name."""
    with zipfile.ZipFile(io.BytesIO(zipped)) as held:
        return {name: held.read(name) for name in held.namelist() if not name.endswith("/")}


def build_wheel(root: Path, alone: str | None = None) -> tuple[str, bytes]:
    """The name and the content of the book's wheel, built from a copy, so that the sources stay as they are.

    Args:
        alone: one of ALONE: the wheel of this package, with its licence, in place of the whole book's.

    Raises CourseError where the sources are not there, or setuptools cannot build them."""
    places = (
        {f"utils/{alone}": alone, "LICENSE": f"{alone}/LICENSE"} if alone else dict(zip(SOURCES, SOURCES, strict=True))
    )
    missing = [name for name in places if not (root / name).exists()]
    if missing:
        raise CourseError(f"the wheel cannot be built: {root} has no {', no '.join(missing)}")
    with TemporaryDirectory() as folder:
        for name, place in places.items():
            _copy(root / name, Path(folder) / place)
        return _built(Path(folder) / (alone or ""))


def _built(home: Path) -> tuple[str, bytes]:
    """The wheel that setuptools builds of the folder in which a pyproject.toml lies."""
    settings = os.environ | {"SOURCE_DATE_EPOCH": "315532800", "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=home, env=settings, capture_output=True, text=True, check=False
    )
    found = list((home / "dist").glob("*.whl"))
    if done.returncode or len(found) != 1:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise CourseError(f"setuptools could not build the wheel; it said: {said}")
    return found[0].name, archive(contents(found[0].read_bytes()))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=LEFT_OUT)
    else:
        shutil.copy(source, target)
