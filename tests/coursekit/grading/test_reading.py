"""What to read again: each exercise has its section, and each section stands in its chapter."""

import re
from pathlib import Path

import pytest

from coursekit.grading.reading import Section, anchor, behind, section, sections
from coursekit.grading.submission import parts_of
from coursekit.mistakes.families import families
from coursekit.notebooks import read
from coursekit.project import Project, find_project

PROJECT: Project = find_project(Path(__file__))
LABS = PROJECT.labs
HEADING = re.compile(r"^#{2,4} (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def headings() -> dict[str, set[str]]:
    """The headings of each chapter, by the name of its file."""
    found = {}
    for path in PROJECT.chapters:
        texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
        found[path.stem] = {title for text in texts for title in HEADING.findall(text)}
    return found


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_graded_exercise_has_a_section(lab):
    graded = [part.exercise for part in parts_of(read(lab.source))]
    assert sorted(sections(lab.name)) == sorted(graded)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_section_is_a_heading_of_its_chapter(lab, headings):
    lost = {name: place for name, place in sections(lab.name).items() if place.title not in headings[place.chapter]}
    assert lost == {}


def test_each_section_of_a_kind_of_mistake_is_a_heading_of_its_chapter(headings):
    read = [family.read for family in families() if family.read]
    assert len(read) > len(families()) / 2
    assert [place for place in read if place[1] not in headings[place[0]]] == []


def test_what_lies_behind_a_mistake_is_named_once_its_chapter_has_been_read():
    masks = Section("03_scores", "Masks: positions that must not be attended to")
    assert behind("lab03_scores", "mask the wrong way round") == behind("lab09", "padding is True") == masks
    assert behind("lab02", "mask the wrong way round") is None
    assert behind("lab09", "the median") is None
    assert behind("lab09", "") is None


def test_most_exercises_send_to_the_chapter_of_their_lab():
    for lab in LABS:
        own = [place.chapter[:2] == lab.number[3:] for place in sections(lab.name).values()]
        assert sum(own) > len(own) / 2


@pytest.mark.book
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.number)
def test_each_section_has_its_place_in_the_built_book(lab):
    for place in sections(lab.name).values():
        page, _, name = place.page.partition("#")
        text = (PROJECT.root / "book" / "_build" / "html" / page).read_text(encoding="utf-8")
        assert f'id="{name}"' in text, place


def test_a_section_is_said_in_words_and_has_an_address():
    place = section("lab02_bahdanau", "masked_softmax")
    assert place == section("lab02", "masked_softmax") == Section("02_bahdanau", "Padding gets no weight")
    assert place.words == "Chapter 2, “Padding gets no weight”"
    assert place.page == "chapters/02_bahdanau.html#padding-gets-no-weight"


def test_what_is_not_listed_has_no_section():
    assert section("lab02", "nothing") is None
    assert section("lab99_no", "masked_softmax") is None


@pytest.mark.parametrize("title, wanted", [
    ("The key–value cache: no position is computed twice", "the-keyvalue-cache-no-position-is-computed-twice"),
    ("Scheduled sampling: training on the model's own words", "scheduled-sampling-training-on-the-model-s-own-words"),
    ("7 ways to compare", "ways-to-compare"),
    ("Pourquoi l'été?", "pourquoi-l-ete"),
])  # fmt: skip
def test_an_anchor_is_as_sphinx_makes_it(title, wanted):
    docutils = pytest.importorskip("docutils.nodes")
    assert anchor(title) == wanted == docutils.make_id(title)
