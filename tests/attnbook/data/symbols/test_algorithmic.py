import doctest
from collections import Counter

import pytest
import torch

from attnbook.data.symbols import algorithmic as module
from attnbook.data.symbols.algorithmic import (
    BitBatch,
    associative_recall_batch,
    copied_string,
    copied_strings,
    copy_batch,
    mark_phases,
    repeat_copy_batch,
    reversed_string,
    reversed_strings,
)


@pytest.fixture(scope="module")
def task():
    return reversed_strings(train=4600, validation=230)


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_target_is_its_source_read_backwards(task):
    for example in [*task.train, *task.validation, *task.test, *task.longer[48]]:
        assert example.target == tuple(reversed(example.source))
        assert example.size == len(example.source)


def test_each_letter_is_linked_with_its_mirror_place(task):
    for example in [*task.train[:200], *task.longer[30]]:
        assert example.sure == {(i, example.size - 1 - i) for i in range(example.size)}
        assert example.possible == example.sure
        assert all(example.source[s] == example.target[t] for s, t in example.sure)


def test_a_copy_is_linked_letter_by_letter():
    copies = copied_strings(train=460, validation=23)
    for example in [*copies.train[:100], *copies.test[:100], *copies.longer[80][:10]]:
        assert example.target == example.source
        assert example.sure == {(i, i) for i in range(example.size)}
    assert sorted(copies.longer) == [24, 30, 40, 60, 80]
    assert {example.size for example in copies.train} == set(range(2, 21))


def test_an_empty_copy_is_refused():
    with pytest.raises(ValueError, match="text is empty"):
        copied_string("")


def test_no_string_is_in_two_splits(task):
    train, validation, test = ({e.source for e in part} for part in (task.train, task.validation, task.test))
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_all_lengths_are_trained_equally_often(task):
    assert Counter(example.size for example in task.train) == dict.fromkeys(range(2, 25), 200)


def test_each_length_is_tested_100_times_but_for_the_shortest(task):
    assert Counter(example.size for example in task.test) == {2: 10} | dict.fromkeys(range(3, 25), 100)


def test_held_out_lengths_are_longer_than_any_trained(task):
    assert {size: len(part) for size, part in task.longer.items()} == {30: 200, 36: 200, 48: 200}
    assert all(example.size == size for size, part in task.longer.items() for example in part)


def test_all_letters_occur_about_equally_often(task):
    counts = Counter(letter for example in task.train for letter in example.source)
    assert set(counts) == set("abcdefghij")
    assert max(counts.values()) < 1.1 * min(counts.values())


def test_vocabularies_hold_the_letters_only(task):
    assert len(task.source_vocabulary) == len(task.target_vocabulary) == 13
    assert task.source_vocabulary.encode("aj") == [3, 12]


def test_a_seed_fixes_the_task():
    one, same, other = (reversed_strings(train=100, validation=46, seed=seed) for seed in (5, 5, 6))
    for part in ("train", "validation", "test", "longer"):
        assert getattr(one, part) == getattr(same, part)
    assert one.train != other.train


def test_two_letters_are_enough():
    task = reversed_strings("01", shortest=1, longest=4, train=40, validation=4, test_per_size=5, longer=(6,))
    assert len(task.train) == 40
    assert not {e.source for e in task.train} & {e.source for e in task.test}
    assert len(task.longer[6]) == 64  # there are no more


@pytest.mark.parametrize("letters", ["", "a", "abca"])
def test_letters_must_be_two_different_ones_at_least(letters):
    with pytest.raises(ValueError, match="letters is"):
        reversed_strings(letters)


@pytest.mark.parametrize(("shortest", "longest"), [(0, 5), (6, 5)])
def test_lengths_must_make_a_range(shortest, longest):
    with pytest.raises(ValueError, match="wanted 1 ≤ shortest ≤ longest"):
        reversed_strings(shortest=shortest, longest=longest)


def test_a_trained_length_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"longer holds \[24\]"):
        reversed_strings(longer=(24, 30))


def test_an_empty_string_is_refused():
    with pytest.raises(ValueError, match="text is empty"):
        reversed_string("")


# --- vectors of bits ------------------------------------------------------------------------------

BATCHES = {
    "copy": lambda seed: copy_batch(5, 3, seed),
    "repeat copy": lambda seed: repeat_copy_batch(3, 2, 3, seed),
    "associative recall": lambda seed: associative_recall_batch(4, 3, seed),
}


@pytest.mark.parametrize("name", BATCHES)
def test_bits_come_by_their_seed_and_are_silent_while_they_are_asked_for(name):
    one, same, other = (BATCHES[name](seed) for seed in (5, 5, 6))
    assert all(torch.equal(got, wanted) for got, wanted in zip(one, same, strict=True))
    assert not torch.equal(one.target, other.target)
    assert one.inputs.shape[:2] == one.target.shape[:2] == one.mask.shape
    assert one.inputs[one.mask].abs().sum() == 0
    assert one.target[~one.mask].abs().sum() == 0
    assert one.mask.any(dim=1).all()
    assert one.target.unique().tolist() == [0.0, 1.0]
    moved = one.to("cpu")
    assert isinstance(moved, BitBatch)
    assert torch.equal(moved.inputs, one.inputs)


