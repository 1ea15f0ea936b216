"""Run a file of Python where nothing can be imported but torch, what torch needs, and Python's own modules.

The other Python is started without the packages of its environment (`-I -S`: no `.pth` file, no PYTHONPATH). It looks
for modules in their folders again, but a finder lets only torch's own requirements through. To torch and to the file,
all other packages are missing, as in a new environment after `pip install torch`, without the minutes and the
gigabyte that one costs.

With `cut`, a training keeps every twentieth and every fiftieth of its steps, the first and the last: what the file
prints on its way stays, the minutes go. A training is a loop over `range(...)` in which something calls `.backward()`;
one that leaves this to a function, or has fewer than 60 steps, runs whole.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RUNNER = """
import ast, json, runpy, sys, time
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

allowed, folders, file, cut = json.loads(sys.argv[1])
own = list(sys.path)  # Python's own modules

class TorchAlone:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, path if "." in name or name in allowed else own, target)

    find_distributions = staticmethod(lambda *arguments: ())  # packages that ask which others are installed

class Cut(ast.NodeTransformer):
    def visit_For(self, node):
        self.generic_visit(node)
        calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
        trains = any(getattr(one, "attr", "") == "backward" for one in calls)
        if trains and getattr(getattr(node.iter, "func", None), "id", "") == "range":
            node.iter = ast.Call(ast.Name("few_of", ast.Load()), [node.iter], [])
        return node

def few_of(steps):
    kept = [one for one in steps if one in (steps[0], steps[-1]) or not (one % 20 and one % 50)]
    return steps if len(steps) < 60 else kept

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, TorchAlone]
sys.path += folders
sys.argv = [file]
if cut:
    with open(file, encoding="utf-8") as opened:
        tree = ast.fix_missing_locations(Cut().visit(ast.parse(opened.read())))
    exec(compile(tree, file, "exec"), {"__name__": "__main__", "__file__": file, "few_of": few_of})
else:
    runpy.run_path(file, run_name="__main__")
print(time.process_time(), file=sys.stderr)
"""


class Alone(NamedTuple):
    """What a file printed, and the CPU seconds that it took, `import torch` among them."""

    printed: str
    seconds: float


def needed_by(*names: str) -> set[str]:
    """Distributions and all that they require, directly or through others."""
    found, waiting = set(), {canonicalize_name(name) for name in names}
    while waiting:
        found |= waiting
        wanted = [Requirement(text) for one in waiting for text in requires(one) or ()]
        here = {one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})}
        waiting = {canonicalize_name(one) for one in here} - found
    return found


def run_alone(
    file: Path, folder: Path, needs: Sequence[str] = ("torch",), site: Path | None = None, cut: bool = False
) -> Alone:
    """Run the file with torch alone, in an empty `folder`, on one thread. Raises AssertionError where it fails.

    Args:
        needs: the distributions that are installed, and what they require with them, in place of torch's.
        site: a folder with packages that are installed beside these.
        cut: whether its trainings are short.
    """
    there = needed_by(*needs)
    modules = [name for name, of in packages_distributions().items() if there & {canonicalize_name(one) for one in of}]
    modules += [path.stem for path in site.iterdir()] if site else []
    places = [str(site)] * bool(site) + sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    command = [sys.executable, "-I", "-S", "-c", RUNNER, json.dumps([modules, places, str(file), cut])]
    settings = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return Alone(done.stdout, float(done.stderr.splitlines()[-1]))
