"""The smallest class there can be: three exercises of lab 2 as a notebook, and what students make of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, from_dict, v4
from tiny_course import ABOUT, marks

from coursekit.grading.command import Order, grade_lab
from coursekit.grading.records import Grade, digest, jobs_of, store
from coursekit.grading.submission import Submission, parts_of, read_submission
from coursekit.notebooks import write
from coursekit.regions import MARK
from coursekit.textquestion import STUB

LAB = "lab02_small"
POINTS = {"masked_softmax": 2, "weight_sum": 1, "alignment_error_rate": 3}
SETTING = "import torch\n\nfrom attnlabs.lab02 import check\n\nkey_of_the_lab = 7"
RIGHT = {
    "masked_softmax": """\
def masked_softmax(scores, mask):
    ### BEGIN SOLUTION
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
    ### END SOLUTION""",
    "weight_sum": """\
def weight_sum(weights, value):
    ### BEGIN SOLUTION
    return weights @ value
    ### END SOLUTION""",
    "alignment_error_rate": """\
def alignment_error_rate(sure, possible, predicted):
    ### BEGIN SOLUTION
    total = len(predicted) + len(sure)
    return 1 - (len(predicted & sure) + len(predicted & possible)) / total if total else 0.0
    ### END SOLUTION""",
}


def source(hidden: bool = True) -> NotebookNode:
    """The lab as its author wrote it; where nothing is `hidden`, it is graded with the numbers that students see."""
    cells = [v4.new_markdown_cell("# Three exercises", id="title"), v4.new_code_cell(SETTING, id="setting")]
    for name, text in RIGHT.items():
        check = f"check.{name}({name})" + (f"\ncheck.{name}({name}, variant=2)" if hidden else "")
        cells.append(v4.new_code_cell(text, id=name, metadata=marks(f"lab02-{name}")))
        cells.append(v4.new_code_cell(check, id=f"{name}-check", metadata=marks(f"lab02-{name}-check", POINTS[name])))
    closing = v4.new_code_cell("while True: pass", id="closing", metadata={"tags": ["needs-solution"]})
    return v4.new_notebook(metadata=ABOUT, cells=[*cells, closing])


def solved() -> NotebookNode:
    """What a student hands in who has solved all of it."""
    notebook = from_dict(source())
    for cell in notebook.cells:
        cell.source = "\n".join(line for line in cell.source.splitlines() if not MARK.match(line))
    return notebook


QUESTION = "## A text question\n\n> Why does padding get no weight?\n\nAnswer below."
MODEL = """\
Because it is no word.

*This is a model answer, with 2 points. These answers have fewer:*

- **1 point:** It is masked.
- **0 points:** It is zero."""


def asking() -> NotebookNode:
    """The lab with a text question before its last cell."""
    notebook = source()
    answer = v4.new_markdown_cell(MODEL, id="lab02-text_question", metadata=marks("lab02-text_question", 2))
    answer.metadata.nbgrader |= {"solution": True, "locked": False}
    notebook.cells[-1:-1] = [v4.new_markdown_cell(QUESTION, id="text_question"), answer]
    return notebook


def writing(text: str = STUB) -> NotebookNode:
    """The solved notebook with this answer to the text question."""
    notebook = solved()
    notebook.cells[-1:-1] = asking().cells[-3:-1]
    notebook.cells[-2].source = text
    return notebook


def answered(**answers: str) -> NotebookNode:
    """The solved notebook with other code in some answer cells."""
    notebook = solved()
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    return notebook


def with_cell(text: str, at: int = 2) -> NotebookNode:
    """The solved notebook with one more cell."""
    notebook = solved()
    notebook.cells.insert(at, v4.new_code_cell(text, id="mine"))
    return notebook


def changed(change: Callable[[NotebookNode], object]) -> NotebookNode:
    """The solved notebook after a function has changed it."""
    notebook = solved()
    change(notebook)
    return notebook


def course_with(
    folder: Path, notebooks: dict[str, NotebookNode | bytes], asks: bool = False, hidden: bool = True
) -> Path:
    """The folder of a course in which each student has handed in a notebook, or the bytes of one.

    `asks`: whether the lab has a text question. `hidden`: as of :func:`source`."""
    write(asking() if asks else source(hidden), folder / "source" / LAB / f"{LAB}.ipynb")
    for student, notebook in notebooks.items():
        path = folder / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode())
    return folder


def submission(folder: Path, notebook: NotebookNode | bytes) -> Submission:
    """A notebook as the grader reads it."""
    course_with(folder, {"ann": notebook})
    return read_submission(folder / "submitted" / "ann" / LAB, source(), LAB)


def parts() -> list:
    """The lab's exercises with their points."""
    return parts_of(source())


def a_mark(exercise: str, mistake: str = "", likeness: str = "") -> dict:
    """The mark of one exercise without points."""
    return {"exercise": exercise, "points": 0.0, "of": 1.0, "mistake": mistake, "likeness": likeness}


def a_record(course: Path, student: str, **fields: Any) -> None:
    """What `run` would have stored about a submission."""
    (job,) = [job for job in jobs_of(course, LAB) if job.student == student]
    mark = a_mark("weight_sum", "values") | {"message": "✗ weight_sum", "helpers": []}
    store(job, Grade(student, LAB, digest(job), marks=[mark, mark | {"points": 1.0, "mistake": ""}], **fields))


def steps(course: Path, *names: str) -> list[str]:
    """What `coursekit grade` says in some of its steps."""
    return [line for name in names for line in grade_lab(Order(course, LAB, isolated=False), name)]
