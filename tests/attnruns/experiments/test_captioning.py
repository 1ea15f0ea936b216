"""The experiment on captions: recipes are what their names say, and every figure is counted right."""

from typing import NamedTuple

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.attention.hard import hard_attend, straight_through_attend
from attnbook.data.pictures.captions import WORDS, canvases, named_cells
from attnbook.models.captioning import Captioned, soft_read
from attnbook.training.captioning import CaptionLoss, HardCaptionLoss
from attnruns.experiments import captioning
from attnruns.shared.runner import Job


@pytest.fixture
def small(monkeypatch):
    """Everything in miniature."""
    monkeypatch.setattr(captioning, "TESTS", 4)
    monkeypatch.setattr(captioning, "TRAINING", {**captioning.TRAINING, "batch": 4})
    monkeypatch.setattr(captioning, "PRETRAINING", {**captioning.PRETRAINING, "batch": 4})
    monkeypatch.setattr(captioning, "VARIANCE", {"canvases": 3, "repeats": 3, "samples": 4})
    monkeypatch.setattr(captioning, "EARLY", 1)


@pytest.mark.parametrize("name", captioning.STEPS)
def test_each_model_and_loss_is_what_its_name_says(name):
    model, recipe = captioning.build(name), captioning.RECIPES[name]
    kind = name.split("_")[0]
    reads = {"none": None, "soft": soft_read, "hard": hard_attend, "straight": straight_through_attend}
    assert model.read is reads[kind]
    loss = recipe.loss()
    assert isinstance(loss, HardCaptionLoss if kind == "hard" else CaptionLoss)
    if kind == "hard":
        assert (loss.samples, loss.to_go) == ((4, True) if name == "hard_4" else (1, False))
    else:
        assert loss.penalty == (1.0 if name == "soft_penalty" else 0.0)
    assert recipe.pretrained == (name != "soft_not_pretrained")


def test_each_training_has_a_baseline_of_its_own():
    assert captioning.RECIPES["hard"].loss().baseline is not captioning.RECIPES["hard"].loss().baseline


def test_training_and_tests_share_no_digit_and_each_step_has_its_own_canvases():
    lessons = captioning.Captions()
    assert torch.equal(lessons.batch_at(3, 2).image, lessons.batch_at(3, 2).image)
    assert not torch.equal(lessons.batch_at(3, 2).image, lessons.batch_at(4, 2).image)
    assert not torch.equal(lessons.batch_at(3, 2).image, lessons.batch_at(3, 2, seed=1).image)
    assert torch.equal(captioning.held_out_canvases(3, 2).image, canvases(2, 3, 3, held_out=True).image)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["hard_4", "none", "soft_not_pretrained"]), indirect=["best"])
def test_a_run_trains_and_measures(name, small, best, tmp_path):
    figures = checked_run(captioning, Job(name, 0, 2), tmp_path, best, kept=captioning.RECIPES[name].kept)
    assert figures["exact_match"].keys() == {"2", "3"}
    assert ("pointing" in figures) == (name != "none")
    assert ("pretraining_accuracy" in figures) == (name != "soft_not_pretrained")
    assert ("gradient_variance" in figures) == name.startswith("hard")


@pytest.mark.slow
def test_measuring_the_variance_does_not_disturb_the_training(small, monkeypatch):
    measured = captioning.run(Job("hard", 0, 3)).figures["losses"]
    monkeypatch.setattr(captioning, "EARLY", 100)
    assert captioning.run(Job("hard", 0, 3)).figures["losses"] == measured


# ---- figures


class Telling(nn.Module):
    """Writes the captions that it is given, and attends where it is told to."""

    def __init__(self, target, weights) -> None:
        super().__init__()
        self.target, self.weights = target, weights

    def start(self, image):
        return Step(0)

    def step(self, token, state):
        words = self.target[:, state.t]
        return nn.functional.one_hot(words, len(WORDS)).float(), Step(state.t + 1), None

    def forward(self, image, words):
        return Captioned(words, self.weights, None)


class Step(NamedTuple):
    """How many words were written."""

    t: int


def test_captions_must_be_right_to_the_last_word():
    batch = canvases(4, 1)
    target = batch.target.clone()
    assert captioning.exact_match(Telling(target, None), batch) == 1.0
    target[0, 1], target[1, 3] = 17, 17
    assert captioning.exact_match(Telling(target, None), batch) == 0.5


def test_attention_on_the_digits_that_are_named_is_counted():
    batch = canvases(4, 1)
    cells = named_cells(batch)
    weights = cells.float() / cells.sum(dim=-1, keepdim=True).clamp_min(1)
    figures = captioning.attended(Telling(batch.target, weights), batch)
    assert figures == {"pointing": 1.0, "pointing_inside": 1.0, "largest_weight": 0.25, "weight_inside": 1.0}
    beside = named_cells(batch, margin=2).float() - weights  # the nearest cells around the digit
    figures = captioning.attended(Telling(batch.target, beside), batch)
    assert (figures["pointing"], figures["pointing_inside"]) == (1.0, 0.0)
    figures = captioning.attended(Telling(batch.target, -named_cells(batch, margin=2).float()), batch)
    assert figures["pointing"] == 0.0


def test_advantages_of_the_estimators():
    words = torch.tensor([[[-1.0, -2.0], [-3.0, 0.0]]])  # (1, 2, 2)
    found = {
        name: advantage for name, (advantage, _) in captioning.estimators(words, torch.tensor([-2.0, -1.0])).items()
    }
    assert found["none"].tolist() == [[[-3, -3], [-3, -3]]]
    assert found["moving"].tolist() == [[[0, 0], [0, 0]]]
    assert found["to_go"].tolist() == [[[-3, -2], [-3, 0]]]
    assert found["to_go_moving"].tolist() == [[[0, -1], [0, 1]]]
    assert found["to_go_leave_one_out_4"].tolist() == [[[0, -2], [0, 2]]]


def test_the_variance_is_measured_without_a_trace(small):
    model = captioning.build("hard").eval()
    before = [parameter.clone() for parameter in model.parameters()]
    figures = captioning.gradient_variance(model, 0, repeats=3)
    assert set(figures) == {"none", "moving", "to_go", "to_go_moving", "to_go_moving_4", "to_go_leave_one_out_4"}
    assert min(figures.values()) > 0
    assert not model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))


def test_one_position_saves_the_weighted_sum_and_nothing_else():
    model = captioning.build("soft")
    soft, hard, mean = (captioning.multiplications(name, model) for name in ("soft", "hard", "mean"))
    assert soft == {"scores": 128 * 64 + 49 * 64, "context": 49 * 64}
    assert hard == {"scores": soft["scores"], "context": 0}
    assert mean == {"scores": 0, "context": 0}
