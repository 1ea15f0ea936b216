"""Answers that are positions: sorting, hulls and round trips, read by an LSTM or by a Transformer (chapter 14)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import hull_area_covered, is_convex_hull, is_simple
from attnbook.data.points.pointing import hull_batch, sorting_batch, tour_batch, training_tours
from attnbook.data.points.tours import nearest_neighbour, optimality_gap, random_tours, tour_length, two_opt
from attnbook.device import device_of
from attnbook.models.pointer import PointerNetwork, beam_pointer_decode, greedy_pointer_decode, pointer_loss
from attnbook.seeding import generator, seed_everything, seed_of_step
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

TRAINING: dict[str, Any] = {"batch": 128, "learning_rate": 1e-3, "warmup": 100, "max_grad_norm": 1.0}
HIDDEN = 128
TESTS = 1000  # instances of each size
TEST_SEED = 0  # that no training draws with
BEAM = 4


def sorting_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """``exact``: share of the rows that are sorted without a mistake."""
    positions = greedy_pointer_decode(model, batch.source).tokens
    return {"exact": share((positions == batch.target).all(dim=1))}


def hull_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """Shares of right hulls (``exact``) and of ``polygons`` that don't cross themselves; ``area`` of the hull covered.

    ``area`` counts what is no polygon as 0; ``area_of_polygons`` leaves it out, as Vinyals et al. 2015 do.
    """
    points = batch.source
    positions = greedy_pointer_decode(model, points).tokens  # (B, T)
    covered, simple = hull_area_covered(points, positions), is_simple(points, positions).cpu()  # (B,) each
    return {
        "exact": share(is_convex_hull(points, positions)),
        "polygons": share(simple),
        "area": share(covered),
        "area_of_polygons": share(covered[simple]) if simple.any() else 0.0,
    }


def tour_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """Mean ``length``, its ``gap`` to the shortest tours, the share of ``optimal`` ones, the gap with a beam."""
    points, optimal = batch.source, tour_length(batch.source, batch.target)
    length = tour_length(points, greedy_pointer_decode(model, points).tokens)
    beam = tour_length(points, beam_pointer_decode(model, points, width=BEAM).tokens[:, 0])
    return {
        "length": share(length),
        "gap": round(optimality_gap(length, optimal).item(), 5),
        "optimal": share(length <= optimal * (1 + 1e-6)),  # lengths of one tour from two beginnings differ by rounding
        "gap_beam": round(optimality_gap(beam, optimal).item(), 5),
    }


def reference_figures(batch: Batch) -> dict[str, float]:
    """What the same instances cost without a network: mean shortest length, and gaps of three quick ways."""
    points, optimal = batch.source, tour_length(batch.source, batch.target)
    greedy = nearest_neighbour(points)
    tours = {
        "nearest_neighbour": greedy,
        "two_opt": two_opt(points, greedy),
        "random": random_tours(points.shape[1], points.shape[0], generator(TEST_SEED)),
    }
    gaps = {f"gap_{name}": optimality_gap(tour_length(points, tour), optimal).item() for name, tour in tours.items()}
    return {"length_optimal": share(optimal), **{name: round(gap, 5) for name, gap in gaps.items()}}


def share(values: Tensor) -> float:
    """The mean of ``values``, rounded to five decimals: of truth values, the share that is true."""
    return rounded_mean(values, digits=5)


@dataclass(frozen=True)
class Puzzle:
    """One task: instances to train on and to test with, and what to measure.

    Fields:
        trained, tested: numbers of positions.
        instances, figures: how to draw a batch ``(size, count, seed)``, and what to ask a model on one.
        training: how to draw a batch to train on, where that differs.
        features, may_stop, first: see :class:`~attnbook.models.pointer.PointerNetwork`.
    """

    trained: tuple[int, ...]
    tested: tuple[int, ...]
    instances: Callable[..., Batch]
    figures: Callable[[PointerNetwork, Batch], dict[str, float]]
    training: Callable[..., Batch] | None = None
    features: int = 2
    may_stop: bool = False
    first: int | None = None

    def batch_at(self, step: int, batch_size: int, seed: int = 0) -> Batch:
        """The instances of a training step, as :meth:`~attnbook.data.batching.Task.batch_at`; the sizes take turns."""
        draw = self.training or self.instances
        return draw(self.trained[step % len(self.trained)], batch_size, seed_of_step(seed, step))


_TOURS: dict[str, Any] = {"instances": tour_batch, "figures": tour_figures, "training": training_tours, "first": 0}
PUZZLES = {
    "sort": Puzzle(tuple(range(5, 11)), (5, 7, 10, 12, 15, 20), sorting_batch, sorting_figures, features=1),
    "hull": Puzzle(tuple(range(5, 11)), (5, 7, 10, 12, 15, 20, 30), hull_batch, hull_figures, may_stop=True),
    "tsp5": Puzzle((5,), (5, 6, 7), **_TOURS),
    "tsp10": Puzzle((10,), (5, 7, 10, 12), **_TOURS),
}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model: its puzzle, by name, what encodes the positions, and its training.

    ``kept``: whether the weights of seed 0 are kept.
    """

    puzzle: str
    encoder: str
    steps: int
    kept: bool = False


