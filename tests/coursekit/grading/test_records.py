"""What is known of a submission holds as long as nothing has changed that it depends on."""

import dataclasses
import json

import pytest
from small_class import LAB, answered, course_with, solved

from coursekit import CourseError
from coursekit.grading import records, side_by_side
from coursekit.grading.records import Grade, jobs_of, stored
from coursekit.grading.side_by_side import grade_all

WRONG = answered(weight_sum="def weight_sum(weights, value):\n    return value")


@pytest.fixture
def no_process(monkeypatch):
    """Fails when something would be graded."""
    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", lambda *_: pytest.fail("it is graded again"))


def test_the_jobs_are_the_students_who_handed_in(tmp_path):
    course_with(tmp_path, {"bob": solved(), "ann": solved()})
    (tmp_path / "submitted" / "eve").mkdir()
    assert [job.student for job in jobs_of(tmp_path, LAB)] == ["ann", "bob"]


def test_an_unknown_lab_and_an_empty_folder_are_said(tmp_path):
    course_with(tmp_path, {})
    with pytest.raises(CourseError, match=f"no source of 'lab99'; sources there: {LAB}"):
        jobs_of(tmp_path, "lab99")
    with pytest.raises(CourseError, match="nobody has handed in"):
        jobs_of(tmp_path, LAB)


@pytest.mark.parametrize("content", ["", "[]", "7", "{}", '{"student": 3, "x": 1}', "null"])
def test_a_broken_record_is_as_none(content, tmp_path):
    course_with(tmp_path, {"ann": solved()})
    (job,) = jobs_of(tmp_path, LAB)
    job.grade.parent.mkdir(parents=True)
    job.grade.write_text(content)
    assert stored(job) is None


def test_a_record_of_another_version_is_as_none_and_one_of_this_is_read(tmp_path, no_process):
    course_with(tmp_path, {"ann": solved()})
    (job,) = jobs_of(tmp_path, LAB)
    mine = Grade("ann", LAB, records.digest(job), marks=[{"points": 2.0}])
    job.grade.parent.mkdir(parents=True)
    job.grade.write_text(json.dumps(dataclasses.asdict(mine)))
    assert list(grade_all([job])) == [mine]
    job.grade.write_text(json.dumps(dataclasses.asdict(mine) | {"version": 0}))
    assert stored(job) is None


def test_the_digest_changes_with_the_notebook_and_with_the_source(tmp_path):
    course_with(tmp_path, {"ann": solved()})
    (job,) = jobs_of(tmp_path, LAB)
    first = records.digest(job)
    course_with(tmp_path, {"ann": WRONG})
    second = records.digest(job)
    job.source.write_text(job.source.read_text() + "\n")
    assert len({first, second, records.digest(job)}) == 3


def shared(packages):
    """The modules of coursekit that the grader shares with other commands, each with nothing in it."""
    (packages / "coursekit").mkdir()
    for name in ("magics", "notebooks", "unsolved", "work"):
        (packages / "coursekit" / f"{name}.py").touch()
    return sorted((packages / "coursekit").iterdir())


def test_the_digest_changes_with_what_reads_the_notebooks(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PACKAGES", tmp_path)
    paths, judged = shared(tmp_path), records.what_judges.__wrapped__
    found = [judged("lab02")]
    for path in paths:
        path.write_text("x = 1\n")
        found.append(judged("lab02"))
    assert len(set(found)) == len(paths) + 1 == 5


def test_the_digest_changes_with_the_labs_checks_and_what_they_share_and_with_the_grader(tmp_path, monkeypatch):
    parts = ["misread", "attnlabs/families", "attnlabs/fakes", "attnlabs/lab02"]
    parts += ["coursekit/grading", "attnlabs/lab03"]
    shared(tmp_path)
    monkeypatch.setattr(records, "PACKAGES", tmp_path)
    judged = records.what_judges.__wrapped__
    found = [judged("lab02")]
    for part in parts:
        (tmp_path / part).mkdir(parents=True)
        (tmp_path / part / "one.py").write_text("x = 1\n")
        found.append(judged("lab02"))
    assert len(set(found)) == len(parts)
    assert found[-1] == found[-2]  # another lab's checks
    monkeypatch.setattr(records.attnbook, "__version__", "99")
    assert judged("lab02") not in found


def test_the_digest_of_a_submission_holds_what_judges_it(tmp_path, monkeypatch):
    course_with(tmp_path, {"ann": solved()})
    (job,) = jobs_of(tmp_path, LAB)
    first = records.digest(job)
    monkeypatch.setattr(records, "what_judges", lambda lab: f"another check of {lab}")
    assert records.digest(job) != first
