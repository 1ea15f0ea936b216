"""Training: one loop for every model, rates that follow steps, checkpoints that resume exactly."""

from attnbook.training.checkpoints import BrokenCheckpoint, load_checkpoint, save_checkpoint
from attnbook.training.loop import History, fit
from attnbook.training.losses import sequence_loss, shift_right, teacher_forcing_loss
from attnbook.training.schedules import warmup_rate, warmup_then_cosine

__all__ = [
    "BrokenCheckpoint",
    "History",
    "fit",
    "load_checkpoint",
    "save_checkpoint",
    "sequence_loss",
    "shift_right",
    "teacher_forcing_loss",
    "warmup_rate",
    "warmup_then_cosine",
]
