"""Unsolved labs fail exactly at their exercises."""

import pytest

from coursekit.notebooks import read
from coursekit.release import release
from coursekit.unsolved import expected_failures, unsolved_problems


@pytest.fixture
def lab(project):
    release(project.labs[0])
    return project.labs[0]


def test_graded_cells_and_tagged_cells_are_to_fail(lab):
    assert expected_failures(read(lab.released)) == {"double-check", "square-check", "closing"}


@pytest.mark.slow
def test_a_lab_that_fails_at_its_exercises_alone_is_fine(lab):
    assert unsolved_problems(lab) == []


@pytest.mark.slow
def test_each_cell_that_fails_or_passes_against_the_rule_is_named(lab, change):
    def spoil(cells, _):
        cells["helper"].source += "\nopen('missing.txt')"
        cells["double"].source = "def double(number):\n    return 2 * number"
        cells["square-check"].source = "check(sqare, 3, 9)"
        cells["closing"].metadata.pop("tags")

    change(lab.released, spoil)
    found = unsolved_problems(lab)
    assert [problem.split()[1] for problem in found] == ["helper", "double-check", "square-check", "closing"]
    assert "FileNotFoundError" in found[0]
    assert "passes unsolved" in found[1]
    assert "for a reason of its own: NameError: name 'sqare'" in found[2]
    assert "fails unsolved (NotImplementedError); mend it, or tag it needs-solution" in found[3]
