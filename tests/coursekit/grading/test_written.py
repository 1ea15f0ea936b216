"""Finding what a student wrote in answer to the text question."""

import pytest
from nbformat import v4
from small_class import LAB, QUESTION, asking, course_with, solved, writing

from coursekit.grading.records import jobs_of
from coursekit.grading.written import name_of, written_answer, written_answers
from coursekit.textquestion import STUB


def found(change=lambda cells: None, text: str = "Because.") -> str:
    notebook = writing(text)
    change(notebook.cells)
    return written_answer(asking(), notebook)


def without_metadata(cells):
    for cell in cells:
        cell.metadata.pop("nbgrader", None)


def without_names(cells):
    for cell in cells:
        cell.pop("id")


def stub_and(*more):
    """The answer stands beside its cell."""

    def change(cells):
        cells[-2].source = STUB
        cells[-1:-1] = [v4.new_markdown_cell(text, id=f"mine{number}") for number, text in enumerate(more)]

    return change


@pytest.mark.parametrize("change, text", [
    (lambda cells: None, "Because."),
    (lambda cells: cells[-2].update(source=f"{STUB}\n\nBecause.\n"), "Because."),
    (lambda cells: cells[-2].update(source=f"  {STUB}"), ""),
    (lambda cells: cells[-2].update(cell_type="code", outputs=[], execution_count=None), "Because."),
    (lambda cells: cells[-2].update(cell_type="raw"), "Because."),
    (without_metadata, "Because."),
    (without_names, "Because."),
    (stub_and("One.", "Two."), "One.\n\nTwo."),
    (lambda cells: cells.insert(-1, v4.new_markdown_cell("And more.", id="mine")), "Because.\n\nAnd more."),
    (lambda cells: cells.insert(-1, cells[-2]), "Because."),
    (lambda cells: cells.insert(-2, v4.new_code_cell("1 + 1", id="mine")), "Because."),
    (lambda cells: (cells.pop(-2), cells[-2].update(source=f"{QUESTION}\n\nBecause.")), "Because."),
    (lambda cells: cells.insert(1, cells.pop(-2)), "Because."),
    (lambda cells: cells.insert(0, v4.new_markdown_cell("My name is Ann.", id="mine")), "Because."),
    (lambda cells: cells.append(v4.new_markdown_cell("The end.", id="mine")), "Because."),
    (lambda cells: cells.pop(-2), ""),
    (lambda cells: cells[-2].update(source=STUB), ""),
])  # fmt: skip
def test_the_answer_is_found_wherever_a_student_wrote_it(change, text):
    assert found(change) == text


def test_a_line_that_repeats_what_the_lab_gives_is_no_answer():
    assert found(text=f"{STUB}\n{STUB}") == ""


def test_a_notebook_without_the_question_has_no_answer():
    assert written_answer(asking(), solved()) == ""


def test_a_class_has_an_answer_for_each_notebook_that_can_be_read(tmp_path):
    notebooks = {"ann": writing("Because."), "bob": writing(), "eve": b"broken"}
    course = course_with(tmp_path, notebooks, asks=True)
    (course / "submitted" / "kim" / LAB).mkdir(parents=True)
    assert written_answers(jobs_of(course, LAB)) == {"ann": "Because.", "bob": ""}


def test_the_name_of_an_answer_is_stable_and_says_nothing_of_the_student():
    name = name_of(LAB, "ann", "Because.")
    assert name == name_of(LAB, "ann", "Because.")
    others = {name_of(LAB, "bob", "Because."), name_of(LAB, "ann", "Because!"), name_of("lab03", "ann", "Because.")}
    assert len({name, *others}) == 4
    assert len(name) == 5
    assert not set(name) & set("aeiouy0123456789")


def test_half_a_sign_has_a_name_too():
    assert len(name_of(LAB, "ann", "\ud800")) == 5
