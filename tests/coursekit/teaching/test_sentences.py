"""Sentences of a text in Markdown."""

import pytest

from coursekit.teaching.sentences import first_sentences, sentences


@pytest.mark.parametrize("text, parts", [
    ("One. Two? Three!", ["One.", "Two?", "Three!"]),
    ("Chorowski et al. say so, e.g. here. Next.", ["Chorowski et al. say so, e.g. here.", "Next."]),
    ("Take $a. B$ and `x. Y` now. *Then* go.", ["Take $a. B$ and `x. Y` now.", "*Then* go."]),
    ("**Step 1.** It is 2.5 times as large.", ["**Step 1.**", "It is 2.5 times as large."]),
    ("", []),
])  # fmt: skip
def test_a_text_is_cut_between_its_sentences(text, parts):
    assert sentences(text) == parts


def test_as_many_whole_sentences_are_taken_as_fit_and_at_least_one():
    assert first_sentences("One two. Three four. Five.", 4) == "One two. Three four."
    assert first_sentences("One two three. Four.", 2) == "One two three."
