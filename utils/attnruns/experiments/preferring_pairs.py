"""Which pairs of features give the second layer of chapter 17's file its preference for distances.

The copier is the one with rotary positions in both layers, as in :mod:`attnruns.experiments.four_copiers`. Its second
layer's scores are taken apart into what each of the eight pairs adds. Then only some of the pairs are slowed, and the
copier reads strings of 24 letters: if these pairs hold the preference, slowing them is enough. A larger base slows
each pair by a factor of its own, and the fastest by none. At last a window hides the distances from the first layer
that training did not have, while the second is slowed: does the first layer need them?
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import slower_rotation
from attnruns.experiments.four_copiers import SCORED, query_and_key
from attnruns.experiments.slower_rotation import (
    CHAPTER,
    PER_HEAD,
    REPLACED,
    TESTS,
    TRAINED,
    file_shares,
    scaled,
    scales_of,
    tested_strings,
)
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

SIZE, TEST_SEED = 2 * TRAINED, 172  # letters of the longer strings; seed of those whose scores are read
KIND, PAIRS = "rotary, rotary", PER_HEAD // 2
FARTHEST = 36  # distances of wrong letters that are kept: 5 to 36; at 2 to 4 a head meets the letters just written
SLOWED: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {  # the slowed pairs of both layers, counted from 1
    "none": ((), ()),
    "second": ((), (2,)),
    "third": ((), (3,)),
    "second and third": ((), (2, 3)),
    "all others": ((), (1, 4, 5, 6, 7, 8)),
    "all": ((), tuple(range(1, 9))),
    "first layer": (tuple(range(1, 9)), ()),
    "both layers": (tuple(range(1, 9)), tuple(range(1, 9))),
    "second layer from the second": ((), tuple(range(2, 9))),
    "both layers from the second": (tuple(range(2, 9)), tuple(range(2, 9))),
    "both layers from the third": (tuple(range(3, 9)), tuple(range(3, 9))),
    "first layer from the third, second layer from the second": (tuple(range(3, 9)), tuple(range(2, 9))),
}
BASES: Mapping[str, float] = {  # what the base is multiplied by, in both layers
    "base x 2.2": 2 ** (8 / 7),  # NTK-aware scaling for strings of twice the length: the slowest pair is halved
    "base x 50": 50.0,  # from 10,000 to 500,000
    "base x 256": 2.0**8,  # the second pair is halved
}
WINDOWS, BEHIND_WINDOW = (4, 24), "second layer from the second"  # letters that the first layer sees; what is slowed
STEPS = {"file": slower_rotation.STEPS["file"]}


def halved(pairs: Iterable[int]) -> Tensor:
    """What the positions of each pair are multiplied by, ``(8,)``: one half for these pairs, counted from 1."""
    chosen = set(pairs)
    return torch.tensor([0.5 if pair in chosen else 1.0 for pair in range(1, PAIRS + 1)])


def with_base(factor: float) -> Tensor:
    """What the positions of each pair are multiplied by, ``(8,)``, if the base is so many times as large."""
    return factor ** (-torch.arange(PAIRS) / PAIRS)


def scores_by_pair(model: nn.Module, words: Tensor, turned: Callable[[Tensor, Any], Tensor]) -> Tensor:
    """What each pair adds to the second layer's scores, in the rows of the copy: ``(B, H, size, 2 · size, 8)``.

    Pairs are counted from the fastest. ``turned`` is the file's.
    """
    size = words.shape[1] // 2
    query, key = query_and_key(model, words, turned)
    parts = (part.unflatten(-1, (PAIRS, 2)) for part in (query[:, :, size:], key))
    return torch.einsum("bhqpc,bhkpc->bhqkp", *parts) / query.shape[-1] ** 0.5


def distances(size: int) -> Tensor:
    """How far each key is behind each query of the copy: ``(size, 2 · size)``."""
    return torch.arange(size, 2 * size)[:, None] - torch.arange(2 * size)


def right_by_pair(scores: Tensor) -> Tensor:
    """What each pair adds to the right letter's score, mean over strings, heads and rows: ``(8,)``."""
    size = scores.shape[2]
    return scores[:, :, distances(size) == size].mean(dim=(0, 1, 2))


def wrong_by_pair(scores: Tensor) -> dict[int, Tensor]:
    """``{distance: (8,)}``: what each pair adds to the scores of the string's wrong letters, on average."""
    size = scores.shape[2]
    mean, back = scores[:, :, :, :size].mean(dim=(0, 1)), distances(size)[:, :size]  # (size, size, 8)
    return {d: mean[back == d].mean(dim=0) for d in range(5, FARTHEST + 1) if d != size and (back == d).any()}


@torch.no_grad()
def read(names: Mapping[str, Any], way: str, size: int) -> dict[str, Any]:
    """Both of the above of strings of one size, if the model is read in one way of ``slower_rotation``."""
    model = names["models"][KIND]
    with scaled(model, scales_of(way, size)):
        scores = scores_by_pair(model, tested_strings(names, size, TEST_SEED), names["turned"])
    wrong = {str(back): rounded(each) for back, each in wrong_by_pair(scores).items()}
    return {"way": way, "letters": size, "right": rounded(right_by_pair(scores)), "wrong": wrong}


def slowed(names: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """What is copied at 24 letters if these pairs of the layers are slowed, and with a larger base."""
    scales = {name: [halved(pairs) for pairs in layers] for name, layers in SLOWED.items()}
    scales |= {name: 2 * [with_base(factor)] for name, factor in BASES.items()}
    return {name: file_shares(names, names["models"][KIND], SIZE, of) for name, of in scales.items()}


def windowed(names: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """``{letters seen by the first layer: shares}`` at 24 letters, with ``BEHIND_WINDOW`` slowed."""
    model, found = names["models"][KIND], {}
    scales, first = [halved(pairs) for pairs in SLOWED[BEHIND_WINDOW]], model.layers[0]
    before = first.window
    try:
        for letters in WINDOWS:
            first.window = letters
            found[str(letters)] = file_shares(names, model, SIZE, scales)
    finally:
        first.window = before
    return found


def run(job: Job) -> Outcome:
    """Train the copiers of the file, and take the scores of one apart."""
    names, spent = run_file(file_of(CHAPTER, REPLACED, job.seed, job.steps))
    figures = {"seconds": spent, "slowed": slowed(names), "windowed": windowed(names)}
    return Outcome(figures | {"scores": [read(names, *how) for how in SCORED]})


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {
    "size": SIZE, "tests": TESTS, "slowed": {name: list(map(list, layers)) for name, layers in SLOWED.items()},
    "bases": dict(BASES), "windows": WINDOWS,
}  # fmt: skip
EXPERIMENT = Experiment("preferring_pairs", STEPS, run, SETTINGS, on_cpu=True)
