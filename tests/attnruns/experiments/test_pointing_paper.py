"""The paper's three tasks: what the recipes are, what is measured, and that an interrupted training goes on."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card
from torch import nn

from attnbook.data.points.geometry import convex_hull
from attnbook.data.points.pointing import hull_batch, tour_batch
from attnbook.data.points.triangulation import delaunay_batch
from attnbook.decoding import Beams, Decoded
from attnbook.models.pointer import pointer_loss
from attnruns.experiments import pointing, pointing_paper
from attnruns.shared import resume
from attnruns.shared.runner import Job


@pytest.fixture
def small(monkeypatch, few_tours):
    """Small models, few tests, and all files in a folder of the test's own."""
    for name in pointing_paper.RECIPES:
        monkeypatch.setitem(pointing_paper.RECIPES, name, replace(pointing_paper.RECIPES[name], hidden=16))
    for name, puzzle in pointing_paper.PUZZLES.items():
        sizes = {"trained": puzzle.trained[:2], "tested": (5, 6)}
        monkeypatch.setitem(pointing_paper.PUZZLES, name, replace(puzzle, **sizes))
    for name, value in {"TESTS": 6, "BATCH": 4}.items():
        monkeypatch.setattr(pointing_paper, name, value)
    monkeypatch.setattr(resume, "CHECKPOINTS", few_tours / "checkpoints")
    return few_tours


def test_the_papers_settings():
    for name, recipe in pointing_paper.RECIPES.items():
        assert recipe.hidden == (128 if recipe.encoder == "transformer" else 256)
        longer = {"tsp10_long": 4, "tsp10_glimpse_long": 4, "delaunay5_long": 5, "hull50_long": 2}  # millions
        read = 1_000_000 * longer.get(name, 1)
        assert pointing_paper.STEPS[name] * pointing_paper.BATCH == pytest.approx(read, abs=128)
    trained = {name: (puzzle.trained[0], puzzle.trained[-1]) for name, puzzle in pointing_paper.PUZZLES.items()}
    assert trained["tsp20"] == (5, 20)
    assert trained["hull50"] == (5, 50)
    assert trained["delaunay10"] == (5, 10)


def test_with_sgd_the_rate_is_one_and_parameters_are_small():
    recipe = pointing_paper.RECIPES["hull50_sgd"]
    model, told = pointing_paper.build("hull50_sgd"), pointing_paper.settings(recipe)
    spread = torch.cat([parameter.flatten() for parameter in model.parameters()]).abs().max()
    assert 0.079 < spread <= 0.08
    assert isinstance(told["optimiser"](model.parameters()), torch.optim.SGD)
    assert {told["schedule"](step) for step in (0, 7000)} == {1.0}
    assert told["max_grad_norm"] == 2.0
    assert pointing_paper.settings(pointing_paper.RECIPES["hull50_lstm"])["loss"] is pointer_loss


def test_models_are_told_what_their_task_allows():
    hull, tour, triangles = (pointing_paper.build(name) for name in ("hull50_lstm", "tsp10_glimpse", "delaunay5_lstm"))
    assert (hull.may_stop, hull.once, hull.first) == (True, True, None)
    assert (tour.may_stop, tour.once, tour.first) == (False, True, 0)
    assert tour.glimpse is not None
    assert (triangles.may_stop, triangles.once) == (True, False)
    assert isinstance(hull.embed, nn.Identity)
    assert isinstance(pointing_paper.build("delaunay10_transformer").embed, nn.Linear)


def test_the_loss_per_answer_is_that_per_choice_times_the_choices():
    model, batch = pointing_paper.build("hull50_lstm"), hull_batch(5, 8)
    choices = 8 + (batch.target != 5).sum().item()  # every answer ends once
    per_answer = pointing_paper.answer_loss(model, batch) * 8
    assert per_answer.item() == pytest.approx(pointer_loss(model, batch).item() * choices, rel=1e-5)


def answers(monkeypatch, module, greedy, beam):
    monkeypatch.setattr(module, "greedy_pointer_decode", lambda _, points: Decoded(greedy, None))
    monkeypatch.setattr(module, "beam_pointer_decode", lambda _, points, width: Beams(beam[:, None], None))


def test_right_triangulations_are_counted_greedily_and_with_a_beam(monkeypatch):
    batch = delaunay_batch(5, 4)
    half = batch.target.clone()
    half[:2] = 5  # nothing at all
    answers(monkeypatch, pointing_paper, half, batch.target)
    found = pointing_paper.triangle_figures(None, batch)
    assert found == {"exact": 0.5, "covered": 0.5, "exact_beam": 1.0, "covered_beam": 1.0}


def test_hulls_are_counted_with_a_beam_too(monkeypatch):
    batch = hull_batch(6, 4)
    right = convex_hull(batch.source)
    wrong = right.clone()
    wrong[0] = 6
    answers(monkeypatch, pointing, right, right)
    answers(monkeypatch, pointing_paper, right, wrong)
    found = pointing_paper.hull_figures(None, batch)
    assert (found["exact"], found["exact_beam"], found["area"]) == (1.0, 0.75, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, best", once_on_the_card(["tsp10_glimpse", "tsp20_lstm", "hull50_sgd", "delaunay10_left"]), indirect=["best"]
)
def test_a_run_trains_a_model_and_measures_it_at_each_size(name, small, best):
    figures = checked_run(pointing_paper, Job(name, 0, 2), small, best, kept=True)
    measured = {key: value for key, value in figures.items() if isinstance(value, dict)}
    assert all(value.keys() == {"5", "6"} for value in measured.values())
    assert measured.keys() & {"exact", "gap"}
    assert figures["examples"] == 8
    assert not list((small / "checkpoints").iterdir())


def test_the_shortest_tour_of_a_beam_is_no_longer_than_its_most_probable():
    torch.manual_seed(0)
    figures = pointing_paper.tour_figures(pointing_paper.build("tsp10_lstm").eval(), tour_batch(7, 50, 0))
    assert 0 <= figures["gap_shortest"] < figures["gap_beam"]


@pytest.mark.slow
def test_an_interrupted_training_goes_on_from_its_checkpoint(small, monkeypatch):
    job, read = Job("delaunay5_lstm", 0, 4), []
    monkeypatch.setattr(pointing_paper, "EVERY", 2)
    puzzle = pointing_paper.PUZZLES["delaunay5"]
    whole = pointing_paper.run(job).figures

    def draw(size, count, seed):
        read.append(seed)
        if len(read) == 4:
            raise KeyboardInterrupt
        return delaunay_batch(size, count, seed)

    monkeypatch.setitem(pointing_paper.PUZZLES, "delaunay5", replace(puzzle, training=draw))
    with pytest.raises(KeyboardInterrupt):
        pointing_paper.run(job)
    again = pointing_paper.run(job).figures
    assert len(read) == 4 + 1 + 2  # one is compared, and the first two steps are not taken again
    assert again | {"seconds": 0} == whole | {"seconds": 0}


def test_large_hulls_are_tested_on_fewer_instances():
    assert [pointing_paper.tests_of(size) for size in pointing_paper.PUZZLES["hull50"].tested] == [1000] * 3 + [200] * 2
