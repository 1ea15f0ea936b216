"""The book's own sentences in two languages: three parts, and training has every phrase that is asked for."""

from itertools import product

from attnbook.data.texts.own_translations import DOES, HELD_OUT, WHERE, WHO, own_pairs


def test_the_parts_have_their_sizes_and_no_sentence_is_in_two_of_them():
    train, validation, test = own_pairs()
    assert len(validation) == len(test) == HELD_OUT
    assert len(train) == len(WHO) * len(DOES) * len(WHERE) - 2 * HELD_OUT
    for language in (0, 1):
        sentences = [pair[language] for part in (train, validation, test) for pair in part]
        assert len(set(sentences)) == len(sentences)


def test_each_phrase_occurs_in_training():
    train, _, _ = own_pairs()
    phrases = [*WHO, *DOES, *WHERE]
    assert [pair for pair in phrases if not any(pair[0] in german for german, _ in train)] == []


def test_a_sentence_says_the_same_in_both_languages():
    wanted = {
        (" ".join(german) + ".", " ".join(english) + ".")
        for german, english in (zip(*parts, strict=True) for parts in product(WHO, DOES, WHERE))
    }
    assert {pair for part in own_pairs() for pair in part} == wanted
    assert ("Ein Hund läuft im Schnee.", "A dog runs in the snow.") in wanted


def test_each_call_gives_the_same_parts():
    assert own_pairs() == own_pairs()
