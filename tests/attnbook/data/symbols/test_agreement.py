"""Agreement: the verb has the number of its subject, whatever stands in between, and no split leaks into another."""

import doctest
from collections import Counter

import pytest

from attnbook.data.batching import Example
from attnbook.data.symbols import agreement as module
from attnbook.data.symbols.agreement import (
    agreement_sentence,
    agreement_sentences,
    attractors,
    number_of,
    other_number,
    read_sentence,
    subject_and_verb,
)

SINGULAR_VERBS = {"is", "was", "seems", "stands", "falls", "stays", "sees", "loves", "knows", "wants", "paints"}
INNER_VERBS = {"sees", "loves", "knows", "wants", "paints", "see", "love", "know", "want", "paint"}


@pytest.fixture(scope="module")
def task():
    return agreement_sentences(train=2200, validation=110, test_per_size=60, longer_per_size=50)


@pytest.fixture(scope="module")
def sentences(task):
    return [*task.train, *task.validation, *task.test, *(e for part in task.longer.values() for e in part)]


def is_noun(word: str) -> bool:
    try:
        number_of(word)
    except ValueError:
        return False
    return True


def is_verb(word: str) -> bool:
    try:
        other_number(word)
    except ValueError:
        return False
    return True


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_each_verb_has_the_number_of_its_subject(sentences):
    for example in sentences:
        subject, verb = subject_and_verb(example)
        assert (example.source[verb] in SINGULAR_VERBS) == (number_of(example.source[subject]) == 0)


def test_verbs_of_clauses_have_the_number_of_the_noun_before_them(sentences):
    seen = 0
    for example in sentences:
        for i, word in enumerate(example.source):
            if word in INNER_VERBS:
                seen += 1
                assert (word in SINGULAR_VERBS) == (number_of(example.source[i - 1]) == 0)
    assert seen > 1000


def test_the_subject_is_the_first_noun_and_the_verb_the_first_main_verb(sentences):
    for example in sentences:
        subject, verb = subject_and_verb(example)
        words = example.source
        assert next(i for i, word in enumerate(words) if is_noun(word)) == subject
        mains = [i for i, word in enumerate(words) if not is_noun(word) and word not in INNER_VERBS and is_verb(word)]
        assert mains == [verb]


def test_the_size_counts_the_words_between_subject_and_verb(sentences):
    for example in sentences:
        subject, verb = subject_and_verb(example)
        assert example.size == verb - subject - 1


def test_a_sentence_is_read_and_guessed_so_source_and_target_are_the_same(sentences):
    for example in sentences:
        assert example.source == example.target
        assert example.sure == example.possible


def test_attractors_are_the_nouns_of_the_other_number_in_between():
    text = "the old key near the kings that the farmers see of the table is here"
    assert attractors(read_sentence(text)) == [5, 8]
    assert attractors(read_sentence("the keys near the tables are with the king")) == []
    assert attractors(read_sentence("the key is here")) == []


def test_about_half_of_the_nouns_in_between_are_attractors(task):
    wrong = sum(len(attractors(example)) for example in task.train)
    nouns = sum(
        is_noun(word)
        for example in task.train
        for word in example.source[subject_and_verb(example)[0] + 1 : subject_and_verb(example)[1]]
    )
    assert 0.45 < wrong / nouns < 0.55


def test_both_numbers_are_equally_likely_so_that_guessing_earns_a_half(task):
    plural = sum(number_of(example.source[subject_and_verb(example)[0]]) for example in task.train)
    assert 0.45 < plural / len(task.train) < 0.55


def test_no_sentence_is_in_two_splits(task):
    train, validation, test = ({e.source for e in part} for part in (task.train, task.validation, task.test))
    longer = {example.source for part in task.longer.values() for example in part}
    assert len(train | validation | test | longer) == sum(map(len, (train, validation, test, longer)))


def test_all_distances_are_trained_equally_often_and_the_long_ones_never(task):
    assert Counter(e.size for e in task.train) == dict.fromkeys([0, *range(3, 13)], 200)
    assert Counter(e.size for e in task.test) == dict.fromkeys([0, *range(3, 13)], 60)
    assert {size: Counter(e.size for e in part) for size, part in task.longer.items()} == {
        size: {size: 50} for size in (14, 16, 20, 24, 32)
    }


def test_one_vocabulary_holds_every_word(task, sentences):
    assert task.source_vocabulary is task.target_vocabulary
    assert 60 <= len(task.source_vocabulary) <= 100
    assert {word for example in sentences for word in example.source} == set(task.source_vocabulary.words[3:])


def test_a_seed_fixes_the_task():
    small = {"train": 60, "validation": 11, "test_per_size": 3, "longer_per_size": 3}
    one, same, other = (agreement_sentences(**small, seed=seed) for seed in (5, 5, 6))
    for part in ("train", "validation", "test", "longer"):
        assert getattr(one, part) == getattr(same, part)
    assert one.train != other.train
    assert one.source_vocabulary == other.source_vocabulary


def test_a_sentence_is_made_of_what_is_picked():
    first = agreement_sentence(lambda things: things[0], 6)
    assert " ".join(first.source) == "the old farmer near the farmer near the farmer is near the old farmer"
    last = agreement_sentence(lambda things: things[-1], 5)
    assert " ".join(last.source) == "the gardens that the broken bakers paint stay again"


@pytest.mark.parametrize("size", [-1, 1, 2])
def test_a_distance_that_no_modifier_has_is_refused(size):
    message = f"size is {size}; between subject and verb stand 0 words, or 3 and more"
    with pytest.raises(ValueError, match=message):
        agreement_sentence(lambda things: things[0], size)
    with pytest.raises(ValueError, match=f"longest is {size}; it must be 0, or at least 3"):
        agreement_sentences(longest=size)


def test_a_trained_distance_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"longer holds \[12\]"):
        agreement_sentences(longer=(12, 14))


@pytest.mark.parametrize("word", ["the", "is", "kingss"])
def test_only_nouns_have_a_number(word):
    with pytest.raises(ValueError, match=f"noun is '{word}'; the nouns of this language are farmer, farmers"):
        number_of(word)


@pytest.mark.parametrize("word", ["the", "king"])
def test_only_verbs_have_another_number(word):
    with pytest.raises(ValueError, match=f"verb is '{word}'; the verbs of this language are is, are"):
        other_number(word)


def test_an_example_of_another_task_is_refused():
    with pytest.raises(ValueError, match="example is no sentence with one subject and one verb"):
        subject_and_verb(Example(("a", "b"), ("b", "a"), frozenset({(0, 1)})))


def test_what_is_made_reads_back(sentences):
    for example in sentences:
        assert read_sentence(" ".join(example.source)) == example


def test_a_wrong_sentence_can_be_read_too():
    example = read_sentence("the keys near the cabinet is here")
    assert subject_and_verb(example) == (1, 5)
    assert example.source[5] == "is"


@pytest.mark.parametrize("text", ["", "is here", "is the key", "the key near the table", "the old is here"])
def test_a_sentence_without_subject_and_verb_is_refused(text):
    with pytest.raises(ValueError, match=f"text is '{text}'; it needs a noun"):
        read_sentence(text)
