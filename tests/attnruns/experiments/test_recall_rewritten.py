"""The experiment about keys that get new values."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import recall_rewritten
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few_sequences(monkeypatch):
    monkeypatch.setattr(recall_rewritten, "TESTS", 3)


class Knowing(torch.nn.Module):
    """Looks an asked key up among the pairs: its newest value, or its ``first``."""

    def __init__(self, first: bool = False):
        super().__init__()
        self.first = first
        self.there = torch.nn.Parameter(torch.zeros(1))

    def forward(self, words):
        told = words.shape[1] - recall_rewritten.KEYS
        keys, values = words[:, :told:2], words[:, 1:told:2]
        age = torch.arange(keys.shape[1], 0, -1) if self.first else torch.arange(1, keys.shape[1] + 1)
        found = ((words[:, :, None] == keys[:, None]) * age).argmax(dim=-1)  # (B, T)
        return torch.nn.functional.one_hot(values.gather(1, found), 200).float(), None


def test_who_names_the_newest_value_is_always_right_and_who_names_the_first_only_without_new_values():
    assert set(recall_rewritten.right_by_pairs(Knowing()).values()) == {1.0}
    first = recall_rewritten.right_by_pairs(Knowing(first=True))
    assert first["8"] == 1.0
    assert first["64"] < 0.2


def test_all_models_have_as_many_parameters_but_two_have_a_second_rate_per_layer():
    numbers = {
        name: sum(p.numel() for p in recall_rewritten.build(name).parameters()) for name in recall_rewritten.KINDS
    }
    with_two = {numbers.pop(name) for name in ("gated", "forgetting_units")}
    assert len(set(numbers.values())) == 1
    assert with_two == {numbers["delta"] + 2 * (recall_rewritten.FEATURES + 1)}


@pytest.mark.parametrize("name, best", once_on_the_card(recall_rewritten.EXPERIMENT.steps), indirect=["best"])
def test_a_run_measures_recall(name, best, tmp_path):
    figures = checked_run(recall_rewritten, Job(name, 0, 2), tmp_path, best)
    assert set(figures["right"]) == {"8", "16", "24", "32", "64"}
    assert len(figures["losses"]) == 1
