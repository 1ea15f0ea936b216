"""Answers that came near to passing, or passed once: slips that no list of mistakes foresees."""

import torch
from torch.nn import functional as F


def word_losses(logits, target):
    return -logits.log_softmax(-1).gather(2, target[..., None])[..., 0]


def sentence_by_sentence(logits, target, pad):
    pairs = zip(logits, target, strict=True)
    return torch.stack([F.cross_entropy(*pair, ignore_index=pad) for pair in pairs]).mean()


def in_single_precision(logits, target, pad):
    return word_losses(logits.float(), target)[target != pad].mean()


def drops_end_symbols(target, bos):
    rows = [[bos] + [word for word in row[:-1] if word != 2] for row in target.tolist()]
    return torch.tensor([row + [0] * (target.shape[1] - len(row)) for row in rows])


WRONG = {
    "sequence_loss": {
        "sentence by sentence": sentence_by_sentence,
        "clamps": lambda logits, target, pad: word_losses(logits, target)[target != pad].clamp(max=100).mean(),
        "in single precision": in_single_precision,
    },
    "shift_right": [drops_end_symbols],
}
NAMED = {sentence_by_sentence: "mean of the sentences' means", in_single_precision: "another dtype"}
