"""The stored prose of the book."""

from attnbook.data.texts.book_prose import book_prose


def test_it_is_long_plain_prose_of_this_book():
    text = book_prose()
    assert len(text) > 60_000
    assert text.startswith("Someone reads you a list of numbers in English")
    assert not set("$`{}|<>#") & set(text)
    assert min(len(paragraph) for paragraph in text.split("\n\n")) > 100
