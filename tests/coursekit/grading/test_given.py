"""What answers may import: enough for the labs' own cells and right answers, and nothing that a lab asks for."""

import ast
import io
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from nbformat import NotebookNode, v4
from small_class import LAB, POINTS, answered, course_with

import attnlabs as checks
from coursekit import ROOMS
from coursekit.grading import wire
from coursekit.grading.given import TABLE, given, lay_out
from coursekit.grading.records import jobs_of
from coursekit.grading.side_by_side import graded
from coursekit.grading.submission import cells_to_run
from coursekit.magics import parsed
from coursekit.notebooks import code_cells, read
from misread import values
from misread.exercise import Exercise
from misread.tensor_sizes import uncounted

ROOT = Path(__file__).parents[3]
LABS = {path.stem.split("_")[0]: path for path in sorted(ROOT.glob("solutions/*/*.ipynb"))}
IDLE = ("attnlabs", "attnpages")  # what draws and shows does nothing
ONLY_WRITTEN = {  # in functions that no cell calls before the lab is solved; it needs what the lab asks for, or trains
    "lab04": "luong", "lab14": "TransformerEncoder",
    "lab17": "Transformer TransformerConfig accuracy fit use_relative_bias", "lab20": "first_words prompt_lookup",
}  # fmt: skip


