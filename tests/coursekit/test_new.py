"""A new chapter or lab can be run and tested at once, and takes nobody's place."""

import json
import re
import tomllib
from pathlib import Path
from shutil import copyfile

import nbformat
import pytest
from torch_alone import run_alone

from coursekit import CourseError
from coursekit.chapterrules import chapter_problems
from coursekit.cli import main
from coursekit.labrules import source_problems, step_problems
from coursekit.leaks import leaks
from coursekit.new import FILES, lay_down, next_steps, notebook_from
from coursekit.newexercise import TEMPLATES
from coursekit.notebooks import grader, read
from coursekit.release import release
from coursekit.standalone import printed, write_standalone

ROOT = Path(__file__).parents[2]
NOT_RUN = re.compile("cells without a run.*`coursekit execute`")
LEFT_OPEN = re.compile(r"@[A-Za-z]+@")


def call(project, *arguments) -> int:
    return main(["--root", str(project.root), "new", *map(str, arguments)])


def files(project) -> dict[str, bytes]:
    return {project.relative(path): path.read_bytes() for path in project.root.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_new_chapter_and_its_evidence_run_and_are_in_order(project, capsys):
    assert call(project, "chapter", 11, "bert_gpt", "--title", "BERT and GPT") == 0
    said = capsys.readouterr().out
    chapter, evidence = (project.root / "chapters" / f"11_bert_gpt{end}.ipynb" for end in ("", "_evidence"))
    for path in (chapter, evidence):
        assert f"chapters/{path.name}: run, and stored with what it shows" in said
        assert chapter_problems(path) == []
        assert "✓ claim" in str([cell.get("outputs") for cell in read(path).cells])
    assert read(chapter).cells[0].source == "# BERT and GPT"
    assert read(chapter).metadata["attnbook"] == {"title": "BERT and GPT", "machine_seconds": 10, "edition": 3}
    assert read(evidence).metadata["attnbook"]["title"] == "Evidence for Chapter 11"


@pytest.mark.slow
def test_the_model_of_a_new_chapter_runs_with_torch_alone(project, tmp_path):
    assert call(project, "chapter", 11, "bert_gpt") == 0
    chapter = project.root / "chapters/11_bert_gpt.ipynb"
    alone = run_alone(write_standalone(project, chapter, tmp_path), tmp_path)
    assert alone.printed == printed(read(chapter))
    assert "target" in alone.printed


def test_unrun_a_new_chapter_lacks_its_run_its_picture_and_its_answer_and_nothing_else(project):
    chapter, evidence = lay_down(project, "chapter", 11, "bert_gpt")
    first, picture, answer = chapter_problems(chapter)
    assert NOT_RUN.match(first)
    assert picture == "cell fig-11-weights: has a figure's caption, but stored no picture"
    assert answer == "the model in one file prints nothing: let its last cell print an answer"
    assert read(chapter).cells[0].source == "# Bert gpt"
    first, picture = chapter_problems(evidence)
    assert NOT_RUN.match(first)
    assert picture == "cell fig-11e-first: has a figure's caption, but stored no picture"


def test_a_new_chapter_has_the_sections_of_the_third_edition_and_labels_of_its_own_number(project):
    path, _ = lay_down(project, "chapter", 7, "paths")
    text = path.read_text(encoding="utf-8")
    for heading in ("The idea", "The whole model", "What decides", "Where this lives today", "What to remember",
                    "Exercises", "The lab", "Further reading"):  # fmt: skip
        assert f"## {heading}" in text
    assert set(re.findall(r"(?:fig|ex|sec|eq)-(\d\d)e?-", text)) == {"07"}


def test_evidence_can_be_laid_down_for_a_chapter_that_is_there(project, capsys):
    assert call(project, "evidence", 1, "counting", "--no-run") == 0
    assert "chapters/01_counting_evidence.ipynb: written" in capsys.readouterr().out
    assert (project.root / "chapters/01_counting_evidence.ipynb").is_file()


def test_evidence_for_a_chapter_that_is_not_there_is_refused(project):
    with pytest.raises(CourseError, match=r"there is no chapters/05_gnmt\.ipynb; nothing was written"):
        lay_down(project, "evidence", 5, "gnmt")


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


@pytest.fixture
def project_with_chapter(project):
    """The course with an old chapter, which evidence may be laid down for."""
    copyfile(project.chapters[0], project.root / "chapters/11_bert_gpt.ipynb")
    return project


KINDS = [(kind, "project_with_chapter" if kind == "evidence" else "project") for kind in FILES]
each_kind = pytest.mark.parametrize("kind, course", KINDS, ids=list(FILES))


@each_kind
def test_nothing_is_left_to_fill_in(kind, course, request):
    project = request.getfixturevalue(course)
    for path in lay_down(project, kind, 11, "bert_gpt"):
        assert LEFT_OPEN.findall(path.read_text(encoding="utf-8")) == []
    assert LEFT_OPEN.findall(next_steps(kind, 11, "bert_gpt")) == []


@each_kind
def test_what_is_to_be_done_next_names_every_file(kind, course, request):
    project = request.getfixturevalue(course)
    steps = next_steps(kind, 11, "bert_gpt")
    for path in lay_down(project, kind, 11, "bert_gpt"):
        name = project.relative(path)
        assert name in steps or name.rpartition("/")[0] in steps or name.endswith("__init__.py")
    for wanted in ("book/_toc.yml", "coursekit execute", "coursekit verify"):
        assert wanted in steps


@each_kind
@pytest.mark.parametrize("topic", ["bert_gpt", "another"])
def test_a_number_that_is_taken_is_refused_and_nothing_written(kind, course, topic, request):
    project = request.getfixturevalue(course)
    lay_down(project, kind, 11, "bert_gpt")
    before = files(project)
    with pytest.raises(CourseError, match=r"11(?:_another\.ipynb| is there already: .*11.*); nothing was written"):
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
    assert used | {TEMPLATES / f"{kind}_next.txt" for kind in FILES} <= packed
