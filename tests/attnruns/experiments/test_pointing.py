"""The experiment about places: what it measures, on answers that are known to be right and wrong."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.points.geometry import convex_hull
from attnbook.data.points.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.points.tours import nearest_neighbour, optimality_gap, tour_length
from attnbook.decoding import Beams, Decoded
from attnruns.experiments import pointing
from attnruns.shared.runner import Job


@pytest.fixture
def answers(monkeypatch):
    """``answers(f)``: every decoder now names ``f(points)``, whatever the model."""

    def are(answer):
        monkeypatch.setattr(pointing, "greedy_pointer_decode", lambda _, points: Decoded(answer(points), None))
        monkeypatch.setattr(
            pointing, "beam_pointer_decode", lambda _, points, width: Beams(answer(points)[:, None], None)
        )

    return are


def test_who_sorts_two_of_four_rows_is_half_right(answers):
    batch = sorting_batch(5, 4)
    answers(lambda _: torch.cat([batch.target[:2], batch.target[2:].flip(1)]))
    assert pointing.sorting_figures(None, batch) == {"exact": 0.5}


def test_a_right_hull_covers_its_area_from_whichever_corner(answers):
    batch = hull_batch(6, 10)
    answers(convex_hull)
    assert pointing.hull_figures(None, batch) == dict.fromkeys(("exact", "polygons", "area", "area_of_polygons"), 1.0)


def test_what_crosses_itself_covers_nothing_and_is_left_out_of_the_mean_over_polygons(answers):
    square = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]]).expand(4, -1, -1)
    polygons = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 4, 4], [0, 2, 1, 3, 4], [0, 1, 4, 4, 4]])
    answers(lambda _: polygons)
    found = pointing.hull_figures(None, hull_batch(4, 4)._replace(source=square))
    assert found == {"exact": 0.25, "polygons": 0.5, "area": 0.375, "area_of_polygons": 0.75}


def test_no_polygon_at_all_counts_as_no_area(answers):
    answers(lambda points: torch.full((len(points), 2), points.shape[1]))
    assert set(pointing.hull_figures(None, hull_batch(5, 3)).values()) == {0.0}


def test_the_nearest_neighbour_has_the_same_gap_as_an_answer_and_as_a_reference(answers):
    batch = tour_batch(7, 50)
    answers(nearest_neighbour)
    found, reference = pointing.tour_figures(None, batch), pointing.reference_figures(batch)
    assert found["gap"] == found["gap_beam"] == reference["gap_nearest_neighbour"] > 0
    optimal = tour_length(batch.source, batch.target)
    length = tour_length(batch.source, nearest_neighbour(batch.source))
    assert found["gap"] == pytest.approx(optimality_gap(length, optimal).item(), abs=1e-5)
    assert found["length"] == pytest.approx(length.mean().item(), abs=1e-4)
    assert reference["length_optimal"] == pytest.approx(optimal.mean().item(), abs=1e-4)
    assert 0 < found["optimal"] < 1
    assert reference["gap_two_opt"] < reference["gap_nearest_neighbour"] < reference["gap_random"]


def test_the_shortest_tours_are_found_shortest_wherever_they_start(answers):
    batch = tour_batch(7, 50)
    answers(lambda _: batch.target.roll(3, dims=1).flip(1))
    found = pointing.tour_figures(None, batch)
    assert found["optimal"] == 1
    assert found["gap"] == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(pointing.STEPS), indirect=["best"])
def test_a_run_trains_a_model_and_measures_it_at_each_size(name, monkeypatch, best, tmp_path):
    kind = pointing.RECIPES[name].puzzle
    puzzle = pointing.PUZZLES[kind]
    smaller = {"tested": (5, 6), "trained": puzzle.trained[:2]}
    if puzzle.training is training_tours:
        smaller["training"] = partial(training_tours, pool=20)
    monkeypatch.setitem(pointing.PUZZLES, kind, replace(puzzle, **smaller))
    monkeypatch.setattr(pointing, "TESTS", 6)
    monkeypatch.setattr(pointing, "HIDDEN", 16)
    figures = checked_run(pointing, Job(name, 0, 2), tmp_path, best, kept=pointing.RECIPES[name].kept)
    measured = {key: value for key, value in figures.items() if isinstance(value, dict)}
    assert all(value.keys() == {"5", "6"} for value in measured.values())
    assert measured.keys() & {"exact", "gap"}
    assert ("gap_nearest_neighbour" in measured) == name.startswith("tsp")


@pytest.mark.slow
def test_losses_are_means_of_fifty_steps(monkeypatch):
    monkeypatch.setattr(pointing, "TESTS", 2)
    monkeypatch.setattr(pointing, "HIDDEN", 8)
    monkeypatch.setitem(pointing.TRAINING, "batch", 2)
    losses = pointing.run(Job("sort_lstm", 0, 101)).figures["losses"]
    assert len(losses) == 3  # the last is a mean of one
    assert losses[1] < losses[0]


def test_models_are_told_what_their_task_allows():
    hull, tour, sort = (pointing.build(f"{name}_lstm") for name in ("hull", "tsp10", "sort"))
    assert hull.may_stop
    assert not tour.may_stop
    assert (hull.first, tour.first, sort.first) == (None, 0, None)
    assert sort.embed.in_features == 1


def test_sizes_take_turns_and_the_test_is_drawn_apart():
    puzzle = pointing.PUZZLES["sort"]
    assert [puzzle.batch_at(step, 2).source.shape[1] for step in range(7)] == [5, 6, 7, 8, 9, 10, 5]
    seeds = {1_000_003 * (seed + 1) + step for seed in range(3) for step in range(3000)}
    assert pointing.TEST_SEED not in seeds
    assert len(seeds) == 9000


def test_figures_are_asked_of_as_many_instances_of_a_size_as_there_are_said_to_be(monkeypatch):
    monkeypatch.setattr(pointing, "TESTS", 3)
    puzzle = replace(pointing.PUZZLES["sort"], tested=(5, 6))
    counted = partial(pointing.by_size, lambda batch: {"count": len(batch.source)}, puzzle)
    assert counted() == {"count": {"5": 3, "6": 3}}
    assert counted({5: 2, 6: 1}.get) == {"count": {"5": 2, "6": 1}}
