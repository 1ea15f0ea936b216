"""Of packages' sources, what some names need: their definitions, what these use in turn, and nothing else.

So a process can hold a function that a lab gives its students without the function's neighbours in the same file, among
which may be what the lab asks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FUTURE = "from __future__ import annotations\n"  # what stands in an annotation is not looked up, so it is not needed


@dataclass
class _Module:
    """A module's statements, which of them bind a name, and what of it is kept: numbers of statements and names."""

    statements: list[ast.stmt]
    bound: dict[str, list[int]] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    whole: bool = False


class Slices:
    """What is needed so far of each module. Sources are read, and nothing is imported.

    Args:
        root: the folder in which the packages lie.
        packages: their names. What is imported from others is left to be imported.
    """

    def __init__(self, root: Path, *packages: str) -> None:
        self.root, self.packages = root, packages
        self.modules: dict[str, _Module] = {}

    def add(self, module: str, name: str) -> None:
        """Keep a name of a module (a submodule whole). Raises ImportError where there is no such name."""
        read = self._read(module)
        if name in read.names:
            return
        if name not in read.bound and self.path(f"{module}.{name}").is_file():
            self.add_whole(f"{module}.{name}")
            return
        if name not in read.bound:
            raise ImportError(f"{module} has no {name!r}")
        read.names.add(name)
        for number in read.bound[name]:
            self._keep(module, number, name)

    def add_whole(self, module: str) -> None:
        """Keep all of a module, as it is."""
        read = self._read(module)
        if not read.whole:
            read.whole = True
            for number, statement in enumerate(read.statements):
                read.kept.add(number)
                self._follow(module, statement)

    def holds(self, module: str, name: str) -> bool:
        """Whether a name of a module, or the submodule of that name, is among what is needed."""
        read = self.modules.get(module)
        return f"{module}.{name}" in self.modules or (read is not None and (read.whole or name in read.names))

    def sources(self) -> dict[str, str]:
        """The text of each module that is needed, by its dotted name; of a package on the way, what is left of it."""
        for module in list(self.modules):
            while module := module.rpartition(".")[0]:
                self._read(module)
        return {name: FUTURE + "\n".join(_written(module)) + "\n" for name, module in self.modules.items()}

    def path(self, module: str) -> Path:
        """Where a module lies, or would lie."""
        folder = self.root.joinpath(*module.split("."))
        return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")

    def _read(self, module: str) -> _Module:
        if module not in self.modules:
            path = self.path(module)
            if not path.is_file():
                raise ImportError(f"there is no module {module}")
            self.modules[module] = read = _Module(ast.parse(path.read_text(encoding="utf-8")).body)
            for number, statement in enumerate(read.statements):
                for name in _binds(statement):
                    read.bound.setdefault(name, []).append(number)
        return self.modules[module]

    def _keep(self, module: str, number: int, name: str) -> None:
        read = self.modules[module]
        statement = read.statements[number]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            read.kept.add(number)
            self._import(module, _only(statement, {name}))
        elif number not in read.kept:
            read.kept.add(number)
            self._follow(module, statement)

    def _follow(self, module: str, statement: ast.stmt) -> None:
        """Keep what a statement uses: names of its own module, and what it imports."""
        for node in _run(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(module, node)
            elif isinstance(node, ast.Name) and node.id in self.modules[module].bound:
                self.add(module, node.id)

    def _import(self, module: str, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name.split(".")[0] in self.packages:
                    self.add_whole(alias.name)
            return
        source = self._absolute(module, statement)
        if source.split(".")[0] in self.packages:
            for alias in statement.names:
                self.add(source, alias.name)

    def _absolute(self, module: str, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        package = module if self.path(module).name == "__init__.py" else module.rpartition(".")[0]
        parts = package.split(".")[: len(package.split(".")) - statement.level + 1]
        return ".".join([*parts, *([statement.module] if statement.module else [])])


def _binds(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the outermost level binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (_bound_by(alias) for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it but annotations, which are never looked up."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _run(child)


def _only(statement: ast.Import | ast.ImportFrom, names: set[str]) -> ast.Import | ast.ImportFrom:
    """An import of these names alone."""
    kept = [alias for alias in statement.names if _bound_by(alias) in names]
    if isinstance(statement, ast.Import):
        return ast.Import(kept)
    return ast.ImportFrom(statement.module, kept, statement.level)


def _written(module: _Module) -> Iterator[str]:
    for number in sorted(module.kept):
        statement = module.statements[number]
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom) and not module.whole:
            statement = _only(statement, module.names)
        yield ast.unparse(statement)
