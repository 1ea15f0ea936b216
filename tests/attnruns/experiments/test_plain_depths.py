"""Plain translators of three depths, and the signal at each word of their source."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import plain_depths, residual_sides
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(plain_depths.RECIPES), indirect=["best"])
def test_a_translator_is_trained_and_measured_at_each_word(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(plain_depths, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(plain_depths, Job(name, 0, 2), tmp_path, best)
    assert [len(words) for words in figures["signals"]] == [5, 5]  # before the training and after it
    assert len(figures["exact_match"]) == 1
    assert list(figures["written"]) == [" ".join(example.source) for example in whole.test[:4]]


@pytest.mark.parametrize("layers", [2, 4, 8])
def test_no_recipe_has_residual_connections(layers):
    model = plain_depths.RECIPES[f"plain_{layers}"].build(residual_sides.task())
    assert (len(model.upper), model.first_residual, model.encoder.first_residual) == (
        layers - 1,
        layers + 1,
        layers + 1,
    )


def test_the_last_words_signal_is_that_of_the_other_experiment():
    lists = residual_sides.task()
    model = plain_depths.RECIPES["plain_4"].build(lists)
    pair = residual_sides.pairs(lists)
    assert plain_depths.signals(model, *pair)[-1] == pytest.approx(residual_sides.signal(model, *pair), rel=1e-2)


def test_the_likeliest_words_are_written():
    lists = residual_sides.task()
    model = plain_depths.RECIPES["plain_2"].build(lists).eval()
    torch.nn.init.zeros_(model.output.weight)
    torch.nn.init.zeros_(model.output.bias)
    hundred = lists.target_vocabulary.encode(["hundert"])[0]
    model.output.bias.data[hundred] = 1.0
    assert plain_depths.written(model, lists, lists.test[:2]) == [" ".join(["hundert"] * plain_depths.LONGEST)] * 2
