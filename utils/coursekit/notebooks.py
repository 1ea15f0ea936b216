"""Reading notebooks, writing them in one canonical form, and asking cells what they are."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from attnbook.files import write_whole
from coursekit import CourseError

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# No version: it changes with each author's machine and tells a reader nothing.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
KEPT_METADATA = ("attnbook", "mystnb")  # a notebook's own words; all the rest is a tool's
# Traces that editors and runs leave in a cell.
CELL_NOISE = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "papermill", "vscode", "colab")
WIDGET = "application/vnd.jupyter.widget-view+json"
CHECK_OUTPUT = "nbval-check-output"  # nbval compares the stored output of such a cell, also with --nbval-lax


def read(path: Path) -> NotebookNode:
    """A notebook of format 4. Raises CourseError for a file that is none."""
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(notebook)
    except (OSError, ValueError, TypeError, AttributeError, KeyError, nbformat.ValidationError) as error:
        raise CourseError(f"{path} cannot be read as a notebook: {str(error).splitlines()[0]}") from error
    return notebook


def to_text(notebook: NotebookNode) -> str:
    """The one way in which this course stores notebooks: sorted keys, line by line, a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def write(notebook: NotebookNode, path: Path) -> None:
    """Stores the notebook whole or not at all: a reader never meets half a file."""
    write_bytes(to_text(notebook).encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    """Stores `content` whole or not at all, and makes the folders above it."""
    write_whole(path, content)


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy without all that changes from run to run or from machine to machine."""
    notebook = nbformat.from_dict(notebook)
    kept = {key: notebook.metadata[key] for key in KEPT_METADATA if key in notebook.metadata}
    notebook.metadata = nbformat.from_dict({**kept, "kernelspec": KERNEL, "language_info": LANGUAGE})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    used: set[str] = set()
    for cell in notebook.cells:
        cell.id = _stable_id(cell, used)
        for noise in CELL_NOISE:
            cell.metadata.pop(noise, None)
    for count, cell in enumerate(_run_cells(notebook), start=1):
        _normalise_outputs(cell, count)
    return notebook


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook: NotebookNode) -> str:
    """All Markdown of the notebook in one string."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def grader(cell: NotebookNode) -> dict:
    """The cell's nbgrader metadata, or an empty dictionary."""
    return cell.metadata.get("nbgrader", {})


def is_answer(cell: NotebookNode) -> bool:
    """Whether students write in this cell."""
    return bool(grader(cell).get("solution"))


def is_graded(cell: NotebookNode) -> bool:
    """Whether points are given for this cell by running it."""
    return bool(grader(cell).get("grade")) and not is_answer(cell)


def has_tag(cell: NotebookNode, tag: str) -> bool:
    """Whether the cell bears the tag."""
    return tag in cell.metadata.get("tags", [])


def without_tag(notebook: NotebookNode, tag: str) -> NotebookNode:
    """A copy in which no cell bears the tag. (nbconvert's TagRemovePreprocessor takes away the cells, too.)"""
    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        if has_tag(cell, tag):
            cell.metadata.tags = [other for other in cell.metadata.tags if other != tag]
            if not cell.metadata.tags:
                del cell.metadata["tags"]
    return notebook


def images(cell: NotebookNode) -> int:
    """How many pictures the cell's stored outputs show."""
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    return sum(any(mime.startswith("image/") for mime in data) for data in shown)


def was_run(notebook: NotebookNode) -> bool:
    """Whether any code cell carries an output or a number."""
    return any(cell.outputs or cell.execution_count is not None for cell in code_cells(notebook))


def _run_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in code_cells(notebook):
        if cell.source.strip() and (cell.execution_count is not None or cell.outputs):
            yield cell
        else:
            cell.execution_count, cell.outputs = None, []


def _stable_id(cell: NotebookNode, used: set[str]) -> str:
    fallback = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    wanted = name = cell.get("id") or fallback
    count = 2
    while name in used:
        name, count = f"{wanted}-{count}", count + 1
    used.add(name)
    return name


def _normalise_outputs(cell: NotebookNode, count: int) -> None:
    from nbconvert.preprocessors import CoalesceStreamsPreprocessor

    cell.execution_count = count
    cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr" and WIDGET not in out.get("data", {})]
    # where a stream is cut depends on the clock; and what a progress line wrote over is nothing to read
    CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = count
    cell.outputs = [out for out in cell.outputs if out.output_type != "stream" or out.text]
