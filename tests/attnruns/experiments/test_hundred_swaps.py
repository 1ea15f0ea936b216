"""The exchanges change what they name, and nothing else."""

import pytest
import torch

from attnruns.experiments import hundred_swaps, numbers


def words_of(task, batch, row):
    return " ".join(task.source_vocabulary.decode(batch.source[row].tolist()))


def test_it_trains_as_long_as_the_experiment_that_it_belongs_to():
    assert hundred_swaps.EXPERIMENT.steps == {"attention": numbers.STEPS["attention"]}
    assert hundred_swaps.EXPERIMENT.settings == numbers.EXPERIMENT.settings


@pytest.mark.parametrize("first, before, after", [(True, "", " , nine"), (False, "nine , ", "")])
def test_the_lists_differ_in_one_number(number_task, first, before, after):
    found = hundred_swaps.lists(number_task, first)
    row = 57  # a is nine, b is three
    numbers_in_it = "three hundred and forty two", "three , forty two", "four hundred"
    for batch, number in zip((found.own, found.without, found.control), numbers_in_it, strict=True):
        assert words_of(number_task, batch, row) == f"{before}{number}{after} , eighty five"
    source, target = found.own.source[row, found.place :], found.own.target[row, found.place :]
    assert number_task.source_vocabulary.decode(source[:2].tolist()) == ["three", "hundred"]
    assert number_task.target_vocabulary.decode(target[:2].tolist()) == ["drei", "hundert"]


@pytest.mark.parametrize("first", [True, False])
def test_parts_of_the_same_lists_change_nothing(number_task, untrained, first):
    own, _, _, place = hundred_swaps.lists(number_task, first)
    plain = hundred_swaps.after_drei(untrained, own, own, place, ())
    for parts in hundred_swaps.EXCHANGES.values():
        assert hundred_swaps.after_drei(untrained, own, own, place, parts).equal(plain)
    assert set(hundred_swaps.sizes(untrained, own, own, place).values()) == {0.0}


def test_without_an_exchange_the_model_writes_what_it_always_does(number_task, untrained):
    own, without, _, place = hundred_swaps.lists(number_task, False)
    with torch.no_grad():
        logits, _ = untrained(own.source, own.lengths, hundred_swaps.shift_right(own.target))
    found = hundred_swaps.after_drei(untrained, own, without, place, ())
    assert found.equal(logits[:, place + 1].argmax(dim=-1))


def test_all_counts_and_sizes_are_there(number_task, untrained):
    found = hundred_swaps.swaps(untrained, number_task)
    assert [*found] == ["first", "middle"]
    for those in found.values():
        assert [*those["kept"]] == [*hundred_swaps.EXCHANGES]
        assert all(0 <= count <= 64 for counts in those["kept"].values() for count in counts)
        assert all(len(sizes) == 2 and min(sizes) > 0 for sizes in those["moved"].values())
