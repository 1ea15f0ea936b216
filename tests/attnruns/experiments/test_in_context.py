"""A plain Transformer on SNAIL's tasks, with few steps and few tests."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.models.few_shot import EpisodeReader
from attnbook.models.vector_reader import VectorReader
from attnruns.experiments import in_context, meta_learning
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small batches and few tests."""
    monkeypatch.setattr(meta_learning, "TESTS", 20)
    monkeypatch.setattr(in_context, "TESTS", 5)
    monkeypatch.setitem(meta_learning.TRAINING, "batch", 4)


@pytest.mark.parametrize("name, best", once_on_the_card(in_context.RECIPES), indirect=["best"])
def test_a_run_trains_and_measures_the_model_of_its_name(name, best, tmp_path):
    figures = checked_run(in_context, Job(name, 0, 2), tmp_path, best, kept=name == "recall_transformer")
    assert 0 <= figures["right"] <= 1
    assert ("heads" in figures) == name.startswith("recall")


def test_each_model_is_of_its_kind_and_steps_are_those_of_snail():
    for name, recipe in in_context.RECIPES.items():
        model = in_context.build(name)
        reader = model.reader if isinstance(model, EpisodeReader) else model
        assert isinstance(reader, VectorReader)
        times = 3 if name == "glyphs_longer" else 1
        assert recipe.steps == times * meta_learning.RECIPES[f"{recipe.task}_snail"].steps
    assert len(in_context.build("recall_one_layer").blocks.layers) == 1


def test_both_models_of_recall_have_about_as_many_parameters():
    one, two = (
        sum(p.numel() for p in in_context.build(name).parameters())
        for name in ("recall_one_layer", "recall_transformer")
    )
    assert abs(one - two) < 0.01 * two


def test_scores_of_heads_that_find_everything_are_one(monkeypatch):
    model = in_context.build("recall_transformer")
    wanted = in_context.after_earlier_occurrences(in_context.online_recall(5, 0).which).double()
    found = wanted / wanted.sum(dim=-1, keepdim=True).clamp(min=1)
    before = torch.diag(torch.ones(47), -1).expand(5, -1, -1)
    monkeypatch.setattr(model, "maps", lambda x: [before[:, None].float(), found[:, None].float()])
    scores = in_context.head_scores(model)
    assert scores["after_same_key"][1] == [1.0]
    assert scores["step_before"][0] == [1.0]
    assert 0.05 < scores["even"][0][0] < 0.15
