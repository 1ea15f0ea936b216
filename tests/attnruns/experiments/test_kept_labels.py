"""Labels that never change, with few steps and few tests."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import forming, kept_labels
from attnruns.experiments.kept_labels import World
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small batches and few tests."""
    monkeypatch.setattr(kept_labels, "TESTS", 5)
    monkeypatch.setattr(kept_labels, "EVERY", 2)
    monkeypatch.setitem(kept_labels.TRAINING, "batch", 4)


@pytest.mark.parametrize("name, best", once_on_the_card(kept_labels.WORDS), indirect=["best"])
def test_a_run_measures_while_it_trains(name, best, tmp_path):
    figures = checked_run(kept_labels, Job(name, 0, 3), tmp_path, best)
    assert [seen["step"] for seen in figures["while_training"]] == [2, 3]
    for seen in figures["while_training"]:
        assert all(0 <= seen[part] <= 1 for part in ("seen", "from_weights", "dealt", "new_words"))


def test_the_model_is_that_of_forming():
    assert kept_labels.build("words_12").config == forming.build("two_layers").config


def test_an_unknown_world_is_refused():
    with pytest.raises(ValueError, match="words_13"):
        kept_labels.build("words_13")


def label_of(world, batch):
    """The world's label of each step, by the nearest word."""
    near = torch.cdist(batch.inputs[..., : world.words.shape[1]], world.words[None]).argmin(dim=-1)
    return world.labels[near]


def test_labels_are_the_world_s_own_unless_they_are_dealt():
    world = World(12, seed=0)
    kept, dealt = world.sequences(50), world.sequences(50, seed=0, dealt=True)
    assert (label_of(world, kept) == kept.values).float().mean() > 0.97  # noise may move a word to another
    assert (label_of(world, dealt) == dealt.values).float().mean() == pytest.approx(0.25, abs=0.1)


def test_a_sequence_repeats_twelve_words_and_shows_each_label_one_step_late():
    batch = World(100, seed=0).sequences(3)
    same = batch.which[:, :, None] == batch.which[:, None]  # (B, T, T)
    apart = torch.cdist(batch.inputs[..., :-4], batch.inputs[..., :-4])
    assert apart[same].mean() < apart[~same].mean() / 2  # a word looks alike whenever it comes
    assert batch.inputs[:, 0, -4:].sum() == 0
    assert torch.equal(batch.inputs[:, 1:, -4:].argmax(dim=-1), batch.values[:, :-1])


def test_batches_of_one_step_and_seed_are_equal_and_those_of_two_steps_are_not():
    world = World(12, seed=0)
    assert torch.equal(world.batch_at(3, 4).inputs, world.batch_at(3, 4).inputs)
    assert not torch.equal(world.batch_at(3, 4).inputs, world.batch_at(4, 4).inputs)
