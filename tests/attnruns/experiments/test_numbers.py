"""The models of the number experiment are what their names say."""

from types import SimpleNamespace

import pytest

from attnbook.attention import Additive, LocationAware
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnruns.experiments import numbers
from attnruns.shared.runner import Job

TASK = SimpleNamespace(source_vocabulary=range(9), target_vocabulary=range(8))


@pytest.mark.parametrize("name", numbers.STEPS)
def test_each_model_is_what_its_name_says(name):
    model = numbers.build(name, TASK)
    assert type(model) is (PlainSeq2Seq if name.startswith("plain") else AttentionSeq2Seq)
    assert model.encoder.embed.num_embeddings == 9
    assert model.embed.num_embeddings == 8
    assert model.cell.kind == ("lstm" if name.endswith("lstm") else "gru")
    widths = [int(part) for part in name.split("_") if part.isdigit()]
    assert [model.encoder.output_size] == (widths or [128])


@pytest.mark.parametrize("name", [name for name in numbers.STEPS if name.startswith("plain")])
def test_c_is_shown_at_every_step_unless_the_name_says_first(name):
    model = numbers.build(name, TASK)
    assert model.shown == (0 if name.endswith("first") else model.encoder.output_size)


@pytest.mark.parametrize("name", [name for name in numbers.STEPS if not name.startswith("plain")])
def test_attentive_models_read_both_ways_with_an_additive_score_unless_the_name_says_otherwise(name):
    model = numbers.build(name, TASK)
    assert model.encoder.rnn.bidirectional == (name != "attention_one_way")
    assert type(model.score) is (LocationAware if name.startswith("location_aware") else Additive)
    assert model.score.hidden_to_score.in_features == model.encoder.output_size // 2


@pytest.mark.parametrize("name", [name for name in numbers.STEPS if name.startswith("location_aware")])
def test_a_location_aware_score_sees_both_kinds_of_earlier_weights_unless_the_name_says_one(name):
    last = name.split("_")[-1]
    sees = numbers.build(name, TASK).score.sees
    assert sees == ((last,) if last in ("previous", "total") else ("previous", "total"))


def test_a_run_seeds_trains_and_keeps_the_weights_of_the_first_seed(monkeypatch):
    monkeypatch.setattr(numbers, "task", lambda: TASK)
    weights = []

    def measure(model, task, job):
        weights.append(model.embed.weight.sum().item())
        return {"seed": job.seed}

    monkeypatch.setattr(numbers, "train_and_measure", measure)
    outcomes = [numbers.run(Job(name, seed, 1)) for name, seed in (("plain", 0), ("plain", 0), ("plain", 1))]
    assert weights[0] == weights[1] != weights[2]
    assert [outcome.figures for outcome in outcomes] == [{"seed": 0}, {"seed": 0}, {"seed": 1}]
    assert type(outcomes[0].model) is PlainSeq2Seq
    assert outcomes[2].model is None
    assert numbers.run(Job("plain_32", 0, 1)).model is None


def test_a_record_trains_each_model_for_as_long_as_its_recipe_says():
    assert numbers.EXPERIMENT.steps == {name: recipe.steps for name, recipe in numbers.RECIPES.items()}
