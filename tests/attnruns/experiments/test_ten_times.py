"""Eight plain layers with two well-known starts, and for ten times as many steps (chapter 05)."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import depth_controls, residual_sides, ten_times
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(ten_times.RECIPES), indirect=["best"])
def test_a_translator_is_trained_and_measured(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(depth_controls, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(ten_times, Job(name, 0, 2), tmp_path, best)
    assert (len(figures["signal"]), len(figures["exact_match"])) == (2, 1)


def built(name, recipes=ten_times.RECIPES):
    torch.manual_seed(0)
    return recipes[name].build(residual_sides.task())


def test_the_plain_stack_is_that_of_the_other_experiment():
    plain, neither = built("plain").state_dict(), built("neither", residual_sides.RECIPES).state_dict()
    assert all(torch.equal(plain[name], neither[name]) for name in neither)


def test_a_start_reaches_every_lstm_layer():
    forget, orthogonal = built("forget"), built("orthogonal")
    for lstm in [part for part in forget.modules() if isinstance(part, torch.nn.LSTM)]:
        assert torch.equal((lstm.bias_ih_l0 + lstm.bias_hh_l0).chunk(4)[1], torch.ones(lstm.hidden_size))
    for lstm in [part for part in orthogonal.modules() if isinstance(part, torch.nn.LSTM)]:
        for gate in lstm.weight_hh_l0.chunk(4):
            torch.testing.assert_close(gate @ gate.T, torch.eye(lstm.hidden_size), atol=1e-5, rtol=0)
