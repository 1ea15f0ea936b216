"""Lab 11: perplexity, `exp` of the mean loss over the real tokens, which is the `sequence_loss` of lab 1."""

import torch

from misread.exercise import About, Exercise


def perplexity(logits, target, pad):
    """exp of the mean loss over the real tokens: (B, T, V), (B, T) -> one number for the batch."""
    losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, T)
    real = target != pad  # (B, T)
    return (losses.where(real, 0).sum() / real.sum()).exp().item()


def _texts(draw):
    batch, length, words = draw.sizes(3, never_one={2})  # the only word would be the padding
    pad = 0 if draw.number == 0 else draw.integer(1, words)
    for B, T in ((batch, length), (2, 3), (1, length)):
        target = (pad + 1 + draw.integers(0, words - 1, B, T)) % words  # no padding yet
        target = target.where(torch.arange(T) < draw.lengths(B, T)[:, None], pad)
        yield 2 * draw.normal(B, T, words), target, pad
    target = (pad + 1 + draw.integers(0, words - 1, 2, 3)) % words
    target[0, 2], target[1] = pad, pad  # one sentence is nothing but padding
    yield draw.normal(2, 3, words), target, pad
    yield torch.zeros(2, 2, words, dtype=torch.float64), (target[:2, :2] * 0 + pad + 1) % words, pad  # all words alike
    sure = 760 + draw.integer(0, 9) + torch.zeros(1, dtype=torch.float64)  # e^-760 is 0 in float64
    row = torch.stack([0 * sure, sure, -sure], 1)  # (1, 3)
    yield row.expand(6, 10, 3), torch.tensor(55 * [1] + [2] + 4 * [1]).view(6, 10), 0  # sure, and wrong once


PERPLEXITY = Exercise(
    perplexity,
    cases=_texts,
    gradients=False,
    canonical=lambda result, *args: (
        result.item() if isinstance(result, torch.Tensor) and result.numel() == 1 else result
    ),
    about=About(points=2, minutes=10, difficulty=2, read_again="What GPT is trained to do"),
)

must = PERPLEXITY.properties


def _far_apart(result, logits, target, pad):
    """No loss is less than the largest logit of its position less that of the right token."""
    losses = logits.amax(-1) - logits.gather(2, target[..., None])[..., 0]
    return logits.abs().max() < 50 or result >= 0.999 * losses[target != pad].mean().exp()


must("at least 1", lambda result, *args: result >= 1 - 1e-9).says("""
    A perplexity is at least 1. It is 1 only if the model gives every right token the probability 1.""")
must(
    "V where all tokens are equally likely",
    lambda result, logits, target, pad: bool(logits.any()) or abs(result - logits.shape[-1]) < 1e-6,
).says("""
    A model that gives all V tokens the same probability must have a perplexity of V.""")

must("no loss is cut off", _far_apart).says("""
    −ln p is at least as large as the largest logit of the position less the logit of the right token, and your
    perplexity is smaller than that. A small number added before the logarithm, or a `clamp`, would cut off the loss of
    very improbable tokens; `log_softmax` needs neither.""")

_MEAN = "losses.where(real, 0).sum() / real.sum()"
_LOSSES = 'torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none")'
_RIGHT = "gather(2, target[..., None])[..., 0]"

wrong = PERPLEXITY.mistakes
wrong("the mean loss itself", {".exp()": ""}).says("""
    You returned the mean loss in nats. The perplexity is `exp` of this mean, the number of equally likely tokens
    among which a model would be just as uncertain.""")
wrong("exp before the mean", {_MEAN: "losses.exp().where(real, 0).sum() / real.sum()", ").exp()": ")"}).says("""
    You took `exp` of each loss and then the mean, so that one improbable token decides the result. Take the mean
    of the losses first and `exp` of it at the end.""")
