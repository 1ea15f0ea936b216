"""Everyday sentences on six subjects."""

from attnbook.data.texts.everyday import SUBJECTS


def test_each_subject_has_twenty_sentences_and_none_stands_twice():
    assert [len(group) for group in SUBJECTS.values()] == [20] * 6
    sentences = [sentence for group in SUBJECTS.values() for sentence in group]
    assert len(set(sentences)) == 120
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)
