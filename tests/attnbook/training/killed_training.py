"""A small training that is there to be killed: ``killed_training.py NAME CHECKPOINT``; slow on purpose."""

import sys
import time

import torch
from torch import nn

from attnbook.attention import LocationAware
from attnbook.data.batching import Batch
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq
from attnbook.training import History, fit

STEPS, EVERY, EOS = 12, 3, 2


def build(name: str) -> nn.Module:
    """A tiny model; ``dropout`` also throws dice at each step."""
    torch.manual_seed(0)
    if name == "plain":
        return PlainSeq2Seq(8, 8, embedding=4, hidden=8, cell="lstm")
    model = AttentionSeq2Seq(8, 8, embedding=4, hidden=8, score=LocationAware(8, 8, 4))
    if name == "dropout":
        model.embed = nn.Sequential(model.embed, nn.Dropout(0.3))
        model.encoder.embed = nn.Sequential(model.encoder.embed, nn.Dropout(0.3))
    return model


def batch_at(step: int) -> Batch:
    """Words to write backwards; a function of the step alone."""
    generator = torch.Generator().manual_seed(step)
    words = torch.randint(3, 8, (4, 3), generator=generator)  # (B, Tk)
    return Batch(words, torch.full((4,), 3), torch.cat([words.flip(1), torch.full((4, 1), EOS)], dim=1))


def roll_dice(model: nn.Module) -> float:
    """A validation that draws random numbers too; never better than before for long."""
    return torch.rand(()).item()


def batch_in_no_hurry(step: int) -> Batch:
    """The same, but slowly; and the last batch never comes, so that nobody finishes who shall be killed."""
    time.sleep(0.05 if step < STEPS - 1 else 3600)
    return batch_at(step)


def train(name: str, checkpoint: str | None = None, batch_at=batch_at) -> tuple[nn.Module, History]:
    """Train for 12 steps with a checkpoint every 3."""
    model = build(name)
    history = fit(
        model,
        batch_at,
        STEPS,
        warmup=3,
        validate=roll_dice,
        validate_every=EVERY,
        checkpoint=checkpoint,
        progress=False,
    )
    return model, history


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(sys.argv[1], sys.argv[2], batch_in_no_hurry)
