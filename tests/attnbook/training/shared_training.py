"""A small training in float64 for ``torchrun``, or for one process: ``shared_training.py FILE``.

Process 0 writes into FILE: the gradients of the first batch, losses and weights after a few steps, where a training
stopped early, what losses left that use more of a model than its forward pass, and how far a training that was
interrupted ends from one that was not.
"""

import math
import sys
from contextlib import suppress
from functools import partial

import torch
from torch import nn

from attnbook.data.batching import Batch, pad_rows
from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import batch_of
from attnbook.data.points.tours import tour_length
from attnbook.models import GNMT, PlainSeq2Seq
from attnbook.models.pointer import PointerNetwork
from attnbook.seeding import generator, seed_of_step
from attnbook.training import ScheduledSampling, fit, linear_decay, parallel, process_group, teacher_forcing_loss
from attnbook.training.rollout import Challenge, RolloutLoss, RolloutPolicy, sample_tours

STEPS = 4


def build() -> nn.Module:
    """A tiny deep model; every process draws other weights, and DDP must make them alike."""
    torch.manual_seed(parallel.rank())
    return GNMT(8, 8, embedding=4, hidden=6, layers=3).double()


def batch_at(step: int) -> Batch:
    """Five sentences of very different lengths, the long ones in even rows: a function of the step alone."""
    generator = torch.Generator().manual_seed(step)
    rows = [torch.randint(3, 8, (size,), generator=generator).tolist() for size in (9, 1, 7, 2, 8)]
    return Batch(pad_rows(rows), torch.tensor([len(row) for row in rows]), pad_rows([[*row[::-1], 2] for row in rows]))


def gradients() -> dict[str, torch.Tensor]:
    """Of the first batch, in this process."""
    model = build()
    replica = parallel.replicated(model)
    batch, weight = parallel.share_of(batch_at(0), parallel.rank(), parallel.size())
    (replica(teacher_forcing_loss, batch) * weight).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def train(checkpoint: str) -> dict:
    """Gradients, losses and weights."""
    found = gradients()
    model = build()
    history = fit(model, batch_at, STEPS, warmup=1, checkpoint=checkpoint, validate_every=2)
    return {"gradients": found, "losses": history.losses, "weights": model.state_dict(), "differing": differing(model)}


def differing(model: nn.Module) -> float:
    """The part of the processes whose weights are not those of process 0, to the last bit."""
    everybody = [parallel.from_first(tensor) for tensor in model.state_dict().values()]
    alike = all(torch.equal(a, b) for a, b in zip(everybody, model.state_dict().values(), strict=True))
    return parallel.mean_over_processes(torch.tensor(0.0 if alike else 1.0)).item()


def sampled() -> list[float]:
    """Losses of scheduled sampling while all words are right ones."""
    torch.manual_seed(parallel.rank())
    model = PlainSeq2Seq(8, 8, embedding=4, hidden=6).double()
    loss = ScheduledSampling(partial(linear_decay, slope=0.0))
    return fit(model, batch_at, STEPS, warmup=1, loss=loss, progress=False).losses


def tours_at(step: int) -> Batch:
    """Five instances of four cities without a label."""
    return batch_of(random_points(4, 5, generator(step)), torch.zeros(5, 1, dtype=torch.long))


def toured() -> dict:
    """Round trips without labels: what the first draws are compared with, and whether all processes end alike."""
    torch.manual_seed(0)
    model = RolloutPolicy(PointerNetwork(hidden=6, encoder="lstm", first=0))
    drawn = [sample_tours(model.policy, tours_at(0).source[rank::2], generator(seed_of_step(0, 0))) for rank in (0, 1)]
    means = [tour_length(tours_at(0).source[rank::2], tours).mean().item() for rank, tours in enumerate(drawn)]
    how = {"loss": RolloutLoss(0, warmup=1), "validate": Challenge(4, 20, 0), "validate_every": 2, "progress": False}
    history = fit(model, tours_at, STEPS, **how)
    finite = all(map(math.isfinite, history.losses))
    return {"finite": finite, "differing": differing(model), "running": model.running.item(), "means": means}


def resumed(checkpoint: str) -> float:
    """How far weights are from those of the uninterrupted training, where each process draws its own dropout."""

    def run(path: str | None, steps) -> nn.Module:
        torch.manual_seed(0)
        model = PlainSeq2Seq(8, 8, embedding=4, hidden=6).double()
        model.embed = nn.Sequential(model.embed, nn.Dropout(0.5))
        torch.manual_seed(parallel.rank())
        with suppress(KeyboardInterrupt):
            fit(model, steps, STEPS, warmup=1, validate_every=2, checkpoint=path, progress=False)
        return model

    def until_stop(step: int) -> Batch:
        if step == 3:
            raise KeyboardInterrupt
        return batch_at(step)

    whole = run(None, batch_at)
    run(checkpoint, until_stop)
    again = run(checkpoint, batch_at)
    pairs = zip(whole.parameters(), again.parameters(), strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


def stopped() -> float:
    """After how many steps, mean of the processes, a training ends that only the first process finds stale."""
    results = iter([3.0, 2.0, 1.0, 0.0] if parallel.rank() == 0 else [1.0, 2.0, 3.0, 4.0])
    options = {"validate": lambda model: next(results), "validate_every": 1, "patience": 2, "progress": False}
    history = fit(build(), batch_at, STEPS, **options)
    return parallel.mean_over_processes(torch.tensor(float(history.steps))).item()


if __name__ == "__main__":
    torch.set_num_threads(1)
    with process_group():
        result = train(f"{sys.argv[1]}.checkpoint") | {"stopped": stopped(), "sampled": sampled(), "toured": toured()}
        result["resumed"] = resumed(f"{sys.argv[1]}.resumed")
        if parallel.rank() == 0:
            torch.save(result | {"size": parallel.size()}, sys.argv[1])
