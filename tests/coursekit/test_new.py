"""A new chapter or lab can be run and tested at once, and takes nobody's place."""

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from coursekit import CourseError
from coursekit.chapterrules import chapter_problems
from coursekit.cli import main
from coursekit.labrules import source_problems, step_problems
from coursekit.leaks import leaks
from coursekit.new import FILES, lay_down, next_steps, notebook_from
from coursekit.newexercise import TEMPLATES
from coursekit.notebooks import grader, read
from coursekit.release import release

ROOT = Path(__file__).parents[2]
NOT_RUN = re.compile("cells without a run.*`coursekit execute`")
LEFT_OPEN = re.compile(r"@[A-Za-z]+@")


def call(project, *arguments) -> int:
    return main(["--root", str(project.root), "new", *map(str, arguments)])


def files(project) -> dict[str, bytes]:
    return {project.relative(path): path.read_bytes() for path in project.root.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_new_chapter_runs_and_is_in_order(project, capsys):
    assert call(project, "chapter", 11, "bert_gpt", "--title", "BERT and GPT") == 0
    said = capsys.readouterr().out
    assert "chapters/11_bert_gpt.ipynb: run, and stored with what it shows" in said
    path = project.root / "chapters" / "11_bert_gpt.ipynb"
    assert chapter_problems(path) == []
    chapter = read(path)
    assert chapter.cells[0].source == "# BERT and GPT"
    assert chapter.metadata["attnbook"] == {"title": "BERT and GPT", "minutes": 45, "machine_seconds": 10}
    assert any("✓ claim" in str(cell.get("outputs")) for cell in chapter.cells)


def test_unrun_a_new_chapter_lacks_its_run_and_its_picture_and_nothing_else(project):
    (path,) = lay_down(project, "chapter", 11, "bert_gpt")
    first, picture = chapter_problems(path)
    assert NOT_RUN.match(first)
    assert picture == "cell fig-11-weights: has a figure's caption, but stored no picture"
    assert read(path).cells[0].source == "# Bert gpt"


def test_a_new_chapter_has_the_sections_of_the_others_and_labels_of_its_own_number(project):
    (path,) = lay_down(project, "chapter", 7, "paths")
    text = path.read_text(encoding="utf-8")
    for heading in ("Where the sources slip", "One sentence, and which word changes", "What to remember", "Exercises",
                    "The lab", "Further reading"):  # fmt: skip
        assert f"## {heading}" in text
    assert set(re.findall(r"(?:fig|ex|sec|eq)-(\d\d)-", text)) == {"07"}


def test_a_new_lab_can_be_released_and_shows_no_solution(project):
    notebook, *_ = lay_down(project, "lab", 11, "bert_gpt", "A model that fills gaps")
    lab = project.choose_labs(["lab11"])[0]
    assert lab.source == notebook
    assert source_problems(lab) == []
    assert release(lab)
    assert step_problems(project, lab) == []
    assert leaks(lab) == []
    assert sum(grader(cell).get("points", 0) for cell in read(lab.released).cells) == 2 + 3


def test_a_new_lab_brings_its_checks_and_their_tests(project):
    written = [project.relative(path) for path in lay_down(project, "lab", 11, "bert_gpt")]
    assert written == [
        "solutions/lab11_bert_gpt/lab11_bert_gpt.ipynb",
        "utils/attnlabs/lab11/__init__.py",
        "utils/attnlabs/lab11/mean_over_words.py",
        "tests/attnlabs/lab11/right.py",
        "tests/attnlabs/lab11/adversarial.py",
        "tests/attnlabs/lab11/test_lab11.py",
    ]
    for name in written[1:]:
        compile((project.root / name).read_text(encoding="utf-8"), name, "exec")
    assert "class TestLab11(" in (project.root / written[-1]).read_text(encoding="utf-8")


def test_the_exercise_of_a_new_lab_is_the_one_that_its_check_knows(project):
    notebook, _, words, right, *_ = lay_down(project, "lab", 11, "bert_gpt")
    solution = next(cell.source for cell in read(notebook).cells if grader(cell).get("solution"))
    lines = [line.strip() for line in solution.splitlines() if "###" not in line and '"""' not in line]
    checked = [line.strip() for line in words.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if line not in checked] == []
    assert right.read_text(encoding="utf-8").count("def mean_over_words__") == 2


@pytest.mark.parametrize("kind", FILES)
def test_nothing_is_left_to_fill_in(kind, project):
    for path in lay_down(project, kind, 11, "bert_gpt"):
        assert LEFT_OPEN.findall(path.read_text(encoding="utf-8")) == []
    assert LEFT_OPEN.findall(next_steps(kind, 11, "bert_gpt")) == []


@pytest.mark.parametrize("kind", FILES)
def test_what_is_to_be_done_next_names_every_file(kind, project):
    steps = next_steps(kind, 11, "bert_gpt")
    for path in lay_down(project, kind, 11, "bert_gpt"):
        name = project.relative(path)
        assert name in steps or name.rpartition("/")[0] in steps or name.endswith("__init__.py")
    for wanted in ("book/_toc.yml", "coursekit execute", "coursekit verify"):
        assert wanted in steps


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("topic", ["bert_gpt", "another"])
def test_a_number_that_is_taken_is_refused_and_nothing_written(kind, topic, project):
    lay_down(project, kind, 11, "bert_gpt")
    before = files(project)
    with pytest.raises(CourseError, match=r"11 is there already: .*11.*; nothing was written"):
        lay_down(project, kind, 11, topic)
    assert files(project) == before


def test_checks_without_a_notebook_take_the_number_too(project):
    (project.root / "utils" / "attnlabs" / "lab11").mkdir(parents=True)
    with pytest.raises(CourseError, match="utils/attnlabs/lab11; nothing"):
        lay_down(project, "lab", 11, "bert_gpt")


@pytest.mark.parametrize("topic", ["BERT", "bert-gpt", "", "../x", "bert gpt", "bert_"])
def test_a_topic_is_a_name_for_files(topic, project):
    with pytest.raises(CourseError, match="a topic is called like bert_gpt"):
        lay_down(project, "chapter", 11, topic)


@pytest.mark.parametrize("number", [0, -1, 100])
def test_a_number_has_at_most_two_digits(number, project):
    with pytest.raises(CourseError, match="a number from 1 to 99"):
        lay_down(project, "chapter", number, "bert_gpt")


def test_the_command_can_leave_the_run_out(project, capsys):
    assert call(project, "lab", 11, "bert_gpt", "--no-run") == 0
    said = capsys.readouterr().out
    assert "stored" not in said.split("Next:")[0]
    assert "coursekit release lab11" in said


def test_a_template_becomes_cells_with_names_and_metadata():
    notebook = notebook_from('%% markdown a\n# A\n\ntext\n\n%% code b {"tags": ["hide-input"]}\nx = 1\n\n\ny = 2\n')
    nbformat.validate(notebook)
    assert [(cell.cell_type, cell.id, cell.source) for cell in notebook.cells] == [
        ("markdown", "a", "# A\n\ntext"),
        ("code", "b", "x = 1\n\n\ny = 2"),
    ]
    assert json.loads(json.dumps(notebook.cells[1].metadata)) == {"tags": ["hide-input"]}


def test_templates_are_part_of_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packed = {path for pattern in settings["package-data"]["coursekit"] for path in (TEMPLATES.parent).glob(pattern)}
    used = {TEMPLATES / name for kind in FILES.values() for name in kind}
    assert used | {TEMPLATES / "chapter_next.txt", TEMPLATES / "lab_next.txt"} <= packed
