"""What separates a page of HTML from the XHTML of an e-book."""

from __future__ import annotations

from typing import Any

SVG = "http://www.w3.org/2000/svg"
# An HTML parser writes names small, and XML tells them apart.
SPELT = {name.lower(): name for name in (
    "viewBox", "preserveAspectRatio", "markerWidth", "markerHeight", "refX", "refY", "markerUnits", "gradientUnits",
    "gradientTransform", "patternUnits", "clipPathUnits", "textLength", "lengthAdjust", "linearGradient",
    "radialGradient", "clipPath", "foreignObject", "textPath",
)}  # fmt: skip
OLD = ("align", "border", "valign", "width", "cellpadding", "cellspacing", "bgcolor", "nowrap")  # of tables
BLOCKS = {"p", "div", "ul", "ol", "dl", "pre", "table", "figure", "blockquote", "section"}


def mend(body: Any) -> str:
    """Change a page's tree into XHTML; returns what the manifest says of it: `mathml`, `svg`."""
    body.tag = "div"
    svg = body.xpath(".//svg")
    for drawing in svg:
        _mend_svg(drawing)
    for cell in body.xpath(".//table | .//table//*"):
        for name in OLD:
            cell.attrib.pop(name, None)
    for word in body.xpath(".//*[@lang]"):
        word.set("{http://www.w3.org/XML/1998/namespace}lang", word.get("lang"))
    _unnest(body)
    _unique_ids(body)
    kinds = [("mathml", body.xpath(".//*[local-name()='math']")), ("svg", svg)]
    return " ".join(kind for kind, found in kinds if found)


def _mend_svg(drawing: Any) -> None:
    for node in drawing.iter():
        if not isinstance(node.tag, str):
            continue
        node.tag = f"{{{SVG}}}{SPELT.get(node.tag, node.tag)}"
        for name in list(node.attrib):
            if name in SPELT:
                node.set(SPELT[name], node.attrib.pop(name))
        if node.tag == f"{{{SVG}}}a" and node.get("href"):
            node.set("{http://www.w3.org/1999/xlink}href", node.attrib.pop("href"))


def _unnest(body: Any) -> None:
    """What holds blocks is a block itself."""
    for node in list(body.iter("p", "span", "a")):
        if node.tag == "a" or not any(
            isinstance(inside.tag, str) and inside.tag in BLOCKS for inside in node.iterdescendants()
        ):
            continue
        node.tag = "div"


def _unique_ids(body: Any) -> None:
    """Of places with one name the first keeps it."""
    seen: set[str] = set()
    for node in body.xpath(".//*[@id]"):
        if node.get("id") in seen:
            node.attrib.pop("id")
        else:
            seen.add(node.get("id"))
