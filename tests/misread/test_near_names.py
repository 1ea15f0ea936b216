"""A mistyped name is told from one that is missing."""

import pytest

from misread.near_names import near_name


def error_of(code: str, **names) -> NameError:
    with pytest.raises(NameError) as caught:
        exec(code, names)
    return caught.value


@pytest.mark.parametrize("code, near", [
    ("def f(weights):\n    return weigths\nf(1)", "weights"),  # an argument
    ("def f():\n    scores = 1\n    return scroes\nf()", "scores"),  # a local name
    ("maks", "mask"),  # a global one, of four letters
    ("pritn", "print"),  # a builtin
    ("task", "mask"),
    ("encoder", ""),
    ("_hiden", ""),  # what begins with _ is nobody's to name
])  # fmt: skip
def test_the_nearest_name_that_is_known_on_the_line(code, near):
    assert near_name(error_of(code, mask=1, _hidden=2)) == near


def test_an_exercise_that_is_not_defined_yet_is_known_too():
    error = error_of("shift_rigth")
    assert (near_name(error), near_name(error, ["shift_right"])) == ("", "shift_right")


def test_an_error_that_tells_no_name_or_no_line_has_none():
    assert near_name(NameError("said by hand")) == ""
    assert near_name(error_of("raise NameError('weigths')", weights=1)) == ""
