"""A chapter's model as one file: the cells with the tag `standalone`, which run with PyTorch alone.

The file is made from the chapter whenever somebody wants it, so it says what the chapter says, and lies nowhere in git.
"""

import ast
import builtins
import symtable
import sys
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.notebooks import code_cells, has_tag, read, write_bytes
from coursekit.project import Project

TAG = "standalone"
MOST_LINES = 150  # without the comment at the top
IMPORTABLE = {"torch"} | sys.stdlib_module_names
# The title has to stand below the second line: Python takes "coding: " in the first two for the name of an encoding.
HEADER = """\
# The whole model in one file
#
# {title}
#
# Made from the cells of {name} of "Paying Attention", a course on attention that runs; the chapter explains each part.
# It makes its own data, runs or trains, and prints an answer. All that it needs is Python with PyTorch:
#
#     python {file}
#
# Copyright (c) 2026 The authors of Paying Attention. MIT License.
"""


def tagged(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that make up the file, in order; none where a chapter has no such file."""
    return [cell for cell in code_cells(notebook) if has_tag(cell, TAG)]


def code_of(notebook: NotebookNode) -> str:
    """The code of the file without its header: the cells with a blank line between them."""
    return "\n\n".join(cell.source.strip("\n") for cell in tagged(notebook)) + "\n"


def file_of(path: Path, notebook: NotebookNode) -> str:
    """The whole file, with a comment at the top that says what it is, where it comes from and how it is run."""
    title = notebook.metadata.get("attnbook", {}).get("title", path.stem)
    header = HEADER.format(title=title, name=f"Chapter {int(path.stem[:2])}", file=f"{path.stem}.py")
    return f"{header}\n{code_of(notebook)}"


def printed(notebook: NotebookNode) -> str:
    """What the cells of the file print, as the chapter has stored it: the file prints the same."""
    return "".join(out.text for cell in tagged(notebook) for out in cell.outputs if out.output_type == "stream")


def write_standalone(project: Project, path: Path, folder: Path) -> Path:
    """Write the file of a chapter into `folder`, and return where it lies.

    Raises CourseError for a chapter that has none, and for a file of this name there that says something else."""
    notebook = read(path)
    if not tagged(notebook):
        have = [one.stem for one in project.chapters if tagged(read(one))]
        raise CourseError(f"{path.stem} has no model in one file; chapters that have: {', '.join(have) or 'none yet'}")
    target, text = folder / f"{path.stem}.py", file_of(path, notebook)
    if target.exists() and target.read_text(encoding="utf-8") != text:
        raise CourseError(
            f"{target} was changed, or comes from another version of the chapter: move it away, or name another "
            "folder with --to; nothing was written"
        )
    write_bytes(text.encode(), target)
    return target


def standalone_problems(notebook: NotebookNode) -> list[str]:
    """Why the cells with the tag are no file of at most 150 lines that runs with PyTorch alone and prints an answer."""
    if not tagged(notebook):
        return []
    broken = [problem for cell in tagged(notebook) for problem in _syntax_problems(cell)]
    if broken:
        return broken
    code, problems = code_of(notebook), [problem for cell in tagged(notebook) for problem in _output_problems(cell)]
    if (lines := len(code.splitlines())) > MOST_LINES:
        problems.append(f"the model in one file has {lines} lines; the limit is {MOST_LINES}")
    for module in sorted(set(imported(code)) - IMPORTABLE):
        problems.append(f"the model in one file imports {module}; torch and Python's own modules are all that it may")
    for name in unknown_names(code):
        problems.append(f"the model in one file uses {name!r}, which no cell with the tag {TAG!r} defines")
    if not printed(notebook):
        problems.append("the model in one file prints nothing: let its last cell print an answer")
    return problems


def imported(code: str) -> Iterator[str]:
    """The modules that some code imports, up to their first dot; "." is what lies beside the file."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else str(node.module).split(".")[0]


def unknown_names(code: str) -> list[str]:
    """The names that some code uses, anywhere in it, and neither defines nor finds among Python's own."""
    module = symtable.symtable(code, TAG, "exec")
    tables = list(_tables(module))
    known = {one.get_name() for one in module.get_symbols() if one.is_assigned() or one.is_imported()}
    known |= {one.get_name() for table in tables for one in table.get_symbols()
              if one.is_declared_global() and one.is_assigned()}  # fmt: skip
    used = {
        one.get_name() for table in tables for one in table.get_symbols() if one.is_global() and one.is_referenced()
    }
    return sorted(used - known - set(dir(builtins)))


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """A table of names, and those of all functions and classes in it."""
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _syntax_problems(cell: NotebookNode) -> list[str]:
    try:
        compile(cell.source, cell.id, "exec")
    except SyntaxError as error:
        return [f"cell {cell.id}, of the model in one file, is no Python by itself: line {error.lineno}, {error.msg}"]
    return []


def _output_problems(cell: NotebookNode) -> list[str]:
    if all(output.output_type == "stream" for output in cell.outputs):
        return []
    return [f"cell {cell.id}, of the model in one file, shows a result that a file would not: print it"]
