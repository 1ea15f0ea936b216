"""The experiment about the Transformer: each model differs from the base in what its name says, and in nothing else."""

from dataclasses import asdict

import pytest

from attnbook.data.symbols.numbers import number_lists
from attnbook.models import TransformerConfig
from attnruns.experiments import transformer
from attnruns.shared.ablation import (
    UnscaledAttention,
    WithoutDecoderSelfAttention,
    WithoutEncoderSelfAttention,
    WithoutFeedForward,
    WithoutNorm,
    WithoutResidual,
    WithoutSelfAttention,
)
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def lists():
    return number_lists(train=20, validation=2, test_per_size=2, longest=2, longer=(), longer_per_size=0)


@pytest.mark.parametrize("name", transformer.RECIPES)
def test_a_model_differs_from_the_base_only_as_listed(name, lists):
    made, usual = asdict(transformer.build(name, lists).config), asdict(TransformerConfig())
    recipe = transformer.RECIPES[name]
    listed = {field for field, value in recipe.config.items() if value != usual[field]}
    assert {field for field, value in made.items() if value != usual[field]} == listed


@pytest.mark.parametrize(
    "name, block",
    [
        ("no_residual", WithoutResidual),
        ("no_norm", WithoutNorm),
        ("no_scale", UnscaledAttention),
        ("no_feed_forward", WithoutFeedForward),
        ("no_self_attention", WithoutSelfAttention),
        ("no_encoder_self_attention", WithoutEncoderSelfAttention),
        ("no_decoder_self_attention", WithoutDecoderSelfAttention),
    ],
)
def test_a_part_is_taken_away_from_every_block(name, block, lists):
    model = transformer.build(name, lists)
    assert {type(layer) for stack in (model.encoder, model.decoder) for layer in stack.layers} == {block}


def test_items_are_parted_by_the_comma_of_each_language(lists):
    source, target = transformer.build("items", lists).separators
    assert lists.source_vocabulary.words[source] == ","
    assert lists.target_vocabulary.words[target] == ","


def test_only_the_cold_ones_go_without_warm_up():
    assert transformer.training("post_cold")["warmup"] == 0
    assert transformer.training("post") == transformer.TRAINING


def test_the_deep_ones_train_at_a_half_and_a_quarter_of_the_learning_rate_too():
    usual = transformer.training("post_deep_cold")
    assert transformer.training("post_deep_cold_half") == {**usual, "learning_rate": usual["learning_rate"] / 2}
    assert transformer.training("post_deep_cold_quarter") == {**usual, "learning_rate": usual["learning_rate"] / 4}


def test_sinusoids_train_for_as_many_steps_as_rotary_positions_on_equally_many_lists():
    assert transformer.STEPS["sinusoidal_equal_lists"] == transformer.STEPS["equal_lists"] == 2300


def test_weights_are_kept_of_as_many_seeds_as_a_chapter_shows(lists, monkeypatch):
    monkeypatch.setattr(transformer, "task", lambda: lists)
    monkeypatch.setattr(transformer, "train_and_measure", lambda *_: {"loss": 1.0})
    assert transformer.run(Job("base", 0, 1)).model is not None
    assert transformer.run(Job("base", 2, 1)).model is not None
    assert transformer.run(Job("base", 3, 1)).model is None
    assert transformer.run(Job("heads_1", 1, 1)).model is None
    assert transformer.run(Job("no_norm", 0, 1)).model is None