wrong(
    "a perplexity per sentence", {_MEAN: "losses.where(real, 0).sum(1) / real.sum(1)", ".exp()": ".exp().nanmean()"}
).says("""
    You took the perplexity of each row and then their mean, so that short rows count too much. One mean over all
    real tokens of the batch stands in the exponent.""")
wrong(
    "a perplexity per sentence, NaN for an empty row",
    {_MEAN: "losses.where(real, 0).sum(1) / real.sum(1)", ".exp()": ".exp().mean()"},
).says("""
    You took the perplexity of each row and then their mean. Short rows then count too much, and a row of padding gives
    0 / 0. One mean over all real tokens of the batch stands in the exponent.""")
wrong(
    "a perplexity per sentence, 1 for an empty row",
    {_MEAN: "losses.where(real, 0).sum(1) / real.sum(1).clamp(min=1)", ".exp()": ".exp().mean()"},
).says("""
    You took the perplexity of each row, which is 1 for a row of padding, and then their mean. One mean over all real
    tokens of the batch stands in the exponent.""")
wrong(
    "mean of the rows' means, NaN for an empty row", {_MEAN: "(losses.where(real, 0).sum(1) / real.sum(1)).mean()"}
).says("""
    You averaged each row, where a row of padding gives 0 / 0, and then took the mean of these averages. Sum over all
    real tokens of the batch, and divide once by their number.""")
wrong("mean of the rows' means", {_MEAN: "(losses.where(real, 0).sum(1) / real.sum(1)).nanmean()"}).says("""
    You took the mean of each row, and then the mean over the rows. A token in a short row then counts more than
    one in a long row: sum over all real tokens of the batch, and divide once.""")
wrong(
    "mean of the rows' means, 0 for an empty row",
    {_MEAN: "(losses.where(real, 0).sum(1) / real.sum(1).clamp(min=1)).mean()"},
).says("""
    You averaged the rows first, with 0 for a row of padding, and then took the mean of these averages. Each real token
    must count the same: sum over all of them, and divide once by their number.""")
wrong(
    "one over the mean probability", {f"({_MEAN}).exp()": "1 / ((-losses).exp().where(real, 0).sum() / real.sum())"}
).says("""
    You averaged the probabilities and took one over the mean. In a text probabilities are multiplied, so average
    their logarithms and apply `exp` at the end.""")
wrong("the most probable tokens", {_LOSSES: "-logits.log_softmax(-1).amax(-1)"}).says("""
    You took the probability of the token that the model prefers at each position. Perplexity is about the *right*
    token: pick its probability with `gather`, whatever the model prefers.""")
wrong("the entropy", {_LOSSES: "-(logits.log_softmax(-1) * logits.softmax(-1)).sum(-1)"}).says("""
    You took the entropy of the model's distribution, which does not depend on the text. Perplexity is about the *right*
    token: pick its logarithm with `gather`.""")
wrong("the share of wrong tokens", {f"({_MEAN}).exp()": "(logits.argmax(-1) != target)[real].double().mean()"}).says("""
    You counted how often the most probable token is wrong, which is an error rate. Perplexity is `exp` of the mean of
    −ln p over the real tokens, where p is the probability of the right token.""")
wrong("the share of right tokens", {f"({_MEAN}).exp()": "(logits.argmax(-1) == target)[real].double().mean()"}).says("""
    You counted how often the most probable token is right, which is the accuracy. Perplexity is `exp` of the mean of
    −ln p over the real tokens, where p is the probability of the right token.""")
wrong("softmax over the batch", {_LOSSES: f"-logits.log_softmax(0).{_RIGHT}"}).says("""
    Your softmax runs over the sentences of the batch. At each position the probabilities of the V tokens sum to 1, so
    it runs over the last axis.""")
wrong(
    "all targets at each position", {_LOSSES: "-logits.log_softmax(-1)[..., target]", _MEAN: "losses[real].mean()"}
).says("""
    You indexed the last axis with the whole `target`, which picks the tokens of *all* positions at each position.
    `gather` along the last axis picks one: that of the position itself.""")
