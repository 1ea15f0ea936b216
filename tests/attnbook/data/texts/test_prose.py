"""The prose of the book's own text."""

from attnbook.data.texts.prose import PROSE


def test_there_are_sixty_different_sentences_each_with_a_full_stop():
    assert len(PROSE) == len(set(PROSE)) == 60
    assert all(line.endswith(".") and line[0].isupper() and line == " ".join(line.split()) for line in PROSE)