def definitions(folder: Path) -> set[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def imports(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """What a notebook imports from the book's packages: (module, name)."""
    for cell in code_cells(notebook):
        for node in ast.walk(parsed(cell.source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOMS:
                yield from ((node.module or "", alias.name) for alias in node.names)


def test_there_is_a_list_for_each_lab():
    assert [lab for lab in LABS if not given(lab)] == []
    assert given("lab99") == {}
    assert TABLE.name == "given.toml"


@pytest.mark.parametrize("lab", LABS)
def test_nothing_that_a_lab_asks_for_is_there_and_no_reference(lab, tmp_path):
    lay_out(given(lab), tmp_path)
    there = definitions(tmp_path)
    exercises = checks.checks_of(lab).exercises()
    assert there & exercises.keys() == set()
    assert there & {exercise.reference.__name__ for exercise in exercises.values()} == set()


@pytest.mark.parametrize("lab", LABS)
def test_what_a_notebook_imports_and_its_run_cells_use_is_listed(lab):
    notebook = read(LABS[lab])
    cells, _, _ = cells_to_run(notebook, notebook)
    used = {node.id for _, text in cells for node in ast.walk(parsed(text)) if isinstance(node, ast.Name)}
    listed = {(module, name) for module, names in given(lab).items() for name in names}
    asked = {pair for pair in imports(notebook) if pair[1] in used and not pair[0].startswith(IDLE)}
    assert {name for _, name in asked - listed} <= set(ONLY_WRITTEN.get(lab, "").split())
    from_checks = {pair for pair in listed if re.match(r"attnlabs\.(fakes|lab\d\d)", pair[0])}
    assert listed - from_checks <= set(imports(notebook))


class Named(pickle.Unpickler):
    """Reads a message of the grader's, and notes what of ours it must find where the answers run."""

    def __init__(self, message: bytes) -> None:
        super().__init__(io.BytesIO(message))
        self.found: set[tuple[str, str]] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.found |= {(module, name)} if module.split(".")[0] in {*ROOMS} - {"coursekit", "misread"} else set()
        return super().find_class(module, name)


def found_in(message: dict[str, Any]) -> set[tuple[str, str]]:
    reader = Named(wire.to_answer(message))
    reader.load()
    return reader.found


@pytest.mark.parametrize("lab", LABS)
def test_what_checks_hand_to_answers_is_listed_and_helpers_bring_what_they_need(lab):
    listed = {(module, name) for module, names in given(lab).items() for name in names}
    for exercise in checks.checks_of(lab).exercises().values():
        needed = found_in({"helper": exercise.reference})

        def answer(*args: Any, exercise: Exercise = exercise, needed: set = needed) -> Any:
            with uncounted():
                needed |= found_in({"args": values.clone(args)})
            return exercise.reference(*args)

        for args in exercise.inputs():
            assert exercise.run(answer, args).failure is None
        for module, name in needed:  # a package may be listed for a name that it takes from a module of its own
            places = [there for there, one in listed if one == name]
            assert any(f"{module}.".startswith(f"{there}.") for there in places), (exercise.name, module, name)


def brought(function: Callable) -> Iterator[Callable]:
    for value in wire._used(function).values():
        if isinstance(value, FunctionType) and value.__module__.startswith("attnlabs"):
            yield value
            yield from brought(value)


@pytest.mark.parametrize("lab", LABS)
def test_a_helper_brings_no_right_answer_to_an_exercise_that_is_still_to_be_marked(lab):
    references = [exercise.reference for exercise in checks.checks_of(lab).exercises().values()]
    for number, reference in enumerate(references):
        assert not set(references[number:]) & set(brought(reference)), reference.__name__


WAYS = {
    "by the check": (
        "return check.masked_softmax._exercise.reference(scores, mask)",
        "attnlabs.lab02.check, left out in grading",
    ),
    "by the loaded modules": (
        "return next(m.masked_softmax for m in __import__('sys').modules.values() "
        "if 'masked_softmax' in vars(m))(scores, mask)",
        "StopIteration",
    ),
    "by the collector": (
        # At its first call, when all is loaded: a million objects are looked at once, not for each input of a check.
        "global seen; seen = globals().get('seen') or [*(o for o in __import__('gc').get_objects() if type(o).__name__ "
        "== 'function' and o.__name__ == 'masked_softmax' and o.__module__ != '__main__'), None]; "
        "return next(o for o in seen if o)(scores, mask)",
        "StopIteration",
    ),
    "by its import": (
        "return __import__('importlib').import_module('attnlabs.lab02.softmax').masked_softmax(scores, mask)",
        "attnlabs.lab02.softmax.masked_softmax, left out in grading",
    ),
    "by its file": (
        "exec(open(attnbook.__path__[0] + '/../attnlabs/lab02/softmax.py').read(), names := {}); "
        "return names['masked_softmax'](scores, mask)",
        "FileNotFoundError",
    ),
    "by the package's own": (
        "from attnbook.attention import masked_softmax as own; return own(scores, mask)",
        "attnbook.attention.masked_softmax, left out in grading",
    ),
}
WITH_CHECKS = "import attnbook\nfrom attnlabs.lab02 import check\n"


@pytest.mark.slow
@pytest.mark.parametrize("line, said", WAYS.values(), ids=list(WAYS))
def test_a_line_that_calls_the_books_own_answer_earns_nothing_and_says_why(line, said, tmp_path, isolated):
    text = f"{WITH_CHECKS}def masked_softmax(scores, mask):\n    {line}"
    course_with(tmp_path, {"ann": answered(masked_softmax=text)})
    found = graded(jobs_of(tmp_path, LAB)[0], isolated)
    assert {mark["exercise"]: mark["points"] for mark in found.marks} == POINTS | {"masked_softmax": 0}
    assert said in " ".join(found.marks[0]["message"].split())


@pytest.mark.slow
def test_an_import_that_an_answer_does_not_need_costs_nothing(tmp_path, isolated):
    text = (
        "from attnbook.attention import attend\nimport attnbook.models.bert\nfrom attnpages.figures import plot_bars\n"
    )
    text += "plot_bars(attend(1)).set_title('mine')\ndef mine(w, v): return w @ v"
    notebook = answered(weight_sum="def weight_sum(weights, value):\n    return mine(weights, value)")
    notebook.cells.insert(1, v4.new_code_cell(text, id="mine"))
    course_with(tmp_path, {"ann": notebook})
    found = graded(jobs_of(tmp_path, LAB)[0], isolated)
    assert {mark["exercise"]: mark["points"] for mark in found.marks} == POINTS
    assert found.errors == {}


@pytest.mark.slow
def test_a_cell_that_only_imports_the_books_own_answer_is_told_so(tmp_path, warm):
    course_with(tmp_path, {"ann": answered(masked_softmax="from attnlabs.lab02.softmax import masked_softmax")})
    found = graded(jobs_of(tmp_path, LAB)[0], warm)
    assert {mark["exercise"]: mark["points"] for mark in found.marks} == POINTS | {"masked_softmax": 0}
    assert "imports this function from the book's packages" in found.marks[0]["message"]
