"""Given positions leave the search out, and nothing else."""

from typing import NamedTuple

import pytest
import torch
from torch.nn.functional import one_hot

from attnbook.data import shift_right
from attnbook.data.texts.vocabulary import BOS
from attnruns.experiments import given_positions, reversal
from attnruns.experiments.given_positions import by_size, due, measured, usual, written


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


def test_weights_are_put_around_the_letter_that_is_due():
    around = torch.tensor([0.2, 0.5, 0.3])
    assert due(4, 1, around).tolist() == pytest.approx([0, 0.2, 0.5, 0.3])
    assert due(4, 0, around).tolist() == pytest.approx([0, 0, 0.2 / 0.7, 0.5 / 0.7])  # nothing lies right of the last
    assert due(4, 3, around).tolist() == pytest.approx([0.5 / 0.8, 0.3 / 0.8, 0, 0])
    assert due(4, 2, torch.ones(1)).tolist() == [0, 1, 0, 0]


def test_without_given_weights_the_model_writes_as_it_always_does(untrained, strings):
    letters, weights = written(untrained, strings)
    read = torch.cat([torch.full_like(letters[:, :1], BOS), letters[:, :-1]], dim=1)
    with torch.no_grad():
        logits, expected = untrained(strings.source, strings.lengths, read)
    assert torch.allclose(weights, expected, atol=1e-6)
    assert letters.equal(logits.argmax(dim=-1))


def test_the_usual_weights_are_those_around_the_letter_that_is_due(untrained, strings):
    around = usual(untrained, strings, reach=1)
    with torch.no_grad():
        _, weights = untrained(strings.source, strings.lengths, shift_right(strings.target))
    steps = [weights[:, step, 5 - step + shift].mean() for shift in (-1, 0, 1) for step in range(1, 5)]
    assert around.tolist() == pytest.approx(torch.stack(steps).view(3, 4).mean(dim=1).tolist())


class State(NamedTuple):
    annotations: torch.Tensor
    source: torch.Tensor
    step: int


class Pointing:
    """Writes the letter that it reads most of, which is `behind` letters too far right from step `late` on."""

    def __init__(self, late=3, behind=2):
        self.late, self.behind = late, behind

    def modules(self):
        return []

    def start(self, source, lengths):
        return State(one_hot(source, 12).float(), source, 0)

    def step(self, letter, state):
        size = state.source.shape[1]
        at = size - 1 - state.step + (self.behind if self.late <= state.step else 0)
        weights = one_hot(torch.full_like(letter, at), size).float()
        logits = (weights[:, None] @ state.annotations)[:, 0]  # (B, 1, Tk) @ (B, Tk, V) -> (B, V)
        return logits, state._replace(step=state.step + 1), weights


def test_with_the_position_given_the_search_is_left_out(task):
    batch = task.collate([example for example in task.longer[6] if len({*example.source}) > 1])
    found = measured(Pointing(), batch, torch.tensor([0.1, 0.6, 0.3]))
    assert found["strings_one"] == found["letters_one"] == 1
    assert found["strings_usual"] == found["letters_usual"] == 1
    assert found["strings_own"] < 1
    assert found["right_before"] >= 3
    assert found["first_elsewhere"] == found["first_as_read"] == 1


def test_a_model_without_mistakes_has_no_first_one(strings):
    found = measured(Pointing(late=99), strings, torch.ones(1))
    assert found["strings_own"] == found["letters_own"] == 1
    assert found["right_before"] == found["first_elsewhere"] == found["first_as_read"] == -1


def test_each_length_of_the_task_is_measured(untrained, task, monkeypatch):
    monkeypatch.setattr(given_positions, "SIZES", (3, 6, 99))
    found = by_size(untrained, task)
    assert [*found] == ["3", "6", "around"]
    assert len(found["around"]) == 3  # one letter on each side, because no test string is longer than four
