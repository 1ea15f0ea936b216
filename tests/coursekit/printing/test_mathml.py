"""Formulas as MathML."""

import pytest
from lxml import etree, html

from coursekit import CourseError
from coursekit.printing.mathml import SPACE, formula, with_mathml


def names(node) -> list[str]:
    return [etree.QName(inside).localname for inside in node.iter()]


def test_a_formula_keeps_its_letters_and_says_its_latex_to_who_cannot_see_it():
    node = formula(r"e_{tj} = \frac{q_t^\top k_j}{\sqrt{D}}", display=False)
    assert "".join(node.itertext()) == "etj=qt⊤kjD"
    assert {"msub", "mfrac", "msubsup", "msqrt"} <= set(names(node))
    assert node.get("alttext") == r"e_{tj} = \frac{q_t^\top k_j}{\sqrt{D}}"
    assert node.get("display") == "inline"


def test_several_lines_become_a_table_of_two_columns():
    node = formula(r"\begin{split}\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}\end{split}", display=True)
    assert names(node).count("mtr") == 2
    assert names(node).count("mtd") == 4
    assert "&" not in "".join(node.itertext())


@pytest.mark.parametrize("tex, name", [(r"\sum_{i=1}^n x_i", "munderover"), (r"\sum_i x_i", "munder")])
def test_limits_stand_below_and_above_the_sign_of_a_displayed_sum(tex, name):
    assert name in names(formula(tex, display=True))
    assert name not in names(formula(tex, display=False))
    assert "msub" in names(formula(tex, display=True))  # of x


@pytest.mark.parametrize("tex", [r"\begin{gathered} a & b \end{gathered}", r"\nosuchcommand x"])
def test_a_formula_that_cannot_be_converted_is_shown(tex):
    with pytest.raises(CourseError, match=r"the formula .* cannot be written as MathML: ") as error:
        formula(tex, display=False)
    assert tex in str(error.value)


def test_the_formulas_of_a_page_are_replaced_and_keep_their_numbers():
    body = html.fragment_fromstring(
        r'<div><p><span class="math notranslate">\(x\)</span> is</p>'
        r'<div class="math notranslate" id="eq"><span class="eqno">(1.1)</span>\[y\]</div></div>'
    )
    assert with_mathml(body) == 2
    assert [node.get("display") for node in body.iter(f"{{{SPACE}}}math")] == ["inline", "block"]
    assert body.xpath("string(.//div)") == "(1.1)y"
    assert body.xpath(".//div/@class") == ["formula"]


def test_text_that_is_no_formula_is_told():
    body = html.fragment_fromstring('<p><span class="math">x</span></p>')
    with pytest.raises(CourseError, match=r"not in \\\(…\\\) or \\\[…\\\]: 'x'"):
        with_mathml(body)
