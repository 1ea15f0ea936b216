"""Sorting and counting in short trainings: lessons of the paper's sizes, and what no one can do better."""

import pytest
from experiment_runs import checked_run, once_on_the_card

from attnbook.data import BitBatch
from attnruns.experiments import sorting_paper as experiment
from attnruns.shared import episodes, resume
from attnruns.shared.runner import Job


def test_lessons_have_the_papers_sizes():
    sort = episodes.lesson_at(0, experiment.TASKS["sort"], 2, 0).bits
    assert sort.inputs.shape == (2, 20 + 1 + 16, 10)
    ngrams = episodes.lesson_at(0, experiment.TASKS["ngrams"], 2, 0).bits
    assert ngrams.inputs.shape == (2, 199, 1)
    assert not experiment.TASKS["ngrams"].solvable


def test_the_best_guesses_cost_fewer_bits_than_tossing_a_coin():
    batch: BitBatch = experiment.exact_ngrams(200, 50, 0).bits
    asked = batch.mask[0].sum().item()
    assert 0.3 * asked < experiment.best_bits(batch) < 0.9 * asked


def test_costs_are_in_bits_per_sequence():
    model, task = experiment.build("ngrams_lstm_alone"), experiment.TASKS["ngrams"]
    for parameter in model.parameters():
        parameter.data.zero_()
    asked = experiment.exact_ngrams(200, 1, 0).bits.mask.sum().item()
    assert experiment.in_bits(model, task) == {"200": pytest.approx(asked)}


@pytest.mark.parametrize("name, best", once_on_the_card(["ngrams_lstm_alone", "sort_lstm_alone"]), indirect=["best"])
def test_a_run_of_ngrams_stands_beside_what_is_best(name, monkeypatch, tmp_path, best):
    monkeypatch.setattr(resume, "CHECKPOINTS", tmp_path / "checkpoints")
    for module in (episodes, experiment):
        monkeypatch.setattr(module, "TESTED", 2)
    monkeypatch.setattr(episodes, "HELD_OUT", 1)
    figures = checked_run(experiment, Job(name, 1, 1), tmp_path, best)
    if name.startswith("ngrams"):
        assert figures["best_bits"] < figures["bits"]["200"]
    else:
        assert "best_bits" not in figures
        assert figures["wrong_bits"].keys() == {"10", "20", "30"}
