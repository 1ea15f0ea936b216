"""The course's own notebooks: what `coursekit verify` says of each (nbval runs them, beside this file)."""

import ast
import importlib
import re
from functools import reduce
from pathlib import Path

import pytest
from without_a_lab import has_a_lab

from attnpages.source import source_view
from coursekit.chapterrules import chapter_problems
from coursekit.labrules import points_of
from coursekit.notebooks import read
from coursekit.project import Lab, Project
from coursekit.unsolved import expected_failures, unsolved_problems
from coursekit.verify import course_problems, lab_problems

PROJECT = Project(Path(__file__).parents[2])
chapters = pytest.mark.parametrize("chapter", PROJECT.chapters, ids=lambda path: path.stem)
labs = pytest.mark.parametrize("lab", PROJECT.labs, ids=lambda lab: lab.name)


def test_each_chapter_has_its_lab():
    """A lab may come before its chapter: it says all that it needs in its own text."""
    numbers = [path.stem[:2] for path in PROJECT.chapters if has_a_lab(path.stem)]
    assert numbers
    assert set(numbers) <= {lab.number.removeprefix("lab") for lab in PROJECT.labs}


def test_nothing_clashes_between_notebooks():
    assert course_problems(PROJECT) == []


@chapters
def test_chapters_are_complete_as_stored(chapter: Path):
    assert chapter_problems(chapter) == []


BOOK = PROJECT.chapters + [lab.source for lab in PROJECT.labs]


@pytest.mark.parametrize("path", BOOK, ids=lambda path: f"{path.parts[-2]}-{path.stem}")
def test_each_stored_figure_says_what_to_see(path: Path):
    """Counted here by the stored outputs alone, so that a rule of coursekit that looks away is noticed."""
    for cell in read(path).cells:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", ())):
            texts = cell.metadata.get("mystnb", {})
            caption = texts.get("figure", {}).get("caption", "")
            assert "**What to see**" in caption, f"cell {cell.id}: {caption}"
            assert caption.endswith((".", ".)", "?")), f"cell {cell.id}: {caption}"
            assert texts.get("image", {}).get("alt", "").endswith((".", ".)")), (
                f"cell {cell.id}: no sentence as alt text"
            )


DEVICE = re.compile(r"""^device = (best_device\(\)|torch\.device\("cpu"\)  # .+)$""", re.MULTILINE)


@pytest.mark.parametrize("path", BOOK, ids=lambda path: f"{path.parts[-2]}-{path.stem}")
def test_a_notebook_that_trains_a_network_or_runs_a_trained_one_says_on_which_device(path: Path):
    """The best one, or the processor with the reason, as "How to use this book" tells; and it moves networks there."""
    code = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")
    works = re.search(r"\b(?:fit|trained)\(|\boptimi[sz]er\.step\(\)", code)
    if works:
        assert len(DEVICE.findall(code)) == 1
        assert ".to(device)" in code


def stored_sources(chapter: Path) -> list[str]:
    """What `show_source` left in a chapter: its caption as a comment, then code of the package."""
    outputs = (output for cell in read(chapter).cells for output in cell.get("outputs", ()))
    texts = (output.get("data", {}).get("text/plain", "") for output in outputs)
    return [text for text in texts if text.startswith("# attnbook/")]


@chapters
def test_chapters_show_the_code_that_runs(chapter: Path):
    for shown in stored_sources(chapter):
        caption, code = shown.split("\n", 1)
        file, _, nested = caption.removeprefix("# ").partition(" · ")
        module = importlib.import_module(file.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        name = nested or ast.parse(code).body[0].name
        current = reduce(getattr, name.split("."), module)
        versions = {source_view(current, docstring).code for docstring in (True, False)}
        assert code in versions, f"{caption} has changed since: run `coursekit execute {chapter.name}` again"


@labs
def test_labs_are_in_step_and_leak_nothing(lab: Lab):
    assert lab_problems(PROJECT, lab, run=False) == []


@labs
def test_labs_give_points(lab: Lab):
    assert points_of(read(lab.released)) == points_of(read(lab.source)) > 0


@pytest.mark.slow
@labs
def test_unsolved_labs_fail_exactly_at_their_exercises(lab: Lab):
    assert expected_failures(read(lab.released))
    assert unsolved_problems(lab) == []
