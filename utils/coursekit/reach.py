"""Which files of the repository a Python file can reach: through its imports, theirs, and what strings name.

Sources are read, nothing is imported. Where they leave open what is meant, too much counts as reached rather than too
little, so that the answer to "can this change alter that test?" is never "no" by mistake. One thing is left out: a
package whose `__init__.py` only passes names on is asked for the module that a name comes from, not for all of them,
although Python runs them all; one that cannot be imported fails its own test. Needs nothing but Python, and IPython
for a notebook that holds magics."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from coursekit.magics import python_of

CODE = ("utils", "tests", "benchmarks")  # where the Python files lie that tests need
IMPORTED_FROM = ("utils/", "tests/helpers/")  # where `import name` finds modules of this repository
# A file with one of these finds modules by name, or takes a package's folder to see what lies in it.
BY_NAME = re.compile(r"\b(?:importlib|pkgutil|runpy|__import__)\b|\w\.__(?:file|path)__")
THROUGH = "through:"  # before a package's __init__.py that only passes names on: reached, but not looked into
DOTTED = re.compile(r"\b(?:attnbook|coursekit)(?:\.\w+)*")
DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.).*", re.MULTILINE)


class Sources:
    """The files of the repository at `root` that tests may need, and `others`, which may be gone by now."""

    def __init__(self, root: Path, others: Iterable[str] = ()) -> None:
        self.root = root
        found = (path for folder in CODE for path in (root / folder).rglob("*") if "__pycache__" not in path.parts)
        self.files = {path.relative_to(root).as_posix() for path in found if path.is_file()} | set(others)
        self._named: dict[str, set[str]] = {}
        self._passed_on: dict[str, dict[str, str]] = {}

    def reached(self, *starts: str, closed: tuple[str, ...] = ()) -> set[str]:
        """The files that running these files may read, themselves among them.

        Files whose names begin as one of `closed` are reached, but not looked into. Raises SyntaxError or ValueError
        where one of them isn't Python."""
        return self._from(set(starts), closed)

    def reached_by_notebook(self, path: Path) -> set[str]:
        """The files that running the code cells of the notebook at `path` may read."""
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        text = "\n".join(map(python_of, codes))
        return self._from(self._look_into(path.relative_to(self.root).as_posix(), text))

    def _from(self, starts: set[str], closed: tuple[str, ...] = ()) -> set[str]:
        reached, waiting = set[str](), set(starts)
        while waiting:
            name = waiting.pop()
            reached.add(name)
            if not name.startswith(closed):
                waiting |= self.named_in(name) - reached
        return {name.removeprefix(THROUGH) for name in reached}

    def named_in(self, name: str) -> set[str]:
        """The files that one file names itself; none where it is gone, or no code."""
        if name not in self._named:
            path = self.root / name
            is_code = name.endswith(".py") and name.partition("/")[0] in CODE and path.is_file()
            self._named[name] = self._look_into(name, path.read_text(encoding="utf-8")) if is_code else set()
        return self._named[name]

    def modules(self, dotted: str, whole: bool = False) -> set[str]:
        """The files that `import dotted` runs: each package on the way, and the last part that is a module.

        With `whole`, also everything in the package that the name ends at."""
        parts, found, last = dotted.split("."), set[str](), ""
        for start in IMPORTED_FROM:
            for end in range(1, len(parts) + 1):
                path = start + "/".join(parts[:end])
                there = {f"{path}.py", f"{path}/__init__.py"} & self.files
                last = f"{path}/" if path in self._folders else "" if there else last
                found |= there if whole else self._through(there, parts[end:])
        return found | (self._below(last) if whole and last else set())

    def _through(self, files: set[str], rest: list[str]) -> set[str]:
        """These files; of a package that only passes names on, the module that the next name comes from."""
        found = set[str]()
        for file in files:
            names = self._names_passed_on(file) if rest else {}
            path = f"{file.removesuffix('__init__.py')}{rest[0]}" if rest else ""
            is_module = not {f"{path}.py", f"{path}/__init__.py"}.isdisjoint(self.files)
            if names and (is_module or rest[0] in names):
                found |= {THROUGH + file} | (set() if is_module else self.modules(names[rest[0]]))
            else:
                found.add(file)
        return found

    def _names_passed_on(self, file: str) -> dict[str, str]:
        """Of an `__init__.py` with nothing but `from a.b import c`: each name and where it comes from. Else none."""
        if file not in self._passed_on:
            path, names = self.root / file, dict[str, str]()
            if file.endswith("__init__.py") and path.is_file():
                body = ast.parse(path.read_text(encoding="utf-8"), file).body
                if all(_passes_on(node) for node in body):
                    froms = [node for node in body if isinstance(node, ast.ImportFrom)]
                    names = {
                        one.asname or one.name: f"{node.module}.{one.name}" for node in froms for one in node.names
                    }
            self._passed_on[file] = names
        return self._passed_on[file]

    def _look_into(self, name: str, text: str) -> set[str]:
        nodes = list(ast.walk(ast.parse(text, name)))
        by_name = bool(BY_NAME.search(text))
        found = self._beside(name)
        if by_name:
            found |= {file for file in self._below(_subject(name)) if not is_test(file)}
        for dotted in _imports(nodes, name):
            found |= self.modules(dotted, whole=by_name)
        for string in _strings(nodes):
            for match in DOTTED.finditer(string):
                goes_on = string[match.end() : match.end() + 1] == "."  # as in f"attnruns.experiments.{name}"
                found |= self.modules(match[0], whole=by_name or goes_on)
            if string in self._tops and name.startswith("tests/"):  # as in Path(__file__).parents[2] / "benchmarks"
                found |= self._below(f"{string}/") | ({string} & self.files)
        return found

    def _beside(self, name: str) -> set[str]:
        """What a test needs that it doesn't name: each conftest.py from its folder up, data and scripts beside it."""
        if not name.startswith("tests/") or name.startswith("tests/helpers/"):
            return set()
        folder = Path(name).parent
        conftests = {(parent / "conftest.py").as_posix() for parent in (folder, *folder.parents)} & self.files
        return conftests | {other for other in self._in_folder[folder.as_posix()] if not is_test(other)}

    def _below(self, folder: str) -> set[str]:
        return {name for name in self.files if name.startswith(folder)}

    @cached_property
    def _folders(self) -> set[str]:
        return {folder.as_posix() for name in self.files for folder in Path(name).parents}

    @cached_property
    def _in_folder(self) -> dict[str, list[str]]:
        listed: dict[str, list[str]] = {}
        for name in self.files:
            listed.setdefault(name.rpartition("/")[0], []).append(name)
        return listed

    @cached_property
    def _tops(self) -> set[str]:
        return {name.partition("/")[0] for name in self.files} | {path.name for path in self.root.iterdir()}


