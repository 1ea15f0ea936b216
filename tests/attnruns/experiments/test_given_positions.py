"""Given positions leave the search out, and nothing else."""

from typing import NamedTuple

import pytest
import torch

from attnruns.experiments import given_positions, reversal
from attnruns.experiments.given_positions import by_size, measured, written


@pytest.fixture
def strings(task):
    return task.collate(task.longer[6])


@pytest.fixture
def untrained(task):
    torch.manual_seed(0)
    return reversal.RECIPES["attention"].build(task)


def test_it_trains_as_the_experiment_that_it_belongs_to():
    assert given_positions.EXPERIMENT.steps == {"attention": reversal.STEPS["attention"]}
    assert given_positions.EXPERIMENT.settings == reversal.EXPERIMENT.settings


def test_given_weights_run_through_the_string_from_its_end(untrained, strings):
    letters, weights = written(untrained, strings, given=True)
    assert letters.shape == strings.target.shape
    assert weights[:, :6].argmax(dim=-1).tolist() == [[5, 4, 3, 2, 1, 0]] * len(strings.source)
    assert weights[:, :6].max(dim=-1).values.min() == 1
    assert weights[:, 6].max() < 1  # the end is written with the model's own weights


def test_without_given_weights_the_model_writes_as_it_always_does(untrained, strings):
    letters, weights = written(untrained, strings, given=False)
    with torch.no_grad():
        _, expected = untrained(strings.source, strings.lengths, given_positions_input(letters))
    assert torch.allclose(weights, expected, atol=1e-6)


def given_positions_input(letters):
    """What the decoder reads if these are the letters that it writes."""
    return torch.cat([torch.ones_like(letters[:, :1]), letters[:, :-1]], dim=1)


class State(NamedTuple):
    source: torch.Tensor
    mask: torch.Tensor
    step: int


class Pointing:
    """Writes the letter at its largest weight, which is `behind` letters too far right from step `late` on."""

    def __init__(self, late=3, behind=2):
        self.late, self.behind = late, behind

    def modules(self):
        return []

    def start(self, source, lengths):
        return State(source, torch.ones_like(source, dtype=torch.bool), 0)

    def step(self, letter, state):
        size = state.source.shape[1]
        at = max(0, size - 1 - state.step) + (self.behind if self.late <= state.step < size else 0)
        own = torch.nn.functional.one_hot(torch.full_like(letter, at), size).float()
        weights = own if state.mask.all() else state.mask.float()
        word = (weights.long() * state.source).sum(dim=1)
        return torch.nn.functional.one_hot(word, 12).float(), state._replace(step=state.step + 1), weights


def test_the_first_wrong_letter_is_the_one_read_elsewhere(task):
    batch = task.collate([example for example in task.longer[6] if len({*example.source}) > 1])
    found = measured(Pointing(), batch)
    assert found["strings_given"] == found["letters_given"] == 1
    assert found["strings_own"] < 1
    assert found["right_before"] >= 3
    assert found["first_elsewhere"] == found["first_as_read"] == 1


def test_a_model_without_mistakes_has_no_first_one(task, strings):
    found = measured(Pointing(late=99), strings)
    assert found["strings_own"] == found["letters_own"] == 1
    assert found["right_before"] == found["first_elsewhere"] == found["first_as_read"] == -1


def test_each_length_of_the_task_is_measured(untrained, task, monkeypatch):
    monkeypatch.setattr(given_positions, "SIZES", (3, 6, 99))
    assert [*by_size(untrained, task)] == ["3", "6"]
