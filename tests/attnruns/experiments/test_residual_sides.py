"""The translators of chapter 05 with residual connections in one stack, in both, or in neither."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.batching import shift_right
from attnruns.experiments import residual_sides
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(residual_sides.RECIPES), indirect=["best"])
def test_a_translator_is_trained_and_its_signal_measured(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(residual_sides, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(residual_sides, Job(name, 0, 2), tmp_path, best)
    assert len(figures["signal"]) == 2  # before the training and after it
    assert len(figures["exact_match"]) == 1


@pytest.mark.parametrize("name, encoder, decoder", [
    ("both", 3, 3), ("encoder", 3, 9), ("decoder", 9, 3), ("neither", 9, 9), ("neither_4", 5, 5),
])  # fmt: skip
def test_the_recipes_differ_in_where_residual_connections_begin(name, encoder, decoder):
    model = residual_sides.RECIPES[name].build(residual_sides.task())
    assert (model.encoder.first_residual, model.first_residual) == (encoder, decoder)


def test_all_recipes_begin_with_the_same_weights_if_they_are_equally_deep():
    built = []
    for name in ("both", "neither"):
        torch.manual_seed(0)
        built.append(residual_sides.RECIPES[name].build(residual_sides.task()).state_dict())
    assert all(torch.equal(built[0][name], built[1][name]) for name in built[0])


def test_the_decoder_does_not_see_the_word_that_it_is_to_write():
    lists = residual_sides.task()
    batch = lists.collate(lists.test[:4])
    model = residual_sides.RECIPES["both"].build(lists).eval()
    words = shift_right(batch.target)
    other = words.clone()
    other[:, -1] = 5
    before, after = (model(batch.source, batch.lengths, given)[0] for given in (words, other))
    torch.testing.assert_close(before[:, :-1], after[:, :-1])


def test_the_batch_of_a_step_is_always_the_same():
    drawn = residual_sides.Drawn(residual_sides.task())
    first, second, other = drawn.batch_at(3, 8), drawn.batch_at(3, 8), drawn.batch_at(4, 8)
    assert torch.equal(first.source, second.source)
    assert first.source.shape != other.source.shape or not torch.equal(first.source, other.source)


def test_the_signal_of_one_batch_with_itself_is_zero():
    lists = residual_sides.task()
    first, second = residual_sides.pairs(lists)
    model = residual_sides.RECIPES["both"].build(lists)
    assert residual_sides.signal(model, first, first) == 0
    assert residual_sides.signal(model, first, second) > 0


def test_the_rate_rises_and_stays():
    assert [residual_sides.rate(step) for step in (0, 24, 49, 600)] == pytest.approx([1e-4, 2.5e-3, 5e-3, 5e-3])
