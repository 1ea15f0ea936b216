"""Students' work: told from a lab as it was released, and kept in work/."""

import json

import pytest

from coursekit import CourseError
from coursekit.notebooks import code_cells, read
from coursekit.release import release
from coursekit.work import RECORD, copy_labs, holds_work, work_problem


@pytest.fixture
def lab(project):
    release(project.labs[0])
    return project.labs[0]


@pytest.fixture
def copy(project, lab):
    """The student's copy of the lab."""
    copy_labs(project.root)
    return project.root / "work" / "lab01_sums" / "lab01_sums.ipynb"


def answer(cells, _):
    cells["double"].source = "def double(number):\n    return 2 * number"


# --- what is work ---------------------------------------------------------------------------------


def test_a_lab_as_it_was_released_holds_no_work(lab):
    assert not holds_work(lab.released)
    assert work_problem(lab) is None


@pytest.mark.parametrize("function", [
    answer,
    lambda cells, _: cells["double"].update(source=cells["double"].source + "\n    # an idea"),
    lambda cells, _: cells["title"].update(source="# Sums") or cells["helper"].update(execution_count=1),
    lambda cells, _: cells["double"].metadata.nbgrader.pop("checksum") and answer(cells, _),
], ids=["an answer", "a note under the stub", "a run", "an answer without a checksum"])  # fmt: skip
def test_a_run_and_a_changed_answer_are_work(lab, change, function):
    change(lab.released, function)
    assert holds_work(lab.released)
    assert work_problem(lab) == (
        "labs/lab01_sums/lab01_sums.ipynb holds somebody's work (it was run, or an answer was changed): move it to "
        "work/lab01_sums/, or write over it with `coursekit release --overwrite lab01`"
    )


@pytest.mark.parametrize("function", [
    lambda cells, notebook: notebook.metadata.update(viewed="yesterday"),
    lambda cells, _: cells["double"].metadata.nbgrader.pop("checksum"),
    lambda cells, _: cells["helper"].update(source="# mended by the author"),
], ids=["saved again", "a checksum lost", "another cell changed"])  # fmt: skip
def test_what_a_viewer_or_an_author_changes_is_no_work(lab, change, function):
    change(lab.released, function)
    assert not holds_work(lab.released)


def test_a_newer_source_makes_no_work_of_an_untouched_lab(lab, change):
    change(lab.source, lambda cells, _: cells["double"].update(source=cells["double"].source.replace("Twice", "2 ×")))
    assert work_problem(lab) is None


def test_a_lab_that_was_never_released_holds_no_work(project):
    assert work_problem(project.labs[0]) is None


# --- the folder work/ -----------------------------------------------------------------------------


def test_labs_are_copied_byte_for_byte_and_told(project, lab):
    assert copy_labs(project.root) == ["work/lab01_sums/lab01_sums.ipynb: copied from labs/"]
    copy = project.root / "work" / "lab01_sums" / "lab01_sums.ipynb"
    assert copy.read_bytes() == lab.released.read_bytes()
    assert copy_labs(project.root) == []


def test_work_is_never_written_over_and_a_new_lab_beside_it_is_copied(project, lab, copy, change):
    change(copy, answer)
    mine = copy.read_bytes()
    (project.root / "labs" / "lab02_more").mkdir()
    (project.root / "labs" / "lab02_more" / "lab02_more.ipynb").write_bytes(lab.released.read_bytes())
    assert copy_labs(project.root) == ["work/lab02_more/lab02_more.ipynb: copied from labs/"]
    assert copy.read_bytes() == mine


def test_a_changed_lab_is_told_each_time_and_comes_when_the_folder_is_renamed(project, lab, copy, change):
    change(copy, answer)
    mine = copy.read_bytes()
    change(lab.released, lambda cells, _: cells["title"].update(source="# Sums, second edition"))
    for _ in range(2):
        (line,) = copy_labs(project.root)
        assert line.startswith("work/lab01_sums: the lab has changed since it was copied")
        assert "rename your folder" in line
    assert copy.read_bytes() == mine
    copy.parent.rename(copy.parent.with_name("lab01_mine"))
    assert copy_labs(project.root) == ["work/lab01_sums/lab01_sums.ipynb: copied from labs/"]
    assert copy.read_bytes() == lab.released.read_bytes()
    assert (project.root / "work" / "lab01_mine" / "lab01_sums.ipynb").read_bytes() == mine
    assert copy_labs(project.root) == []


@pytest.mark.parametrize("record", [None, "{", "[]"])
def test_without_a_record_nothing_is_lost_and_later_changes_are_told(project, lab, copy, change, record):
    change(copy, answer)
    mine, path = copy.read_bytes(), project.root / "work" / RECORD
    path.unlink() if record is None else path.write_text(record, encoding="utf-8")
    assert copy_labs(project.root) == []
    assert copy.read_bytes() == mine
    assert list(json.loads(path.read_text(encoding="utf-8"))) == ["lab01_sums/lab01_sums.ipynb"]
    change(lab.released, lambda cells, _: cells["title"].update(source="# New"))
    assert "has changed" in copy_labs(project.root)[0]


def test_data_files_come_along_and_checkpoints_do_not(project, lab):
    for name in ("data/words.txt", ".ipynb_checkpoints/lab01_sums-checkpoint.ipynb"):
        (lab.released.parent / name).parent.mkdir(exist_ok=True)
        (lab.released.parent / name).write_text("eins", encoding="utf-8")
    copy_labs(project.root)
    folder = project.root / "work" / "lab01_sums"
    assert (folder / "data" / "words.txt").read_text(encoding="utf-8") == "eins"
    assert not (folder / ".ipynb_checkpoints").exists()


def test_a_copy_can_be_solved_while_labs_stay_in_step(lab, copy, change):
    change(copy, answer)
    assert not holds_work(lab.released)
    assert release(lab) is False
    assert "return 2 * number" in code_cells(read(copy))[1].source


def test_a_course_without_labs_says_how_to_make_them(project):
    with pytest.raises(CourseError, match="run `coursekit release`"):
        copy_labs(project.root)


def test_a_folder_that_cannot_be_written_is_named(project, lab):
    (project.root / "work").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(CourseError, match=r"cannot be copied to .*work: "):
        copy_labs(project.root)
