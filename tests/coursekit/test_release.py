"""From solutions/ to labs/."""

import pytest

from coursekit import CourseError
from coursekit.notebooks import CHECK_OUTPUT, code_cells, grader, has_tag, read, was_run, write
from coursekit.release import release, released_files

STUB = "    # YOUR CODE HERE\n    raise NotImplementedError()"


@pytest.fixture
def lab(project):
    return project.labs[0]


def source_of(lab, name: str) -> str:
    return next(cell.source for cell in read(lab.released).cells if cell.id == name)


def test_students_get_stubs_and_visible_tests_only(lab):
    assert release(lab)
    assert source_of(lab, "double") == f'def double(number):\n    """Twice the number."""\n{STUB}'
    assert source_of(lab, "double-check") == "check(double, 2, 4)"
    assert source_of(lab, "title") == "# Sums"


def test_answers_and_tests_carry_what_nbgrader_needs(lab):
    release(lab)
    test = next(cell for cell in read(lab.released).cells if cell.id == "square-check")
    assert grader(test)["points"] == 3
    assert grader(test)["checksum"]
    assert test.metadata["editable"] is False


def test_students_get_no_tag_that_compares_outputs_and_keep_their_own_tags(lab, change):
    change(lab.source, lambda cells, _: cells["square-check"].metadata.tags.append("mine"))
    release(lab)
    cells = {cell.id: cell for cell in read(lab.released).cells}
    assert not any(has_tag(cell, CHECK_OUTPUT) for cell in cells.values())
    assert "tags" not in cells["double-check"].metadata
    assert cells["square-check"].metadata.tags == ["mine"]
    assert has_tag(cells["closing"], "needs-solution")


def test_a_second_release_gives_the_same_bytes_and_says_so(lab):
    release(lab)
    once = lab.released.read_bytes()
    assert release(lab) is False
    assert lab.released.read_bytes() == once


def test_outputs_of_the_solution_do_not_change_what_students_get(lab, change):
    before = released_files(lab)

    def fill(cells, notebook):
        for cell in code_cells(notebook):
            cell.execution_count = 12
            cell.outputs = []

    change(lab.source, fill)
    assert released_files(lab) == before


def test_an_unclosed_region_is_refused_and_named(lab, change):
    change(lab.source, lambda cells, _: cells["double"].update(source="def double(n):\n    ### BEGIN SOLUTION\n    n"))
    with pytest.raises(CourseError, match=r"(?s)cannot be released.*cell double: .* never closed"):
        release(lab)
    assert not lab.released.exists()


def test_a_stray_file_beside_the_source_is_refused(lab):
    (lab.source.parent / "notes.md").write_text("the answers are …")
    with pytest.raises(CourseError, match=r"notes\.md would reach students"):
        release(lab)


def test_a_listed_data_file_goes_out_with_the_lab(lab, change):
    (lab.source.parent / "data").mkdir()
    (lab.source.parent / "data" / "words.txt").write_text("eins zwei")
    change(lab.source, lambda _, notebook: notebook.metadata.attnbook.update(files=["data/words.txt"]))
    release(lab)
    assert (lab.released.parent / "data" / "words.txt").read_text() == "eins zwei"


def test_a_listed_file_that_is_missing_is_named(lab, change):
    change(lab.source, lambda _, notebook: notebook.metadata.attnbook.update(files=["words.txt"]))
    with pytest.raises(CourseError, match=r"words\.txt is listed in attnbook\.files but isn't there"):
        release(lab)


def test_a_hand_written_file_in_labs_stops_the_release_and_stays(lab):
    stranger = lab.released.parent / "my_notes.md"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("mine")
    with pytest.raises(CourseError, match=r"did not make: my_notes\.md"):
        release(lab)
    assert stranger.read_text() == "mine"
    assert not lab.released.exists()


def test_a_lab_that_somebody_has_run_is_not_written_over(lab, change):
    release(lab)
    change(
        lab.released, lambda cells, _: cells["double"].update(source="def double(n): return 2 * n", execution_count=3)
    )
    work = lab.released.read_bytes()
    with pytest.raises(CourseError, match="holds somebody's work"):
        release(lab)
    assert lab.released.read_bytes() == work
    assert release(lab, overwrite=True)
    assert not was_run(read(lab.released))


def test_an_answer_that_nobody_ran_is_not_written_over_either(lab, change):
    release(lab)
    change(lab.released, lambda cells, _: cells["double"].update(source="def double(n): return 2 * n"))
    work = lab.released.read_bytes()
    with pytest.raises(CourseError, match="move it to work/lab01_sums/"):
        release(lab)
    assert lab.released.read_bytes() == work


def test_authors_may_change_the_text_of_an_answer_cell_and_release_it(lab, change):
    release(lab)
    change(lab.source, lambda cells, _: cells["double"].update(source=cells["double"].source.replace("Twice", "2 ×")))
    assert release(lab)
    assert "2 × the number" in source_of(lab, "double")


def test_checkpoints_of_an_editor_disturb_nothing(lab):
    for folder in (lab.source.parent, lab.released.parent):
        write(read(lab.source), folder / ".ipynb_checkpoints" / "lab01_sums-checkpoint.ipynb")
    assert release(lab)
