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
        yield draw.integers(9, 30, 3, 2), bos  # two columns can be joined along either axis


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
    All your inputs are bos. If bos is written first and the words are moved within the same tensor, each column copies
    the one that was overwritten just before, in a loop from the left as with slices: read from `target` itself, and
    write into a new tensor.""")
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
wrong("bos behind the words", {"[start, target[:, :-1]]": "[target[:, :-1], start]"}).says("""
    You put `bos` behind the words, where the last word was. It is the decoder's first input, so it stands in front of
    them. `cat` joins its tensors in the order in which the list names them.""")
wrong("joined along the batch", {"dim=1": "dim=0"}).says("""
    You joined the column of `bos` and the words along axis 0, which is the default of `cat`. Then the words stand
    below the column. They stand beside it with `dim=1`, because axis 1 is time.""")
wrong("end symbol left out", {"target[:, :-1]": "target[:, :-1].masked_fill(target[:, :-1] == 2, 0)"}).says("""
    You left the end symbol out of the decoder's inputs. It is shifted like a word, and so is padding: only the last
    column of the target is left out, whatever stands in it.""")
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
    Each word was overwritten before it had been moved itself, as happens in a loop from the left, or with
    `x[:, 1:] = x[:, :-1]`, which reads what it has just written. Read from the target as it was given, and write into
    a new tensor.""")


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
    logits = torch.stack([sure / 1000, sure, -sure], 2).expand(2, 1, 3)
    far = torch.tensor([[[0.0]], [[3000.0]]])  # sentence 1 lies far below, which changes no probability
    yield logits - far, torch.tensor([[2], [1]]), PAD
    square = torch.tensor([[1, 2, 1], [2, 3, 3], [2, 1, 3]])  # rows and steps mixed up give no error
    yield draw.normal(3, 3, 4), square, 3


SEQUENCE_LOSS = Exercise(
    sequence_loss,
    cases=_padded_batches,
    about=About(points=2, minutes=20, difficulty=2, read_again="Training: teacher forcing"),
)

must = SEQUENCE_LOSS.properties
must("a wrong word costs its logit", lambda result, *args: not 0 <= result < 100 or _losses(*args).max() < 100).says("""
    Where the model is sure and wrong, the loss is as large as the difference of the logits, here in the hundreds, and
    yours is smaller. Take the probability of the *right* word, and use `log_softmax` on the logits: nothing has to be
    clamped, and no small number added, before the logarithm.""")
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
LOG, FIRST = "logits.transpose(1, 2), target", "logits[:1].mT, target[:1]"
PROBABILITY = "(-losses).exp().where(real, 0).sum()"
wrong("log of the mean probability", {MEAN: f"-({PROBABILITY} / real.sum()).log()"}).says("""
    You averaged the probabilities and took the logarithm of the mean. The loss is the mean of the single −log p: a word
    that the model thinks impossible must count in full.""")
wrong("padding counted", {MEAN: "losses.mean()"}).says("""
    You took the mean over all positions, including padding. Then a model reaches a low loss by predicting padding,
    which is easy. Only real words may count, in the sum and in their number.""")
wrong("only the first sentence", {LOG: FIRST, "target != pad": "target[:1] != pad"}).says("""
    Your result is the loss of the first sentence alone. The mean goes over the real words of the whole batch. If you
    wrote a loop over the sentences, `return` stands behind it and not in it.""")
wrong("padding in the sum", {"losses.where(real, 0)": "losses"}).says("""
    You divided by the number of real words, but the losses at the padding are still in the sum. Padding counts neither
    in the sum nor in its number: set these losses to 0, or keep only those of real words.""")
wrong("divided by all positions", {"real.sum()": "real.numel()"}).says("""
    You left the padding out of the sum, but divided by B · T, the number of all positions. Divide by the number of
    real words, or the loss becomes smaller when there is more padding.""")
wrong("divided by the sentences", {"real.sum()": "len(real)"}).says("""
    You divided the sum by B, the number of sentences. Then the loss grows with the length of the sentences. Divide by
    the number of real words in the batch.""")
wrong("divided by the steps", {"real.sum()": "real.shape[1]"}).says("""
    You divided the sum by T, the number of steps. Then the loss grows with the number of sentences in the batch. Divide
    by the number of real words in the batch.""")
wrong("summed, not averaged", {" / real.sum()": ""}).says("""
    You summed the losses of the real words, but did not divide. Then the size of the loss, and of each training step,
    depends on the number of words in the batch.""")
wrong("mean of the sentences' means", {MEAN: "(losses.where(real, 0).sum(1) / real.sum(1)).mean()"}).says("""
    You took the mean of each sentence, and then the mean over the sentences. A word in a short sentence then counts
    more than a word in a long one. Sum over all real words of the batch, and divide once.""")
