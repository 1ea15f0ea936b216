"""Where the course's files are found."""

import pytest

from coursekit import CourseError
from coursekit.project import find_project


def test_the_course_is_found_from_any_folder_inside(project):
    assert find_project(project.root / "solutions" / "lab01_sums").root == project.root


def test_outside_of_a_course_the_error_says_so(tmp_path):
    with pytest.raises(CourseError, match="is in no course"):
        find_project(tmp_path)


@pytest.mark.parametrize("name", ["lab01", "lab01_sums", "labs/lab01_sums", "solutions/lab01_sums/lab01_sums.ipynb"])
def test_a_lab_can_be_called_in_several_ways(project, name):
    assert [lab.name for lab in project.choose_labs([name])] == ["lab01_sums"]


def test_an_unknown_lab_is_answered_with_the_known_ones(project):
    with pytest.raises(CourseError, match=r"no lab 'lab09'.*lab01_sums"):
        project.choose_labs(["lab09"])


def test_a_folder_with_another_name_than_its_notebook_is_refused(project):
    (project.root / "solutions" / "lab02_products").mkdir()
    with pytest.raises(CourseError, match=r"lab02_products\.ipynb is missing"):
        _ = project.labs


@pytest.mark.parametrize("name", ["old", "lab02_gr\u00f6\u00dfe"])
def test_a_folder_that_is_not_called_like_a_lab_is_refused(name, project):
    (project.root / "solutions" / name).mkdir()
    with pytest.raises(CourseError, match="called like lab01_bottleneck"):
        _ = project.labs


def test_what_editors_leave_behind_is_no_lab(project):
    (project.root / "solutions" / ".ipynb_checkpoints").mkdir()
    assert len(project.labs) == 1


def test_labs_without_a_source_are_orphans(project):
    (project.root / "labs" / "lab07_old").mkdir(parents=True)
    assert [path.name for path in project.orphans()] == ["lab07_old"]
