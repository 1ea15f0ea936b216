"""The exchanges change what they name, and nothing else."""

import pytest
import torch

from attnbook.data import number_lists
from attnruns.experiments import hundred_swaps, numbers


@pytest.fixture(scope="module")
def task():
    return number_lists(train=64, validation=4, test_per_size=2, longer_per_size=1)


@pytest.fixture(scope="module")
def model(task):
    torch.manual_seed(0)
    return numbers.build("attention", task).eval()


def words_of(task, batch, row):
    return " ".join(task.source_vocabulary.decode(batch.source[row].tolist()))


def test_it_trains_as_long_as_the_experiment_that_it_belongs_to():
    assert hundred_swaps.EXPERIMENT.steps == {"attention": numbers.STEPS["attention"]}
    assert hundred_swaps.EXPERIMENT.settings == numbers.EXPERIMENT.settings


@pytest.mark.parametrize("first, before, after", [(True, "", " , nine"), (False, "nine , ", "")])
def test_the_lists_differ_in_one_number(task, first, before, after):
    found = hundred_swaps.lists(task, first)
    row = 57  # a is nine, b is three
    numbers_in_it = "three hundred and forty two", "three , forty two", "four hundred"
    for batch, number in zip((found.own, found.without, found.control), numbers_in_it, strict=True):
        assert words_of(task, batch, row) == f"{before}{number}{after} , eighty five"
    source, target = found.own.source[row, found.place :], found.own.target[row, found.place :]
    assert task.source_vocabulary.decode(source[:2].tolist()) == ["three", "hundred"]
    assert task.target_vocabulary.decode(target[:2].tolist()) == ["drei", "hundert"]


@pytest.mark.parametrize("first", [True, False])
def test_parts_of_the_same_lists_change_nothing(task, model, first):
    own, _, _, place = hundred_swaps.lists(task, first)
    plain = hundred_swaps.after_drei(model, own, own, place, ())
    for parts in hundred_swaps.EXCHANGES.values():
        assert hundred_swaps.after_drei(model, own, own, place, parts).equal(plain)
    assert set(hundred_swaps.sizes(model, own, own, place).values()) == {0.0}


def test_without_an_exchange_the_model_writes_what_it_always_does(task, model):
    own, without, _, place = hundred_swaps.lists(task, False)
    with torch.no_grad():
        logits, _ = model(own.source, own.lengths, hundred_swaps.shift_right(own.target))
    found = hundred_swaps.after_drei(model, own, without, place, ())
    assert found.equal(logits[:, place + 1].argmax(dim=-1))


def test_all_counts_and_sizes_are_there(task, model):
    found = hundred_swaps.swaps(model, task)
    assert [*found] == ["first", "middle"]
    for those in found.values():
        assert [*those["kept"]] == [*hundred_swaps.EXCHANGES]
        assert all(0 <= count <= 64 for counts in those["kept"].values() for count in counts)
        assert all(len(sizes) == 2 and min(sizes) > 0 for sizes in those["moved"].values())
