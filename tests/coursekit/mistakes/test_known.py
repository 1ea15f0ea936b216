"""The file of known mistakes, which the book reads without PyTorch."""

from pathlib import Path

from attnlabs import catalogue
from coursekit.mistakes.known import FILE, Listed, file_problems, file_text, known_mistakes
from coursekit.project import Project
from coursekit.verify import course_problems

ROOT = Path(__file__).parents[3]


def test_this_books_file_says_what_the_checks_know():
    assert file_problems(Project(ROOT)) == []
    found = known_mistakes(Project(ROOT)).labs["lab02"]["masked_softmax"]
    listed = catalogue()["lab02"]["masked_softmax"]
    assert found.mistakes == {mistake.name: mistake.message for mistake in listed.mistakes}
    assert found.properties == len(listed.properties)


def test_a_course_need_not_have_it(project):
    assert file_problems(project) == []
    assert known_mistakes(project) == Listed(0, {})


def test_verify_says_when_it_is_out_of_step(project):
    (project.root / FILE).parent.mkdir()
    (project.root / FILE).write_text(file_text().replace("softmax", "maximum", 1), encoding="utf-8")
    said = "book/mistakes.json is out of step with the checks: run `coursekit status --write`"
    assert file_problems(project) == course_problems(project) == [said]
