"""All rules together, on a whole course."""

import pytest

from coursekit.execute import execute
from coursekit.release import release
from coursekit.verify import chapter_summary, lab_problems, lab_summary, verify
from coursekit.work import work_problem


@pytest.fixture
def finished(project):
    for path in (project.chapters[0], project.labs[0].source):
        execute(path)
    release(project.labs[0])
    return project


@pytest.mark.slow
def test_a_finished_course_is_in_order_and_each_notebook_is_reported(finished):
    said = []
    assert verify(finished, say=said.append) == []
    assert said == [
        "chapters/01_counting.ipynb: 4 words, 1 printed block, 1 figure, ok",
        "lab01_sums: 2 graded cells, 5 points, ok",
    ]


@pytest.mark.slow
def test_a_lab_that_somebody_solves_in_labs_has_that_one_problem(finished, change):
    answer = "def double(number):\n    the_answer_is_the_sum = number + number\n    return the_answer_is_the_sum"
    change(finished.labs[0].released, lambda cells, _: cells["double"].update(source=answer, execution_count=1))
    assert lab_problems(finished, finished.labs[0]) == [work_problem(finished.labs[0])]


def test_a_new_course_lists_all_that_is_to_be_done(project):
    said = []
    found = "\n".join(verify(project, run=False, say=said.append))
    assert "chapters/01_counting.ipynb: cells without a run" in found
    assert "lab01_sums: labs/lab01_sums/lab01_sums.ipynb is missing" in found
    assert all("to mend" in line for line in said)


def test_a_chapter_that_does_not_say_its_edition_is_told_so(project, change):
    chapter = project.chapters[0]
    assert "edition" not in chapter_summary(chapter)
    change(chapter, lambda cells, _: cells["title"].update(source="# Count\n\n## Where this lives today\n\nHere."))
    assert chapter_summary(chapter).endswith('; no "edition": 3 in its metadata')
    change(chapter, lambda _, notebook: notebook.metadata.attnbook.update(edition=3))
    assert "edition" not in chapter_summary(chapter)


def test_an_unreadable_notebook_is_a_problem_and_no_crash(project):
    project.chapters[0].write_text("{")
    project.labs[0].source.write_text("{")
    found = "\n".join(verify(project, run=False, say=lambda _: None))
    assert "01_counting.ipynb cannot be read" in found
    assert "lab01_sums.ipynb cannot be read" in found
    assert chapter_summary(project.chapters[0]) == "unreadable"
    assert lab_summary(project.labs[0]) == "unreadable"
