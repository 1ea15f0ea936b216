"""Sentences with names: the same people on both sides, numbers in order of appearance, nothing outside known."""

import pytest
import torch

from attnbook.data.symbols.names import (
    EVENTS,
    PEOPLE,
    SIZE,
    UNK,
    WORDS,
    Story,
    encode_story,
    make_name,
    make_story,
    name_batch,
    without_names,
)
from attnbook.data.texts.vocabulary import EOS, PAD
from attnbook.seeding import generator


def stories(count=300):
    source = generator(0)
    return [make_story(source) for _ in range(count)]


def names_of(words):
    return [word for word in words if word not in WORDS.words]


def test_each_sentence_names_two_or_three_people_and_its_other_telling_two_of_them():
    for source, target in stories():
        assert 2 <= len(set(names_of(source))) <= len(PEOPLE)
        assert len(names_of(target)) == len(set(names_of(target))) == 2
        assert set(names_of(target)) < {*names_of(source), ""}


def test_all_events_and_repeated_names_occur_and_hardly_a_name_comes_twice():
    every = stories()
    assert (
        len({tuple("_" if word in names_of(t) else word for word in t if word in WORDS.words) for _, t in every}) > 40
    )
    assert sum(len(names_of(s)) > len(set(names_of(s))) for s, _ in every) > 100
    source = generator(1)
    assert len({make_name(source) for _ in range(1000)}) > 980
    assert len(EVENTS) == 6


def test_numbers_of_names_are_those_of_their_first_appearance():
    story = Story(("Vesku", "gave", "Tarol", "a", "map", "and", "Vesku", "was", "glad", "."), ("Tarol", "."))
    source, target = encode_story(story)
    assert [number - len(WORDS) for number in source if number >= len(WORDS)] == [0, 1, 0]
    assert target == [len(WORDS) + 1, *WORDS.encode(["."]), EOS]


@pytest.mark.parametrize(
    "story", [Story(("Vesku", "."), ("Tarol", ".")), Story(("Ana", "Ben", "Cid", "Dora", "."), ("Ana", "."))]
)
def test_a_name_from_nowhere_and_too_many_names_are_refused(story):
    with pytest.raises(ValueError, match="and at most 3 names"):
        encode_story(story)


def test_batches_are_padded_and_fixed_by_their_seed():
    one, same, other = name_batch(20, 1), name_batch(20, 1), name_batch(20, 2)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert one.source.tolist() != other.source.tolist()
    assert one.source.max() < SIZE
    for row, length in zip(one.source, one.lengths, strict=True):
        assert (row[length:] == PAD).all()
        assert (row[:length] != PAD).all()
    assert ((one.target == EOS).sum(dim=1) == 1).all()
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        name_batch(0)


def test_without_names_all_names_are_one_word():
    words = torch.tensor([[len(WORDS), 5, SIZE - 1, EOS, PAD]])
    assert without_names(words).tolist() == [[UNK, 5, UNK, EOS, PAD]]
