"""The experiment on lengths trains each of its models on strings to be copied."""

import pytest

from attnbook.attention import Sharpened
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer
from attnruns.experiments import lengths
from attnruns.experiments.transformer import TRAINING as TRANSFORMER_TRAINING
from attnruns.shared.runner import Job
from attnruns.shared.seq2seq import TRAINING


@pytest.mark.parametrize("name", lengths.STEPS)
def test_a_run_trains_the_model_of_its_name_on_its_task(name, task, monkeypatch):
    seen = []
    monkeypatch.setattr(lengths, "task", lambda: task)
    monkeypatch.setattr(lengths, "train_and_measure", lambda *arguments: seen.append(arguments) or {"loss": 1.0})
    outcome = lengths.run(Job(name, 0, 3))
    recipe = lengths.RECIPES[name]
    assert outcome.figures == {"loss": 1.0}
    [(model, used, job, training)] = seen
    assert used is task
    assert job.model == name
    assert training == lengths.training(name)
    assert (outcome.model is model) == recipe.kept


def test_names_say_how_a_model_knows_positions(task):
    assert isinstance(lengths.build("plain", task), PlainSeq2Seq)
    for name in ("content", "location_aware", "location_aware_by_length"):
        model = lengths.build(name, task)
        assert isinstance(model, AttentionSeq2Seq)
        assert isinstance(model.score, Sharpened) == name.endswith("by_length")
    for name in ("none", "learned", "sinusoidal", "rotary", "linear_bias"):
        model = lengths.build(name, task)
        assert isinstance(model, Transformer)
        assert lengths.TRANSFORMERS[name].config == {"positions": name}


def test_transformers_train_as_in_chapter_09_and_the_others_as_in_chapter_02():
    for name in lengths.STEPS:
        wanted = TRANSFORMER_TRAINING if name in lengths.TRANSFORMERS else TRAINING
        assert lengths.training(name) == wanted
    assert TRANSFORMER_TRAINING != TRAINING


def test_weights_are_kept_of_the_first_seed_only(task, monkeypatch):
    monkeypatch.setattr(lengths, "task", lambda: task)
    monkeypatch.setattr(lengths, "train_and_measure", lambda *arguments: {})
    assert lengths.run(Job("location_aware", 1, 3)).model is None
