"""How long a chapter is: what counts as a word, a printed block and a figure, and what is too much."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursekit.size import LARGEST, Size, size_in_words, size_of

PRINTED = new_output("stream", name="stdout", text="0.5\n")
RESULT = new_output("execute_result", data={"text/plain": "0.5"})
PICTURE = new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"})


def words(text):
    return size_of(new_notebook(cells=[new_markdown_cell(text)])).words


def code(*outputs, tags=()):
    return new_code_cell("x", outputs=list(outputs), metadata={"tags": list(tags)})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The query asks, and the keys answer.", 7),
        ("Bahdanau's well-known model", 3),
        ("Here $c = \\sum_i a_i v_i$ is the context,\n\n$$\nc = 1\n$$ (eq-02-c)\n\nand so on.", 7),
        ("(sec-02-layer)=\n## The layer\n\n:class: goals\n\nSee {numref}`fig-02-map` and {term}`context`.", 4),
        ("[Chapter 9](09_transformer.ipynb#what-costs-what) says more.", 4),
        ("```python\nfor x in range(3): print(x)\n```\nOnly this.", 2),
    ],
)
def test_words_are_those_of_the_prose(text, count):
    assert words(text) == count


def test_what_is_hidden_and_what_is_no_output_is_not_counted():
    notebook = new_notebook(cells=[code(PRINTED), code(RESULT), code(PICTURE), code(PRINTED, PICTURE), code()])
    assert size_of(notebook) == Size(words=0, printed=3, figures=2)
    notebook.cells = [code(PRINTED, PICTURE, tags=["hide-cell"]), code(PRINTED, tags=["remove-output"])]
    assert size_of(notebook) == Size(0, 0, 0)


@pytest.fixture
def long_chapter(tmp_path):
    cells = [new_markdown_cell("word " * (LARGEST.words + 1200)), *(code(PRINTED) for _ in range(17)), code(PICTURE)]
    path = tmp_path / "02_long.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_a_long_chapter_says_what_is_too_much(long_chapter):
    assert size_in_words(long_chapter) == (
        "4,700 words, 17 printed blocks, 1 figure (over one sitting by 1,200 words and 2 printed blocks)"
    )


def test_evidence_may_be_long(long_chapter):
    path = long_chapter.rename(long_chapter.with_name("02_long_evidence.ipynb"))
    assert size_in_words(path) == "4,700 words, 17 printed blocks, 1 figure"
