"""What has changed since the commit that others have, and which labs and tests that can touch.

Nothing here needs more than Python and git."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from coursekit.reach import Sources, is_test

PUBLISHED = ("origin/main", "main", "HEAD")  # the first of them that is there
OF_A_LAB = re.compile(r"(?:utils|tests)/attnlabs/(lab\d\d)/|(?:solutions|labs)/(lab\d\d)_")
# What every lab may depend on: packages, what its tests share, records and weights, versions.
OF_ALL_LABS = re.compile(
    r"utils/(?!attnpages/figures/chapters/|coursekit/templates/)|results/|tests/helpers/|tests/(?:\w+/)*conftest\.py"
    r"|(?:pyproject\.toml|requirements\.lock|environment\.yml)$"
)
# Of these, a lab depends on those that its checks, the engine of all checks and its notebook reach.
BY_LABS_REACH = re.compile(r"utils/attnbook/(?!checks/(?!families/|fakes/)).*\.py$")
# What the checks of some labs share: a lab depends on those that its checks name, or what they name does.
OF_SOME_LABS = re.compile(r"utils/attnlabs/(?:families|fakes)/.*\.py$")
# These find labs, and all that labs need, by name; but for one lab they import that one alone.
FIND_BY_NAME = ("utils/misread/", "utils/attnlabs/__init__.py", "tests/helpers/", "tests/conftest")
# The tests of these folders run where something that they reach has changed; all others read texts, and run always.
BY_REACH = re.compile(r"tests/(?:attnbook|benchmarks)/(?!checks/lab\d\d/)")  # labs have rules of their own, above
# What every such test may depend on, and no import shows.
OF_ALL_TESTS = re.compile(
    r"results/|(?:utils/attnbook|tests/helpers)/(?!.*\.py$)|(?:pyproject\.toml|requirements\.lock|environment\.yml)$"
)


def changed_files(root: Path) -> list[str] | None:
    """The files below `root` that are new, gone or different since HEAD left the published branch; None where git
    cannot tell."""
    bases = (_git(root, "merge-base", "HEAD", name) for name in PUBLISHED)
    base = next((found.strip() for found in bases if found), None)
    if base is None:
        return None
    differs = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", base)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if differs is None or new is None:
        return None
    return sorted({name for name in f"{differs}{new}".split("\0") if name})


def touched_labs(labs: Iterable[str], changed: list[str] | None, sources: Sources | None = None) -> list[str]:
    """Which of the labs (`lab01`, …) these changes can alter: all where nothing is known, or what all share changed.

    With the `sources` of the repository a module of the package alters the labs that reach it, without them all."""
    labs = sorted(labs)
    if changed is None:
        return labs
    modules = {name for name in changed if sources is not None and BY_LABS_REACH.match(name)}
    owners = {_owner(name) for name in changed if name not in modules}
    if sources is not None and modules and "all" not in owners:
        try:
            owners |= {lab for lab in labs if not _reached_by_lab(sources, lab).isdisjoint(modules)}
        except (SyntaxError, ValueError):  # a file that isn't Python
            return labs
    return [lab for lab in labs if lab in owners or "all" in owners]


def _reached_by_lab(sources: Sources, lab: str) -> set[str]:
    own = f"utils/attnlabs/{lab}/", f"tests/attnlabs/{lab}/"
    codes = {name for name in sources.files if name.endswith(".py") and not is_test(name)}
    starts = {name for name in codes if name.startswith(own)}
    engine = {name for name in codes if name.startswith("utils/misread/")}
    notebooks = (sources.root / "solutions").glob(f"{lab}_*/*.ipynb")
    reached = sources.reached(*starts, *engine).union(*(sources.reached_by_notebook(path) for path in notebooks))
    named = sources.reached(*starts, closed=FIND_BY_NAME)
    return {name for name in reached if name in named or not OF_SOME_LABS.match(name)}


def untouched_tests(root: Path, changed: list[str] | None, sources: Sources | None = None) -> list[str]:
    """The files of tests, of the package and of the benchmarks, that none of these changes can reach.

    None of them where nothing is known, where what all share has changed, and where a file isn't Python. `sources`
    are the files of `root` and the changed ones, if they have been read already."""
    if changed is None or any(OF_ALL_TESTS.match(name) for name in changed):
        return []
    sources = sources or Sources(root, changed)
    tests = sorted(name for name in sources.files if BY_REACH.match(name) and is_test(name))
    try:
        return [test for test in tests if not changed or sources.reached(test).isdisjoint(changed)]
    except (SyntaxError, ValueError):
        return []


def _owner(name: str) -> str | None:
    if found := OF_A_LAB.match(name):
        return found[1] or found[2]
    return "all" if OF_ALL_LABS.match(name) else None


def _git(root: Path, *arguments: str) -> str | None:
    """What git says; None where it fails or isn't there."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout
