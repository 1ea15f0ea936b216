"""The controls of chapter 05: eight plain layers with another start, another rate or another optimiser."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.batching import shift_right
from attnbook.training.losses import sequence_loss
from attnruns.experiments import depth_controls, residual_sides
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(depth_controls.RECIPES), indirect=["best"])
def test_a_translator_is_trained_and_measured(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(depth_controls, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(depth_controls, Job(name, 0, 2), tmp_path, best)
    assert [len(figures["start"][what]) for what in ("signals", "gradients")] == [8, 8]
    assert (len(figures["signal"]), len(figures["exact_match"])) == (2, 1)


@pytest.mark.parametrize("name, other", [("sgd_residual", "both"), ("sgd", "neither")])
def test_without_a_control_it_is_the_translator_of_the_other_experiment(name, other):
    lists = residual_sides.task()
    batch = lists.collate(lists.test[:4])
    outputs = []
    for recipes, recipe in ((depth_controls.RECIPES, name), (residual_sides.RECIPES, other)):
        torch.manual_seed(0)
        model = recipes[recipe].build(lists).eval()
        outputs.append(model(batch.source, batch.lengths, shift_right(batch.target))[0])
    torch.testing.assert_close(*outputs)


def at_the_start(name):
    lists = residual_sides.task()
    torch.manual_seed(0)
    model = depth_controls.RECIPES[name].build(lists)
    found = depth_controls.signals(model, *residual_sides.pairs(lists))
    return found, depth_controls.gradients(model, lists.collate(lists.train[:32]))


def test_a_mended_start_keeps_signal_and_gradient():
    plain, gradient = at_the_start("sgd")
    assert (plain[-1] / plain[2] < 1e-2, gradient[0] / gradient[-1] < 1e-3) == (True, True)
    for name in ("scaled", "orthogonal", "identity"):
        kept, gradient = at_the_start(name)
        assert kept[-1] / kept[2] > 0.1
        assert gradient[0] / gradient[-1] > 1e-3


def test_adams_first_step_does_not_depend_on_the_size_of_a_gradient():
    moved = []
    for size in (1.0, 1e-9):
        weight = torch.nn.Parameter(torch.ones(3))
        weight.grad = torch.tensor([1.0, -2.0, 3.0]) * size
        depth_controls.OPTIMISERS["adam"]([weight], lr=0.1).step()
        moved.append(weight.detach())
    torch.testing.assert_close(*moved)


@pytest.mark.parametrize("name", ["sgd", "sgd_residual"])
def test_the_gradient_of_an_output_is_what_a_small_move_of_it_changes_the_loss_by(name):
    lists = residual_sides.task()
    torch.manual_seed(0)
    model, batch = depth_controls.RECIPES[name].build(lists).double(), lists.collate(lists.train[:8])
    outputs, mask = model.encoded(batch.source, batch.lengths)
    words = shift_right(batch.target)

    def loss(moved):
        return sequence_loss(model.decoded([*outputs[:-1], moved], mask, words)[0], batch.target)

    (gradient,) = torch.autograd.grad(loss(outputs[-1]), outputs[-1], retain_graph=True)
    step = 1e-4 * gradient / gradient.norm()
    change = (loss(outputs[-1] + step) - loss(outputs[-1] - step)).item() / 2e-4
    norms = depth_controls.output_gradients(model, batch)
    assert len(norms) == 8
    assert norms[-1] == pytest.approx(change, rel=1e-3)
