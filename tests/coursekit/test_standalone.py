"""A chapter's model as one file: what is in it, what it may hold, and that it runs with torch alone."""

import re

import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from torch_alone import needed_by, run_alone

from coursekit import CourseError
from coursekit.chapterrules import chapter_problems
from coursekit.cli import REFUSED, main
from coursekit.notebooks import write
from coursekit.standalone import code_of, file_of, printed, standalone_problems, tagged, unknown_names, write_standalone

IMPORTS = "import math\n\nimport torch\nfrom torch import nn\n\ntorch.manual_seed(0)"
MODEL = """\
class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.slope * x"""
TRAIN = """\
model, x = Line(), torch.linspace(0, 1, 5)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for _ in range(60):
    optimizer.zero_grad()
    (model(x) - math.pi * x).square().mean().backward()
    optimizer.step()
print(f"slope {model.slope.item():.3f}")"""
ANSWER = "slope 3.142\n"


def cell(name, source, *outputs):
    return new_code_cell(source, id=name, outputs=list(outputs), metadata={"tags": ["standalone"]})


def stdout(text):
    return new_output("stream", name="stdout", text=text)


@pytest.fixture
def notebook():
    return new_notebook(metadata={"attnbook": {"title": "A line"}}, cells=[
        new_markdown_cell("# A line", id="title"),
        new_code_cell("from attnpages import claim", id="book"),
        cell("imports", IMPORTS),
        cell("model", MODEL),
        new_code_cell("print('not in the file')", id="between", outputs=[stdout("not in the file\n")]),
        cell("train", TRAIN, stdout(ANSWER)),
    ])  # fmt: skip


@pytest.fixture
def chapter(project, notebook):
    return write(notebook, project.root / "chapters/02_line.ipynb") or project.root / "chapters/02_line.ipynb"


def source(notebook, name, text):
    next(one for one in notebook.cells if one.id == name).source = text
    return standalone_problems(notebook)


# --- the file -------------------------------------------------------------------------------------


def test_the_file_is_the_cells_with_the_tag_and_a_blank_line_between_them(notebook):
    assert [one.id for one in tagged(notebook)] == ["imports", "model", "train"]
    assert code_of(notebook) == f"{IMPORTS}\n\n{MODEL}\n\n{TRAIN}\n"
    assert printed(notebook) == ANSWER


def test_a_comment_at_the_top_says_what_it_is_where_it_comes_from_and_how_it_runs(chapter, notebook):
    header, code = file_of(chapter, notebook).split("\n\n", 1)
    assert code == code_of(notebook)
    for part in ("# The whole model in one file", "# A line\n", "Chapter 2", "python 02_line.py", "MIT License"):
        assert part in header
    assert all(line.startswith("#") for line in header.splitlines())


def test_no_title_can_name_an_encoding_of_the_file(chapter, notebook):
    notebook.metadata["attnbook"] = {"title": "Decoding: from probabilities to a text"}
    compile(file_of(chapter, notebook).encode(), "file.py", "exec")


def test_the_command_writes_it_and_says_where_and_how_to_run_it(project, chapter, notebook, capsys):
    assert main(["--root", str(project.root), "standalone", "02"]) == 0
    path = project.root / "work/02_line.py"
    assert path.read_text(encoding="utf-8") == file_of(chapter, notebook)
    said = capsys.readouterr().out
    assert said == f"{path}: written; run it with\n  python {path}\n"


def test_the_folder_can_be_chosen_and_the_same_file_is_written_again(project, chapter, tmp_path):
    for _ in range(2):
        assert write_standalone(project, chapter, tmp_path / "mine") == tmp_path / "mine/02_line.py"


def test_a_changed_file_is_refused_and_kept(project, chapter, capsys):
    path = write_standalone(project, chapter, project.root / "work")
    path.write_text("mine")
    assert main(["--root", str(project.root), "standalone", "2"]) == REFUSED
    assert re.search(r"02_line\.py was changed, or comes from another version.*--to; nothing", capsys.readouterr().err)
    assert path.read_text() == "mine"


def test_a_chapter_without_such_a_file_says_which_have_one(project, chapter, tmp_path):
    with pytest.raises(CourseError, match="01_counting has no model in one file; chapters that have: 02_line"):
        write_standalone(project, project.chapters[0], tmp_path)
    chapter.unlink()
    with pytest.raises(CourseError, match="chapters that have: none yet"):
        write_standalone(project, project.chapters[0], tmp_path)


