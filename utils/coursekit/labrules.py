"""What a lab's source must hold, and that the student's copy is what the source gives."""

import re
from collections.abc import Iterable

from nbformat import NotebookNode

from coursekit import CourseError
from coursekit.chapterrules import about_problems
from coursekit.notebooks import CHECK_OUTPUT, code_cells, grader, has_tag, is_answer, is_graded, prose, read
from coursekit.project import Lab, Project, files_in
from coursekit.regions import given_lines, region_problem
from coursekit.release import released_files
from coursekit.textquestion import NAME, is_written, text_question
from coursekit.work import work_problem

# Labs are opened in many viewers; roles, directives, labels and citations would show raw in most.
MYST = re.compile(r"(?<!`)\{[a-z][\w:-]*\}`|^\s*:::|^\s*```\{|^\([\w-]+\)=\s*$", re.MULTILINE)


def source_problems(lab: Lab) -> list[str]:
    """What is wrong with the lab's source: regions, nbgrader's metadata, markup, metadata of the course."""
    notebook = read(lab.source)
    problems = [f"cell {c.id}: {problem}" for c in notebook.cells if (problem := region_problem(c))]
    problems += [f"cell {c.id}: {problem}" for c in notebook.cells for problem in _grader_problems(c, lab)]
    problems += [f"cell {c.id}: {problem}" for c in code_cells(notebook) for problem in _output_problems(c)]
    problems += about_problems(notebook, "title", "minutes") + _question_problems(notebook, lab)
    if found := MYST.search(prose(notebook)):
        problems.append(f"labs are plain Markdown, but {found[0].strip()!r} is MyST")
    if not any(is_graded(cell) for cell in notebook.cells):
        problems.append("no cell is graded")
    return problems


def repeated_grade_ids(labs: Iterable[Lab]) -> list[str]:
    """Grade ids that stand on more than one cell of the course."""
    seen: dict[str, str] = {}
    problems = []
    for lab in labs:
        for cell in read(lab.source).cells:
            name = grader(cell).get("grade_id")
            if name and name in seen:
                problems.append(f"{lab.name}: grade id {name} stands in {seen[name]} already")
            elif name:
                seen[name] = lab.name
    return problems


def points_of(notebook: NotebookNode) -> int | float:
    """The sum of all points that checks give; those of the text question, which a person gives, are not in it."""
    return sum(grader(cell).get("points", 0) for cell in notebook.cells if is_graded(cell))


def points_by_exercise(notebook: NotebookNode) -> dict[str, int | float]:
    """Grade id of each answer cell -> the points of the graded cells that follow it; 0 for one left open."""
    points: dict[str, int | float] = {}
    for cell in notebook.cells:
        if is_answer(cell) and not is_written(cell):
            points[grader(cell)["grade_id"]] = 0
        elif is_graded(cell) and points:
            points[list(points)[-1]] += grader(cell)["points"]
    return points


def step_problems(project: Project, lab: Lab) -> list[str]:
    """Where labs/ differs, in a single byte, from what solutions/ would be released as, and what to do."""
    try:
        wanted = released_files(lab)
    except CourseError as error:
        return [str(error)]
    folder = lab.released.parent
    problems = []
    for name in sorted(wanted.keys() | set(files_in(folder))):
        path = folder / name
        if name not in wanted:
            problems.append(f"{project.relative(path)} was not made by release")
        elif not path.is_file():
            problems.append(f"{project.relative(path)} is missing: run `coursekit release`")
        elif path == lab.released and (problem := work_problem(lab)):
            problems.append(problem)
        elif path.read_bytes() != wanted[name]:
            problems.append(f"{project.relative(path)} is not what solutions/ gives: run `coursekit release`")
    return problems


def stray_problems(project: Project) -> list[str]:
    """Things in labs/ without a source."""
    return [f"{project.relative(path)} has no source in solutions/" for path in project.orphans()]


def _grader_problems(cell: NotebookNode, lab: Lab) -> list[str]:
    marks = grader(cell)
    if not marks:
        return []
    problems = []
    kind = marks.get("grade"), marks.get("solution"), marks.get("locked")
    if kind not in {(False, True, False), (True, False, True), (True, True, False), (False, False, True)}:
        problems.append(f"grade, solution, locked = {kind} is no answer, test, written answer or locked cell")
    if marks.get("schema_version") != 3 or marks.get("task") is not False:
        problems.append("nbgrader's metadata need schema_version 3 and task false")
    if not str(marks.get("grade_id", "")).startswith(f"{lab.number}-"):
        problems.append(f"grade id {marks.get('grade_id')!r} does not begin with {lab.number}-")
    if marks.get("grade") and not _is_number(marks.get("points")):
        problems.append(f"a graded cell needs points above 0, and has {marks.get('points')!r}")
    if not marks.get("grade") and "points" in marks:
        problems.append("only graded cells have points")
    if is_answer(cell) and cell.cell_type == "code" and not "".join(given_lines(cell)).strip():
        problems.append("students get no line of this answer cell: leave the function's first line outside")
    return problems


def _question_problems(notebook: NotebookNode, lab: Lab) -> list[str]:
    """What is wrong with the text question, if the lab asks one."""
    written = [cell for cell in notebook.cells if is_written(cell)]
    problems = [f"cell {cell.id}: an answer that a person grades is Markdown" for cell in written if "outputs" in cell]
    names = [str(grader(cell).get("grade_id")) for cell in written]
    if names not in ([], [f"{lab.number}-{NAME}"]):
        problems.append(f"there is one text question, whose grade id is {lab.number}-{NAME}; found {names}")
    try:
        text_question(notebook.cells)
    except CourseError as error:
        problems.append(str(error))
    return problems


def _output_problems(cell: NotebookNode) -> list[str]:
    """What a check says is stored in the source, and each test run must find that it says so still."""
    if is_graded(cell) and not has_tag(cell, CHECK_OUTPUT):
        return [f"a graded cell of a source bears the tag {CHECK_OUTPUT}, so that its stored lines stay true"]
    return []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
