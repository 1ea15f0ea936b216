"""Lab 1: the bottleneck. A number translator that forgets."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..engine.exercise import Exercise, Property

PAD, BOS, EOS = 0, 1, 2


def shift_right(target, bos):
    start = torch.full_like(target[:, :1], bos)  # (B, 1)
    return torch.cat([start, target[:, :-1]], dim=1)  # (B, T)


def _targets(draw):
    batch, length = draw.sizes(2)
    bos = BOS if draw.number < 2 else draw.integer(3, 9)  # the symbol's number is an argument, not always 1
    yield draw.integers(9, 30, batch, length), bos
    if draw.number == 1:  # sentences of two lengths, with end symbols and padding: they are shifted as they are
        yield torch.tensor([[11, 12, EOS, PAD], [13, 14, 15, EOS]]), bos


SHIFT_RIGHT = Exercise(
    shift_right,
    cases=_targets,
    properties=[
        Property(
            "starts with bos",
            "The decoder's first input is `bos` in every row: it has said nothing yet.",
            lambda result, target, bos: (result[:, 0] == bos).all(),
        ),
        Property(
            "input t is target t − 1",
            "At step t the decoder reads what it should have said at step t − 1.",
            lambda result, target, bos: (result[:, 1:] == target[:, :-1]).all(),
        ),
    ],
)

wrong = SHIFT_RIGHT.mistakes
wrong("not shifted", "return target").says("""
    You gave back the target as it is. Then the decoder reads at step t the very word it has to say at step t, and
    learns to copy. Its input must be one step late.""")
wrong("shifted to the left", "return torch.cat([target[:, 1:], torch.full_like(target[:, :1], bos)], 1)").says("""
    You put `bos` at the end, so the decoder reads at step t the word of step t + 1: the future. Move the words one
    place to the right; `bos` comes first.""")
wrong("last word came round", "return target.roll(1, dims=1)").says("""
    You rolled the row, so its last word came round to the front: the decoder is told how the sentence ends. The first
    input is `bos`.""")
wrong("shifted along the batch", "return torch.cat([torch.full_like(target[:1], bos), target[:-1]], 0)").says("""
    You shifted the rows: sentence b got the words of sentence b − 1. The batch is axis 0, time is axis 1.""")
FROM_THE_LEFT = """
moved = target.clone()
for t in range(1, target.shape[1]):
    moved[:, t] = moved[:, t - 1]
