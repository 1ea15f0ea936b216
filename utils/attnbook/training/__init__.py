"""Training: one loop for every model, rates that follow steps, checkpoints that resume exactly."""

from attnbook.training.averaging import Snapshots, average_weights
from attnbook.training.checkpoints import BrokenCheckpoint, load_checkpoint, save_checkpoint
from attnbook.training.loop import History, fit
from attnbook.training.losses import (
    ChangingLoss,
    language_model_loss,
    masked_language_model_loss,
    r_drop_loss,
    sequence_loss,
    symmetric_divergence,
    teacher_forcing_loss,
)
from attnbook.training.parallel import process_group
from attnbook.training.rmsprop import GravesRMSprop
from attnbook.training.scheduled_sampling import (
    ScheduledSampling,
    TwoPass,
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    mix_with_own_output,
)
from attnbook.training.schedules import warmup_rate, warmup_then_cosine
from attnbook.training.stopping import ends_early

__all__ = [
    "BrokenCheckpoint",
    "ChangingLoss",
    "GravesRMSprop",
    "History",
    "ScheduledSampling",
    "Snapshots",
    "TwoPass",
    "average_weights",
    "ends_early",
    "exponential_decay",
    "fit",
    "inverse_sigmoid_decay",
    "language_model_loss",
    "linear_decay",
    "load_checkpoint",
    "masked_language_model_loss",
    "mix_with_own_output",
    "process_group",
    "r_drop_loss",
    "save_checkpoint",
    "sequence_loss",
    "symmetric_divergence",
    "teacher_forcing_loss",
    "warmup_rate",
    "warmup_then_cosine",
]
