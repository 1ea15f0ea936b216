"""Compile the card where that has not been done: once per machine, torch and source, outside of the repository."""

import hashlib
import os
import subprocess
from pathlib import Path

import torch

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "c++")
OPTIONS = [
    "-std=c++20",
    "-O1",
    "-w",
    "-shared",
    "-fPIC",
    f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
]


class NotBuilt(RuntimeError):  # noqa: N818 (it says what happened)
    """The compiler refused the card; the message is its first words about that."""


def library() -> Path:
    """Where the compiled card lies; it is compiled first (a quarter of a minute) where there is none yet.

    Raises:
        NotBuilt: if the compiler fails.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attnbook-pretended-card"
    built = folder / f"card-{_key()[:16]}.so"
    if built.exists():
        return built
    import fcntl  # not there on Windows

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of a test run come here together: one builds, the others wait
        if not built.exists():
            _compile(built)
    return built


def _key() -> str:
    """What a compiled card depends on: its source, and the torch that it is loaded into."""
    sources = [path.read_bytes() for path in sorted((*HERE.glob("*.h"), *HERE.glob("*.cpp")))]
    return hashlib.sha256(
        b"".join(sources) + repr((torch.__version__, torch.__file__, COMPILER, OPTIONS)).encode()
    ).hexdigest()


def _compile(built: Path) -> None:
    from torch.utils import cpp_extension  # imports setuptools

    half = built.with_suffix(".part")
    headers = [f"-isystem{path}" for path in cpp_extension.include_paths()]
    libraries = [f"-L{path}" for path in cpp_extension.library_paths()] + ["-ltorch_cpu", "-lc10"]
    command = [COMPILER, *OPTIONS, *headers, str(HERE / "card.cpp"), "-o", str(half), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise NotBuilt(f"{COMPILER} cannot compile the pretended card: {first}")
    half.replace(built)  # whole or not at all, also where the compiler is interrupted
