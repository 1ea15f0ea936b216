"""The experiment about induction heads."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data import shift_right
from attnbook.data.batching import Batch
from attnruns.experiments import induction
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few_sequences(monkeypatch):
    monkeypatch.setattr(induction, "TESTS", 6)


def test_one_layer_has_as_many_parameters_as_two():
    one, two = (sum(p.numel() for p in induction.build(name).parameters()) for name in ("one_layer", "two_layers"))
    assert one == pytest.approx(two, rel=0.01)


def test_what_can_be_copied_begins_after_the_first_word_of_the_repeat():
    batch = Batch(torch.tensor([[5, 6, 7]]), torch.tensor([3]), torch.tensor([[5, 6, 7, 5, 6, 7, 5]]))
    assert induction.can_be_copied(batch).tolist() == [[False] * 4 + [True] * 3]


class Copying(torch.nn.Module):
    """Copies at the period of the batch, and names word 3 everywhere else."""

    def __init__(self, batch):
        super().__init__()
        self.batch = batch

    def forward(self, words):
        right = torch.where(induction.can_be_copied(self.batch), self.batch.target, 3)
        assert torch.equal(words, shift_right(self.batch.target))
        return 50.0 * torch.nn.functional.one_hot(right, induction.WORDS + 3).float(), []


def test_a_model_that_copies_is_right_there_and_nowhere_else():
    batch = induction.held_out()
    found = induction.copied(Copying(batch), batch)
    assert found["right"] == 1
    assert found["loss"] == 0
    assert found["right_elsewhere"] < 0.3


@pytest.mark.parametrize("name, best", once_on_the_card(induction.STEPS), indirect=["best"])
def test_a_run_measures_while_training_and_takes_away_each_head(name, best, tmp_path):
    figures = checked_run(induction, Job(name, 0, 3), tmp_path, best, kept=induction.RECIPES[name].kept > 0)
    config = induction.build(name).config
    assert [seen["step"] for seen in figures["while_training"]] == [0, 1, 2, 3]
    shape = [[config.heads] * config.layers] * 2
    assert [[len(layer) for layer in of] for of in figures["scores"].values()] == shape
    assert len(figures["ablated"]) == config.layers * (config.heads + 1) * 2
    assert figures["copied"] == {name: figures["while_training"][-1][name] for name in figures["copied"]}


def test_without_all_heads_of_a_layer_that_layer_fetches_nothing():
    model, batch = induction.build("one_layer").eval(), induction.held_out()
    found = induction.ablated(model, batch)
    attention = induction.attentions(model)[0]
    with torch.no_grad():
        attention.project_output.weight.zero_()
    wanted = induction.copied(model, batch)
    assert next({key: entry[key] for key in wanted} for entry in found if entry["head"] is None) == wanted
