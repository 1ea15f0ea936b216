"""No solution and no hidden test can be read in the student's copy."""

import pytest
from nbformat import v4

from coursekit.leaks import leaks
from coursekit.notebooks import write
from coursekit.release import release


@pytest.fixture
def lab(project):
    release(project.labs[0])
    return project.labs[0]


def show(change, lab, text: str) -> list[str]:
    change(lab.released, lambda cells, _: cells["title"].update(source=text))
    return leaks(lab)


def test_a_released_lab_leaks_nothing(lab):
    assert leaks(lab) == []


def test_a_telling_line_of_a_solution_is_found_even_in_prose(lab, change):
    found = show(change, lab, "Almost:\n\n    the_answer_is_the_sum = number + number")
    assert found == ["solution of cell double is in the student's copy: the_answer_is_the_sum = number + number"]


def test_a_whole_short_solution_is_found(lab, change):
    assert "solution of cell square" in show(change, lab, "return number * number")[0]


def test_a_hidden_test_is_found(lab, change):
    assert "hidden tests of cell square-check" in show(change, lab, "check(square, -4, 16)")[0]


@pytest.mark.parametrize("mark", ["### BEGIN SOLUTION", "# end solution", "### BEGIN HIDDEN TESTS"])
def test_a_mark_is_found(lab, change, mark):
    assert "the mark" in show(change, lab, mark)[0]


def test_outputs_are_found(lab, change):
    change(lab.released, lambda cells, _: cells["helper"].update(execution_count=1))
    assert leaks(lab) == ["the student's copy holds outputs"]


def test_short_lines_give_nothing_away(lab, change):
    assert show(change, lab, "return the_answer_is_the_sum") == []


def test_the_source_itself_in_place_of_the_release_leaks_all(lab):
    write(v4.new_notebook(cells=[]), lab.released)
    lab.released.write_bytes(lab.source.read_bytes())
    found = "\n".join(leaks(lab))
    for name in ("double", "square", "double-check", "square-check"):
        assert f"of cell {name} is in" in found
