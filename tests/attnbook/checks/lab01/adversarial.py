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


def in_single_precision(logits, target, pad):
    return word_losses(logits.float(), target)[target != pad].mean()


def drops_end_symbols(target, bos):
    rows = [[bos] + [word for word in row[:-1] if word != 2] for row in target.tolist()]
    return torch.tensor([row + [0] * (target.shape[1] - len(row)) for row in rows])


WRONG = {
    "sequence_loss": {
        "largest of all": largest_of_all,
        "sentence by sentence": sentence_by_sentence,
        "step by step": step_by_step,
        "shifted again": shifted_again,
        "closes the pad logit": closes_the_pad_logit,
        "clamps": lambda logits, target, pad: word_losses(logits, target)[target != pad].clamp(max=100).mean(),
        "smooths": lambda logits, target, pad: F.cross_entropy(
            logits.mT, target, ignore_index=pad, label_smoothing=1e-3
        ),
        "in single precision": in_single_precision,
        "first padding": lambda logits, target, pad: word_losses(logits, target)[(target == pad).cumsum(1) < 2].mean(),
    },
    "shift_right": [drops_end_symbols],
}
NAMED = {
    sentence_by_sentence: "mean of the sentences' means",
    step_by_step: "mean of the steps' means",
    shifted_again: "shifted once more",
    closes_the_pad_logit: "changes its input",
    in_single_precision: "another dtype",
}