wrong("softmax over the positions", {_LOSSES: f"-logits.log_softmax(1).{_RIGHT}"}).says("""
    Your softmax runs over the positions. At each position the probabilities of the V tokens sum to 1, so it runs over
    the last axis.""")
wrong("only the first row", {_MEAN: "losses[0].where(real[0], 0).sum() / real[0].sum()"}).says("""
    Your result depends on the first row of the batch only. The mean runs over the real tokens of all rows.""")
wrong("2 to the nats", {").exp()": ").exp2()"}).says("""
    You raised 2 to the loss, but the loss is in nats, to the base e. Use `exp`, or divide the loss by
    ln 2 first to have bits.""")
wrong("one over the perplexity", {f"({_MEAN})": f"(-{_MEAN})"}).says("""
    Your result is the inverse, the geometric mean of the probabilities. The logarithms of probabilities are
    negative, so a minus sign belongs before them.""")
wrong("padding counted", {_MEAN: "losses.mean()"}).says("""
    You took the mean over all positions, including padding. Only real tokens may count, in the sum and in their
    number.""")
wrong("divided by all positions", {"real.sum()": "real.numel()"}).says("""
    You left the padding out of the sum, but divided by the number of all positions. Divide by the number of real
    tokens, because otherwise a batch with more padding seems to be easier.""")
wrong("divided by the number of sentences", {"real.sum()": "len(target)"}).says("""
    You divided the sum of the losses by the number of sentences. The mean is taken per token: divide by the number of
    real tokens in the batch.""")
wrong("padding summed, but not counted", {_MEAN: "losses.sum() / real.sum()"}).says("""
    You divided by the number of real tokens, but the sum contains the losses of padding as well. Set these to 0, or
    leave them out, before you sum.""")
wrong("summed, not averaged", {_MEAN: "losses.where(real, 0).sum()"}).says("""
    You took `exp` of the sum of the losses, which is one over the probability of the whole text. Divide the sum by
    the number of real tokens first.""")
wrong(
    "shifted once more",
    {"logits.transpose(1, 2), target": "logits[:, :-1].mT, target[:, 1:]", "target != pad": "target[:, 1:] != pad"},
).says("""
    You compared the logits of each position with the target of the next one. `target` is shifted already
    (`language_model_targets`), so position t belongs to position t.""")
wrong("pad taken to be 0", {"target != pad": "target != 0"}).says("""
    You left out the token with the number 0. The number that stands for padding is given by the argument `pad`,
    and here it is another one.""")
wrong("no softmax", {_LOSSES: f"-logits.{_RIGHT}"}).says("""
    You used the logits as if they were logarithms of probabilities. Only `log_softmax` over the last axis makes
    them such.""")
wrong("softmax twice", {"cross_entropy(logits.": "cross_entropy(logits.softmax(-1)."}).says("""
    You applied a softmax before `cross_entropy` (or before `log_softmax`), which contains a softmax already. Give
    it the logits as they are.""")
wrong("log of a rounded softmax", {_LOSSES: f"-logits.softmax(-1).{_RIGHT}.log()"}).says("""
    You computed the softmax first and its logarithm afterwards. When the model is very sure of another token, the
    probability of the right one is rounded to 0, and its logarithm is −∞. Use `log_softmax`, which computes the
    logarithm from the logits without this intermediate result.""")
wrong("a small number before the logarithm", {_LOSSES: f"-(logits.softmax(-1).{_RIGHT} + 1e-9).log()"}).says("""
    You added 1e-9 to the probabilities before the logarithm, so that no loss is larger than 20.7 nats. The loss of
    a very improbable token is larger than that: use `log_softmax`, which needs no such number.""")
wrong("reshaped, not transposed", {"transpose(1, 2)": "reshape(len(logits), -1, target.shape[1])"}).says("""
    You made (B, V, T) out of (B, T, V) with `view` or `reshape`, which keeps the order of the numbers and only
    divides them into rows anew. Exchange the axes with `transpose(1, 2)`.""")
