"""The pages that are counted from notebooks and checks, and what is said when one is out of step."""

from pathlib import Path

import pytest

from coursekit.countedpages import counted_pages, page_problems
from coursekit.project import Project
from coursekit.verify import course_problems

ROOT = Path(__file__).parents[2]


def test_this_book_has_both_pages_and_they_are_in_step():
    pages = counted_pages(Project(ROOT))
    assert [path.name for path in pages] == ["status.md", "mistakes.md"]
    assert {path: (ROOT / path).read_text(encoding="utf-8") for path in pages} == pages


def test_a_course_need_not_have_them(project):
    assert page_problems(project) == []


@pytest.mark.parametrize("name", ["status.md", "mistakes.md"])
def test_verify_says_when_a_page_is_out_of_step(project, name):
    (project.root / "book").mkdir()
    pages = counted_pages(project)
    for path, text in pages.items():
        (project.root / path).write_text("old" if path.name == name else text, encoding="utf-8")
    said = f"book/{name} is out of step with notebooks and checks: run `coursekit status --write`"
    assert page_problems(project) == course_problems(project) == [said]
