"""A teacher's folder."""

import pytest

from coursekit import CourseError
from coursekit.grading.command import MORE, STEPS
from coursekit.grading.deadlines import deadlines
from coursekit.notebooks import CHECK_OUTPUT, read, without_tag
from coursekit.term import make_term


def test_a_term_holds_sources_settings_and_the_way_to_use_them(project, tmp_path):
    folder = tmp_path / "autumn"
    written = make_term(folder, project.labs)
    assert written == ["README.md", "deadlines.csv", "nbgrader_config.py", "source/lab01_sums/lab01_sums.ipynb"]
    source = read(project.labs[0].source)
    assert read(folder / written[3]) == without_tag(source, CHECK_OUTPUT) != source
    assert "nbgrader autograde lab01_sums" in (folder / "README.md").read_text()
    compile((folder / "nbgrader_config.py").read_text(), "nbgrader_config.py", "exec")


def test_an_existing_term_keeps_settings_and_grades(project, tmp_path):
    make_term(tmp_path, project.labs)
    for name in ("nbgrader_config.py", "deadlines.csv", "gradebook.db"):
        (tmp_path / name).write_text("mine")
    assert make_term(tmp_path, project.labs) == ["source/lab01_sums/lab01_sums.ipynb"]
    kept = ("nbgrader_config.py", "deadlines.csv", "gradebook.db")
    assert {(tmp_path / name).read_text() for name in kept} == {"mine"}


def test_the_readme_names_each_step_and_a_new_term_has_no_deadline(project, tmp_path):
    make_term(tmp_path, project.labs)
    readme = (tmp_path / "README.md").read_text()
    assert [name for name in STEPS | MORE if f"`{name}`" not in readme and f"--only {name}`" not in readme] == []
    assert deadlines(tmp_path) == {}


def test_a_lab_that_cannot_be_released_makes_no_term(project, tmp_path):
    (project.labs[0].source.parent / "notes.md").write_text("x")
    with pytest.raises(CourseError, match="would reach students"):
        make_term(tmp_path / "autumn", project.labs)
    assert not (tmp_path / "autumn").exists()
