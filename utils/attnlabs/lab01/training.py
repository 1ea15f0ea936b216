"""Lab 1, first half: the decoder's inputs and the loss."""

import torch

from misread.exercise import About, Exercise

PAD, BOS, EOS = 0, 1, 2


def shift_right(target, bos):
    """The decoder's inputs under teacher forcing: target (B, T) -> (B, T), one step late, bos first."""
    start = torch.full_like(target[:, :1], bos)  # (B, 1)
    return torch.cat([start, target[:, :-1]], dim=1)  # (B, T)


def _targets(draw):
    batch, length = draw.sizes(2)
    bos = BOS if draw.number < 2 else draw.integer(3, 9)  # the symbol's number is an argument, not always 1
    yield draw.integers(9, 30, batch, length), bos
    if draw.number == 1:  # sentences of two lengths, with end symbols and padding: they are shifted as they are
        yield torch.tensor([[11, 12, EOS, PAD], [13, 14, 15, EOS]]), bos


SHIFT_RIGHT = Exercise(
    shift_right, cases=_targets, about=About(points=1, minutes=8, difficulty=1, read_again="Training: teacher forcing")
)

must = SHIFT_RIGHT.properties
must("starts with bos", lambda result, target, bos: (result[:, 0] == bos).all()).says("""
    The decoder's first input must be `bos` in every row, because no word has been written yet.""")
must("input t is target t − 1", lambda result, target, bos: (result[:, 1:] == target[:, :-1]).all()).says("""
    At each later step the decoder must read the target's word of the step before.""")

wrong = SHIFT_RIGHT.mistakes
wrong("bos everywhere", {"torch.cat([start, target[:, :-1]], dim=1)": "start.expand_as(target)"}).says("""
    All your inputs are bos. In a loop from the left, each column copies the one that was overwritten just before: copy
    from `target` itself, or go from right to left.""")
wrong("not shifted", "return target").says("""
    You returned the target itself. Then the decoder reads at each step the word that it has to predict at this step,
    and it only learns to copy. Its input must be one step late.""")
wrong("shifted to the left", "return torch.cat([target[:, 1:], torch.full_like(target[:, :1], bos)], 1)").says("""
    You moved the words to the left and put `bos` at the end, so at each step the decoder reads a word that comes
    later. Move the words one position to the right, and put `bos` in front.""")
wrong("last word came round", "return target.roll(1, dims=1)").says("""
    You rolled each row, so its last word came to the front. Then the decoder is given the last word at its first
    step. The first input must be `bos`, and the last word is left out.""")
wrong("first word overwritten", {"target[:, :-1]": "target[:, 1:]"}).says("""
    You replaced the first word by `bos` and left the others where they were. Then the first word is lost, and from
    the second step on the decoder reads the word that it has to predict. All words move one position to the right.""")
wrong("shifted along the batch", "return torch.cat([torch.full_like(target[:1], bos), target[:-1]], 0)").says("""
    You shifted the rows, so each sentence received the words of another sentence. Axis 0 is the batch and axis 1 is
    time: shift the columns.""")
FROM_THE_LEFT = """
moved = target.clone()
for t in range(1, target.shape[1]):
    moved[:, t] = moved[:, t - 1]
moved[:, 0] = bos
return moved"""
wrong("the first word everywhere", FROM_THE_LEFT).says("""
    You moved the words one by one from the left, so each word was overwritten before it had been moved itself. Read
    from the target as it was given, and write into a new tensor.""")


def sequence_loss(logits, target, pad):
    """Mean negative log-likelihood of the real words: logits (B, T, V), target (B, T) -> a number (tensor)."""
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, T)
    real = target != pad  # (B, T)
    return losses.where(real, 0).sum() / real.sum()


def _padded_batches(draw):
    batch, length, words = draw.sizes(3, never_one={2})  # the only word would be the padding
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
    about=About(points=2, minutes=20, difficulty=2, read_again="Training: teacher forcing"),
)

must = SEQUENCE_LOSS.properties
must("a wrong word costs its logit", lambda result, *args: result > 100 or _losses(*args).max() < 100).says("""
    Where the model is sure and wrong, the loss is as large as the difference of the logits, here in the hundreds. It
    becomes too small if the probability is clamped, or if a small number is added to it, before the logarithm. Use
    `log_softmax` on the logits.""")
must("not negative", lambda result, logits, target, pad: result >= 0).says("""
    The loss is never below zero, because the logarithm of a probability is never above zero.""")
must(
    "a mean over the real words",
    lambda result, *args: _losses(*args).min() - 1e-6 <= result <= _losses(*args).max() + 1e-6,
).says("""
    The mean must lie between the smallest and the largest loss of a real word, but yours does not. Check what you sum,
    and what you divide by.""")