def test_a_copy_is_what_stood_before_the_delimiter():
    inputs, target, mask = copy_batch(5, 3, bits=8)
    assert inputs.shape == (3, 11, 9)
    assert target.shape == (3, 11, 8)
    assert torch.equal(target[:, 6:], inputs[:, :5, :8])
    assert inputs[:, :, 8].tolist() == [[0.0] * 5 + [1.0] + [0.0] * 5] * 3
    assert inputs[:, 5, :8].abs().sum() == 0
    assert mask.tolist() == [[False] * 6 + [True] * 5] * 3


def test_all_vectors_occur_about_equally_often():
    vectors = copy_batch(20, 400, bits=2).inputs[:, :20, :2].flatten(0, 1)
    counts = Counter(tuple(vector) for vector in vectors.tolist())
    assert len(counts) == 4
    assert max(counts.values()) < 1.15 * min(counts.values())


def test_repeated_copies_follow_each_other_and_end_with_a_mark():
    inputs, target, mask = repeat_copy_batch(3, 2, 4, bits=8)
    assert inputs.shape == (4, 11, 10)
    assert target.shape == (4, 11, 9)
    for copy in (target[:, 4:7], target[:, 7:10]):
        assert torch.equal(copy[..., :8], inputs[:, :3, :8])
    assert target[:, :, 8].tolist() == [[0.0] * 10 + [1.0]] * 4
    assert target[:, 10, :8].abs().sum() == 0
    assert mask.tolist() == [[False] * 4 + [True] * 7] * 4


def test_the_number_of_copies_has_mean_0_and_variance_1():
    signals = torch.stack([repeat_copy_batch(2, repeats, 1).inputs[0, 2] for repeats in range(1, 11)])
    assert signals[:, :8].abs().sum() == 0
    assert signals[:, 8].tolist() == [1.0] * 10
    numbers = signals[:, 9].double()
    assert numbers.mean().item() == pytest.approx(0, abs=1e-6)
    assert numbers.square().mean().item() == pytest.approx(1, abs=1e-6)
    assert numbers.diff().min() > 0
    assert repeat_copy_batch(2, 20, 1).inputs[0, 2, 9] > numbers.max()


def test_the_item_that_followed_the_one_asked_is_wanted():
    inputs, target, mask = associative_recall_batch(4, 50, vectors=3, bits=6)
    assert inputs.shape == (50, 4 * 4 + 8, 8)
    assert target.shape == (50, 24, 6)
    items = inputs[:, :16].unflatten(1, (4, 4))
    assert bool((items[:, :, 0] == torch.tensor([0.0] * 6 + [1.0, 0.0])).all())
    assert inputs[:, :, 6].sum() == 50 * 4
    assert inputs[:, :, 7].tolist() == [[0.0] * 16 + [1.0] + [0.0] * 3 + [1.0] + [0.0] * 3] * 50
    places = []
    for row in range(50):
        same = [torch.equal(items[row, i, 1:, :6], inputs[row, 17:20, :6]) for i in range(4)]
        assert sum(same) == 1
        places.append(same.index(True))
        assert torch.equal(target[row, 21:], items[row, places[-1] + 1, 1:, :6])
    assert set(places) == {0, 1, 2}
    assert mask.tolist() == [[False] * 21 + [True] * 3] * 50


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("length must be at least 1, got 0", lambda: copy_batch(0, 1)),
        ("count must be at least 1, got 0", lambda: copy_batch(1, 0)),
        ("bits must be at least 1, got 0", lambda: copy_batch(1, 1, bits=0)),
        ("length must be at least 1, got -1", lambda: repeat_copy_batch(-1, 1, 1)),
        ("repeats must be at least 1, got 0", lambda: repeat_copy_batch(1, 0, 1)),
        ("most must be at least 2, got 1", lambda: repeat_copy_batch(1, 1, 1, most=1)),
        ("items must be at least 2, got 1", lambda: associative_recall_batch(1, 1)),
        ("vectors must be at least 1, got 0", lambda: associative_recall_batch(2, 1, vectors=0)),
    ],
)
def test_numbers_that_make_no_batch_are_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", BATCHES)
def test_marks_say_where_a_task_begins_and_where_it_wants_an_answer(name):
    plain = BATCHES[name](5)
    inputs, target, mask = mark_phases(plain)
    features = plain.inputs.shape[-1]
    assert torch.equal(inputs[:, 1:, :features], plain.inputs)
    assert torch.equal(target[:, 1:], plain.target)
    assert torch.equal(mask[:, 1:], plain.mask)
    assert inputs[:, 0].tolist() == [[0.0] * features + [1.0, 0.0]] * 3
    assert inputs[:, 1:, features].abs().sum() == 0
    assert torch.equal(inputs[..., features + 1], mask.float())
    assert not mask[:, 0].any()
    assert target[:, 0].abs().sum() == 0


def test_without_marks_a_step_that_wants_an_answer_may_look_like_a_vector():
    said, asked = torch.zeros(9), copy_batch(2, 1).inputs[0, -1]
    assert torch.equal(asked, said)
    marked = mark_phases(copy_batch(2, 1)).inputs[0]
    assert not torch.equal(marked[-1], torch.zeros(11))