moved[:, 0] = bos
return moved"""
wrong("the first word everywhere", FROM_THE_LEFT).says("""
    You moved the words one by one from the left, so each overwrote the next before that had moved. Copy from the
    target as it was.""")


def sequence_loss(logits, target, pad):
    losses = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, T)
    real = target != pad  # (B, T)
    return losses.where(real, 0).sum() / real.sum()


def _padded_batches(draw):
    batch, length, words = draw.sizes(3)
    pad = PAD if draw.number == 0 else draw.integer(1, words)
    target = (pad + 1 + draw.integers(0, words - 1, batch, length)) % words  # no padding yet
    lengths = draw.lengths(batch, length)
    target = target.where(torch.arange(length) < lengths[:, None], pad)
    yield 2 * draw.normal(batch, length, words), target, pad
    sure = 900 + draw.normal(1, 1)  # e^-900 is 0 in float64
    logits = torch.stack([0 * sure, sure, -sure], 2).expand(2, 1, 3)
    far = torch.tensor([[[0.0]], [[3000.0]]])  # sentence 1 lies far below, which changes no probability
    yield logits - far, torch.tensor([[2], [1]]), PAD


SEQUENCE_LOSS = Exercise(
    sequence_loss,
    cases=_padded_batches,
    tolerance=1e-9,
    properties=[
        Property(
            "a wrong word costs its logit",
            "Where the model is sure and wrong, the loss is as large as the gap between the logits, here in the "
            "hundreds. A probability that was clamped, or had a little added, before the logarithm makes it small: "
            "use log_softmax on the logits.",
            lambda result, *args: result > 100 or _losses(*args).max() < 100,
        ),
        Property(
            "not negative",
            "A negative log-likelihood is never below zero: log of a probability, times −1.",
            lambda result, logits, target, pad: result >= 0,
        ),
        Property(
            "a mean over the real words",
            "The mean lies between the smallest and the largest loss of a real word; yours does not. What is summed, "
            "and what is it divided by?",
            lambda result, *args: _losses(*args).min() - 1e-6 <= result <= _losses(*args).max() + 1e-6,
        ),
    ],
)

MEAN = "losses.where(real, 0).sum() / real.sum()"
wrong = SEQUENCE_LOSS.mistakes
wrong("padding counted", {MEAN: "losses.mean()"}).says("""
    You averaged over all places, padding too. A model then earns its low loss by saying “nothing” after the end. Only
    real words count.""")
wrong("divided by all places", {"real.sum()": "real.numel()"}).says("""
    You left the padding out of the sum, but divided by B · T, all places. Divide by the number of real words, or the
    loss shrinks as padding grows.""")
wrong("summed, not averaged", {" / real.sum()": ""}).says("""
    You summed over the real words and did not divide. Then the learning rate means something else for each batch.""")
wrong("mean of the sentences' means", {MEAN: "(losses.where(real, 0).sum(1) / real.sum(1)).mean()"}).says("""
    You averaged within each sentence and then over the sentences, so a word of a short sentence weighs more. Every
    real word of the batch has the same weight.""")
wrong("mean of the steps' means", {MEAN: "(losses.where(real, 0).sum(0) / real.sum(0)).nanmean()"}).says("""
    You averaged at each step and then over the steps. At late steps few sentences are left, and their words weigh
    more. Sum over all real words, divide once.""")
wrong(
    "shifted once more",
    {"logits.transpose(1, 2), target": "logits[:, :-1].mT, target[:, 1:]", "target != pad": "target[:, 1:] != pad"},
).says("""
    You compared step t with word t + 1. The shift is in the decoder's *input* already (`shift_right`): what it says
    at step t belongs to target t.""")
wrong("only numbers above pad", {"target != pad": "target > pad"}).says("""
    You kept the words whose number is greater than `pad`. The padding's number is one like any other: real is what
    differs from it.""")
wrong("only the padding counts", {"target != pad": "target == pad"}).says("""
    Your mask is the wrong way round: you averaged over the padding and left the words out.""")
wrong("pad taken to be 0", {"target != pad": "target != 0"}).says("""
    You left out the word with number 0. Which number stands for padding comes in as `pad`.""")
LOG_P = 'F.cross_entropy(logits.transpose(1, 2), target, reduction="none")'
wrong("log of a rounded softmax", {LOG_P: "-logits.softmax(-1).gather(2, target[..., None])[..., 0].log()"}).says("""
    You took the softmax first and its logarithm afterwards. When the model is sure, the probability of another word
    rounds to 0, and log 0 is −∞. Use log_softmax, or cross_entropy on the logits.""")
wrong("probability, not its logarithm", {LOG_P: "-logits.softmax(-1).gather(2, target[..., None])[..., 0]"}).says("""
    You averaged minus the probabilities. The likelihood of a sentence is a product, its logarithm a sum: take the log
    of each word's probability.""")
wrong("normalised over time", {LOG_P: "-logits.log_softmax(1).gather(2, target[..., None])[..., 0]"}).says("""
    Your softmax runs over the steps of the sentence. At each step the probabilities of the V words must sum to one:
    softmax over the last axis.""")
wrong("reshaped, not transposed", {"transpose(1, 2)": "reshape(len(logits), -1, target.shape[1])"}).says("""
    You turned (B, T, V) into (B, V, T) with view or reshape. That moves no numbers, it only re-cuts them. Use
    transpose(1, 2), or flatten the first two axes.""")


def _losses(logits, target, pad):
    losses = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, T)
    return losses[target != pad]
