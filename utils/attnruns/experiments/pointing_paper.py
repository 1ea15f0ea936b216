"""Pointer networks as their paper has them: one LSTM of 256, a million instances, three tasks (chapter 14).

Hulls of 5 to 50 points, Delaunay triangulations of 5 and of 5 to 10, round trips of 10 and of 5 to 20 cities. Recipes
with ``sgd`` in their name have the paper's optimiser too. Source: Vinyals et al. 2015, sections 4.1 to 4.4.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Batch
from attnbook.data.points.geometry import is_convex_hull
from attnbook.data.points.pointing import hull_batch
from attnbook.data.points.tour_labels import labelled_tours
from attnbook.data.points.tours import optimality_gap, tour_length
from attnbook.data.points.triangulation import delaunay_batch, triangulation_scores
from attnbook.device import best_device, device_of
from attnbook.models.pointer import (
    PointerNetwork,
    answer_log_probs,
    beam_pointer_decode,
    greedy_pointer_decode,
    pointer_loss,
)
from attnbook.seeding import seed_everything
from attnbook.training import fit
from attnruns.experiments import pointing
from attnruns.experiments.pointing import BEAM, Puzzle, by_size, share
from attnruns.shared.recipes import chosen
from attnruns.shared.resume import checkpoint_of, digest_of
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means
from attnruns.shared.solved_tours import POOL, pooled_batch, solved_batch

EXAMPLES, BATCH = 1_000_000, 128  # that a training reads, and per step
EVERY = 200  # steps from one checkpoint to the next
TESTS, FEWER = 1000, 200  # instances of each size; of more than 50 points
ADAM: dict[str, Any] = {"learning_rate": 1e-3, "warmup": 100, "max_grad_norm": 1.0}
SGD: dict[str, Any] = {"learning_rate": 1.0, "max_grad_norm": 2.0}  # the same rate at all steps
SPREAD = 0.08  # with SGD, every parameter is drawn between −0.08 and 0.08


def hull_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """As :func:`~attnruns.experiments.pointing.hull_figures`, and the share of right hulls with a beam."""
    best = beam_pointer_decode(model, batch.source, width=BEAM).tokens[:, 0]
    return pointing.hull_figures(model, batch) | {"exact_beam": share(is_convex_hull(batch.source, best))}


def tour_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """As :func:`~attnruns.experiments.pointing.tour_figures`, and the gap of the shortest tour of each beam."""
    points, optimal = batch.source, tour_length(batch.source, batch.target)
    beam = beam_pointer_decode(model, points, width=BEAM).tokens  # (B, W, N)
    shortest = torch.stack([tour_length(points, tour) for tour in beam.unbind(dim=1)]).amin(dim=0)  # (B,)
    gap = {"gap_shortest": round(optimality_gap(shortest, optimal).item(), 5)}
    return pointing.tour_figures(model, batch) | gap


def triangle_figures(model: PointerNetwork, batch: Batch) -> dict[str, float]:
    """Shares of right triangulations (``exact``) and of triangles found (``covered``), greedily and with a beam."""
    answers = {
        "": greedy_pointer_decode(model, batch.source).tokens,
        "_beam": beam_pointer_decode(model, batch.source, width=BEAM).tokens[:, 0],
    }
    figures: dict[str, float] = {}
    for name, answer in answers.items():
        exact, covered = triangulation_scores(answer, batch.target, batch.source.shape[1])
        figures |= {f"exact{name}": share(exact), f"covered{name}": share(covered)}
    return figures


_TOURS: dict[str, Any] = {"instances": solved_batch, "figures": tour_figures, "first": 0}
_TRIANGLES: dict[str, Any] = {"figures": triangle_figures, "may_stop": True}
_FROM_LEFT = partial(delaunay_batch, from_left=True)
PUZZLES = {
    "tsp10": Puzzle((10,), (5, 10, 12), training=labelled_tours, **_TOURS),
    "tsp20": Puzzle(tuple(range(5, 21)), (5, 10, 15, 20, 25, 30, 40, 50), training=pooled_batch, **_TOURS),
    "hull50": Puzzle(tuple(range(5, 51)), (5, 10, 50, 100, 200), hull_batch, hull_figures, may_stop=True),
    "delaunay5": Puzzle((5,), (5,), delaunay_batch, **_TRIANGLES),
    "delaunay10": Puzzle(tuple(range(5, 11)), (5, 7, 10), delaunay_batch, **_TRIANGLES),
    "delaunay10_left": Puzzle(tuple(range(5, 11)), (5, 7, 10), _FROM_LEFT, **_TRIANGLES),
}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model.

    Fields:
        puzzle: its task, by name. encoder, hidden, glimpse: see :class:`~attnbook.models.pointer.PointerNetwork`.
        sgd: the paper's optimiser and first parameters, in place of Adam and torch's.
        epochs: how many million instances it reads.
    """

    puzzle: str
    encoder: str = "lstm"
    hidden: int = 256
    glimpse: bool = False
    sgd: bool = False
    epochs: int = 1


