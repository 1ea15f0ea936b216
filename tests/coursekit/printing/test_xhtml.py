"""What separates HTML from the XHTML of an e-book."""

from lxml import html

from coursekit.printing.xhtml import SVG, mend


def test_names_in_a_drawing_get_their_capitals_and_their_space():
    body = html.fragment_fromstring(
        '<div><svg viewbox="0 0 9 9"><marker refx="1" markerwidth="2"></marker></svg></div>'
    )
    assert mend(body) == "svg"
    drawing = body[0]
    assert drawing.tag == f"{{{SVG}}}svg"
    assert drawing.get("viewBox") == "0 0 9 9"
    assert dict(drawing[0].attrib) == {"refX": "1", "markerWidth": "2"}


def test_old_attributes_of_tables_go_and_languages_are_said_twice():
    body = html.fragment_fromstring(
        '<div><table border="1"><tr><td align="left" class="a" lang="zh">x</td></tr></table></div>'
    )
    assert mend(body) == ""
    cell = body.xpath(".//td")[0]
    assert dict(cell.attrib) == {"class": "a", "lang": "zh", "{http://www.w3.org/XML/1998/namespace}lang": "zh"}
    assert not body.xpath(".//@border")


def test_what_holds_blocks_is_a_block_and_a_place_has_one_owner():
    body = html.fragment_fromstring('<div><span id="a"><div>x</div></span><b id="a">y</b></div>')
    mend(body)
    assert [node.tag for node in body.iter()] == ["div", "div", "div", "b"]
    assert body.xpath(".//@id") == ["a"]
