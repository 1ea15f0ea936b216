"""Evidence for a chapter: its place in the book, the form of its sections, and the links in both directions."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from coursekit.chapterrules import chapter_problems
from coursekit.evidence import chapter_of, link_problems, place_problems, section_problems
from coursekit.notebooks import read, write
from coursekit.project import Project

TOC = """\
parts:
  - caption: "Part I. The start"
    chapters:
      - file: book/part1
  - numbered: true
    chapters:
      - file: chapters/02_bahdanau
  - caption: Evidence for the chapters
    chapters:
      - file: book/evidence
      - file: chapters/02_bahdanau_evidence
  - caption: For teachers
    chapters:
      - file: book/teaching/guide
"""
CHAPTER = "# Look back\n\nTen seeds agree ([evidence](02_bahdanau_evidence.ipynb#more-seeds), {ref}`sec-02e-seeds`)."
RESULT = "**The layer wins with each of 10 seeds, by 0.31 to 0.45.** It is used in [Chapter 2](02_bahdanau.ipynb)."
EVIDENCE = f"# Behind it\n\n(sec-02e-seeds)=\n## More seeds\n\n{RESULT}\n\n## Further reading\n\n- A paper."


def book_of(**texts):
    return new_notebook(cells=[new_markdown_cell(text, id=name) for name, text in texts.items()])


@pytest.fixture
def course(tmp_path):
    """A course of one chapter and its evidence, placed as it should be."""
    write(book_of(text=CHAPTER), tmp_path / "chapters/02_bahdanau.ipynb")
    write(book_of(text=EVIDENCE), tmp_path / "chapters/02_bahdanau_evidence.ipynb")
    (tmp_path / "book").mkdir()
    (tmp_path / "book/_toc.yml").write_text(TOC)
    (tmp_path / "book/evidence.md").write_text("- [Behind it](../chapters/02_bahdanau_evidence.ipynb) counts seeds.\n")
    return Project(tmp_path)


@pytest.fixture
def chapter(course):
    return course.root / "chapters/02_bahdanau.ipynb"


@pytest.fixture
def evidence(course):
    return course.root / "chapters/02_bahdanau_evidence.ipynb"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_evidence_belongs_to_the_chapter_of_the_same_name(chapter, evidence):
    assert chapter_of(evidence) == chapter


# --- its place ------------------------------------------------------------------------------------


def test_a_course_whose_pages_are_placed_has_no_problem(course):
    assert place_problems(course) == []


def test_a_course_without_a_book_has_none_either(tmp_path):
    assert place_problems(Project(tmp_path)) == []


def test_evidence_that_is_not_placed_says_what_to_write_and_where(course):
    edit(course.root / "book/_toc.yml", "      - file: chapters/02_bahdanau_evidence\n", "")
    assert place_problems(course) == [
        "chapters/02_bahdanau_evidence.ipynb is not placed: write `- file: chapters/02_bahdanau_evidence` below "
        "`book/evidence` in book/_toc.yml"
    ]


def test_evidence_behind_its_chapters_lab_is_in_the_wrong_part(course):
    edit(course.root / "book/_toc.yml", "      - file: chapters/02_bahdanau_evidence\n", "")
    edit(course.root / "book/_toc.yml", "      - file: chapters/02_bahdanau\n",
         "      - file: chapters/02_bahdanau\n      - file: chapters/02_bahdanau_evidence\n")  # fmt: skip
    assert "is not placed" in place_problems(course)[0]


def test_evidence_needs_a_sentence_on_the_page_that_opens_the_part(course):
    (course.root / "book/evidence.md").write_text("Nothing yet.\n")
    assert place_problems(course) == [
        "chapters/02_bahdanau_evidence.ipynb has no sentence and no link in book/evidence.md"
    ]


def test_evidence_needs_its_chapter(course, chapter):
    chapter.unlink()
    assert place_problems(course) == [
        "chapters/02_bahdanau_evidence.ipynb is evidence for a chapter that is not there: chapters/02_bahdanau.ipynb"
    ]


def test_a_chapter_that_the_book_does_not_show_is_named(course):
    edit(course.root / "book/_toc.yml", "      - file: chapters/02_bahdanau\n", "")
    assert place_problems(course) == ["chapters/02_bahdanau.ipynb is not in book/_toc.yml: the book does not show it"]


# --- its sections ---------------------------------------------------------------------------------


def problems_of(evidence, old, new):
    edit(evidence, old, new)
    return section_problems(evidence, read(evidence))


def test_a_section_with_label_result_and_the_way_back_is_in_order(evidence):
    assert section_problems(evidence, read(evidence)) == []


@pytest.mark.parametrize(
    "back", ["[it](02_bahdanau.ipynb#the-layer)", "{ref}`sec-02-a`", "{ref}`that <sec-02-a>`", "{numref}`fig-02-b`"]
)
def test_the_way_back_may_be_a_link_or_a_label_of_the_chapter(evidence, back):
    assert problems_of(evidence, "[Chapter 2](02_bahdanau.ipynb)", back) == []


@pytest.mark.parametrize("elsewhere", ["[Chapter 3](03_scores.ipynb)", "{numref}`fig-02e-seeds`", "Chapter 2"])
def test_a_section_that_does_not_link_back_is_named(evidence, elsewhere):
    assert problems_of(evidence, "[Chapter 2](02_bahdanau.ipynb)", elsewhere) == [
        "section 'More seeds' does not link back to 02_bahdanau.ipynb"
    ]


@pytest.mark.parametrize(
    "start", ["First a word. **0.31 more.**", "**Seeds agree.**", "0.31 more in **each** of 10 seeds."]
)
def test_a_section_must_begin_with_its_result_in_bold_type_and_a_number(evidence, start):
    assert problems_of(evidence, "**The layer wins with each of 10 seeds, by 0.31 to 0.45.**", start) == [
        "section 'More seeds' does not begin with its result: one bold sentence that holds a number"
    ]


def test_a_word_of_the_result_may_be_in_italics(evidence):
    assert problems_of(evidence, "**The layer wins", "**The layer *always* wins") == []


def test_a_section_without_a_label_is_named(evidence):
    assert problems_of(evidence, "(sec-02e-seeds)=\\n", "\\n") == [
        "section 'More seeds' has no label in front of its heading, such as (sec-02e-…)="
    ]


@pytest.mark.parametrize("title", ["Exercises", "Further reading", "What this page does not show", "What to remember"])
def test_sections_that_report_no_result_are_free(evidence, title):
    assert problems_of(evidence, "## Further reading", f"## {title}") == []


def test_only_evidence_for_a_chapter_of_the_third_edition_is_held_to_this_form(chapter, evidence, change):
    edit(evidence, "(sec-02e-seeds)=\\n", "\\n")
    assert "has no label" not in str(chapter_problems(evidence))
    change(chapter, lambda _, notebook: notebook.metadata.update(attnbook={"edition": 3}))
    assert "has no label" in str(chapter_problems(evidence))


# --- links to it ----------------------------------------------------------------------------------


def links_of(chapter, old, new):
    edit(chapter, old, new)
    return link_problems(chapter, read(chapter))


def test_links_of_a_chapter_to_its_evidence_lead_somewhere(chapter):
    assert link_problems(chapter, read(chapter)) == []


def test_a_link_to_a_page_that_is_not_there_is_named(chapter):
    assert links_of(chapter, "](02_bahdanau_evidence.ipynb#more-seeds)", "](03_scores_evidence.ipynb)") == [
        "links to 03_scores_evidence.ipynb, and there is no chapters/03_scores_evidence.ipynb"
    ]


def test_a_link_to_a_section_that_is_not_there_is_named(chapter):
    assert links_of(chapter, "#more-seeds", "#fewer-seeds") == [
        "links to fewer-seeds, which 02_bahdanau_evidence.ipynb does not have"
    ]


def test_a_label_that_is_not_there_is_named(chapter):
    assert links_of(chapter, "{ref}`sec-02e-seeds`", "{ref}`other <sec-02e-other>`") == [
        "links to sec-02e-other, which 02_bahdanau_evidence.ipynb does not have"
    ]


def test_a_label_of_evidence_that_is_not_there_is_named(chapter):
    found = links_of(chapter, "{ref}`sec-02e-seeds`", "{numref}`fig-05e-depth`")
    assert found == ["links to fig-05e-depth, and there is no chapters/05_…_evidence.ipynb"]


def test_a_chapter_links_to_its_own_evidence(chapter):
    edit(chapter, "{ref}`sec-02e-seeds`", "see behind")
    assert links_of(chapter, "[evidence](02_bahdanau_evidence.ipynb#more-seeds)", "more behind") == [
        "does not link to its evidence, 02_bahdanau_evidence.ipynb"
    ]
