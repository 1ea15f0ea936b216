"""The book's own text: its questions have one right answer, which the line gives away, and no line comes twice."""

import re

import pytest

from attnbook.data.symbols.agreement import number_of
from attnbook.data.texts.text import COLOURS, KINDS, NAMES, PETS, SIZES, own_corpus


@pytest.fixture(scope="module")
def corpus():
    return own_corpus(train=600, validation=60, test=81)


def test_no_line_occurs_twice_and_the_same_seed_gives_the_same_lines(corpus):
    lines = [line.text for part in corpus for line in part]
    assert len(lines) == len(set(lines)) == 741 + 60
    assert corpus == own_corpus(train=600, validation=60, test=81)
    assert corpus.test != own_corpus(train=600, validation=60, test=81, seed=1).test


def test_each_part_holds_each_kind(corpus):
    for part, count, prose in zip(corpus, (600, 60, 81), (48, 6, 6), strict=True):
        kinds = [line.kind for line in part]
        assert [kinds.count(kind) for kind in (*KINDS, "prose")] == [count // 3] * 3 + [prose]


def test_a_line_goes_on_from_its_beginning_with_the_right_word(corpus):
    for part in corpus:
        for line in part:
            if line.kind != "prose":
                assert re.match(rf"{re.escape(line.beginning)} {line.right}\b", line.text)
                assert line.wrong != line.right


def test_the_verb_agrees_with_the_first_noun_and_not_always_with_the_nearest(corpus):
    misled = 0
    for line in corpus.train:
        if line.kind == "agreement":
            words = [word for word in line.beginning.lower().split() if _is_noun(word)]
            singular = line.right.endswith("s")  # "is" and "was", too
            assert number_of(words[0]) == (0 if singular else 1)
            misled += number_of(words[-1]) != number_of(words[0])
            distance = len(line.beginning.split()) - 1 - line.beginning.lower().split().index(words[0])
            assert distance in SIZES
    assert misled > 40


def _is_noun(word: str) -> bool:
    try:
        return number_of(word) in (0, 1)
    except ValueError:
        return False


def test_the_colour_is_the_one_that_the_named_owners_pet_has(corpus):
    later = 0
    for line in corpus.train:
        if line.kind == "two facts":
            facts = re.findall(r"(\w+) keeps a (\w+) (\w+)\.", line.text)
            pet, owner = re.search(r"The (\w+) of (\w+) is$", line.beginning).groups()
            assert {name for name, _, _ in facts} <= set(NAMES)
            assert len({name for name, _, _ in facts}) == len({colour for _, colour, _ in facts}) == 2
            assert {colour for _, colour, _ in facts} == {line.right, line.wrong} <= set(COLOURS)
            assert (owner, line.right, pet) in facts
            assert pet in PETS
            later += facts[1][0] == owner
    assert 0.4 < later / 200 < 0.6


def test_a_fact_stands_at_the_beginning_and_one_or_two_sentences_before_the_question(corpus):
    for line in corpus.train:
        if line.kind == "recall":
            owner, colour, pet = re.match(r"(\w+) keeps a (\w+) (\w+)\.", line.text).groups()
            assert line.beginning.endswith(f" The {pet} of {owner} is")
            assert line.right == colour != line.wrong
            assert line.beginning.count(".") in (2, 3)


def test_no_place_follows_a_verb_with_of(corpus):
    texts = [line.text for part in corpus for line in part if line.kind != "prose"]
    assert not any(re.search(r"\b(is|are|was|were|seems?|stands?|falls?|stays?) of\b", text) for text in texts)


def test_counts_that_cannot_be_shared_out_are_refused():
    with pytest.raises(ValueError, match=r"counts of lines are \(4, 0, 0\); each must be a multiple of 3"):
        own_corpus(4, 0, 0)
    with pytest.raises(ValueError, match="not < 0"):
        own_corpus(3, -3, 0)
