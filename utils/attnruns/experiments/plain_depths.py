"""What plain stacks of two, four and eight layers learn, and how far their encoder keeps two inputs apart (chapter 05).

Task, wiring and training are those of ``residual_sides``, all without residual connections. The signal is measured at
each word of the source, because attention reads the outputs at all words.
"""

import torch
from torch import Tensor, nn

from attnbook.data import BOS
from attnbook.data.batching import Batch, Example, Task
from attnbook.device import device_of
from attnruns.experiments.residual_sides import HIDDEN, TRAINING, Recipe, Translator, task, watched
from attnruns.shared.runner import Experiment, Job, Outcome

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
    model, figures, found = watched(job, RECIPES, signals)
    lists = task()
    shown = lists.test[:SHOWN]
    sources = [" ".join(example.source) for example in shown]
    texts = written(model.eval(), lists, shown)
    return Outcome(figures | {"signals": found, "written": dict(zip(sources, texts, strict=True))})


EXPERIMENT = Experiment(
    "plain_depths",
    STEPS,
    run,
    {"task": "single_numbers(train=800, validation=0, test=200, below=1000)", "hidden": HIDDEN, **TRAINING},
)
