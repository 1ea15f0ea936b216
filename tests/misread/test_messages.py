"""What a student reads."""

import pytest

from misread.messages import GENERAL, empty_body


def test_general_messages_are_all_different():
    assert len(set(GENERAL.values())) >= len(GENERAL) - 2  # three about types only name what came
    assert all(message.startswith(("Your", "The", "This")) for message in GENERAL.values())


def only_a_docstring():
    """Nothing yet."""


def only_dots(): ...


def returns_none_at_the_end(x):
    x.append(1)


def returns_a_constant():
    return 3


@pytest.mark.parametrize(
    "answer, empty",
    [
        (only_a_docstring, True), (only_dots, True), (lambda x: None, True), (returns_none_at_the_end, False),
        (returns_a_constant, False), (len, False), (lambda x: x, False),
    ],
)  # fmt: skip
def test_an_empty_body_is_recognised(answer, empty):
    assert empty_body(answer) == empty
