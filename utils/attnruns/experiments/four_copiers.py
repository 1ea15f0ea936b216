"""The four copiers of chapter 17's file, with other seeds: what they copy, how, and what they score.

Each of the two layers has rotary positions over the whole string or its remedy: a window in the first, no positions in
the second. Of the copier with rotary positions in both, the weights of the first layer are kept by head, as trained
and with all positions halved, and the scores of the second layer, as trained and with its positions halved. The copier
without positions in the second layer is read with a window in the first, too, and the one that was trained with a
window tells where it errs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnruns.experiments import slower_rotation
from attnruns.experiments.decoder_lengths import equal_contexts
from attnruns.experiments.slowed_weights import read_in
from attnruns.experiments.slower_rotation import (
    CHAPTER,
    FOUR,
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

SIZES = (6, 12, 15, 24, 48)  # letters
KINDS = ("rotary, rotary", "window, none", "window, rotary", "rotary, none")  # first layer, second layer
SIZE, TEST_SEED = slower_rotation.SIZES[-1], 171  # letters of the strings whose weights are kept
NEAR = 8  # distances that are kept: 0 to 7
CUTS = (
    4,
    24,
)  # letters that the first layer sees in a test, itself included; 24 shows all distances of training, 0 to 23
SCORED = (("trained", TRAINED), ("trained", SIZE), ("second", SIZE))  # how the second layer is read, letters
STEPS = {"file": slower_rotation.STEPS["file"]}
UNCHANGED = scales_of("trained", TRAINED)


def near(weights: Tensor, size: int) -> list[list[float]]:
    """Mean weight of each head at the distances 0 to 7, from ``(B, H, T, T)``.

    Only the queries of the string count that have seven letters before them: what they read goes into the keys of the
    next layer.
    """
    mean = weights.double().mean(dim=0)[:, :size]  # (H, size, T)
    every = [[head.diagonal(-back)[NEAR - 1 - back : size - back].mean() for back in range(NEAR)] for head in mean]
    return [rounded(torch.stack(head)) for head in every]


def first_layer(names: dict[str, Any], way: str) -> list[list[float]]:
    """:func:`near` of the first layer of the copier with rotary positions in both, read in one way."""
    return near(read_in(names, names["models"]["rotary, rotary"], scales_of(way, SIZE), SIZE, 0, TEST_SEED), SIZE)


@torch.no_grad()
def query_and_key(model: nn.Module, words: Tensor, turned: Callable[[Tensor, Any], Tensor]) -> tuple[Tensor, Tensor]:
    """Queries and keys of the second layer, turned as it turns them, ``(B, H, T, D/H)``; ``turned`` is the file's."""
    read: list[Tensor] = []
    layer: Any = model.layers[1]  # type: ignore[index]
    hook = layer.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    try:
        model(words[:, :-1])
    finally:
        hook.remove()
    query, key, _ = layer.project(read[0]).unflatten(-1, (3, layer.H, -1)).permute(2, 0, 3, 1, 4)
    if layer.rotary:
        query, key = (turned(part, layer.scale) for part in (query, key))
    return query, key


def scores_of(model: nn.Module, words: Tensor, turned: Callable[[Tensor, Any], Tensor]) -> Tensor:
    """Scores of the second layer before the mask and the softmax, ``(B, H, T, T)``; ``turned`` is the file's."""
    query, key = query_and_key(model, words, turned)
    scores: Tensor = query @ key.mT / query.shape[-1] ** 0.5
    return scores


def right_and_rewarded(scores: Tensor) -> dict[str, float]:
    """What the scores ``(B, H, 2 · size, 2 · size)`` say of the right letter, in the rows of the copy.

    ``right`` is its mean score, and ``rewarded`` that of all others at the distances 5 to 12; at 2 to 4 a head meets
    the letters just written. ``beaten``: the share of rows and heads in which any other letter so far scores higher.
    """
    size = scores.shape[-1] // 2
    copy, (rows, keys) = scores[:, :, size:], (torch.arange(size, 2 * size)[:, None], torch.arange(2 * size))
    distance = rows - keys  # (size, 2 · size)
    right = copy[..., distance == size]  # (B, H, size)
    rewarded = copy[..., (distance >= 5) & (distance <= TRAINED) & (distance != size)]
    others = copy.masked_fill((distance < 0) | (distance == size), -torch.inf).amax(dim=-1)  # (B, H, size)
    found = {"right": right, "rewarded": rewarded, "beaten": others > right}
    return {name: round(part.double().mean().item(), 3) for name, part in found.items()}


def second_layer(names: Mapping[str, Any]) -> list[dict[str, Any]]:
    """:func:`right_and_rewarded` of the copier with rotary positions in both, in each way of ``SCORED``."""
    model, found = names["models"]["rotary, rotary"], []
    for way, size in SCORED:
        with scaled(model, scales_of(way, size)):
            scores = scores_of(model, tested_strings(names, size, TEST_SEED), names["turned"])
        found.append({"way": way, "letters": size, **right_and_rewarded(scores)})
    return found


def cut_short(names: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """``{letters seen: {size: shares}}`` of the copier without positions in the second layer: it was trained without
    a window in the first, and is read with one."""
    model, found = names["models"]["rotary, none"], {}
    first = model.layers[0]
    before = first.window
    try:
        for first.window in CUTS:
            found[str(first.window)] = {str(n): file_shares(names, model, n, UNCHANGED) for n in (TRAINED, SIZE)}
    finally:
        first.window = before
    return found


def stand_twice(letters: Tensor, context: int = 2) -> Tensor:
    """Whether the letters before a position, so many, stand before another letter as well: bool ``(B, size)``.

    Such a letter cannot be found by them alone.
    """
    equal = equal_contexts(letters, context)  # (B, size, size)
    return (equal & (letters[:, :, None] != letters[:, None])).any(dim=-1)


@torch.no_grad()
def errors(names: Mapping[str, Any]) -> dict[str, float]:
    """Share of wrong letters of the copier with a window, at 24 letters: where the last two stand twice, or not."""
    words = tested_strings(names, SIZE, slower_rotation.TEST_SEED + SIZE)
    logits = names["models"]["window, none"](words[:, :-1])[0][:, SIZE:]  # (B, size, 26)
    wrong, twice = logits.argmax(dim=-1) != words[:, SIZE + 1 :], stand_twice(words[:, :SIZE])
    return {
        "twice": round(wrong[twice].double().mean().item(), 4),
        "once": round(wrong[~twice].double().mean().item(), 4),
    }


def run(job: Job) -> Outcome:
    """Train the four copiers of the file; let each copy strings of every size, and read their layers."""
    names, spent = run_file(file_of(CHAPTER, FOUR, job.seed, job.steps))
    copied = {
        kind: {str(size): file_shares(names, names["models"][kind], size, UNCHANGED) for size in SIZES}
        for kind in KINDS
    }
    figures = {
        "seconds": spent,  # of the processor, for all four
        "copied": copied,
        "first_layer": {way: first_layer(names, way) for way in ("trained", "both")},
        "second_layer": second_layer(names),
        "cut": cut_short(names),
        "errors": errors(names),
    }
    return Outcome(figures)


KEPT = ("task", "batch", "learning_rate", "warmup", "max_grad_norm")
SETTINGS = slower_rotation.settings_of("file", KEPT) | {
    "sizes": SIZES, "tests": TESTS, "near": NEAR, "cuts": CUTS,
}  # fmt: skip
EXPERIMENT = Experiment("four_copiers", STEPS, run, SETTINGS, on_cpu=True)
