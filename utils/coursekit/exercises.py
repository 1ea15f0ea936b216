"""The cells of a lab's exercises, written from the exercises themselves.

Each fact has one place. `attnlabs` holds what the checks, the grading and the tests need too: an exercise's name and
number, its points, minutes and difficulty, and its reference, which is the notebook's solution. The notebook holds what
people read, where authors see it as students will: text, example and hints below the exercise's heading. From the
first the second gets its headings, the table of exercises and the minutes, answer cells and checks. What all labs say
of their grading is written here.
"""

import ast
import copy
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import NotebookNode, v4

from coursekit import CourseError
from coursekit.notebooks import CHECK_OUTPUT, read, to_text, write
from coursekit.project import Lab
from misread.exercise import Exercise

VARIANTS = (2, 3)  # of the inputs that grading tries beside those that a student sees
HEADING = re.compile(r"^## Exercise\b[^`\n]*`(\w+)`.*$", re.MULTILINE)
ROW = re.compile(r"^\| *\d+ *\|.*\|$")  # of the table: an exercise, which has a number
ANY_ROW = re.compile(r"^\|.*\| *(\d+|–) *\|[^|]*\|$", re.MULTILINE)  # with its minutes
RULE = re.compile(r"^\|(?:-+\|)+$")  # below the table's head
NEEDED = re.compile(r"^(\*\*You need\*\*.*?about )(?:\d+|…)( minutes)", re.MULTILINE)

HOW = re.compile(r"^## How this lab works$", re.MULTILINE)
ABSENT = """If a teacher grades your lab, your functions run without the book's own answers. An answer that imports \
one of them from `attnbook`, `attnlabs` or another package of the book passes its check here, but it gets no points \
there. What the text of an exercise gives you for use is there, too."""
ABSENT_ONCE = re.compile(r"\n*^If a teacher grades your lab.*$", re.MULTILINE)


def exercises_of(lab: Lab) -> dict[str, Exercise]:
    """A lab's exercises by name; none where the lab belongs to another course than the `attnlabs` that is imported."""
    import attnlabs

    own = lab.source.parents[2] / "utils" / "attnlabs"
    ours = Path(attnlabs.__file__).resolve().parent == own.resolve() and lab.number in attnlabs.lab_names()
    return attnlabs.checks_of(lab.number).exercises() if ours else {}


def write_exercises(lab: Lab) -> bool:
    """Writes the lab's exercises into its source; returns whether anything changed. Raises CourseError as `filled`."""
    notebook, exercises = read(lab.source), exercises_of(lab)
    wanted = filled(notebook, lab.number, exercises) if exercises else notebook
    changed = to_text(wanted) != to_text(notebook)
    if changed:
        write(wanted, lab.source)
    return changed


def exercise_problems(lab: Lab) -> list[str]:
    """Whether the lab's source is not what its exercises say, and what to do."""
    notebook, exercises = read(lab.source), exercises_of(lab)
    try:
        wanted = filled(notebook, lab.number, exercises) if exercises else notebook
    except CourseError as error:
        return [str(error)]
    differ = [cell.id for cell in wanted.cells if cell not in notebook.cells]
    if not differ and to_text(wanted) == to_text(notebook):
        return []
    where = f"cell {differ[0]}" if differ else "its metadata or the order of its cells"
    return [f"{where} is not what utils/attnlabs/{lab.number} says: run `coursekit release`"]


