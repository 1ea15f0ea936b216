"""A notebook's cell as Python: IPython's own reading of `%magic`, `!command` and `name?`, as Jupyter runs it.

What `get_ipython()` is where there is no Jupyter stands in `grading.shell`.
"""

from __future__ import annotations

import ast
from functools import lru_cache

RUN_THEIR_CELL = ("time", "capture", "timeit", "prun")  # cell magics whose cell is Python, which Jupyter runs
MEANT = (("run_line_magic", "time"), ("run_line_magic", "pwd"))  # what `grading.shell` does
NESTED = 8  # cell magics, each in the cell of the one before


def parsed(source: str) -> ast.Module:
    """What Jupyter runs of a cell, as a tree; an empty one where it is no Python."""
    return _tree(python_of(source)) or ast.Module([], [])


def is_python(source: str) -> bool:
    """Whether a cell is Python as it stands, with `await` at its outermost level or without."""
    return _tree(source) is not None


@lru_cache(maxsize=4096)
def python_of(source: str) -> str:
    """The Python that Jupyter runs of a cell; the cell as it stands where IPython cannot read it.

    A magic becomes a call of `get_ipython()`. The cell of a cell magic that runs it, as `%%time` does, stands below an
    empty line instead of it, so that what it defines is seen and its lines keep their numbers. (`%%timeit` forgets in
    Jupyter what its cell defines. Here it is kept, so that no answer is lost to a clock that was left in its cell.)"""
    above = ""
    while not is_python(source) and len(above) < NESTED:
        source = _read(source)
        called = _calls(source)
        if len(called) != 1 or called[0][0] != "run_cell_magic" or called[0][1] not in RUN_THEIR_CELL:
            break
        _, name, line, source = called[0]
        above, source = f"{above}\n", source + (_captured(line) if name == "capture" else "")
    return above + source


def commands(source: str) -> int:
    """How many lines of a cell may be IPython's own, as `%magic`, `!command` and `name?` are; some may be Python."""
    lines = ["".join(line.split()) for line in source.splitlines()]
    return sum(line.startswith(tuple("%!?,;/")) or line.endswith("?") or "=%" in line or "=!" in line for line in lines)


def without_meaning(source: str) -> list[str]:
    """What a cell asks of Jupyter that nothing can give where answers are graded, as it is written, each once."""
    calls = [call for call in _calls(python_of(source)) if call[:2] not in MEANT]
    return list(dict.fromkeys(_written(*call) for call in calls))


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager  # with it comes half of IPython

    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # as IPython does: it runs the cell as it stands, and Python says what is wrong with it
        return source


def _calls(python: str) -> list[tuple[str, ...]]:
    """The calls of `get_ipython()` as IPython writes them: (method, its arguments)."""
    found: list[tuple[str, ...]] = []
    for node in ast.walk(_tree(python) or ast.Module([], [])):
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython")), method), given):
                found.append((method, *(str(one.value) for one in given if isinstance(one, ast.Constant))))
    return found


def _captured(line: str) -> str:
    """What binds the name behind `%%capture`."""
    names = [word for word in line.split() if not word.startswith("-")]
    return f"{names[0]} = get_ipython().captured()\n" if names else ""


def _written(method: str, name: str = "", *_: str) -> str:
    """A call as it stood in the cell."""
    if method in ("system", "getoutput"):
        return f"!{name.partition(' ')[0]}"
    ways = {"run_line_magic": f"%{name}", "run_cell_magic": f"%%{name}", "captured": "%%capture"}
    return {"%pinfo": "?", "%pinfo2": "??"}.get(way := ways.get(method, f"get_ipython().{method}"), way)
