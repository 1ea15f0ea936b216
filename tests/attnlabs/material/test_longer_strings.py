"""The strings of lab 17."""

import pytest
import torch

from attnbook.data.symbols.algorithmic import copied_strings
from attnlabs.material.longer_strings import FULL, SMALL, string_pool, task_from_split


@pytest.fixture(scope="module")
def pool():
    return string_pool(SMALL)


def parts(lengths, longest):
    return (lengths <= longest).nonzero()[:, 0], (lengths > longest).nonzero()[:, 0]


def test_short_and_long_strings_are_mixed(pool):
    examples, lengths = pool
    assert lengths.tolist() == [example.size for example in examples]
    assert int((lengths > SMALL.trained).sum()) == 50 * 6
    assert len(set((lengths > SMALL.trained).nonzero()[:, 0].diff().tolist())) > 5


def test_the_right_split_gives_the_whole_task(pool):
    examples, lengths = pool
    task, whole = task_from_split(SMALL, examples, *parts(lengths, SMALL.trained)), SMALL.task()
    assert sorted(example.source for example in task.train) == sorted(example.source for example in whole.train)
    assert list(task.longer) == sorted((*SMALL.judged, *SMALL.choosing))
    assert {len(group) for group in task.longer.values()} == {50}
    assert not {example.source for example in task.test} & {example.source for example in task.train}


def test_lengths_for_choosing_are_not_judged():
    for edition in (SMALL, FULL):
        assert not set(edition.choosing) & set(edition.judged)
        assert [n / edition.trained for n in edition.judged] == [1.5, 2, 3, 4]


def test_a_long_string_is_not_trained_on(pool):
    examples, lengths = pool
    with pytest.raises(ValueError, match="a string of 12 letters is among those to train on; at most 10 may be"):
        task_from_split(SMALL, examples, *parts(lengths, 12))


def test_nothing_of_the_pool_may_be_missing(pool):
    examples, lengths = pool
    inside, beyond = parts(lengths, SMALL.trained)
    with pytest.raises(ValueError, match="7999 and 300 examples are not the 8300 of the pool"):
        task_from_split(SMALL, examples, inside[1:], beyond)
    with pytest.raises(ValueError, match="8000 and 299 examples"):
        task_from_split(SMALL, examples, inside, beyond[torch.arange(299)])


@pytest.mark.slow
def test_the_full_edition_has_the_strings_of_the_record():
    mine, record = FULL.task(), copied_strings()
    assert mine.train == record.train
    assert all(mine.longer[n] == record.longer[n] for n in (24, *FULL.judged))
