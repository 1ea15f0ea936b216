import doctest
import random
from collections import Counter

import pytest
from duration import at_most
from num2words import num2words

from attnbook.data.symbols import numbers as module
from attnbook.data.symbols.numbers import (
    align_number,
    number_list,
    number_lists,
    number_words_de,
    number_words_en,
    single_numbers,
)

SOME = [*range(1000), *random.Random(0).sample(range(1000, 100_000), 500), 1000, 1001, 21_000, 99_999]
SAME = {  # words that mean the same whatever number they stand in
    "zero": "null", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs",
    "seven": "sieben", "eight": "acht", "nine": "neun", "ten": "zehn", "eleven": "elf", "twelve": "zwölf",
    "thirteen": "dreizehn", "fourteen": "vierzehn", "fifteen": "fünfzehn", "sixteen": "sechzehn",
    "seventeen": "siebzehn", "eighteen": "achtzehn", "nineteen": "neunzehn", "twenty": "zwanzig",
    "thirty": "dreißig", "forty": "vierzig", "fifty": "fünfzig", "sixty": "sechzig", "seventy": "siebzig",
    "eighty": "achtzig", "ninety": "neunzig", "hundred": "hundert", "thousand": "tausend", ",": ",",
}  # fmt: skip


@pytest.fixture(scope="module")
def lists():
    return number_lists(train=3000, seed=1)


@pytest.fixture(scope="module")
def singles():
    return single_numbers(train=3000, validation=50, test=100)


def sources(examples):
    return {example.source for example in examples}


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_english_words_are_those_of_num2words():
    for n in SOME:
        assert " ".join(number_words_en(n)) == num2words(n, lang="en").replace("-", " ").replace(",", "")


def test_german_pieces_join_to_the_words_of_num2words():
    for n in SOME:
        assert "".join(number_words_de(n)) == num2words(n, lang="de")


@pytest.mark.parametrize(
    ("n", "english", "german"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (21, "twenty one", "ein und zwanzig"),
        (42, "forty two", "zwei und vierzig"),
        (100, "one hundred", "ein hundert"),
        (101, "one hundred and one", "ein hundert eins"),
        (117, "one hundred and seventeen", "ein hundert siebzehn"),
        (307, "three hundred and seven", "drei hundert sieben"),
        (42_301, "forty two thousand three hundred and one", "zwei und vierzig tausend drei hundert eins"),
    ],
)
def test_numbers_fall_into_the_pieces_of_the_book(n, english, german):
    assert number_words_en(n) == tuple(english.split())
    assert number_words_de(n) == tuple(german.split())


@pytest.mark.parametrize("function", [number_words_en, number_words_de, align_number])
@pytest.mark.parametrize("n", [-1, 100_000])
def test_a_number_out_of_range_is_refused(function, n):
    with pytest.raises(ValueError, match=f"n is {n}; numbers in words go from 0 to 99,999"):
        function(n)


@pytest.mark.parametrize("function", [number_words_en, number_words_de, align_number])
@pytest.mark.parametrize("n", [1.0, True, "1"])
def test_what_is_no_int_is_refused_even_if_it_equals_one(function, n):
    function(1)
    with pytest.raises(TypeError, match="it must be an int"):
        function(n)


def test_sure_links_join_words_that_mean_the_same():
    for n in SOME:
        english, german = number_words_en(n), number_words_de(n)
        for s, t in align_number(n)[0]:
            assert SAME.get(english[s]) == german[t] or (english[s] == "one" and german[t] in ("ein", "eins"))


def test_every_word_but_the_joints_has_exactly_one_sure_link():
    for n in SOME:
        english, german = number_words_en(n), number_words_de(n)
        sure, _ = align_number(n)
        assert sorted(s for s, _ in sure) == [s for s, word in enumerate(english) if word != "and"]
        assert sorted(t for _, t in sure) == [t for t, word in enumerate(german) if word != "und"]


def test_further_possible_links_are_those_of_the_joints():
    for n in SOME:
        english, german = number_words_en(n), number_words_de(n)
        sure, possible = align_number(n)
        assert sure <= possible
        assert all(english[s] == "and" or german[t] == "und" for s, t in possible - sure)


def test_every_word_has_a_possible_link():
    for n in SOME:
        _, possible = align_number(n)
        assert {s for s, _ in possible} == set(range(len(number_words_en(n))))
        assert {t for _, t in possible} == set(range(len(number_words_de(n))))


