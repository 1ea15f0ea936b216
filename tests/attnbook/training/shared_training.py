"""A small training in float64 for ``torchrun``, or for one process: ``shared_training.py FILE``.

Process 0 writes into FILE: the gradients of the first batch, losses and weights after a few steps, and where a
training stopped early.
"""

import sys

import torch
from torch import nn

from attnbook.data.batching import Batch, pad_rows
from attnbook.models import GNMT
from attnbook.training import fit, parallel, process_group, teacher_forcing_loss

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
    everybody = [parallel.from_first(tensor) for tensor in model.state_dict().values()]
    alike = all(torch.equal(a, b) for a, b in zip(everybody, model.state_dict().values(), strict=True))
    differing = parallel.mean_over_processes(torch.tensor(0.0 if alike else 1.0)).item()
    return {"gradients": found, "losses": history.losses, "weights": model.state_dict(), "differing": differing}


def stopped() -> float:
    """After how many steps, mean of the processes, a training ends that only the first process finds stale."""
    results = iter([3.0, 2.0, 1.0, 0.0] if parallel.rank() == 0 else [1.0, 2.0, 3.0, 4.0])
    options = {"validate": lambda model: next(results), "validate_every": 1, "patience": 2, "progress": False}
    history = fit(build(), batch_at, STEPS, **options)
    return parallel.mean_over_processes(torch.tensor(float(history.steps))).item()


if __name__ == "__main__":
    torch.set_num_threads(1)
    with process_group():
        result = train(f"{sys.argv[1]}.checkpoint") | {"stopped": stopped()}
        if parallel.rank() == 0:
            torch.save(result | {"size": parallel.size()}, sys.argv[1])
