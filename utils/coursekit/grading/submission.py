"""What a student handed in, and which of its cells are run to grade it.

The lab's source says which cells there are. A student's cells are found by their names (nbgrader's metadata), or, where
those were lost, by the function that they define; what is missing or doubled is mended, and said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.magics import commands, is_python, parsed, python_of, without_meaning
from coursekit.notebooks import code_cells, grader, has_tag, is_answer, is_graded
from coursekit.unsolved import TAG as NEEDS_SOLUTION
from coursekit.work import STUB

LARGEST = 100 * 2**20  # bytes of a notebook
NO_PYTHON = 2**17  # characters in cells that are no Python as they stand; IPython reads them slowly
STEPS = 2**18  # characters of such a cell times its lines of IPython's: it reads all anew for each one; some 2 seconds


class CannotGradeError(CourseError):
    """A submission that cannot be graded, and why; its grade is left blank."""


@dataclass(frozen=True)
class Part:
    """One exercise of a lab as it is graded: its points, and the inputs (variants) on which it is judged."""

    exercise: str
    points: float
    variants: tuple[int, ...]


@dataclass(frozen=True)
class Submission:
    """What is run: (name, source) of each cell in order. `answers`: exercise -> source, where there is one."""

    cells: list[tuple[str, str]]
    answers: dict[str, str]
    notes: list[str] = field(default_factory=list)


def parts_of(source: NotebookNode) -> list[Part]:
    """The exercises of a lab, from its source: each graded cell calls the check of one. Raises CourseError else."""
    return [_part(cell) for cell in source.cells if is_graded(cell)]


def _part(cell: NotebookNode) -> Part:
    calls = [node for node in ast.walk(parsed(cell.source)) if isinstance(node, ast.Call)]
    names = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    if len(names) != 1:
        raise CourseError(f"graded cell {grader(cell).get('grade_id')}: calls {sorted(names)}, and not one check")
    variants = tuple(_variant(call) for call in calls)
    return Part(names.pop(), float(grader(cell)["points"]), variants)


def _variant(call: ast.Call) -> int:
    found = [word.value for word in call.keywords if word.arg == "variant"]
    return int(ast.literal_eval(found[0])) if found else 0


def read_submission(folder: Path, source: NotebookNode, name: str) -> Submission:
    """What lies in a student's folder for the lab `name`. Raises CannotGradeError for what is none."""
    path, notes = find_notebook(folder, name)
    notebook = parsed_notebook(path)
    cells, answers, more = cells_to_run(source, notebook)
    others = _labs_of(notebook) - _labs_of(source)
    if not answers and others:
        raise CannotGradeError(f"{path.name} holds no answer of this lab, and cells of {', '.join(sorted(others))}")
    return Submission(cells, answers, notes + more)


def _labs_of(notebook: NotebookNode) -> set[str]:
    """The labs to which the answers in a notebook belong, by the names of their cells: `lab19-map_names`."""
    cells = (str(grader(cell).get("grade_id", "")) for cell in code_cells(notebook) if is_answer(cell))
    return {name.partition("-")[0] for name in cells if "-" in name}


def notebooks_in(folder: Path) -> list[Path]:
    """What lies in a folder and is called a notebook, links too; some systems write its ending in capitals."""
    return sorted(path for path in folder.glob("*") if path.suffix.casefold() == ".ipynb")


def find_notebook(folder: Path, name: str) -> tuple[Path, list[str]]:
    """The notebook in a folder: the one of the lab's name, or the only one. Raises CannotGradeError for none."""
    found = [path for path in notebooks_in(folder) if path.is_file() and not path.is_symlink()]
    named = [path for path in found if path.name == f"{name}.ipynb"]
    if not found:
        linked = any(path.is_symlink() for path in notebooks_in(folder))
        raise CannotGradeError("the notebook is a link to somewhere else" if linked else "there is no notebook")
    if not named and len(found) > 1:
        raise CannotGradeError(f"none of the notebooks {', '.join(p.name for p in found)} is called {name}.ipynb")
    path = (named or found)[0]
    if path.stat().st_size > LARGEST:
        raise CannotGradeError(f"the notebook has {path.stat().st_size // 2**20} MiB; {LARGEST // 2**20} are read")
    others = [f"{other.name} lies beside {path.name}, and was not read" for other in found if other != path]
    return path, others if named else [f"the notebook is called {path.name}, and was taken for {name}.ipynb"]


def parsed_notebook(path: Path) -> NotebookNode:
    """A student's notebook, with what is odd taken out of its cells. Raises CannotGradeError for what is none."""
    content, name = path.read_bytes(), path.name
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        notebook = nbformat.reads(content.decode(encoding), as_version=4)
        cells = [cell for cell in notebook.cells if _is_cell(cell)]
    except RecursionError:
        raise CannotGradeError(f"{name} is no notebook: its data are nested too deeply") from None
    except Exception as error:  # whatever a broken file makes nbformat say
        raise CannotGradeError(f"{name} is no notebook: {_valid(str(error)).splitlines()[0][:200]}") from None
    notebook.cells = [_without_odd_metadata(cell) for cell in cells]
    cells = [cell.source for cell in code_cells(notebook) if not is_python(cell.source)]
    odd, lines = sum(map(len, cells)), sum(map(commands, cells))
    if odd > NO_PYTHON:
        raise CannotGradeError(f"{odd} characters of its code are no Python; at most {NO_PYTHON} are read")
    if sum(len(source) * commands(source) for source in cells) > STEPS:
        raise CannotGradeError(
            f"{odd} characters of its code are no Python; {lines} commands of Jupyter's are too many"
        )
    return notebook


