"""Which cells become slides."""

import pytest
from nbformat import NotebookNode, v4

from coursekit.slides.choose import Chooser
from coursekit.slides.deck import Slide
from coursekit.slides.labels import Labels

LONG = "Short sentence. " + " ".join(["Word"] * 70) + "."


def markdown(text: str, *tags: str) -> NotebookNode:
    return v4.new_markdown_cell(text, metadata={"tags": list(tags)})


def code(text: str, printed: str = "", *tags: str) -> NotebookNode:
    outputs = [v4.new_output("stream", text=printed)] if printed else []
    return v4.new_code_cell(text, outputs=outputs, metadata={"tags": list(tags)})


@pytest.fixture
def slides(project):
    """slides(cell, …): the slides of a chapter with these cells."""

    def made(*cells: NotebookNode) -> list[Slide]:
        return Chooser(Labels(project.root), project.root / "chapters").slides(v4.new_notebook(cells=list(cells)))

    return made


def shown(slides: list[Slide]) -> str:
    return "\n".join(part for slide in slides for part in slide.parts)


def said(slides: list[Slide]) -> str:
    return "\n".join(note for slide in slides for note in slide.notes)


def test_each_heading_begins_a_slide_with_the_first_sentences_of_its_text(slides):
    found = slides(markdown(f"# One\n\n{LONG}"), markdown("## Two\n\nFirst.\n\nSecond."))
    assert [slide.title for slide in found] == ["One", "Two"]
    assert "Short sentence." in shown(found)
    assert "Word Word" not in shown(found)
    assert "Second." not in shown(found)
    assert "Word Word" in said(found)
    assert "Second." in said(found)


def test_displayed_formulas_stay_with_the_sentence_that_leads_to_them(slides):
    found = slides(markdown("## One\n\nFirst.\n\nA long story. So the sum of both of them is\n\n$$\na < b\n$$"))
    assert "So the sum of both of them is" in shown(found)
    assert "A long story" not in shown(found)
    assert "a &lt; b" in shown(found)


def test_a_formula_in_a_list_is_not_lost(slides):
    found = slides(markdown("## One\n\n1. The softmax:\n\n   $$\n   e^a\n   $$ (eq-a)\n\n2. The sum."))
    assert "e^a" in shown(found)
    assert "<ol><li>The softmax:" in shown(found)


@pytest.mark.parametrize("title", ["Exercises", "Further reading", "More (optional)"])
def test_sections_that_no_lecture_needs_are_left_out_with_all_below_them(slides, title):
    found = slides(markdown(f"# One\n\nFirst.\n\n## {title}\n\nNot this.\n\n### Below\n\nNor this."), code("print(1)"))
    assert [slide.title for slide in found] == ["One"]
    assert "print" not in shown(found)
    found = slides(markdown(f"# One\n\nFirst.\n\n## {title}\n\nNot this."), markdown("## After\n\nThis."))
    assert "This." in shown(found)


def test_short_code_stays_with_what_it_prints_and_claims_go(slides):
    found = slides(markdown("# One"), code("x = 1\nprint(x)", "1\n✓ claim: one is one\n"))
    assert '<pre class="printed">1</pre>' in shown(found)
    assert "claim" not in shown(found)


@pytest.mark.parametrize("cell", [
    code("a = 1\n" * 11),
    code("a = 1", "", "hide-input"),
    code("a = 1", "12\n", "hide-cell"),
    code('claim("one", a == 1)'),
    code("a = 1", "", "slide-skip"),
])  # fmt: skip
def test_long_code_folded_code_and_claims_are_left_out(slides, cell):
    assert shown(slides(markdown("# One"), cell)) == ""


def test_what_a_folded_cell_prints_stays_where_it_is_short(slides):
    assert "result" in shown(slides(markdown("# One"), code("a", "result\n", "hide-input")))
    assert shown(slides(markdown("# One"), code("a", "result\n" * 15, "hide-input"))) == ""


def test_tags_overrule_the_rules(slides):
    assert 'class="code"' in shown(slides(markdown("# One"), code("a = 1\n" * 11, "", "slide")))
    assert "Second." in shown(slides(markdown("# One\n\nFirst.\n\nSecond.", "slide")))
    found = slides(markdown("# One"), markdown("First.", "slide-notes"))
    assert (shown(found), "First." in said(found)) == ("", True)
    assert said(slides(markdown("# One"), markdown("First.", "slide-skip"))) == ""


def test_boxes_of_goals_and_mistakes_have_slides_and_others_are_said(slides):
    goals = "# One\n\nFirst.\n\n:::{admonition} You can\n:class: goals\n\n- add\n\nYou need nothing.\n:::"
    other = ":::{admonition} A warning\n:class: warning\n\nCareful.\n:::"
    found = slides(markdown(goals), markdown(other))
    assert [slide.title for slide in found] == ["One", "You can"]
    assert "<li>add</li>" in shown(found)
    assert "Careful" not in shown(found)
    assert "Careful" in said(found)
    assert "You need nothing" in said(found)


def test_tables_stay_where_they_are_short(slides):
    table = "| a | b |\n|:--|:--|\n" + "| 1 | 2 |\n"
    assert "<table>" in shown(slides(markdown(f"# One\n\n:::{{table}} Numbers.\n:name: tab-a\n\n{table}:::")))
    assert "<table>" not in shown(slides(markdown("# One\n\n" + table + "| 1 | 2 |\n" * 9)))
