"""New lists in each epoch: none is a test list, and none comes back."""

from collections import Counter

import pytest
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import new_lists, numbers
from attnruns.shared.runner import Job


def test_an_epoch_holds_no_test_list_and_no_list_of_another_epoch():
    tested = {example.source for example in numbers.task().test}
    epochs = [new_lists.lists_of(epoch, seed, 300, 400).train for epoch, seed in ((0, 0), (1, 0), (0, 1))]
    assert [len(epoch) for epoch in epochs] == [300, 300, 300]
    long = [{example.source for example in epoch if example.size > 3} for epoch in epochs]
    assert not tested & set.union(*long)
    assert sum(map(len, long)) == len(set.union(*long)) > 300
    assert set(Counter(example.size for example in epochs[0])) == set(range(1, 7))


def test_steps_go_through_one_epoch_after_the_other(monkeypatch):
    asked = []

    class Lists:
        def batch_at(self, step, batch_size, seed):
            asked.append((step, batch_size, seed))

    monkeypatch.setattr(new_lists, "lists_of", lambda epoch, seed: asked.append((epoch, seed)) or Lists())
    lessons = new_lists.NewLists()
    lessons.batch_at(624, 64, 2)
    lessons.batch_at(625, 64, 2)
    assert asked == [(0, 2), (624, 64, 2), (1, 2), (0, 64, 2)]


@pytest.mark.parametrize("name, best", once_on_the_card(new_lists.STEPS), indirect=["best"])
def test_the_model_is_the_longer_one_of_the_numbers(name, monkeypatch, tmp_path, best):
    monkeypatch.setattr(new_lists, "NewLists", numbers.task)
    monkeypatch.setattr(new_lists, "accuracy_by_size", lambda model, task: {"6": 0.5})
    figures = checked_run(new_lists, Job(name, 0, 2), tmp_path, best)
    assert figures["parameters"] == 202_403
    assert figures["exact_match"] == {"6": 0.5}
    assert new_lists.STEPS == {"plain_longer": 9600}


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="there is: plain_longer"):
        new_lists.run(Job("nothing", 0, 1))
