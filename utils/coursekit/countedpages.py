"""The pages that `coursekit status --write` makes: what the course holds, and the mistakes that its checks know."""

from pathlib import Path

from coursekit.mistakes import book_page
from coursekit.project import Project
from coursekit.status import PAGE, status_page

PAGES = {PAGE: status_page, book_page.PAGE: book_page.mistakes_page}


def counted_pages(project: Project) -> dict[Path, str]:
    """Each page's path under the project's root, and its text as it should be now."""
    return {path: page(project) for path, page in PAGES.items()}


def page_problems(project: Project) -> list[str]:
    """The pages that are there and say something else; a course need not have them."""
    there = {path: page for path, page in PAGES.items() if (project.root / path).is_file()}
    return [
        f"{path.as_posix()} is out of step with notebooks and checks: run `coursekit status --write`"
        for path, page in there.items()
        if (project.root / path).read_text(encoding="utf-8") != page(project)
    ]