# One to three minutes each on one core, except the Transformer that sorts: with visited positions masked, any
# score that falls with the number will do, and that it finds in a few steps.
RECIPES = {
    "sort_lstm": Recipe("sort", "lstm", 1200),
    "sort_transformer": Recipe("sort", "transformer", 300),
    "hull_lstm": Recipe("hull", "lstm", 2000),
    "hull_transformer": Recipe("hull", "transformer", 1200, kept=True),
    "tsp5_lstm": Recipe("tsp5", "lstm", 2400),
    "tsp5_transformer": Recipe("tsp5", "transformer", 1400),
    "tsp10_lstm": Recipe("tsp10", "lstm", 2000, kept=True),
    "tsp10_transformer": Recipe("tsp10", "transformer", 1200, kept=True),
}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


def build(name: str) -> PointerNetwork:
    """A fresh model of this experiment."""
    recipe = chosen(RECIPES, name)
    task = PUZZLES[recipe.puzzle]
    return PointerNetwork(task.features, HIDDEN, recipe.encoder, task.may_stop, task.first)


@torch.no_grad()
def by_size(
    figures: Callable[[Batch], dict[str, float]], puzzle: Puzzle, tests_of: Callable[[int], int] | None = None
) -> dict[str, dict[str, float]]:
    """Ask for figures on the test instances of each size: ``{"exact": {"5": …, "7": …}, …}``.

    ``tests_of(size)`` says how many instances of a size there are; without it there are ``TESTS`` of each.
    """
    found: dict[str, dict[str, float]] = {}
    for size in puzzle.tested:
        count = TESTS if tests_of is None else tests_of(size)
        for name, value in figures(puzzle.instances(size, count, TEST_SEED)).items():
            found.setdefault(name, {})[str(size)] = value
    return found


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model, puzzle = build(job.model), PUZZLES[RECIPES[job.model].puzzle]
    history, figures = train(model, puzzle, job, TRAINING, loss=pointer_loss)
    figures["losses"] = chunk_means(history.losses, 50, digits=4)
    figures.update(by_size(lambda batch: puzzle.figures(model, batch.to(device_of(model))), puzzle))
    if puzzle.figures is tour_figures:
        figures.update(by_size(reference_figures, puzzle))
    return Outcome(figures, model if job.seed == 0 and RECIPES[job.model].kept else None)


_SIZES = {name: {"trained": list(puzzle.trained), "tested": list(puzzle.tested)} for name, puzzle in PUZZLES.items()}
EXPERIMENT = Experiment(
    "pointing",
    STEPS,
    run,
    {
        "task": "sorting_batch, hull_batch, training_tours",
        "sizes": _SIZES,
        "tests": TESTS,
        "hidden": HIDDEN,
        "beam": BEAM,
        **TRAINING,
    },
    build=build,
)
trained = EXPERIMENT.trained