def test_units_and_tens_cross():
    sure, possible = align_number(342)  # three hundred and forty two – drei hundert zwei und vierzig
    assert sure == {(0, 0), (1, 1), (3, 4), (4, 2)}
    assert possible - sure == {(2, 1), (2, 3), (3, 3), (4, 3)}


def test_a_list_joins_its_numbers_by_commas():
    example = number_list([42, 307])
    assert " ".join(example.source) == "forty two , three hundred and seven"
    assert " ".join(example.target) == "zwei und vierzig , drei hundert sieben"
    assert example.size == 2


def test_links_of_a_list_never_leave_their_number():
    example = number_list([342, 42, 1, 21])
    for s, t in example.possible:
        assert example.source[:s].count(",") == example.target[:t].count(",")
    for s, t in example.sure:
        english, german = example.source[s], example.target[t]
        assert SAME.get(english) == german or (english == "one" and german in ("ein", "eins"))
    assert sum(example.source[s] == "," for s, _ in example.sure) == 3


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="numbers is empty"):
        number_list([])


def test_no_list_is_in_two_splits(lists):
    train, validation, test = map(sources, (lists.train, lists.validation, lists.test))
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_test_and_validation_lists_come_once(lists):
    for examples in (lists.validation, lists.test, *lists.longer.values()):
        assert len(sources(examples)) == len(examples)


def test_all_sizes_are_trained_equally_often(lists):
    assert Counter(example.size for example in lists.train) == dict.fromkeys(range(1, 7), 500)


def test_the_test_holds_300_lists_of_a_size_and_100_single_numbers(lists):
    assert Counter(example.size for example in lists.test) == {1: 100} | dict.fromkeys(range(2, 7), 300)


def test_held_out_sizes_have_200_lists_each_and_are_longer_than_any_trained(lists):
    assert list(lists.longer) == [8, 10, 12, 16, 24, 32]
    for size, examples in lists.longer.items():
        assert len(examples) == 200
        assert {example.size for example in examples} == {size}
        assert {example.source.count(",") for example in examples} == {size - 1}


def test_numbers_are_drawn_evenly_from_0_to_999(lists):
    texts = [text for e in lists.train if e.size > 1 for text in " ".join(e.source).split(" , ")]
    value = {" ".join(number_words_en(n)): n for n in range(1000)}
    drawn = [value[text] for text in texts]
    assert abs(sum(drawn) / len(drawn) - 499.5) < 15  # three standard errors are 9
    assert len({*drawn}) > 990


def test_both_vocabularies_hold_every_word(lists, singles):
    for task in (lists, singles):
        for examples in (task.train, task.validation, task.test, *task.longer.values()):
            batch = task.collate(examples)
            assert batch.source.max() < len(task.source_vocabulary)
            assert batch.target.max() < len(task.target_vocabulary)
    assert (len(lists.source_vocabulary), len(lists.target_vocabulary)) == (34, 35)


@pytest.mark.parametrize("make", [number_lists, single_numbers])
def test_a_seed_fixes_the_task(make):
    one, same, other = (make(train=200, validation=30, seed=seed) for seed in (5, 5, 6))
    for part in ("train", "validation", "test", "longer"):
        assert getattr(one, part) == getattr(same, part)
    assert one.train != other.train
    assert one.source_vocabulary == other.source_vocabulary


def test_a_trained_size_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"longer holds \[6\]"):
        number_lists(train=10, longer=(6, 8))


def test_lists_need_room_for_one_number():
    with pytest.raises(ValueError, match="no size to train on"):
        number_lists(longest=0)


def test_no_single_number_comes_twice(singles):
    every = [*singles.train, *singles.validation, *singles.test]
    assert len(sources(every)) == len(every) == 3150
    assert singles.longer == {}


def test_single_numbers_count_their_figures(singles):
    sizes = Counter(example.size for example in singles.train)
    assert set(sizes) <= {1, 2, 3, 4, 5}
    assert sizes[5] > sizes[4] > sizes[3]
    assert {e.size >= 4 for e in singles.train if "thousand" in e.source} == {True}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"below": 0}, "below is 0"),
        ({"below": 200_000}, "below is 200000"),
        ({"below": 1000}, "there are only 1000 numbers"),
        ({"train": -1}, "none may be negative"),
    ],
)
def test_single_numbers_refuse_what_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        single_numbers(**settings)


@pytest.mark.slow
def test_the_whole_task_is_made_in_seconds():
    made = []
    at_most(4, lambda: made.append(list(number_lists().train)))  # some 2 on the machine where it was written
    assert len(made[-1]) == 40_000
