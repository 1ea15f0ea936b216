"""The experiment that multiplies trained scores by β."""

import torch

from attnbook.attention import LocationAware, Sharpened
from attnbook.models import AttentionSeq2Seq
from attnruns.experiments import sharpening
from attnruns.shared.runner import Job


def test_each_beta_is_measured_at_each_size_and_the_score_is_put_back(task, monkeypatch):
    monkeypatch.setattr(sharpening, "task", lambda: task)
    monkeypatch.setattr(sharpening, "SIZES", (6,))
    torch.manual_seed(0)
    words = len(task.source_vocabulary), len(task.target_vocabulary)
    model = AttentionSeq2Seq(*words, embedding=4, hidden=8, score=LocationAware(8, 8, 4))
    score, seen = model.score, []
    monkeypatch.setattr(sharpening, "accuracy", lambda model, *_: seen.append(model.score) or 0.5)
    found = sharpening.accuracy_by_beta(model)
    assert found == {str(beta): {"6": 0.5} for beta in sharpening.BETAS}
    assert model.score is score
    assert all(type(used) is Sharpened and used.score is score for used in seen)
    assert [used.beta(9) for used in seen] == list(sharpening.BETAS)


def test_a_run_measures_what_it_has_trained(monkeypatch):
    monkeypatch.setattr(sharpening, "train_and_measure", lambda *_: {"loss": 1.0})
    monkeypatch.setattr(sharpening, "accuracy_by_beta", lambda model: {"2.0": {"8": 1.0}})
    outcome = sharpening.run(Job("location_aware_64", 0, 1))
    assert outcome.figures == {"loss": 1.0, "by_beta": {"2.0": {"8": 1.0}}}


def test_beta_by_length_is_one_at_ten_places_and_two_at_a_hundred():
    assert sharpening.by_length(10) == 1.0
    assert abs(sharpening.by_length(100) - 2.0) < 1e-9


def test_a_model_by_length_trains_with_its_scores_sharpened(task):
    assert type(sharpening.build("location_aware", task).score) is LocationAware
    sharpened = sharpening.build("location_aware_by_length", task).score
    assert type(sharpened) is Sharpened
    assert type(sharpened.score) is LocationAware
    assert sharpened.beta is sharpening.by_length
