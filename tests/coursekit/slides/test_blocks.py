"""Markdown cut into blocks."""

import pytest

from coursekit.slides.blocks import blocks, inner, items

TEXT = """\
(sec-sum)=
## Sums

One two
three.

$$
a + b = c
$$ (eq-sum)

- first
  goes on

- second

| a | b |
|:--|:--|
| 1 | 2 |

:::{admonition} Take care
:class: slip

Inside.
:::

<details>
<summary>Answer</summary>

Hidden.

</details>

After."""


def test_a_cell_is_cut_into_its_blocks_in_order():
    assert [block.kind for block in blocks(TEXT)] == [
        "heading", "paragraph", "formula", "list", "table", "box", "html", "paragraph",
    ]  # fmt: skip


def test_labels_belong_to_headings_and_formulas():
    heading, paragraph, formula, *_ = blocks(TEXT)
    assert (heading.text, heading.level, heading.label) == ("Sums", 2, "sec-sum")
    assert paragraph.text == "One two three."
    assert (formula.text, formula.label) == ("a + b = c", "eq-sum")


def test_a_box_has_a_name_a_title_and_options():
    box = blocks(TEXT)[5]
    assert (box.name, box.title, box.options, box.text) == ("admonition", "Take care", {"class": "slip"}, "Inside.")
    assert [block.text for block in inner(box)] == ["Inside."]


def test_items_lose_their_signs_and_keep_what_goes_on():
    assert items("1. first\n   goes on\n\n2. second") == ["first goes on", "second"]


@pytest.mark.parametrize("text", ["$$ a $$", "$$a$$ (eq-a)", "$$\na\n$$"])
def test_a_formula_may_stand_on_one_line_or_on_three(text):
    (formula,) = blocks(text)
    assert (formula.kind, formula.text) == ("formula", "a")


@pytest.mark.parametrize("text", ["$$\na", ":::{note}\na", "<details>\na"])
def test_what_is_never_closed_ends_with_the_cell(text):
    assert len(blocks(text)) == 1
