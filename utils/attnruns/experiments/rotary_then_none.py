"""Copiers with rotary positions in the first layer and none in the second, and no window (chapter 17).

This is the control of the model with a window: as there, the second layer receives no positions, but the first one
sees the whole string. The copier is that of :mod:`attnruns.experiments.decoder_reach`, with positions taken from its
second layer before it is trained; the smaller one of the chapter's file stands in
:mod:`attnruns.experiments.four_copiers`.
"""

from attnbook.attention import NoPositions
from attnruns.experiments import decoder_lengths, decoder_reach, slower_rotation
from attnruns.experiments.decoder_lengths import Copier
from attnruns.shared.runner import Experiment, Job, Outcome

SIZES = (6, 12, 15, 24, 48)  # letters
STEPS = {"blocks": slower_rotation.STEPS["blocks"]}


def build() -> Copier:
    """A fresh rotary model with blocks, whose second layer receives no positions."""
    model = decoder_reach.build("rotary")
    model.blocks.layers[1].self_attention.positions = NoPositions()
    return model


def run(job: Job) -> Outcome:
    """Train one copier, and let it copy strings of each size."""
    model, _, figures = decoder_reach.train_copier(job, build)
    return Outcome(figures | {"copied": {str(size): decoder_lengths.copied(model, size) for size in SIZES}})


KEPT = ("task", "tests", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("blocks", KEPT) | {
    "sizes": SIZES,
}  # fmt: skip
EXPERIMENT = Experiment("rotary_then_none", STEPS, run, SETTINGS, on_cpu=True)