# --- what it may hold -----------------------------------------------------------------------------


def test_a_chapter_without_the_tag_and_one_in_order_have_no_problem(notebook):
    assert standalone_problems(new_notebook()) == []
    assert standalone_problems(notebook) == []


def test_a_file_of_more_than_150_lines_is_too_long(notebook):
    assert source(notebook, "imports", IMPORTS + "\nx = 1" * 129) == [
        "the model in one file has 151 lines; the limit is 150"
    ]


@pytest.mark.parametrize(
    "line, name",
    [("import numpy as np", "numpy"), ("from attnbook.models import LSTM", "attnbook"), ("from . import near", ".")],
)
def test_only_torch_and_pythons_own_modules_may_be_imported(notebook, line, name):
    assert source(notebook, "imports", f"{IMPORTS}\n{line}") == [
        f"the model in one file imports {name}; torch and Python's own modules are all that it may"
    ]


def test_a_name_that_only_another_cell_defines_is_found(notebook):
    assert source(notebook, "train", TRAIN + "\nclaim('it fits', True)") == [
        "the model in one file uses 'claim', which no cell with the tag 'standalone' defines"
    ]


def test_a_magic_is_no_python(notebook):
    assert source(notebook, "model", f"%time\n{MODEL}") == [
        "cell model, of the model in one file, is no Python by itself: line 1, invalid syntax"
    ]


def test_a_result_that_is_not_printed_is_found(notebook):
    notebook.cells[-1].outputs.append(from_dict({"output_type": "execute_result", "data": {"text/plain": "3"}}))
    assert standalone_problems(notebook) == [
        "cell train, of the model in one file, shows a result that a file would not: print it"
    ]


def test_a_file_prints_an_answer(notebook):
    notebook.cells[-1].outputs = []
    assert standalone_problems(notebook) == ["the model in one file prints nothing: let its last cell print an answer"]


def test_verify_tells_of_it(chapter, notebook):
    source(notebook, "train", "print(claim)")
    write(notebook, chapter)
    assert "uses 'claim'" in "\n".join(chapter_problems(chapter))


def test_names_are_those_that_no_part_of_the_code_defines():
    code = """
def count():
    global number
    number = sum(one for one in lost) + len(__name__)
    return later(number)

class Part(Whole):
    size = 3
    half = size / two

def later(x, y: Kind = 0):
    with open(x) as file, other as again:
        return [missing for x in file if (z := x)], z, again, number
"""
    assert unknown_names(code) == ["Kind", "Whole", "lost", "missing", "other", "two"]


# --- torch alone ----------------------------------------------------------------------------------


def test_torch_needs_no_numpy_and_what_needs_torch_is_not_among_it():
    assert {"torch", "typing-extensions", "sympy", "mpmath"} <= needed_by("torch")
    assert not {"numpy", "matplotlib", "tqdm", "paying-attention", "attnbook"} & needed_by("torch")


@pytest.mark.slow
def test_the_file_runs_with_torch_alone_and_prints_what_the_chapter_shows(project, chapter, tmp_path, notebook):
    alone = run_alone(write_standalone(project, chapter, tmp_path), tmp_path)
    assert alone.printed == printed(notebook)
    assert 0 < alone.seconds < 60


@pytest.mark.slow
def test_a_cut_training_keeps_few_steps_and_other_loops_are_left_alone(tmp_path):
    (tmp_path / "other.py").write_text("""\
import torch

weight, steps = torch.zeros(1, requires_grad=True), 0
for step in range(1, 201):
    (weight - 1).square().sum().backward()
    steps += 1
    if step % 50 == 0 or step in (1, 200):
        print(step)
for step in range(59):
    (weight - 1).square().sum().backward()
print(steps, step, sum(1 for _ in range(500)), __name__)
""")
    assert run_alone(tmp_path / "other.py", tmp_path, cut=True).printed.split() == [
        "1", "50", "100", "150", "200", "13", "58", "500", "__main__"
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numpy", "attnbook", "yaml", "packaging", "tqdm"])
def test_where_it_runs_nothing_else_can_be_imported(name, tmp_path):
    (tmp_path / "other.py").write_text(f"import {name}\n")
    with pytest.raises(AssertionError, match=f"No module named '{name}'"):
        run_alone(tmp_path / "other.py", tmp_path)
