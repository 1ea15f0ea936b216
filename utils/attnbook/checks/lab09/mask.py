"""Lab 9, third part: what a decoder's words may look at."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


def decoder_mask(target, pad):
    length = target.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()  # (T, T)
    real = target != pad  # (B, T)
    return past & real[:, None, :]  # (B, T, T)


def _sentences(draw):
    batch, length = draw.sizes(2, low=3)
    for B, T in ((batch, length), (3, 3), (1, length)):
        pad = 0 if B == 1 else draw.integer(0, 4)
        target = pad + draw.integers(1, 9, B, T)  # no padding
        target[-1, -1] = pad  # behind
        if B > 1:
            target[0, :2] = pad  # in front: nothing to look at for the first words
            target[-1, 0] = 0 if pad else 1  # another word with a small number
            target[1, 1] = pad  # and between
        yield target, pad
    yield torch.full((2, 3), 5), 5  # padding throughout
    yield draw.integers(1, 9, batch, 1), 0  # one word each
    large = 2 ** draw.integers(8, 17, batch, length + 2)  # large numbers of words, not padding
    large[0, -1] = 0
    yield large, 0
    if draw.number == 1:
        long = draw.integers(1, 9, 2, 80)
        long[1, -5:] = 0
        yield long, 0


DECODER_MASK = Exercise(
    decoder_mask,
    cases=_sentences,
    properties=[
        Property(
            "nothing later",
            "A word may not look at what comes after it: above the diagonal all must be False.",
            lambda result, target, pad: not torch.as_tensor(result).bool().triu(1).any(),
        ),
        Property(
            "no padding",
            "No word may look at padding: the columns of places that hold `pad` must be False.",
            lambda result, target, pad: not (result.bool() & (target == pad)[:, None, :]).any(),
        ),
        Property(
            "real words see themselves",
            "A real word may look at itself: True on the diagonal.",
            lambda result, target, pad: result.bool().diagonal(dim1=1, dim2=2)[target != pad].all(),
        ),
    ],
)

_MASK = "mask = past & real[:, None, :]\n    "
_OPENED = _MASK + "return mask | ~mask.any(-1, keepdim=True)"
_ADDED = _MASK + "return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)"

wrong = DECODER_MASK.mistakes
wrong("all the wrong way round", {"past & real[:, None, :]": "~(past & real[:, None, :])"}).says("""
    Your mask is True where a word may *not* look. That is how torch's `attn_mask` counts; in this book True means
    *may attend*.""")
wrong("padding opened instead of closed", {"target != pad": "target == pad"}).says("""
    You opened the columns of padding and closed those of real words. `real` is `target != pad`.""")
wrong("looks ahead", {".tril()": ".triu()"}).says("""
    Each word may look at itself and what comes *after*, the very word that it is to write. Row = who looks, column =
    who is looked at: the lower triangle, `tril`.""")
wrong("one word too far", {".tril()": ".tril(1)"}).says("""
    Each word also sees the next one. The decoder's input is shifted already, so that next word is exactly what it is
    to write: the loss will fall to zero and nothing is learnt. Stop at the diagonal.""")
wrong("not even itself", {".tril()": ".tril(-1)"}).says("""
    No word may look at itself in your mask. It may: the decoder's input is shifted already, so what stands at its
    place is the word *before* the one that it writes. And the first word would see nothing at all.""")
wrong("causal only", {"past & real[:, None, :]": "past.expand(len(target), -1, -1)"}).says("""
    Your mask hides the future but not the padding.""")
wrong("padding closed as query", {"real[:, None, :]": "real[:, :, None]"}).says("""
    You closed the *rows* of padding. What must be closed are its columns: padding is nothing to look at. real[:,
    None, :] goes along the keys.""")
wrong("padding closed as query too", {"real[:, None, :]": "real[:, None, :] & real[:, :, None]"}).says("""
    You closed rows and columns of padding. Only the columns are asked for: what padding itself looks at harms nobody,
    since the loss leaves it out.""")
wrong("lengths counted", {"target != pad": "torch.arange(length) < (target != pad).sum(1, keepdim=True)"}).says("""
    You counted the real words and opened as many places from the left. Padding may also stand in front or between.
    Ask each place: `target != pad`.""")
wrong("diagonal always open", {"& real[:, None, :]": "& (real[:, None, :] | torch.eye(length).bool())"}).says("""
    You opened the diagonal for padding too, so that no row is empty. There is no need: our attention gives zeros
    where there is nothing to look at, and no padding may be looked at.""")
wrong("empty rows opened", {"return past & real[:, None, :]": _OPENED}).says("""
    Where a word has nothing to look at you opened the row again, against NaN. There is no need: our attention gives
    zeros there, and no padding may be looked at.""")
wrong("0 and −∞ instead of True and False", {"return past & real[:, None, :]": _ADDED}).says("""
    You returned numbers to add to scores, 0 and −∞. In this book a mask is boolean, True = may attend.""")
