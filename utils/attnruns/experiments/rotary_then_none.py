"""Copiers with rotary positions in the first layer and none in the second, and no window (chapter 17).

This is the control of the model with a window: as there, the second layer receives no positions, but the first one
sees the whole string. The copiers are the rotary model of chapter 17's file and that of
:mod:`attnruns.experiments.decoder_reach`, each with positions taken from its second layer before it is trained.
"""

from typing import Any

from attnbook.attention import NoPositions
from attnruns.experiments import decoder_lengths, decoder_reach, slower_rotation
from attnruns.experiments.decoder_lengths import Copier
from attnruns.experiments.slower_rotation import CHAPTER, REPLACED, STEPS, TRAINED, file_shares, scales_of
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Experiment, Job, Outcome

SIZES = (6, 12, 15, 24, 48)  # letters
BOTH, FIRST = (f'"rotary": [(True, torch.inf), ({rotary}, torch.inf)]' for rotary in (True, False))
UNCHANGED = scales_of("trained", TRAINED)


def build() -> Copier:
    """A fresh rotary model with blocks, whose second layer receives no positions."""
    model = decoder_reach.build("rotary")
    model.blocks.layers[1].self_attention.positions = NoPositions()
    return model


def file(seed: int, steps: int) -> tuple[dict[str, Any], float]:
    """What the chapter's file leaves behind if its rotary model has no positions in the second layer; the seconds."""
    return run_file(file_of(CHAPTER, {**REPLACED, BOTH: FIRST}, seed, steps))


def run(job: Job) -> Outcome:
    """Train one copier, and let it copy strings of each size."""
    figures: dict[str, Any] = {}
    if job.model == "file":
        names, figures["seconds"] = file(job.seed, job.steps)  # of the processor, for both models of the file
        model = names["models"]["rotary"]
        figures["copied"] = {str(size): file_shares(names, model, size, UNCHANGED) for size in SIZES}
    else:
        blocks, _, figures = decoder_reach.train_copier(job, build)
        figures["copied"] = {str(size): decoder_lengths.copied(blocks, size) for size in SIZES}
    return Outcome(figures)


KEPT = ("task", "tests", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = {name: slower_rotation.SETTINGS[name] for name in KEPT} | {"sizes": SIZES}
EXPERIMENT = Experiment("rotary_then_none", STEPS, run, SETTINGS, on_cpu=True)
