"""Lab 10: what a first mistake leads to."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def error_after_first_mistake(written, target, pad):
    wrong, real = written != target, target != pad  # (B, T)
    wrong = wrong & real
    spoilt = wrong.long().cumsum(1) - wrong.long() > 0  # (B, T): a mistake was made before this place
    right_before, wrong_before = real & ~spoilt, real & spoilt
    before = (wrong & right_before).sum().item() / max(right_before.sum().item(), 1)
    after = (wrong & wrong_before).sum().item() / max(wrong_before.sum().item(), 1)
    return before, after


def _texts(draw):
    batch, length = draw.sizes(2, low=4)
    for count, size, pad, rate in ((batch + 2, length + 2, 0, 0.3), (3, 5, 7, 0.5), (1, 6, 0, 0.4), (4, 4, 0, 0.4)):
        target = draw.integers(1, 7, count, size)
        changed = draw.uniform(count, size) < rate
        changed[0, 1], changed[0, 2] = True, False  # right again afterwards
        if count > 2:
            changed[1], changed[2, 0] = False, True  # no mistake at all; a mistake at once
        written = torch.where(changed, target % 6 + 1, target)
        written[0, 1] = pad  # a model may say so, too
        real = torch.arange(size) < draw.lengths(count, size, shortest=size - 2 if count > 1 else size)[:, None]
        yield written, target.masked_fill(~real, pad), pad  # what was written at padding is of no interest
    words = draw.integers(1, 7, 2, 3)
    yield words, words.clone(), 0  # no mistake anywhere
    late = words.clone()
    late[:, -1] = late[:, -1] % 6 + 1
    yield late, words, 0  # mistakes, but nothing after them
    yield draw.integers(1, 7, 2, 4), torch.full((2, 4), 3), 3  # padding throughout: no places at all
    if draw.number == 1:
        long = draw.integers(1, 7, 2, 400)
        yield torch.where(draw.uniform(2, 400) < 0.9, long % 6 + 1, long), long, 0  # hundreds of mistakes


_MASKS = "right_before, wrong_before = real & ~spoilt, real & spoilt"
_SPOILT = "wrong.long().cumsum(1) - wrong.long() > 0"

ERROR_AFTER_FIRST_MISTAKE = Exercise(
    error_after_first_mistake,
    cases=_texts,
    returns=("before", "after"),
    properties=[
        Property(
            "no mistake, no error",
            "Where nothing was written wrongly both rates are 0. Where no place follows a mistake, `after` is 0.",
            lambda result, written, target, pad: not (written == target)[target != pad].all() or sum(result) == 0,
        ),
        Property(
            "between 0 and 1",
            "Both rates are shares, from 0 to 1.",
            lambda result, *others: all(0 <= rate <= 1 for rate in result),
        ),
    ],
)

wrong = ERROR_AFTER_FIRST_MISTAKE.mistakes
wrong("first mistake counted as after", {_SPOILT: "wrong.long().cumsum(1) > 0"}).says("""
    You counted the first mistake itself among the places *after* it. When it was written all before it was right: it
    belongs to `before`.""")
wrong(
    "first mistake counted nowhere",
    {_MASKS: _MASKS + "\n    right_before = right_before & (wrong.long().cumsum(1) == 0)"},
).says("""
    You left the first mistake out on both sides, so `before` is always 0. It was made while all was right: it counts
    in `before`, as place and as mistake.""")
wrong("padding counted", {"wrong = wrong & real": "real = torch.ones_like(real)"}).says("""
    You counted padding as well. Where the target is `pad` there is nothing to be wrong about.""")
wrong("padding counted as places", {_MASKS: "right_before, wrong_before = ~spoilt, spoilt"}).says("""
    Mistakes at padding are left out, but its places are still counted. Divide by the number of *real* places.""")
wrong("padding judged by what was written", {"target != pad": "written != pad"}).says("""
    You looked for `pad` in what was written. Which places are real the *target* says.""")
wrong("only the word right after", {_SPOILT: "torch.nn.functional.pad(wrong, (1, 0))[:, :-1]"}).says("""
    You looked at one word after a mistake. *All* later words of the sentence follow a spoilt beginning: cumsum tells
    whether a mistake came before.""")
wrong(
    "only after a single mistake",
    {"wrong.long().cumsum(1) - wrong.long() > 0": "wrong.long().cumsum(1) - wrong.long() == 1"},
).says("""
    You asked for exactly *one* mistake in front (== 1). After a second one a place is no less spoilt: at least one, >
    0.""")
wrong(
    "mistakes of other sentences", {"wrong.long().cumsum(1) - wrong.long()": "wrong.long().cumsum(0) - wrong.long()"}
).says("""
    You ran the sum over the batch. Each sentence has its own first mistake: cumsum along axis 1.""")
wrong("counted from the end", {_SPOILT: "wrong.long().flip(1).cumsum(1).flip(1) - wrong.long() > 0"}).says("""
    You marked what stands *before* the mistakes. Reading goes from left to right: a place is spoilt when a mistake
    came before it.""")
wrong(
    "mean of the sentences' rates",
    {
        "(wrong & right_before).sum().item() / max(right_before.sum().item(), 1)": "((wrong & right_before).sum(1) / right_before.sum(1).clamp(min=1)).mean().item()",
        "(wrong & wrong_before).sum().item() / max(wrong_before.sum().item(), 1)": "((wrong & wrong_before).sum(1) / wrong_before.sum(1).clamp(min=1)).mean().item()",
    },
).says("""
    You took a rate for each sentence and then their mean. Pool instead: all mistakes over all places, or a sentence
    with one place weighs as much as one with twenty.""")
wrong(
    "divided by all words",
    {
        "max(right_before.sum().item(), 1)": "real.sum().item()",
        "max(wrong_before.sum().item(), 1)": "real.sum().item()",
    },
).says("""
    You divided by all real words. Each rate has its own places: those with a right beginning, and those with a spoilt
    one.""")
wrong(
    "right words counted",
    {"(wrong & right_before)": "(~wrong & right_before)", "(wrong & wrong_before)": "(~wrong & wrong_before)"},
).says("""
    You counted the words that were right. Wanted are the shares that are *wrong*.""")
wrong(
    "nothing to divide by",
    {
        "max(right_before.sum().item(), 1)": "right_before.sum().item()",
        "max(wrong_before.sum().item(), 1)": "wrong_before.sum().item()",
    },
).says("""
    Where no place follows a mistake you divided by 0. With nothing to count the rate is 0.""")
wrong(
    "nothing to divide by: NaN",
    {
        "before = (wrong & right_before).sum().item() / max(right_before.sum().item(), 1)": "before = ((wrong & right_before).sum() / right_before.sum()).item()",
        "after = (wrong & wrong_before).sum().item() / max(wrong_before.sum().item(), 1)": "after = ((wrong & wrong_before).sum() / wrong_before.sum()).item()",
    },
).says("""
    Where no place follows a mistake your rate is 0/0 = NaN. With nothing to count the rate is 0.""")
wrong("results swapped", {"return before, after": "return after, before"}).says("""
    You returned `after` first. Wanted are (before, after).""")
wrong(
    "counts, not rates", {" / max(right_before.sum().item(), 1)": "", " / max(wrong_before.sum().item(), 1)": ""}
).says("""
    You returned how many, not which share. Divide by the number of places of each kind.""")