def filled(notebook: NotebookNode, number: str, exercises: Mapping[str, Exercise]) -> NotebookNode:
    """A copy of a lab's source with all that its exercises say of themselves; `number` is the lab's, such as lab02.

    An answer cell or a check that is not there yet is put below its heading. Raises CourseError where the headings are
    not those of the exercises, in their order, and where the first cell has no table of them."""
    notebook = copy.deepcopy(notebook)
    headings = {match[1]: cell for cell in notebook.cells for match in HEADING.finditer(cell.source)}
    if list(headings) != list(exercises):
        raise CourseError(
            f"the cells that begin with '## Exercise: `name`' are those of {', '.join(headings) or 'no exercise'}; "
            f"EXERCISES in utils/attnlabs/{number} has, in this order, {', '.join(exercises)}"
        )
    for place, (name, exercise) in enumerate(exercises.items(), start=1):
        headings[name].source = HEADING.sub(_heading(place, exercise), headings[name].source)
        answer = _cell(notebook, f"{number}-{name}", below=headings[name])
        answer.metadata["nbgrader"] = _marks(answer.id)
        if exercise.reference.__doc__:
            answer.source = answer_source(exercise.reference)
        check = _cell(notebook, f"{number}-{name}-check", below=answer)
        check.metadata.update(nbgrader=_marks(check.id, exercise.about.points), tags=[CHECK_OUTPUT])
        check.source = _check_source(name)
    for cell in notebook.cells:
        if HOW.match(cell.source):
            cell.source = f"{ABSENT_ONCE.sub('', cell.source).rstrip()}\n\n{ABSENT}"
    minutes = _write_table(notebook.cells[0], list(exercises.values()))
    notebook.metadata.setdefault("attnbook", {})["minutes"] = minutes
    return notebook


def answer_source(reference: Callable) -> str:
    """The answer cell of a reference that has a docstring: students get all that stands before its first statement."""
    lines = inspect.getsource(reference).splitlines()
    function = next(node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.FunctionDef))
    given = function.body[0].end_lineno
    return "\n".join([*lines[:given], "    ### BEGIN SOLUTION", *lines[given:], "    ### END SOLUTION"])


def _check_source(name: str) -> str:
    hidden = [f"check.{name}({name}, variant={variant})" for variant in VARIANTS]
    return "\n".join([f"check.{name}({name})", "### BEGIN HIDDEN TESTS", *hidden, "### END HIDDEN TESTS"])


def _heading(place: int, exercise: Exercise) -> str:
    about = exercise.about
    return f"## Exercise {place}: `{exercise.name}` · {'●' * about.difficulty} · {about.minutes} minutes"


def _cell(notebook: NotebookNode, name: str, below: NotebookNode) -> NotebookNode:
    """The code cell of that id; a new one where there is none."""
    for cell in notebook.cells:
        if cell.id == name:
            return cell
    cell = v4.new_code_cell(id=name)
    notebook.cells.insert(notebook.cells.index(below) + 1, cell)
    return cell


def _marks(grade_id: str, points: float | None = None) -> dict:
    """nbgrader's metadata: of an answer cell, or of a graded one, which has points."""
    grade = points is not None
    marks = {"grade": grade, "grade_id": grade_id, "locked": grade, "schema_version": 3, "solution": not grade}
    return marks | {"task": False} | ({"points": points} if grade else {})


def _write_table(cell: NotebookNode, exercises: list[Exercise]) -> int:
    """Writes the table's rows of exercises, and the sum of all its minutes into the text; returns the sum.

    Rows of other things stay where they are; further exercises follow the last one."""
    lines, rows = cell.source.splitlines(), [_row(place, one) for place, one in enumerate(exercises, start=1)]
    if not any(map(RULE.match, lines)):
        raise CourseError("the first cell has no table | | Exercise | Difficulty | Minutes | Points | of the exercises")
    end = max(number for number, line in enumerate(lines, start=1) if ROW.match(line) or RULE.match(line))
    table = []
    for line in lines[:end]:
        if not ROW.match(line):
            table.append(line)
        elif rows:
            table.append(rows.pop(0))
    text = "\n".join([*table, *rows, *lines[end:]])
    minutes = sum(int(found) for found in ANY_ROW.findall(text) if found.isdigit())
    cell.source = NEEDED.sub(rf"\g<1>{minutes}\g<2>", text, count=1)
    return minutes


def _row(place: int, exercise: Exercise) -> str:
    about = exercise.about
    return f"| {place} | `{exercise.name}` | {'●' * about.difficulty} | {about.minutes} | {about.points:g} |"