wrong("mean of the steps' means", {MEAN: "(losses.where(real, 0).sum(0) / real.sum(0)).nanmean()"}).says("""
    You took the mean of each step, and then the mean over the steps. Few sentences are left at late steps, so their
    words count more than others. Sum over all real words of the batch, and divide once.""")
EVERY = """
log_p = logits.log_softmax(-1)[:, :, target]  # (B, T, B, T)
real = target != pad
return -(log_p * real).sum() / real.sum()"""
wrong("every step with every word", EVERY).says("""
    You wrote `[:, :, target]`, which selects the entries of all B · T words at each step and gives (B, T, B, T). Each
    step needs only its own word: `gather(2, target[..., None])[..., 0]`.""")
wrong("(B, T, 1) against (B, T)", {MEAN: "(losses[..., None] * real).sum() / real.sum()"}).says("""
    After `gather` your losses have the shape (B, T, 1). Multiplied with a mask (B, T), they are broadcast to another
    table than the one you want. Remove the last axis first, with `[..., 0]`.""")
wrong("shifted once more", {LOG: "logits[:, :-1].mT, target[:, 1:]", "target != pad": "target[:, 1:] != pad"}).says("""
    You compared the logits of each step with the word of the next step. The shift is already in the decoder's *input*
    (`shift_right`), so the logits at step t belong to word t of the target.""")
wrong("shifted back", {LOG: "logits[:, 1:].mT, target[:, :-1]", "target != pad": "target[:, :-1] != pad"}).says("""
    You compared the logits of each step with the word of the step before, which the decoder has just read. The logits
    at step t belong to word t of the target.""")
wrong(
    "first word not counted", {LOG: "logits[:, 1:].mT, target[:, 1:]", "target != pad": "target[:, 1:] != pad"}
).says("""
    You left out the first word. The targets of this book do not begin with `bos`, so their first word is a real word,
    which the decoder has to predict.""")
wrong(
    "last word not counted", {LOG: "logits[:, :-1].mT, target[:, :-1]", "target != pad": "target[:, :-1] != pad"}
).says("""
    You left out the last step. The decoder predicts a word at each of the T steps, and in the longest sentences of the
    batch the last one is the end symbol, which counts.""")
wrong("end symbol not counted", {"target != pad": "(target != pad) & (target != 2)"}).says("""
    You left out the word with the number 2, the end symbol, as if it were padding. It is real, because the decoder has
    to predict when the sentence ends. Only `pad` is left out.""")
wrong("only numbers above pad", {"target != pad": "target > pad"}).says("""
    You kept the words whose number is greater than `pad`. But `pad` may be any number of the vocabulary: a word is
    real if its number differs from `pad`.""")
wrong("only the padding counts", {"target != pad": "target == pad"}).says("""
    Your mask is inverted: you took the mean over the padding and left out the real words. A word is real if its
    number differs from `pad`.""")
wrong("pad taken to be 0", {"target != pad": "target != 0"}).says("""
    You left out the word with the number 0. The number that stands for padding is given by the argument `pad`, and
    here it is another one.""")
MASKED = {"cross_entropy(logits.": "cross_entropy((logits * (target != pad)[..., None])."}
wrong("logits of the padding set to 0", MASKED | {MEAN: "losses.sum() / real.sum()"}).says("""
    You set the logits at the padding to 0, but logits of 0 are a prediction, too: each word has the probability 1/V
    there, and the loss is log V. Set the *losses* at the padding to 0 before you sum.""")
wrong("logits of the padding set to 0, mean over all", MASKED | {MEAN: "losses.mean()"}).says("""
    You set the logits at the padding to 0 and took the mean over all positions. Logits of 0 are a prediction with the
    loss log V, so the padding still counts. Leave out its losses, in the sum and in the number of words.""")
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
IMPOSSIBLE = "cross_entropy(logits.index_fill(2, torch.tensor(pad), -torch.inf)."
wrong("padding made impossible", {"cross_entropy(logits.": IMPOSSIBLE}).says("""
    You took the word `pad` out of the softmax. The padding is left out as a *target* only: the probabilities of all V
    words sum to one at each step, and the model has to learn by itself that `pad` is not among the real words.""")
ALL_WORDS = "-logits.log_softmax(-1).{}(-1)"
wrong("mean over the vocabulary", {LOG_P: ALL_WORDS.format("mean")}).says("""
    You took the mean of −log p over all V words. Only the *right* word of each step counts: select its entry by
    `target`, for example with `gather`.""")
wrong("sum over the vocabulary", {LOG_P: ALL_WORDS.format("sum")}).says("""
    You summed −log p over all V words. Only the *right* word of each step counts: select its entry by `target`, for
    example with `gather`, before you sum.""")
wrong("the model's word, not the target's", {LOG_P: ALL_WORDS.format("amax")}).says("""
    You took the probability of the word that the model prefers. The loss asks for the probability of the *right* word,
    whose number is in `target`.""")
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
