"""Answers that came near to passing, or passed once: slips that no list of mistakes foresees."""

import torch
from torch.nn import functional as F


def word_losses(logits, target):
    return -logits.log_softmax(-1).gather(2, target[..., None])[..., 0]


def largest_of_all(logits, target, pad):
    e = (logits - logits.max()).exp()
    p = e / e.sum(-1, keepdim=True)
    return -p.gather(2, target[..., None])[..., 0][target != pad].log().mean()


def sentence_by_sentence(logits, target, pad):
    pairs = zip(logits, target, strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).mean()


def step_by_step(logits, target, pad):
    pairs = zip(logits.unbind(1), target.unbind(1), strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).nanmean()


def shifted_again(logits, target, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad)


def closes_the_pad_logit(logits, target, pad):
    logits[..., pad] = -1e9
    return word_losses(logits, target)[target != pad].mean()


def clamps(logits, target, pad):
    return word_losses(logits, target)[target != pad].clamp(max=100).mean()


def smooths(logits, target, pad):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad, label_smoothing=1e-3)


def in_single_precision(logits, target, pad):
    return word_losses(logits.float(), target)[target != pad].mean()


def counts_the_first_padding(logits, target, pad):
    return word_losses(logits, target)[(target == pad).long().cumsum(1) < 2].mean()


def drops_end_symbols(target, bos):
    rows = [[bos] + [word for word in row[:-1] if word != 2] for row in target.tolist()]
    return torch.tensor([row + [0] * (target.shape[1] - len(row)) for row in rows])


WRONG = {
    "sequence_loss": [largest_of_all, sentence_by_sentence, step_by_step, shifted_again, closes_the_pad_logit]
    + [clamps, smooths, in_single_precision, counts_the_first_padding],
    "shift_right": [drops_end_symbols],
}
NAMED = {
    sentence_by_sentence: "mean of the sentences' means",
    shifted_again: "shifted once more",
    closes_the_pad_logit: "changes its input",
    in_single_precision: "another dtype",
}
