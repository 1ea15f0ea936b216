"""The page of slides: of the tiny course, and of the chapters of this book."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbformat import from_dict

from coursekit import CourseError, cli
from coursekit.external_resources import loads_of_page, loads_of_script
from coursekit.project import Project
from coursekit.slides.page import choose_chapter, slides_page

ROOT = Path(__file__).parents[3]
PICTURE = {"output_type": "display_data", "data": {"image/svg+xml": '<svg viewBox="0 0 9 9"/>'}, "metadata": {}}
BOOK = Project(ROOT)
QUICK = [path for path in BOOK.chapters if path.stem[:2] in ("02", "09")]


@pytest.fixture
def course(project, change) -> Project:
    """The tiny course with a figure and with MathJax."""
    change(project.chapters[0], lambda cells, _: cells["draw"].update(outputs=[from_dict(PICTURE)]))
    (project.root / "book" / "_static" / "mathjax").mkdir(parents=True)
    (project.root / "book" / "_static" / "mathjax" / "tex-chtml.js").write_text("// MathJax")
    return project


def test_the_command_writes_a_page_with_mathjax_beside_it(course, tmp_path, capsys):
    folder = tmp_path / "slides"
    assert cli.main(["--root", str(course.root), "slides", "1", "--to", str(folder)]) == 0
    assert "01_counting.html: written" in capsys.readouterr().out
    page = BeautifulSoup((folder / "01_counting.html").read_text(encoding="utf-8"), "html.parser")
    assert (folder / "mathjax" / "tex-chtml.js").is_file()
    assert page.select_one("h1").get_text() == "Count"
    assert page.select_one(".slide img")["alt"] == "A rising line."
    assert len(page.select(".slide")) == len(page.select(".notes")) == 2


@pytest.mark.parametrize("name", ["1", "01", "01_counting", "chapters/01_counting.ipynb"])
def test_a_chapter_is_named_as_people_name_it(course, name):
    assert choose_chapter(course, name) == course.chapters[0]


def test_a_chapter_that_is_not_there_is_refused_with_those_that_are(course, capsys):
    assert cli.main(["--root", str(course.root), "slides", "99"]) == 2
    assert "there is no chapter '99'; chapters: 01_counting" in capsys.readouterr().err


def test_without_mathjax_there_are_no_slides(project, tmp_path, capsys):
    assert cli.main(["--root", str(project.root), "slides", "--to", str(tmp_path)]) == 2
    assert "book/_static/mathjax is missing" in capsys.readouterr().err


def test_a_chapter_without_anything_to_show_is_refused(course, change):
    change(course.chapters[0], lambda cells, notebook: notebook.update(cells=[]))
    with pytest.raises(CourseError, match="nothing to show"):
        slides_page(course, course.chapters[0])


def faults(chapter: Path) -> list[str]:
    """What is wrong with the slides of a chapter of the book."""
    text = slides_page(BOOK, chapter)
    page = BeautifulSoup(text, "html.parser")
    found = [f"loads {load}" for load in loads_of_page(text)]
    found += [f"loads {load}" for script in page.select("script") for load in loads_of_script(script.get_text())]
    found += [f"a picture without words on {image.find_parent('section')['id']}" for image in page.select(".slide img")
              if not image.get("alt", "").strip()]  # fmt: skip
    number = len(page.select(".slide"))
    found += [] if 10 <= number <= 60 else [f"{number} slides"]
    found += [
        f"{slide['id']} is empty" for slide in page.select(".slide") if not slide.select_one(".body").contents[1:]
    ]
    words = " ".join(part.get_text(" ") for part in page.select(".slide, .notes"))
    found += [f"a role is left: {role}" for role in re.findall(r"\{[a-z:]+\}`[^`]*`?|:::\S*", words)]
    found += [f"a claim is left: {claim}" for claim in re.findall(r"✓ claim: .*", words)]
    return found


@pytest.mark.parametrize("chapter", QUICK, ids=lambda path: path.stem)
def test_two_chapters_give_slides_that_need_no_network(chapter):
    assert faults(chapter) == []


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [path for path in BOOK.chapters if path not in QUICK], ids=lambda path: path.stem)
def test_every_chapter_gives_slides_that_need_no_network(chapter):
    assert faults(chapter) == []
