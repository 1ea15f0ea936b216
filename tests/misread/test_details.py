"""Sentences for side effects whose detail says what happened."""

import re

import pytest

from misread.details import DETAILS


@pytest.mark.parametrize("detail", sorted(DETAILS))
def test_each_sentence_says_what_is_right_what_is_wrong_and_what_to_do(detail):
    sentence = DETAILS[detail]
    assert sentence.startswith("The numbers are right")
    assert re.search(r", but |: |so ", sentence)
    assert "`" in sentence or "avoid" in sentence


def test_details_and_sentences_are_different_from_each_other():
    assert len(set(DETAILS.values())) == len(DETAILS)
