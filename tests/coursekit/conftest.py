"""A tiny course in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from tiny_course import chapter_notebook, lab_notebook

from coursekit.notebooks import write
from coursekit.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The course, its notebooks not yet run, its lab not yet released."""
    write(chapter_notebook(), tmp_path / "chapters" / "01_counting.ipynb")
    write(lab_notebook(), tmp_path / "solutions" / "lab01_sums" / "lab01_sums.ipynb")
    return Project(tmp_path)


@pytest.fixture
def change() -> Callable:
    """change(path, function): rewrites a notebook after `function(cells by id, notebook)` has changed it."""

    def apply(path: Path, function: Callable) -> None:
        notebook = nbformat.read(path, as_version=4)
        function({cell.id: cell for cell in notebook.cells}, notebook)
        write(notebook, path)

    return apply
