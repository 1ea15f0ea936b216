"""Docstrings of this house in reStructuredText."""

from docutils.core import publish_doctree

from coursekit.interface.docstrings import first_sentence, plain, reworded

WORDS = """Turn scores into weights, |x| ≥ 0, with p_{t-1} and h_ and a * b.

Args:
    scores: ``(..., Tk)`` real numbers: any
        leading axes.
    *more, x: `two` of them.

Returns:
    ``(B, T)`` weights: exactly 0 where closed.

Raises:
    ValueError: if it *must*.

    >>> f(2 * 3)
    a_ | b

Source: a paper, equation 6.
"""


def read(text: str):
    """The tree that docutils reads, and what it complains of."""
    settings = {"report_level": 5, "halt_level": 5}
    tree = publish_doctree(text, settings_overrides=settings)
    return tree, [node.astext() for node in tree.findall() if node.tagname == "system_message"]


def test_sections_become_fields_and_nothing_is_complained_of():
    tree, complaints = read(reworded(WORDS))
    assert complaints == []
    fields = {
        node.children[0].astext(): node.children[1].astext() for node in tree.findall() if node.tagname == "field"
    }
    assert fields.keys() == {"Arguments", "Returns", "Raises"}
    assert fields["Arguments"].split("\n\n") == [
        "scores: (..., Tk) real numbers: any\nleading axes.",
        "*more, x: two of them.",
    ]
    assert fields["Returns"] == "(B, T) weights: exactly 0 where closed."
    assert "Source: a paper, equation 6." in tree.astext()
    assert "|x| ≥ 0, with p_{t-1} and h_ and a * b." in tree.astext()


def test_code_and_roles_stay_as_they_are_and_single_backticks_are_code():
    assert plain("as :func:`attend` takes `a_` and ``b*``; see :func:`~x.y`") == (
        "as :func:`attend` takes ``a_`` and ``b*``; see :func:`~x.y`"
    )
    assert plain(">>> a * b_\nc_\n\nd_") == ">>> a * b_\nc_\n\nd\\_"
    assert plain("So::\n\n    x_ * y\n\nz_") == "So::\n\n    x_ * y\n\nz\\_"


def test_the_first_sentence_stands_in_one_line_and_keeps_the_points_inside():
    told = "Compare 0.5 and `a. B` in\n    one pass. Then more.\n\nArgs:\n    x: a number."
    assert first_sentence(told) == "Compare 0.5 and ``a. B`` in one pass."
    assert first_sentence("Something true of every result::\n\n    code") == "Something true of every result"
