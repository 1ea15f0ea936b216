"""Of how many strings chapter 17's copier with rotary positions begins the copy rightly, at each length up to 40.

The second pair of features makes a full turn in 20 positions, and what it adds to the second layer's scores returns
with it (:mod:`attnruns.experiments.preferring_pairs`). If this is what misleads the layer, the share of right first
letters must return, too: strings of 30 letters are then begun rightly more often than those of 20. With this pair of
the second layer at half its speed the wave is twice as long: 20 letters should be begun rightly, and 40 should not.
"""

from collections.abc import Mapping
from typing import Any

import torch

from attnruns.experiments import slower_rotation
from attnruns.experiments.preferring_pairs import halved
from attnruns.experiments.slower_rotation import CHAPTER, REPLACED, TESTS, right_letters, scaled, shares, tested_strings
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.runner import Experiment, Job, Outcome

KIND, LENGTHS, TEST_SEED = "rotary, rotary", tuple(range(2, 42, 2)), 173  # letters; seed of the tested strings
SLOWED = (1.0, halved([2]))  # what both layers multiply positions by, if the second pair alone is slowed
STEPS = {"file": slower_rotation.STEPS["file"]}


@torch.no_grad()
def begun(names: Mapping[str, Any], size: int) -> dict[str, float]:
    """Shares: ``begun`` of strings with a right first letter, ``exact`` of whole ones, ``letters`` of all letters."""
    words = tested_strings(names, size, TEST_SEED + size)
    right = right_letters(names["models"][KIND], words, size)
    return {"begun": round(right[:, 0].float().mean().item(), 4)} | shares(right)


def run(job: Job) -> Outcome:
    """Train the copiers of the file, and let one begin strings of each length."""
    names, spent = run_file(file_of(CHAPTER, REPLACED, job.seed, job.steps))
    found: dict[str, Any] = {"lengths": {str(size): begun(names, size) for size in LENGTHS}}
    with scaled(names["models"][KIND], SLOWED):
        found["slowed"] = {str(size): begun(names, size) for size in LENGTHS}
    return Outcome({"seconds": spent} | found)


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {"sizes": LENGTHS, "tests": TESTS}
EXPERIMENT = Experiment("begun_by_length", STEPS, run, SETTINGS, on_cpu=True)
