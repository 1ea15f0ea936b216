"""SmolLM2 beyond its trained positions with chapter 17's own repair: fast pairs keep their speed, others are halved.

The measurement is that of :mod:`attnruns.experiments.longer_than_trained`, with the same texts and lists, and nothing
is trained. In the chapter's copier only the fastest of eight pairs makes three turns or more within the trained
positions, and it keeps its speed. So ``three_turns`` keeps all pairs of SmolLM2 that do. ``one_pair`` keeps the fastest
alone, as the chapter's rule says by its words. Unlike YaRN, neither changes the size of the scores.
"""

import time

import torch
from torch import Tensor

from attnbook.attention import rotary_frequencies, stretch
from attnbook.training.progress import report_steps
from attnruns.experiments import longer_than_trained
from attnruns.experiments.longer_than_trained import FACTOR, LONGEST, lists_of, read_and_copy, text_of
from attnruns.experiments.slower_rotation import FAST
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

# turns from which a pair keeps its speed; None: only the fastest does
WAYS: dict[str, float | None] = {"three_turns": FAST, "one_pair": None}


def frequencies(dim: int, trained: int, base: float, turns: float | None) -> Tensor:
    """``(D/2,)`` radians per position: those of pairs with fewer turns in ``trained`` positions are halved."""
    old = rotary_frequencies(dim, base)
    kept = torch.arange(dim // 2) == 0 if turns is None else trained * old / (2 * torch.pi) >= turns
    return torch.where(kept, old, old / FACTOR)


def run(job: Job) -> Outcome:
    """Measure one way."""
    start, found = time.process_time(), longer_than_trained.pretrained()
    config = found.model.config
    sizes = config.d_model // config.heads, config.max_length, config.rotary_base
    stretch(found.model, frequencies(*sizes, chosen(WAYS, job.model)))
    lists, text = lists_of(found, job.seed), text_of(found, job.seed, job.steps + 1)
    _, right = read_and_copy(found.model, lists, text)
    report_steps(job.steps)
    return Outcome({
        "copied": {str(gap): round(share, 4) for gap, share in right.items()},
        "seconds": round(time.process_time() - start, 1),
    })  # fmt: skip


SETTINGS = longer_than_trained.SETTINGS | {"weights": "SmolLM2-135M-Instruct", "ways": WAYS}
EXPERIMENT = Experiment("real_kept_pairs", dict.fromkeys(WAYS, LONGEST), run, SETTINGS)
