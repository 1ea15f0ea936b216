"""The smallest course there can be, as notebooks: a chapter with a figure, a lab with two exercises."""

import nbformat
from nbformat import v4

ABOUT = {"attnbook": {"title": "Sums", "minutes": 10}}

HELPER = """\
def check(function, number, wanted):
    got = function(number)
    assert got == wanted, f"expected {wanted}, got {got}\""""

DOUBLE = '''\
def double(number):
    """Twice the number."""
    ### BEGIN SOLUTION
    the_answer_is_the_sum = number + number
    return the_answer_is_the_sum
    ### END SOLUTION'''

SQUARE = '''\
def square(number):
    """The number times itself."""
    ### BEGIN SOLUTION
    return number * number
    ### END SOLUTION'''


def marks(grade_id: str, points: int | None = None) -> dict:
    """nbgrader's metadata: an answer cell, or a graded one when it has points."""
    grade = points is not None
    base = {"grade": grade, "grade_id": grade_id, "locked": grade, "schema_version": 3, "solution": not grade}
    return {"nbgrader": base | {"task": False} | ({"points": points} if grade else {})}


def check_cell(name: str, number: int, wanted: int, hidden: tuple[int, int], points: int) -> nbformat.NotebookNode:
    source = (
        f"check({name}, {number}, {wanted})\n### BEGIN HIDDEN TESTS\n"
        f"check({name}, {hidden[0]}, {hidden[1]})\n### END HIDDEN TESTS"
    )
    metadata = marks(f"lab01-{name}-check", points) | {"tags": ["nbval-check-output"]}
    return v4.new_code_cell(source, id=f"{name}-check", metadata=metadata)


def lab_notebook() -> nbformat.NotebookNode:
    return v4.new_notebook(metadata=ABOUT, cells=[
        v4.new_markdown_cell("# Sums", id="title"),
        v4.new_code_cell(HELPER, id="helper"),
        v4.new_code_cell(DOUBLE, id="double", metadata=marks("lab01-double")),
        check_cell("double", 2, 4, (21, 42), points=2),
        v4.new_code_cell(SQUARE, id="square", metadata=marks("lab01-square")),
        check_cell("square", 3, 9, (-4, 16), points=3),
        v4.new_code_cell("square(double(1))", id="closing", metadata={"tags": ["needs-solution"]}),
    ])  # fmt: skip


FIGURE = {"mystnb": {"figure": {"caption": "A line.", "name": "fig-line"}, "image": {"alt": "A rising line."}}}
# a picture without matplotlib, whose import takes a second
DRAW = 'from IPython.display import SVG\nSVG(\'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L9 9"/></svg>\')'


def chapter_notebook() -> nbformat.NotebookNode:
    return v4.new_notebook(metadata=ABOUT, cells=[
        v4.new_markdown_cell("# Count\n\nOne two three.\n\n:::{exercise} Think\n:label: a\n:::", id="title"),
        v4.new_code_cell("def claim(text, condition):\n    assert condition, text", id="claim"),
        v4.new_code_cell('print("two")\nclaim("one and one is two", 1 + 1 == 2)', id="count"),
        v4.new_code_cell(DRAW, id="draw", metadata=FIGURE),
    ])  # fmt: skip
