"""Everything that must hold of chapters, solutions and labs before a change goes in."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from coursekit import CourseError
from coursekit.chapterrules import chapter_problems, repeated_figure_names, stored_problems
from coursekit.edition import undeclared
from coursekit.evidence import place_problems
from coursekit.exercises import exercise_problems
from coursekit.labrules import points_of, repeated_grade_ids, source_problems, step_problems, stray_problems
from coursekit.leaks import leaks
from coursekit.mistakes.known import file_problems
from coursekit.notebooks import is_graded, read
from coursekit.project import Lab, Project
from coursekit.size import size_in_words
from coursekit.unsolved import unsolved_problems
from coursekit.work import work_problem

Say = Callable[[str], None]


def verify(project: Project, run: bool = True, say: Say = print) -> list[str]:
    """All problems of the course, each with its file; `say` gets a line for each notebook as it is done.

    `run` = False leaves out running the unsolved labs, which takes some seconds per lab."""
    problems = course_problems(project)
    for path in project.chapters:
        problems += _report(project.relative(path), partial(chapter_problems, path), say, chapter_summary(path))
    for lab in project.labs:
        problems += _report(lab.name, partial(lab_problems, project, lab, run), say, lab_summary(lab))
    return problems


def course_problems(project: Project) -> list[str]:
    """What is wrong between notebooks: ids and names that clash, labs without a source, pages
    that the book does not show, an old list of mistakes."""
    try:
        problems = stray_problems(project) + repeated_grade_ids(project.labs) + file_problems(project)
        problems += place_problems(project)
        return problems + repeated_figure_names([*project.chapters, *(lab.source for lab in project.labs)])
    except CourseError as error:
        return [str(error)]


def lab_problems(project: Project, lab: Lab, run: bool = True) -> list[str]:
    """What is wrong with one lab: its source, its exercises, its stored outputs, its student's copy."""
    problems = source_problems(lab) + exercise_problems(lab)
    problems += stored_problems(lab.source) + step_problems(project, lab)
    if lab.released.is_file() and work_problem(lab):
        return problems  # somebody's answers are no leak, and the exercises that they solve no defect
    problems += leaks(lab)
    if run and lab.released.is_file():
        problems += unsolved_problems(lab)
    return problems


def chapter_summary(path: Path) -> str:
    """How long a chapter is, what is too much for one sitting, and whether it leaves its edition out."""
    try:
        return size_in_words(path) + ('; no "edition": 3 in its metadata' if undeclared(read(path)) else "")
    except CourseError:
        return "unreadable"


def lab_summary(lab: Lab) -> str:
    """How many graded cells and points, in words."""
    try:
        notebook = read(lab.source)
    except CourseError:
        return "unreadable"
    graded = sum(map(is_graded, notebook.cells))
    return f"{graded} graded cells, {points_of(notebook):g} points"


def _report(name: str, look: Callable[[], list[str]], say: Say, summary: str) -> list[str]:
    try:
        problems = look()
    except CourseError as error:
        problems = [str(error)]
    verdict = "ok" if not problems else f"{len(problems)} to mend"
    say(f"{name}: {', '.join(part for part in (summary, verdict) if part)}")
    return [f"{name}: {problem}" for problem in problems]
