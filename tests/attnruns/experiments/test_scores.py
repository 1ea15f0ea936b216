"""The score zoo: each name brings its score, and the model takes it."""

import math

import pytest
import torch

from attnbook.attention import MLP, Additive, Cosine, Dot, General, Location, LocationAware, ScaledDot
from attnbook.data.symbols.numbers import number_list
from attnruns.experiments import scores
from attnruns.shared.runner import Job

KINDS = {
    "dot": Dot,
    "scaled_dot": ScaledDot,
    "cosine": Cosine,
    "cosine_beta": Cosine,
    "general": General,
    "additive": Additive,
    "mlp": MLP,
    "location": Location,
    "location_aware": LocationAware,
}


@pytest.mark.parametrize("name", scores.NAMES)
def test_each_name_brings_its_score(name):
    assert type(scores.make_score(name, 8, 4)) is KINDS[name]


def test_no_score_is_left_out():
    assert set(scores.NAMES) == KINDS.keys() == scores.EXPERIMENT.steps.keys()


def test_one_cosine_is_plain_and_one_learns_its_sharpness():
    plain, sharp = scores.make_score("cosine"), scores.make_score("cosine_beta")
    assert (plain.log_beta.item(), plain.log_beta.requires_grad) == (0, False)
    assert sharp.log_beta.item() == pytest.approx(math.log(10))
    assert sharp.log_beta.requires_grad


@pytest.mark.parametrize("name", scores.NAMES)
def test_the_model_takes_each_score(name, task, monkeypatch):
    monkeypatch.setattr(scores, "task", lambda: task)
    model = scores.build(name)
    batch = task.collate(task.test[:3])
    _, weights = model(batch.source, batch.lengths, batch.target)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(batch.target.shape))
    assert type(model.score) is KINDS[name]


def test_a_run_trains_the_score_of_its_name(task, monkeypatch):
    seen = []
    monkeypatch.setattr(scores, "task", lambda: task)
    monkeypatch.setattr(scores, "train_and_measure", lambda *arguments: seen.append(arguments) or {"loss": 1.0})
    job = Job("general", 0, 3)
    assert scores.run(job).figures == {"loss": 1.0}
    [(model, used, asked)] = seen
    assert type(model.score) is General
    assert used is task
    assert asked is job


def test_the_location_score_knows_enough_places_for_the_longest_list():
    assert len(number_list([777] * 8).source) <= scores.PLACES  # the longest number of words, eight times
