"""The first steps of copies and of sums in chapter 05: how far their matrices move, and what becomes of the outputs."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import first_steps, residual_sides
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(first_steps.RECIPES), indirect=["best"])
def test_matrices_and_outputs_are_measured_before_and_on_the_way(name, monkeypatch, tmp_path, best):
    whole = residual_sides.task()
    monkeypatch.setattr(first_steps, "task", lambda: replace(whole, train=whole.train[:64], test=whole.test[:4]))
    figures = checked_run(first_steps, Job(name, 0, 2), tmp_path, best)
    assert [len(of_layers) for of_layers in figures["changed"]] == [7, 7]
    assert [len(of_layers) for what in ("signals", "norms") for of_layers in figures[what]] == [8] * 4
    assert figures["changed"][0] == [0] * 7
    assert min(figures["changed"][1]) > 0


def test_changes_whose_signs_agree_stretch_one_direction():
    signs = torch.tensor([1.0, -1.0]).repeat(24)
    for rate, stretched in ((0.005, 0.24), (0.0005, 0.024)):
        changes = rate * signs[:, None] * signs.flip(0)[None]
        assert torch.linalg.matrix_norm(changes, ord=2).item() == pytest.approx(stretched)


def test_a_copy_begins_with_the_identity():
    torch.manual_seed(0)
    model = first_steps.RECIPES["copies"].build(residual_sides.task())
    assert all(torch.equal(matrix, torch.eye(48)) for matrix in first_steps.candidates(model))
