"""How long a page takes: each part of the rule, and what is left out."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursekit.minutes import Minutes, minutes_of, minutes_of_exercise, page_minutes
from coursekit.notebooks import write

PICTURE = new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"})


def printed(lines):
    return new_output("stream", name="stdout", text="0.5\n" * lines)


def reading(*cells):
    return minutes_of(new_notebook(cells=list(cells))).reading


def text(words):
    return new_markdown_cell("word " * words)


def code(lines, *outputs, **metadata):
    return new_code_cell("x = 1\n" * lines, outputs=list(outputs), metadata=metadata)


def test_180_words_take_a_minute_and_a_begun_minute_counts():
    assert reading(text(180)) == 1
    assert reading(text(181)) == 2
    assert reading() == 0


@pytest.mark.parametrize(
    "cell, words",
    [
        (new_markdown_cell("$$a = b$$ (eq-02-a)\n\n$$\nc = d\n$$\n\n" * 3), 6 * 60),  # 20 seconds each
        (new_markdown_cell("$a$, $b$, " * 15), 180),  # 2 seconds each
        (code(20), 180),  # 3 seconds per line
        (code(4, printed(16)), 180),
        (code(0, PICTURE), 90),  # half a minute
        (code(0, PICTURE, live="aligner"), 360),  # two minutes
        (new_markdown_cell(":::{live} aligner\n:::"), 360),
        (code(0, PICTURE, mystnb={"figure": {"caption": "word " * 90}}), 180),  # its caption is read, too
    ],
)
def test_each_thing_takes_as_long_as_so_many_words(cell, words):
    assert reading(cell) == reading(text(words))
    assert reading(text(180 * 5 - words), cell) == 5
    assert reading(text(180 * 5 - words + 1), cell) == 6


@pytest.mark.parametrize("tag", ["hide-cell", "remove-cell"])
def test_a_folded_cell_takes_no_time(tag):
    assert reading(code(50, printed(50), PICTURE, tags=[tag])) == 0


def test_folded_code_or_output_takes_none_and_the_other_half_does():
    assert reading(code(99, printed(20), tags=["hide-input"])) == 1
    assert reading(code(20, printed(99), PICTURE, tags=["hide-output"])) == 1


def test_claims_and_empty_lines_take_none():
    shown = new_output("stream", name="stdout", text="✓ claim: it holds\n\n" * 50)
    assert reading(new_code_cell("\n\n", outputs=[shown])) == 0


EXERCISE = ":::{exercise} One · code, ●●\n:label: ex-02-one\n\n" + "word " * 999 + "\n:::\n\n"
ANSWER = '<details class="answer">\n<summary>Answer</summary>\n\n' + "word " * 999 + "\n\n</details>\n\n"


def test_exercises_and_answers_count_apart():
    assert minutes_of(new_notebook(cells=[new_markdown_cell(EXERCISE + ANSWER + EXERCISE + "word " * 100)])) == (1, 30)


@pytest.mark.parametrize(
    "title, minutes",
    [(" One · pencil, ●", 5), (" One · thought, ●●", 10), (" One · pencil, ●●●", 15), (" One · code, ●", 7.5),
     (" One · pencil, code, ●●", 15), (" The code · pencil, ●", 5), (" One", 5)],
)  # fmt: skip
def test_an_exercise_takes_five_minutes_per_dot_and_more_with_code(title, minutes):
    assert minutes_of_exercise(title) == minutes


def test_minutes_are_said_in_words():
    assert str(Minutes(27, 45)) == "27 minutes to read, 45 minutes for the exercises"
    assert str(Minutes(27, 0)) == "27 minutes to read"


def test_a_page_is_read_from_its_file(tmp_path):
    write(new_notebook(cells=[text(360)]), tmp_path / "02_a.ipynb")
    assert page_minutes(tmp_path / "02_a.ipynb") == (2, 0)
