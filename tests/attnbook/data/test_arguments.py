"""One text is never read as a list of its letters, whoever asks for a list of texts."""

import pytest

from attnbook.data.texts.byte_pairs import train_byte_pairs
from attnbook.data.texts.language import text_task
from attnbook.data.texts.sentence_labels import people_examples, word_order_examples
from attnbook.measure.text import distinct, repetition
from attnbook.measure.translation import bleu_counts, translation_scores

TEXT = "two men are in a boat on a lake"


@pytest.mark.parametrize(
    "name, call",
    [
        ("translations", lambda: translation_scores(TEXT, TEXT)),
        ("references", lambda: translation_scores(list(TEXT), TEXT)),
        ("translations", lambda: bleu_counts(TEXT, TEXT)),
        ("texts", lambda: train_byte_pairs(TEXT, 40)),
        ("train", lambda: text_task("one", TEXT, [TEXT], [TEXT], 40)),
        ("validation", lambda: text_task("one", [TEXT], TEXT, [TEXT], 40)),
        ("test", lambda: text_task("one", [TEXT], [TEXT], TEXT, 40)),
        ("captions", lambda: people_examples(TEXT)),
        ("captions", lambda: word_order_examples(TEXT)),
        ("texts", lambda: repetition(TEXT, 1)),
        ("texts", lambda: distinct(TEXT, 1)),
    ],
)
def test_one_text_is_not_taken_for_a_list_of_texts(name, call):
    with pytest.raises(TypeError, match=f"{name} must be a list of texts, got one text, '{TEXT[:8]}.*put it in a list"):
        call()


@pytest.mark.parametrize("measure", [repetition, distinct])
def test_one_string_is_not_taken_for_a_list_of_words(measure):
    with pytest.raises(TypeError, match=r"texts must hold lists of words, got the string 'two men.*; use \.split\(\)"):
        measure([TEXT.split(), TEXT])