def _is_cell(cell: NotebookNode) -> bool:
    return (
        cell.cell_type in ("code", "markdown", "raw")
        and isinstance(cell.source, str)
        and isinstance(cell.metadata, dict)
    )


def _valid(text: str) -> str:
    """With a question mark for each lone half of a character, which JSON can hold and no file can."""
    return text.encode(errors="replace").decode()


def _without_odd_metadata(cell: NotebookNode) -> NotebookNode:
    """Metadata and an id that are not what nbgrader and Jupyter write are taken out, as if they had been lost."""
    cell.source = _valid(cell.source)
    marks = cell.metadata.get("nbgrader")
    if not isinstance(marks, dict) or not isinstance(marks.get("grade_id"), str):
        cell.metadata.pop("nbgrader", None)
    if not isinstance(cell.get("id"), str):
        cell.pop("id", None)
    return cell


def cells_to_run(
    source: NotebookNode, submitted: NotebookNode
) -> tuple[list[tuple[str, str]], dict[str, str], list[str]]:
    """The cells that are run, in order: the lab's own, the student's answers in their places, and cells of their own.

    Cells that check, and those that a lab runs only when it is solved, are left out: they take long, and prove nothing
    here. What is Jupyter's own becomes what Jupyter runs of it, see `magics`.
    """
    exercises = {_exercise(cell): cell for cell in code_cells(source) if is_answer(cell)}
    answers, notes = _answers(exercises, submitted)
    own = _own_cells(source, submitted, set(exercises))
    cells, where = [], ""
    for cell in [None, *code_cells(source)]:
        if cell is not None:
            where = cell.id
            cells += list(_of_the_lab(cell, answers))
        cells += [(f"own cell {number}", text) for number, text in own.get(where, ())]
    notes += list(_left_out([(name, text) for name, text in cells if not name.startswith("cell ")]))
    return [(name, python_of(text)) for name, text in cells], answers, notes


def _left_out(cells: list[tuple[str, str]]) -> Iterator[str]:
    """A note on each cell of a student's in which something is asked of Jupyter that nothing here can give."""
    for name, text in cells:
        if found := without_meaning(text):
            yield f"{name}: there is no Jupyter where answers are run, so {', '.join(found)} did nothing"


def _of_the_lab(cell: NotebookNode, answers: dict[str, str]) -> Iterator[tuple[str, str]]:
    if is_answer(cell):
        if _exercise(cell) in answers:
            yield f"answer {_exercise(cell)}", answers[_exercise(cell)]
    elif not is_graded(cell) and not has_tag(cell, NEEDS_SOLUTION):
        yield f"cell {cell.id}", cell.source


def _exercise(cell: NotebookNode) -> str:
    return str(grader(cell)["grade_id"]).split("-", 1)[1]


def _answers(exercises: dict[str, NotebookNode], submitted: NotebookNode) -> tuple[dict[str, str], list[str]]:
    answers, notes = {}, []
    for name, cell in exercises.items():
        marked = [c.source for c in code_cells(submitted) if grader(c).get("grade_id") == grader(cell)["grade_id"]]
        there = [text for text in marked if text.strip()]
        elsewhere = [c.source for c in code_cells(submitted) if name in defined(c.source)]
        if len(there) > 1:
            notes.append(f"{name}: there are {len(there)} cells for it; the last one that is written was taken")
        if not any(name in defined(text) for text in there) and elsewhere:
            there = elsewhere
            notes.append(f"{name}: its cell was found by the function's name, since its metadata are gone")
        written = [text for text in there if STUB not in text] or there
        if written:
            answers[name] = written[-1]
            notes += list(_undefined(name, written[-1]))
        else:
            notes.append(f"{name}: its cell is gone, and no other one defines the function")
    return answers, notes


def _undefined(name: str, text: str) -> Iterator[str]:
    """A note on an answer that is written, and from which no function of its name can come."""
    if STUB in text or name in defined(text):
        return
    if not is_python(python_of(text)):
        yield f"{name}: its cell is no Python, so that nothing of it runs"
    elif found := defined(text):
        yield f"{name}: its cell defines {', '.join(sorted(found))}, and not {name}"
    else:
        yield f"{name}: its cell defines no function at its outermost level"


def _own_cells(source: NotebookNode, submitted: NotebookNode, exercises: set[str]) -> dict[str, list[tuple[int, str]]]:
    """Cells that are not the lab's: by the id of the lab's cell that they follow, "" before the first."""
    ids, texts = {cell.id for cell in code_cells(source)}, {cell.source.strip() for cell in code_cells(source)}
    names = {grader(cell).get("grade_id"): cell.id for cell in code_cells(source) if grader(cell)}
    own: dict[str, list[tuple[int, str]]] = {}
    after, number = "", 0
    for cell in code_cells(submitted):
        known = names.get(grader(cell).get("grade_id")) or (cell.get("id") if cell.get("id") in ids else None)
        answer = exercises & defined(cell.source)
        if known or answer or not cell.source.strip() or cell.source.strip() in texts:
            after = known or after
        else:
            number += 1
            own.setdefault(after, []).append((number, cell.source))
    return own


def defined(source: str) -> set[str]:
    """The functions and other names that a cell binds at its outermost level."""
    body = parsed(source).body
    made = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return made | {target.id for target in targets if isinstance(target, ast.Name)}
