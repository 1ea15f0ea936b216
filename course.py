"""One script for every system: sets up this book's own environment, `.venv`, and runs one of its commands there.

    python course.py book     the same as `make book`; likewise lab, test, check, release ...

This file must run on any Python, so that an old one gets a sentence and not a wall of errors: no f-strings here.
The work is done in utils/coursekit/environment.py.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
TOO_OTHER = (
    "This book needs Python 3.{0} to 3.{1}, and this is Python {2} ({3}). "
    "Install one of these, and name it: make book PYTHON=python3.{1}, or python3.{1} course.py book."
)


def supported():
    """The oldest and the newest 3.x that pyproject.toml allows, as (11, 14)."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        text = file.read().decode("utf-8")
    oldest, beyond = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)', text).groups()
    return int(oldest), int(beyond) - 1


def is_supported(version):
    """Whether a version, such as (3, 11, 2), is one that the book runs on."""
    oldest, newest = supported()
    # networkx, which torch needs, refuses 3.14.1 for a fault of that one version
    return (3, oldest) <= tuple(version[:2]) <= (3, newest) and tuple(version[:3]) != (3, 14, 1)


def other_python():
    """The newest supported Python on the path, or None; each is tried out, since some names are empty shells."""
    oldest, newest = supported()
    for minor in range(newest, oldest - 1, -1):
        command = ["python3.{0}".format(minor), "-c", "import sys; print('.'.join(map(str, sys.version_info[:3])))"]
        try:
            found = subprocess.check_output(command, stderr=subprocess.PIPE).decode("ascii").strip()
        except (OSError, subprocess.CalledProcessError):
            continue
        if is_supported([int(part) for part in found.split(".")]):
            return command[0]
    return None


def main():
    """Go on with a Python that the book runs on, or say in a sentence which ones these are."""
    if is_supported(sys.version_info):
        sys.path.insert(0, os.path.join(ROOT, "utils"))
        from coursekit.environment import run

        return run(ROOT, sys.argv[1:])
    here = ".".join(map(str, sys.version_info[:3]))
    other = other_python()
    if other is None:
        oldest, newest = supported()
        return TOO_OTHER.format(oldest, newest, here, sys.executable)
    print("Python {0} does not fit; going on with {1}.".format(here, other))
    process = subprocess.Popen([other, os.path.abspath(__file__)] + sys.argv[1:])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # it was interrupted with us, and says itself what is kept
            continue


if __name__ == "__main__":
    sys.exit(main())
