"""Sorting with a fixed output layer."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data import sorting_batch
from attnruns.experiments import sorting_designs
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(["fixed", "attention", "pointer"]), indirect=["best"])
def test_a_run_trains_and_tests_each_size(name, monkeypatch, best, tmp_path):
    monkeypatch.setattr(sorting_designs, "TESTS", 4)
    figures = checked_run(sorting_designs, Job(name, 0, 2), tmp_path, best)
    assert figures["right"].keys() == {"3", "4", "5", "6"}


@pytest.mark.parametrize("name", ["fixed", "attention", "pointer"])
def test_no_position_is_named_twice_and_probabilities_sum_to_one(name):
    torch.manual_seed(0)
    model, lists = sorting_designs.build(name), sorting_batch(5, 20)
    log_probs, positions = model(lists.source)
    assert torch.equal(positions.sort(dim=1).values, torch.arange(5).expand(20, 5))
    torch.testing.assert_close(log_probs.exp().sum(dim=-1), torch.ones(20, 5))


def test_greedy_steps_read_what_they_have_chosen():
    torch.manual_seed(0)
    model, lists = sorting_designs.build("attention"), sorting_batch(4, 10)
    log_probs, positions = model(lists.source)
    again, _ = model(lists.source, positions)
    torch.testing.assert_close(again, log_probs)


def test_training_lowers_the_loss_and_the_test_is_never_trained():
    # both end with a list of six numbers
    short, longer = (sorting_designs.run(Job("fixed", 0, steps)).figures for steps in (4, 40))
    assert longer["loss"] < short["loss"]
    assert 0 not in {1 + 1000 * seed + step for seed in range(3) for step in range(1000)}


def test_only_the_pointer_takes_more_numbers_than_a_layer_has_rows():
    torch.manual_seed(0)
    lists = sorting_batch(sorting_designs.LONGEST + 1, 10)
    _, positions = sorting_designs.build("pointer")(lists.source)
    assert positions.max() == sorting_designs.LONGEST
    with pytest.raises(RuntimeError):
        sorting_designs.build("fixed")(lists.source)