MEAN = "losses.where(real, 0).sum() / real.sum()"
wrong = SEQUENCE_LOSS.mistakes
PROBABILITY = "(-losses).exp().where(real, 0).sum()"
wrong("log of the mean probability", {MEAN: f"-({PROBABILITY} / real.sum()).log()"}).says("""
    You averaged the probabilities and took the logarithm of the mean. The loss is the mean of the single −log p: a word
    that the model thinks impossible must count in full.""")
wrong("padding counted", {MEAN: "losses.mean()"}).says("""
    You took the mean over all positions, including padding. Then a model reaches a low loss by predicting padding,
    which is easy. Only real words may count, in the sum and in their number.""")
wrong("divided by all positions", {"real.sum()": "real.numel()"}).says("""
    You left the padding out of the sum, but divided by B · T, the number of all positions. Divide by the number of
    real words, or the loss becomes smaller when there is more padding.""")
wrong("divided by the sentences", {"real.sum()": "len(real)"}).says("""
    You divided the sum by B, the number of sentences. Then the loss grows with the length of the sentences. Divide by
    the number of real words in the batch.""")
wrong("summed, not averaged", {" / real.sum()": ""}).says("""
    You summed the losses of the real words, but did not divide. Then the size of the loss, and of each training step,
    depends on the number of words in the batch.""")
wrong("mean of the sentences' means", {MEAN: "(losses.where(real, 0).sum(1) / real.sum(1)).mean()"}).says("""
    You took the mean of each sentence, and then the mean over the sentences. A word in a short sentence then counts
    more than a word in a long one. Sum over all real words of the batch, and divide once.""")
wrong("mean of the steps' means", {MEAN: "(losses.where(real, 0).sum(0) / real.sum(0)).nanmean()"}).says("""
    You took the mean of each step, and then the mean over the steps. Few sentences are left at late steps, so their
    words count more than others. Sum over all real words of the batch, and divide once.""")
wrong("(B, T, 1) against (B, T)", {MEAN: "(losses[..., None] * real).sum() / real.sum()"}).says("""
    After `gather` your losses have the shape (B, T, 1). Multiplied with a mask (B, T), they are broadcast to another
    table than the one you want. Remove the last axis first, with `[..., 0]`.""")
wrong(
    "shifted once more",
    {"logits.transpose(1, 2), target": "logits[:, :-1].mT, target[:, 1:]", "target != pad": "target[:, 1:] != pad"},
).says("""
    You compared the logits of each step with the word of the next step. The shift is already in the decoder's *input*
    (`shift_right`), so the logits at step t belong to word t of the target.""")
wrong("only numbers above pad", {"target != pad": "target > pad"}).says("""
    You kept the words whose number is greater than `pad`. But `pad` may be any number of the vocabulary: a word is
    real if its number differs from `pad`.""")
wrong("only the padding counts", {"target != pad": "target == pad"}).says("""
    Your mask is inverted: you took the mean over the padding and left out the real words. A word is real if its
    number differs from `pad`.""")
wrong("pad taken to be 0", {"target != pad": "target != 0"}).says("""
    You left out the word with the number 0. The number that stands for padding is given by the argument `pad`, and
    here it is another one.""")
LOG_P = 'torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none")'
wrong("log of a rounded softmax", {LOG_P: "-logits.softmax(-1).gather(2, target[..., None])[..., 0].log()"}).says("""
    You computed the softmax first and its logarithm afterwards. When the model is very sure of another word, the
    probability of the right one is rounded to 0, and its logarithm is −∞. Use `log_softmax`, which does not round.""")
wrong("no softmax", {LOG_P: "-logits.gather(2, target[..., None])[..., 0]"}).says("""
    You used the logits as if they were logarithms of probabilities. Logits may be any numbers, and only `log_softmax`
    over the last axis turns them into logarithms of probabilities that sum to one. (`nll_loss` does not do so
    either.)""")
wrong("softmax twice", {"cross_entropy(logits.": "cross_entropy(logits.softmax(-1)."}).says("""
    You applied a softmax before `cross_entropy` (or before `log_softmax`), which contains a softmax already. Give it
    the logits as they are.""")
wrong("probability, not its logarithm", {LOG_P: "-logits.softmax(-1).gather(2, target[..., None])[..., 0]"}).says("""
    You took the mean of minus the probabilities. The loss of a word is minus the *logarithm* of its probability,
    because the probability of a sentence is a product, and the logarithm turns it into a sum.""")
wrong("normalised over time", {LOG_P: "-logits.log_softmax(1).gather(2, target[..., None])[..., 0]"}).says("""
    Your softmax runs over the steps of the sentence. At each step the probabilities of the V words must sum to one,
    so it must run over the last axis.""")
wrong("reshaped, not transposed", {"transpose(1, 2)": "reshape(len(logits), -1, target.shape[1])"}).says("""
    You made (B, V, T) out of (B, T, V) with `view` or `reshape`, which keeps the order of the numbers and only
    divides them into rows anew. Exchange the axes with `transpose(1, 2)`.""")


def _losses(logits, target, pad):
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, T)
    return losses[target != pad]
