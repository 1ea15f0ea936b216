"""Does an encoder that reads only forwards cure global attention on longer lists? Chapter 4's file, other encoders.

The trainings are those of :mod:`attnruns.experiments.centre_rules` for global attention, on the same lists, with
another encoder: one LSTM of the annotation's whole width that reads only forwards, or only backwards, as the paper's
reads its reversed source. The file's own encoder, with both directions, is trained beside them.
"""

import random
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from attnruns.experiments.centre_rules import LISTS, SETTINGS, TEST_SEED, TESTED, code, trained_and_measured
from attnruns.experiments.read_behind import LONG, shares, units_found, units_of
from attnruns.shared.chapter_file import run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"both": 600, "forward": 600, "backward": 600}


class Backward(nn.LSTM):
    """An LSTM that begins at the last word of each sequence and returns its states in the order of the words."""

    def forward(self, packed: PackedSequence) -> tuple[PackedSequence, Any]:  # type: ignore[override]  # packed alone
        words, S = pad_packed_sequence(packed, batch_first=True)  # (B, Tk, E), (B,)
        states, last = super().forward(
            pack_padded_sequence(turned(words, S), S, batch_first=True, enforce_sorted=False)
        )
        h = turned(pad_packed_sequence(states, batch_first=True)[0], S)  # (B, Tk, D)
        return pack_padded_sequence(h, S, batch_first=True, enforce_sorted=False), last


def turned(sequences: torch.Tensor, S: torch.Tensor) -> torch.Tensor:
    """Sequences ``(B, Tk, E)`` of lengths ``(B,)`` from their last word to their first; what pads them stays behind."""
    place = torch.arange(sequences.shape[1])  # (Tk,)
    from_end = torch.where(place < S[:, None], S[:, None] - 1 - place, place)  # (B, Tk)
    return sequences.gather(1, from_end[:, :, None].expand_as(sequences))


def file_with(name: str, seed: int) -> dict[str, Any]:
    """The names of the chapter's file, whose translator has this encoder.

    Raises:
        ValueError: if there is no encoder of this name.
    """
    chosen(STEPS, name)
    names, _ = run_file(code(seed, "global"))
    plain: Any = names["Translator"]

    class Translator(plain):
        """The file's, with another encoder of the same width."""

        def __init__(self, walks: bool, E: int = 32, D: int = 64) -> None:
            super().__init__(walks, E, D)
            if name != "both":
                self.encoder = (Backward if name == "backward" else nn.LSTM)(E, D, batch_first=True)

    names["Translator"] = Translator
    return names


@torch.no_grad()
def found_by_number(names: dict[str, Any], model: Any, lists: int = LISTS) -> list[float]:
    """How often the largest weight is at the true unit, for each number of lists of fifteen (correct words given)."""
    pairs = [names["number_list"](LONG) for _ in range(lists)]
    source, target = names["batch_of"](pairs)  # (B, Tk), (B, T)
    return shares(model(source, target.shape[1], target)[1], units_of(names, pairs))


def run(job: Job) -> Outcome:
    """Train the file's translator with one encoder and global attention, and count the units that it finds."""
    names = file_with(job.model, job.seed)

    def count(model: Any) -> dict[str, Any]:
        found = {"units_found": units_found(names, model, job.seed)}
        random.seed(TEST_SEED + job.seed)  # the lists of ``units_found``
        return found | {"found_by_number": found_by_number(names, model)}

    model, figures = trained_and_measured(names, job, TESTED, count)
    return Outcome({"parameters": sum(part.numel() for part in model.parameters())} | figures)


EXPERIMENT = Experiment("reading_directions", STEPS, run, SETTINGS | {"numbers_in_a_list": LONG}, on_cpu=True)
