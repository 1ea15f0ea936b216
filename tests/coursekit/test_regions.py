"""Solution and hidden-test regions."""

import pytest
from nbformat import v4

from coursekit.regions import given_lines, region_problem, regions

ANSWER = {"nbgrader": {"grade": False, "solution": True}}
GRADED = {"nbgrader": {"grade": True, "solution": False}}
WRITTEN = {"nbgrader": {"grade": True, "solution": True}}
SOLVED = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
HIDDEN = "f()\n### BEGIN HIDDEN TESTS\nf(2)\n### END HIDDEN TESTS"


def test_regions_are_read_with_their_lines():
    assert [(r.kind, r.lines) for r in regions(SOLVED)] == [("SOLUTION", ["    return 1"])]
    assert [(r.kind, r.lines) for r in regions(HIDDEN)] == [("HIDDEN TESTS", ["f(2)"])]


@pytest.mark.parametrize("source, words", [
    ("### BEGIN SOLUTION\nx", "never closed"),
    ("### END SOLUTION", "nothing was begun"),
    ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "don't nest"),
    ("### BEGIN SOLUTION\n### END HIDDEN TESTS", "SOLUTION was begun"),
    ("# BEGIN SOLUTION\nx\n### END SOLUTION", "line 1 looks like a mark"),
    ("### begin solution\nx", "line 1 looks like a mark"),
    ("### BEGIN HIDDEN TEST\nx", "line 1 looks like a mark"),
])  # fmt: skip
def test_crooked_marks_are_refused(source, words):
    with pytest.raises(ValueError, match=words):
        regions(source)


@pytest.mark.parametrize("source, metadata, words", [
    (SOLVED, {}, "no answer cell"),
    (SOLVED, GRADED, "no answer cell"),
    (HIDDEN, ANSWER, "not graded"),
    (HIDDEN, {}, "not graded"),
    ("def f():\n    return 1", ANSWER, "needs a solution region"),
    ("### BEGIN SOLUTION", ANSWER, "never closed"),
])  # fmt: skip
def test_a_region_in_the_wrong_cell_is_a_problem(source, metadata, words):
    assert words in region_problem(v4.new_code_cell(source, metadata=metadata))


@pytest.mark.parametrize("source, metadata", [(SOLVED, ANSWER), (HIDDEN, GRADED), ("x = 1", {}), ("f()", GRADED)])
def test_regions_in_their_own_cells_are_fine(source, metadata):
    assert region_problem(v4.new_code_cell(source, metadata=metadata)) is None


def test_a_written_answer_needs_no_region_and_gives_students_nothing():
    cell = v4.new_markdown_cell("Because of c.", metadata=WRITTEN)
    assert region_problem(cell) is None
    assert given_lines(cell) == []


def test_given_lines_are_those_outside_of_regions():
    assert given_lines(v4.new_code_cell(SOLVED, metadata=ANSWER)) == ["def f():"]
