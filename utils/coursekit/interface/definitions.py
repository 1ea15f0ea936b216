"""What a package defines, and under which name it is imported: read from its sources, since a book is built without
PyTorch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Definition:
    """A function, a class, or a part of a class.

    Fields:
        kind: as Sphinx calls it: function, class, method, property.
        name: without its module. module: in which it is defined.
        home: the module from which it is imported: the outermost package that exports it, else `module`.
        signature: what stands in brackets behind the name, and the type of the result; empty for a property.
        words: its docstring. options: further options of Sphinx's directive. parts: of a class, those with a docstring.
    """

    kind: str
    name: str
    module: str
    home: str
    signature: str
    words: str
    options: dict[str, str] = field(default_factory=dict)
    parts: list[Definition] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The whole name under which it is imported."""
        return f"{self.home}.{self.name}"


@dataclass
class Module:
    """A module: its name, its docstring, what it defines for others, in the order of the source, and where it comes
    from."""

    name: str
    words: str
    definitions: list[Definition]
    file: Path


def modules_of(utils: Path, package: str) -> list[Module]:
    """All modules of a package in `utils`, those of its folders included, by name.

    Raises SyntaxError for a source that Python cannot read."""
    folder = utils.joinpath(*package.split("."))
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    trees = {_name(utils, file): (ast.parse(file.read_text(encoding="utf-8")), file) for file in files}
    exported = dict(
        pair for name, (tree, file) in trees.items() if file.stem == "__init__" for pair in _exports(name, tree)
    )
    return [_module(name, tree, file, exported) for name, (tree, file) in sorted(trees.items())]


def _name(utils: Path, file: Path) -> str:
    parts = file.relative_to(utils).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _exports(package: str, tree: ast.Module) -> Iterator[tuple[tuple[str, str], str]]:
    """What a package imports from its own modules: (module, name) and the package."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            yield from (((node.module or "", alias.name), package) for alias in node.names)


def _module(name: str, tree: ast.Module, file: Path, exported: dict[tuple[str, str], str]) -> Module:
    found: dict[str, Definition] = {}  # of an overloaded function the last one, which has the docstring
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            home = exported.get((name, node.name), name)
            made = _class(node, name, home) if isinstance(node, ast.ClassDef) else _function(node, name, home)
            found[node.name] = made
    return Module(name, ast.get_docstring(tree) or "", list(found.values()), file)


def _function(node: Function, module: str, home: str) -> Definition:
    return Definition("function", node.name, module, home, _signature(node), ast.get_docstring(node) or "")


def _class(node: ast.ClassDef, module: str, home: str) -> Definition:
    parts: dict[str, Definition] = {}
    signature = ""
    for part in node.body:
        if isinstance(part, Function) and part.name == "__init__":
            signature = _signature(part, inside=True).removesuffix(" -> None")
        elif isinstance(part, Function) and not part.name.startswith("_") and ast.get_docstring(part):
            parts[part.name] = _part(part, module, home)
    words = ast.get_docstring(node) or ""
    return Definition("class", node.name, module, home, signature or _fields(node), words, {}, list(parts.values()))


def _part(node: Function, module: str, home: str) -> Definition:
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    words = ast.get_docstring(node) or ""
    if marks & {"property", "cached_property"}:
        options = {"type": ast.unparse(node.returns)} if node.returns else {}
        return Definition("property", node.name, module, home, "", words, options)
    options = {option: "" for option in ("staticmethod", "classmethod") if option in marks}
    signature = _signature(node, inside="staticmethod" not in marks)
    return Definition("method", node.name, module, home, signature, words, options)


def _signature(node: Function, inside: bool = False) -> str:
    """Arguments and result as the source has them; of what stands `inside` a class, without the first argument."""
    arguments = node.args
    if inside:
        first = arguments.posonlyargs or arguments.args
        del first[:1]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){result}"


def _fields(node: ast.ClassDef) -> str:
    """The arguments of a dataclass or a named tuple: its fields; nothing for another class."""
    marks = [ast.unparse(mark) for mark in (*node.decorator_list, *node.bases)]
    if not any(mark.split("(")[0].split(".")[-1] in ("dataclass", "NamedTuple") for mark in marks):
        return ""
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    return f"({', '.join(map(_field, fields))})"


def _field(part: ast.AnnAssign) -> str:
    made = part.value is not None and ast.unparse(part.value).startswith("field(")
    value = "" if part.value is None else f" = {'...' if made else ast.unparse(part.value)}"
    return f"{ast.unparse(part.target)}: {ast.unparse(part.annotation)}{value}"
