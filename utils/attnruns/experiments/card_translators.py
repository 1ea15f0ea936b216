"""Pieces per second in training steps of chapter 18's translators, on a graphics card and on one thread of a processor.

Nothing is learned: a few steps are taken on real batches of Multi30k, small ones and large ones. Seconds by the clock:
run it alone, with ``--workers 1``, on an idle machine with a card. Without a card only the processor is measured.
"""

import time
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.batching import Batch
from attnbook.data.texts.translation import TokenBatches
from attnbook.device import best_device
from attnbook.seeding import seed_everything
from attnbook.training import teacher_forcing_loss
from attnruns.experiments.translate import RECIPES, STEPS_PER_KIND
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.timing import card_name, shortest_wall_seconds

PAIR = "de_en"
BATCHES = (2048, 16_384)  # tokens, the padding counted; the first is that of chapter 18
REPEATS = 5  # the "steps" of a job: the shortest of so many times counts


def training_step(model: nn.Module, optimiser: torch.optim.Optimizer, batch: Batch, half: bool) -> Tensor:
    """Forwards, backwards, and the weights are changed; without the smoothing and the clipping of chapter 18."""
    optimiser.zero_grad()
    with torch.autocast(batch.source.device.type, dtype=torch.bfloat16, enabled=half):
        loss = teacher_forcing_loss(model, batch)
    loss.backward()
    optimiser.step()
    return loss.detach()


def pieces_per_second(model: nn.Module, batch: Batch, repeats: int, half: bool = False) -> int:
    """Pieces of both languages, without the padding, that a step reads in a second; one more step comes first."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5)
    step = partial(training_step, model, optimiser, batch, half)
    return round(batch.tokens() / shortest_wall_seconds(repeats, step, device=batch.source.device))


def run(job: Job) -> Outcome:
    """Measure one translator; ``job.steps`` are the repeats."""
    seed_everything(job.seed)
    start, device, recipe = time.process_time(), best_device(), RECIPES[f"{job.model}_{PAIR}"]
    data = recipe.data()
    model = recipe.build(data.sizes())
    batches = {tokens: TokenBatches(data.task).batch_at(1, tokens, job.seed) for tokens in BATCHES}
    speed = pieces_per_second(model, batches[BATCHES[0]], job.steps)
    figures: dict[str, Any] = {"card": card_name(device), "processor": speed}
    if device.type != "cpu":
        model = model.to(device)
        for name, half in (("on_card", False), ("on_card_half", True)):
            figures[name] = {
                str(tokens): pieces_per_second(model, batch.to(device), job.steps, half)
                for tokens, batch in batches.items()
            }
    return Outcome(figures | {"seconds": round(time.process_time() - start, 1)})


EXPERIMENT = Experiment(
    "card_translators",
    dict.fromkeys(STEPS_PER_KIND, REPEATS),
    run,
    {
        "task": "multi30k_task('de-en'), a few training steps without smoothing and clipping",
        "batch": {"processor": BATCHES[0], "card": BATCHES},
        "half": "autocast to bfloat16",
    },
)
