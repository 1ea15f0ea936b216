"""What plain stacks of two, four and eight layers learn, and how far their encoder keeps two inputs apart (chapter 05).

Task, wiring and training are those of ``residual_sides``, all without residual connections. The signal is measured at
each word of the source, because attention reads the outputs at all words.
"""

import torch
from torch import Tensor, nn

from attnbook.data import BOS
from attnbook.data.batching import Batch, Example, Task
from attnbook.device import best_device, device_of
from attnbook.measure.evaluation import accuracy
from attnbook.seeding import seed_everything
from attnruns.experiments.residual_sides import EVERY, HIDDEN, TRAINING, Drawn, Recipe, Translator, pairs, rate, task
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import chunk_means, train

SHOWN = 8  # numbers of the test whose translations are kept
LONGEST = 6  # words of a German number below 1,000, with the end symbol

RECIPES = {f"plain_{layers}": Recipe(False, False, layers=layers) for layers in (2, 4, 8)}
STEPS = {name: recipe.steps for name, recipe in RECIPES.items()}


@torch.no_grad()
def signals(model: Translator, first: Batch, second: Batch) -> list[float]:
    """For each word of the source, as :func:`residual_sides.signal`: the top outputs' distance by their norm."""
    a, b = (model.encoder(batch.source, batch.lengths).annotations for batch in (first, second))  # (B, Tk, D)
    apart = ((a - b).norm(dim=-1) / a.norm(dim=-1)).mean(dim=0)  # (Tk,)
    return [float(f"{value:.3g}") for value in apart.tolist()]


@torch.no_grad()
def written(model: nn.Module, task: Task, examples: list[Example]) -> list[str]:
    """What a model writes for some examples if it always takes the likeliest word."""
    batch = task.collate(examples).to(device_of(model))
    words: Tensor = torch.full((len(examples), 1), BOS, device=device_of(model))
    for _ in range(LONGEST):
        logits, _ = model(batch.source, batch.lengths, words)  # (B, T, V)
        words = torch.cat([words, logits[:, -1:].argmax(dim=-1)], dim=1)
    return [" ".join(task.target_vocabulary.decode(row)) for row in words[:, 1:].tolist()]


def run(job: Job) -> Outcome:
    """Train a translator; measure signals and exact match on the way, and keep some of its translations."""
    seed_everything(job.seed)
    lists = task()
    model = chosen(RECIPES, job.model).build(lists).to(best_device())
    first, second = (batch.to(best_device()) for batch in pairs(lists))
    found: dict[str, list] = {"signals": [signals(model, first, second)], "exact_match": []}

    def watch(model: nn.Module) -> float:
        found["signals"].append(signals(model, first, second))  # type: ignore[arg-type]
        found["exact_match"].append(round(accuracy(model, lists, lists.test), 4))
        return found["exact_match"][-1]

    every = min(EVERY, job.steps)
    history, figures = train(model, Drawn(lists), job, TRAINING, schedule=rate, validate=watch, validate_every=every)
    figures["losses"] = chunk_means(history.losses, every, digits=4)
    shown = lists.test[:SHOWN]
    sources = [" ".join(example.source) for example in shown]
    figures["written"] = dict(zip(sources, written(model.eval(), lists, shown), strict=True))
    return Outcome(figures | found | {"every": every})


EXPERIMENT = Experiment(
    "plain_depths",
    STEPS,
    run,
    {"task": "single_numbers(train=800, validation=0, test=200, below=1000)", "hidden": HIDDEN, **TRAINING},
)
