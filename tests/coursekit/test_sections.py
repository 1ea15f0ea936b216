"""Sections, and what a link into a notebook can lead to."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursekit.sections import Section, anchors, only, section, sections, slug

TEXT = """\
# A title

(sec-02-cache)=
## What costs *what*?

Text, and $$a = b$$ (eq-02-cost)

### A part of it

```python
## no heading
```

:::{exercise} One
:label: ex-02-one
:::"""
FIGURE = {"mystnb": {"figure": {"name": "fig-02-costs"}}}


@pytest.fixture
def notebook():
    return new_notebook(
        cells=[
            new_markdown_cell(TEXT),
            new_code_cell("draw()", metadata=FIGURE),
            new_code_cell("x = 1"),
            new_markdown_cell("## The end\n\nLast."),
        ]
    )


def test_a_section_has_its_label_its_title_and_all_up_to_the_next(notebook):
    first, last = sections(notebook)
    assert (first.label, first.title) == ("sec-02-cache", "What costs *what*?")
    assert "### A part of it" in first.text
    assert "ex-02-one" in first.text
    assert last == Section("", "The end", "\n\nLast.")
    assert section(notebook, "The end") == last
    assert section(notebook, "no heading") is None


def test_a_notebook_without_headings_has_no_sections():
    assert sections(new_notebook()) == []
    assert sections(new_notebook(cells=[new_markdown_cell("# A title alone")])) == []


def test_a_link_can_lead_to_labels_figures_exercises_and_headings(notebook):
    labels = {"sec-02-cache", "eq-02-cost", "ex-02-one", "fig-02-costs"}
    assert anchors(notebook) == labels | {"a-title", "what-costs-what", "a-part-of-it", "the-end"}


WHAT, PART = ["(sec-02-cache)=", "### A part of it", "draw()", "x = 1"], ["### A part of it", "draw()", "x = 1"]


@pytest.mark.parametrize(
    "target, first_lines",
    [("sec-02-cache", WHAT), ("what-costs-what", WHAT), ("a-part-of-it", PART), ("the-end", ["## The end"]),
     ("a-title", ["# A title", *WHAT, "## The end"]), ("ex-02-one", [])],
)  # fmt: skip
def test_a_section_can_be_had_alone_with_its_cells(notebook, target, first_lines):
    assert [cell.source.splitlines()[0] for cell in only(notebook, {target}).cells] == first_lines


def test_a_slug_is_what_myst_makes_of_a_heading():
    from mdit_py_plugins.anchors.index import slugify

    for heading in ("What costs what?", "2014–2017: one corpus", "Bahdanau's layer", "A state, of *fixed* size"):
        assert slug(heading) == slugify(heading)