RECIPES = {
    "tsp10_lstm": Recipe("tsp10"),
    "tsp10_long": Recipe("tsp10", epochs=4),
    "tsp10_glimpse": Recipe("tsp10", glimpse=True),
    "tsp10_glimpse_long": Recipe("tsp10", glimpse=True, epochs=4),
    "tsp10_sgd": Recipe("tsp10", sgd=True),
    "tsp20_lstm": Recipe("tsp20"),
    "tsp20_glimpse": Recipe("tsp20", glimpse=True),
    "tsp20_transformer": Recipe("tsp20", "transformer", 128),
    "hull50_lstm": Recipe("hull50"),
    "hull50_long": Recipe("hull50", epochs=2),
    "hull50_transformer": Recipe("hull50", "transformer", 128),
    "hull50_sgd": Recipe("hull50", sgd=True),
    "delaunay5_lstm": Recipe("delaunay5"),
    "delaunay5_long": Recipe("delaunay5", epochs=5),
    "delaunay5_sgd": Recipe("delaunay5", sgd=True),
    "delaunay10_lstm": Recipe("delaunay10"),
    "delaunay10_left": Recipe("delaunay10_left"),
    "delaunay10_transformer": Recipe("delaunay10_left", "transformer", 128),
}
STEPS = {name: recipe.epochs * EXAMPLES // BATCH for name, recipe in RECIPES.items()}


def build(name: str) -> PointerNetwork:
    """A fresh model of this experiment; its LSTMs read the coordinates themselves."""
    recipe = chosen(RECIPES, name)
    task, embed = PUZZLES[recipe.puzzle], recipe.encoder == "transformer"
    once = task.figures is not triangle_figures  # a point is a corner of several triangles
    model = PointerNetwork(
        task.features, recipe.hidden, recipe.encoder, task.may_stop, task.first, once, embed, recipe.glimpse
    )
    if recipe.sgd:
        for parameter in model.parameters():
            nn.init.uniform_(parameter, -SPREAD, SPREAD)
    return model


def answer_loss(model: PointerNetwork, batch: Batch) -> Tensor:
    """Mean negative log-likelihood in nats per answer, not per choice: SGD's rate of 1 is meant for such sums."""
    return -answer_log_probs(model, *batch).sum() / len(batch.source)


def settings(recipe: Recipe) -> dict[str, Any]:
    """What :func:`~attnbook.training.fit` is told about the optimiser and the loss."""
    if not recipe.sgd:
        return {**ADAM, "loss": pointer_loss}
    return {
        "optimiser": partial(torch.optim.SGD, lr=SGD["learning_rate"]),
        "schedule": lambda step: SGD["learning_rate"],
        "loss": answer_loss,
        **SGD,
    }


def tests_of(size: int) -> int:
    """How many test instances of a size there are: fewer of more than 50 points."""
    return TESTS if size <= 50 else FEWER


def run(job: Job) -> Outcome:
    """Train and measure one model; goes on from its checkpoint if there is one."""
    recipe = chosen(RECIPES, job.model)
    seed_everything(job.seed)
    model, puzzle = build(job.model).to(best_device()), PUZZLES[recipe.puzzle]
    checkpoint = checkpoint_of(EXPERIMENT.name, job, digest_of(recipe))
    history = fit(
        model, lambda step: puzzle.batch_at(step, BATCH, job.seed), job.steps, progress=False, checkpoint=checkpoint,
        validate_every=EVERY, **settings(recipe),
    )  # fmt: skip
    figures = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(history.cpu_seconds, 1),
        "examples": job.steps * BATCH,
        "losses": chunk_means(history.losses, 100, digits=4),
        **by_size(lambda batch: puzzle.figures(model, batch.to(device_of(model))), puzzle, tests_of),
    }
    checkpoint.unlink(missing_ok=True)
    return Outcome(figures, model if job.seed == 0 else None)


EXPERIMENT = Experiment(
    "pointing_paper",
    STEPS,
    run,
    {
        "sizes": {name: {"trained": list(task.trained), "tested": list(task.tested)} for name, task in PUZZLES.items()},
        "recipes": {name: vars(recipe) for name, recipe in RECIPES.items()},
        "task": "labelled_tours, hull_batch, delaunay_batch",
        "batch": BATCH,
        "tests": TESTS,
        "tests_beyond_50": FEWER,
        "beam": BEAM,
        "pool": POOL,
        **ADAM,
        "sgd": {**SGD, "spread": SPREAD, "loss": "per answer"},
    },
    build=build,
)
trained = EXPERIMENT.trained
