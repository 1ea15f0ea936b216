"""Formulas as MathML, which e-readers draw without a script."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from coursekit import CourseError

SPACE = "http://www.w3.org/1998/Math/MathML"
WRAPPED = re.compile(r"^\s*\\(?:\((?P<inline>.*)\\\)|\[(?P<block>.*)\\\])\s*$", re.DOTALL)
SPLIT = re.compile(r"\\(?:begin|end)\{split\}")  # Sphinx's frame around a formula of several lines
LIMITS = {"msub": "munder", "msubsup": "munderover"}
LARGE = set("∑∏⋃⋂")  # signs whose limits stand below and above them in a displayed formula


def formula(tex: str, display: bool) -> Any:
    """A formula of LaTeX as an element `math`; its text in LaTeX is the alternative for who cannot see it.

    Raises CourseError for a formula that cannot be converted."""
    from latex2mathml.converter import convert

    known = SPLIT.sub("", tex).replace("{aligned}", "{align*}")  # the same, and known to the converter
    try:
        node = etree.fromstring(convert(known, display="block" if display else "inline").encode())
    except Exception as error:
        raise CourseError(f"the formula {tex} cannot be written as MathML: {error}") from error
    unknown = next((text for text in node.itertext() if "\\" in text), None)
    if unknown:
        raise CourseError(f"the formula {tex} cannot be written as MathML: latex2mathml does not know {unknown}")
    node.set("alttext", " ".join(SPLIT.sub("", tex).split()))
    if display:
        _limits_below(node)
    return node


def _limits_below(formula: Any) -> None:
    for node in formula.iter(*(f"{{{SPACE}}}{name}" for name in LIMITS)):
        sign = node[0]
        if sign.text in LARGE:
            sign.set("movablelimits", "true")  # so that they stand beside it in a fraction
            node.tag = f"{{{SPACE}}}{LIMITS[etree.QName(node).localname]}"


def with_mathml(body: Any) -> int:
    """Put MathML in the place of a page's formulas, which stand there as LaTeX; returns how many there were.

    Raises CourseError for one that cannot be converted."""
    places = body.xpath(".//*[contains(concat(' ', @class, ' '), ' math ')]")
    for node in places:
        number = node.xpath("./span[@class='eqno']")
        tex = (number[0].tail if number else node.text) or ""
        found = WRAPPED.match(tex)
        if found is None:
            raise CourseError(f"a formula of the built book is not in \\(…\\) or \\[…\\]: {tex[:60]!r}")
        block = found["block"] is not None
        if number:
            number[0].tail = None
        node.text = None
        node.append(formula(found["block"] if block else found["inline"], block))
        node.set("class", "formula" if block else "math")
    return len(places)
