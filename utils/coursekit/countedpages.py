"""The pages that `coursekit status --write` makes: what the course holds, and the mistakes that its checks know."""

from pathlib import Path

from coursekit.mistakes import book_page
from coursekit.project import Project
from coursekit.status import PAGE, status_page


def counted_pages(project: Project) -> dict[Path, str]:
    """Each page's path under the project's root, and its text as it should be now."""
    return {PAGE: status_page(project), book_page.PAGE: book_page.mistakes_page(project)}


def page_problems(project: Project) -> list[str]:
    """The pages that are there and say something else; a course need not have them."""
    there = {path: text for path, text in counted_pages(project).items() if (project.root / path).is_file()}
    return [
        f"{path.as_posix()} is out of step with notebooks and checks: run `coursekit status --write`"
        for path, text in there.items()
        if (project.root / path).read_text(encoding="utf-8") != text
    ]
