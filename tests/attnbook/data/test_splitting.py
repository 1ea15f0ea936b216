import doctest

import pytest
import torch

from attnbook.data import splitting as module
from attnbook.data.splitting import MadeWhenRead, draw_apart, share, split_by_size


def strings(generator):
    def draw(size, count):
        return [tuple(row) for row in torch.randint(10, (count, size), generator=generator).tolist()]

    return draw


def split(sizes=(1, 2, 3), longer=(5,), counts=(300, 60, 20, 7), seed=0):
    generator = torch.Generator().manual_seed(seed)
    return split_by_size(strings(generator), lambda size: 10**size, sizes, longer, counts, generator)


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("total", [0, 1, 7, 500])
def test_shares_add_up_and_differ_by_one_at_most(total):
    shares = share(total, range(6))
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


def test_no_thing_is_in_two_splits():
    train, validation, test, _ = split()
    assert not {*train} & {*validation}
    assert not {*train} & {*test}
    assert not {*validation} & {*test}


def test_held_out_things_are_all_different():
    _, validation, test, longer = split()
    for things in (validation, test, longer[5]):
        assert len({*things}) == len(things)


def test_every_size_is_trained_equally_often():
    train = split().train
    assert [sum(len(thing) == size for thing in train) for size in (1, 2, 3)] == [100, 100, 100]


def test_of_few_things_a_tenth_is_tested_and_a_twentieth_validated():
    _, validation, test, _ = split()
    assert [sum(len(thing) == size for thing in test) for size in (1, 2, 3)] == [1, 10, 20]
    assert [sum(len(thing) == size for thing in validation) for size in (1, 2, 3)] == [0, 5, 20]


def test_sizes_stand_mixed_in_training_and_test():
    train, _, test, _ = split()
    assert len({len(thing) for thing in train[:20]}) == 3
    assert len({len(thing) for thing in test[:15]}) > 1


def test_a_seed_fixes_everything():
    assert split(seed=4) == split(seed=4)
    assert split(seed=4) != split(seed=5)


def test_of_a_held_out_size_no_more_is_drawn_than_there_is():
    longer = split(sizes=(2,), longer=(1,), counts=(10, 0, 0, 200)).longer
    assert sorted(longer[1]) == [(i,) for i in range(10)]


def test_what_is_taken_is_not_drawn_again():
    draw = strings(torch.Generator().manual_seed(0))
    assert sorted(draw_apart(draw, 1, 3, [(i,) for i in range(7)])) == [(7,), (8,), (9,)]


def test_a_trained_size_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"longer holds \[2, 3\]; sizes 1 to 3 are trained"):
        split(longer=(3, 2, 9))


def test_there_must_be_a_size_to_train_on():
    with pytest.raises(ValueError, match="no size to train on"):
        split(sizes=())


def test_counts_may_not_be_negative():
    with pytest.raises(ValueError, match="none may be negative"):
        split(counts=(10, -1, 5, 5))


def test_examples_for_training_are_made_when_they_are_read_and_once():
    asked = []

    def twice(thing):
        asked.append(thing)
        return 2 * thing

    things = MadeWhenRead(twice, [1, 2, 3])
    assert (len(things), bool(things), asked) == (3, True, [])
    assert (things[0], things[1:], [*things], 6 in things) == (2, [4, 6], [2, 4, 6], True)
    assert asked == [1, 2, 3]
    assert things == [2, 4, 6]
    assert things == MadeWhenRead(twice, (1, 2, 3))
    assert things != [2, 4]


def test_of_what_was_drawn_only_the_training_part_waits():
    splits = split()
    train, validation, test, longer = splits.examples(len)
    assert "made" not in vars(train)
    assert train == [len(thing) for thing in splits.train]
    assert (len(validation), len(test), longer[5]) == (len(splits.validation), len(splits.test), [5] * 7)