def is_test(name: str) -> bool:
    """Whether pytest collects tests from a file of this name."""
    return re.fullmatch(r"(?:.*/)?test_[^/]*\.py", name) is not None


def _passes_on(node: ast.stmt) -> bool:
    """Whether a statement is `from a.b import c`, a string, or the list `__all__`."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == ["__all__"]
    if isinstance(node, ast.ImportFrom):
        return not node.level and "*" not in {one.name for one in node.names}
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _subject(name: str) -> str:
    """The folder in which a file may look for names: all of utils/attnlabs/ for each module of the checks."""
    folders = name.split("/")[:-1]
    return "/".join(folders[:3] if folders[0] == "utils" else folders) + "/"


def _imports(nodes: list[ast.AST], name: str) -> Iterator[str]:
    """Each dotted name that a module imports, wherever the statement stands; `from a import b` gives a.b."""
    package = next((name.removeprefix(start) for start in IMPORTED_FROM if name.startswith(start)), name).split("/")
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = [*(package[: -node.level] if node.level else []), *([node.module] if node.module else [])]
            yield from (".".join([*origin, *([alias.name] if alias.name != "*" else [])]) for alias in node.names)


def _strings(nodes: list[ast.AST]) -> Iterator[str]:
    """Each string in a module's code; of a docstring only the lines that doctest runs."""
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "\n".join(DOCTEST.findall(node.value)) if id(node) in docstrings else node.value
