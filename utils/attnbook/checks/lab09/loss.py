"""Lab 9, sixth part: the loss that the Transformer is trained with."""

from __future__ import annotations

from ..engine.exercise import Exercise, Mistake, Property


def label_smoothing_loss(logits, target, smoothing, pad):
    logs = logits.log_softmax(dim=-1)  # (B, T, V)
    right = logs.gather(-1, target[:, :, None])[:, :, 0]  # (B, T): log-probability of the right word
    even = logs.mean(dim=-1)  # (B, T): of all words, each with 1 / V
    losses = -(1 - smoothing) * right - smoothing * even  # (B, T)
    real = target != pad  # (B, T)
    return (losses * real).sum() / real.sum()


def _sentences(draw):
    batch, length, words = draw.sizes(3, low=3)
    for B, T, V, smoothing in ((batch, length, words, 0.3), (3, 3, 3, 0.2), (1, length, words, 0.1)):
        pad = draw.integer(0, V)
        target = draw.integers(0, V, B, T)
        target[0, 0], target[-1, -2:] = (pad + 1) % V, pad  # of unlike lengths
        target[-1, 0] = (pad + 1) % V
        yield 2 * draw.normal(B, T, V), target, smoothing, pad
    target = 1 + draw.integers(0, words - 1, batch, length)
    yield draw.normal(batch, length, words), target, 0.0, 0  # no smoothing, no padding
    target[0, 1:] = 0
    yield 300 * draw.normal(batch, length, words), target, 0.1, 0  # sure of itself: exp overflows, log 0 is near
    yield draw.normal(batch, length + 1, words), draw.integers(1, words, batch, length + 1), 0.7, 0  # much smoothing


LABEL_SMOOTHING_LOSS = Exercise(
    label_smoothing_loss,
    cases=_sentences,
    tolerance=1e-6,  # one_hot times a number is float32
    properties=[
        Property(
            "positive", "The loss is the mean of negative logarithms of probabilities, so it is never below 0.",
            lambda result, *args: result >= 0,
        ),
        Property(
            "no smoothing, no change",
            "With smoothing 0 it must be the ordinary loss: the mean of −log p(right word) over the real words.",
            lambda result, logits, target, smoothing, pad: smoothing > 0
            or abs(result - label_smoothing_loss(logits, target, 0.0, pad)) < 1e-6,
        ),
    ],
    mistakes=[
        Mistake(
            "no smoothing",
            "You computed the ordinary loss: smoothing does not show. A part of the target's probability, "
            "`smoothing`, is spread evenly over all V words.",
            {"-(1 - smoothing) * right - smoothing * even": "-right"},
        ),
        Mistake(
            "even part forgotten",
            "You gave the right word 1 − smoothing but spread nothing over the vocabulary. What you took away must go "
            "somewhere: the target's probabilities sum to 1.",
            {" - smoothing * even": ""},
        ),
        Mistake(
            "nothing taken from the right word",
            "You added the even part but left the right word its whole probability 1. The target's probabilities must "
            "sum to 1: multiply the right word's part by 1 − smoothing.",
            {"-(1 - smoothing) * right": "-right"},
        ),
        Mistake(
            "even part with the wrong sign",
            "You added smoothing · mean log p. Both parts are *minus* logarithms: −(1 − ε) log p(right) − ε · mean "
            "log p.",
            {"right - smoothing * even": "right + smoothing * even"},
        ),
        Mistake(
            "V − 1 shares over V words",
            "You gave each word, the right one too, smoothing / (V − 1): the target sums to more than 1. Spread over "
            "the *whole* vocabulary, and each word gets smoothing / V.",
            {"even = logs.mean(dim=-1)": "even = logs.sum(-1) / (logs.shape[-1] - 1)"},
        ),
        Mistake(
            "spread over the others",
            "You shared `smoothing` among the V − 1 *other* words. torch and the paper's source (Szegedy and others) "
            "spread it over the whole vocabulary, the right word included: each gets smoothing / V.",
            {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right) / (logs.shape[-1] - 1)"},
        ),
        Mistake(
            "right word left out",
            "You gave smoothing / V to each *other* word and 1 − smoothing to the right one: that sums to less than "
            "1. The right word gets its share of the even part too.",
            {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right) / logs.shape[-1]"},
        ),
        Mistake(
            "spread without padding's word",
            "You left the padding symbol out of the vocabulary when you spread the even part (and divided by V − 1). "
            "torch's loss spreads over all V words, padding's too.",
            {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - logs[..., pad]) / (logs.shape[-1] - 1)"},
        ),
        Mistake(
            "spread over V − 2",
            "You shared `smoothing` among all words but the right one and padding, as a well-known tutorial does. The "
            "loss wanted here is torch's: evenly over the whole vocabulary, V words.",
            {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right - logs[..., pad]) / (logs.shape[-1] - 2)"},
        ),
        Mistake(
            "summed over the vocabulary",
            "You summed the even part over the vocabulary: each word got `smoothing` instead of smoothing / V. Take "
            "the mean.",
            {"logs.mean(dim=-1)": "logs.sum(dim=-1)"},
        ),
        Mistake(
            "Kullback–Leibler divergence",
            "You computed the divergence from the smoothed target, as `kl_div` does. It has the same gradient, but is "
            "smaller by the target's own entropy. Wanted is torch's loss: −Σ q log p, without q log q.",
            {"losses = -": "share = smoothing / logs.shape[-1]\n"
             "    top = 1 - smoothing + share\n"
             "    rest = math.log(share) * share if share else 0.0\n"
             "    losses = top * math.log(top) + (logs.shape[-1] - 1) * rest - "},
        ),
        Mistake(
            "parts swapped",
            "You gave the right word `smoothing` and spread 1 − smoothing. It is the other way round: with smoothing "
            "0 the loss must be the ordinary one.",
            {"(1 - smoothing) * right - smoothing * even": "smoothing * right - (1 - smoothing) * even"},
        ),
        Mistake(
            "sign forgotten",
            "Your loss is negative: logarithms of probabilities are. Put a minus in front.",
            {"-(1 - smoothing) * right - smoothing": "(1 - smoothing) * right + smoothing"},
        ),
        Mistake(
            "padding counted",
            "You took the mean over all places. Padding is no word: leave it out of the sum *and* of the count.",
            {"(losses * real).sum() / real.sum()": "losses.mean()"},
        ),
        Mistake(
            "divided by all places",
            "You left padding out of the sum, but divided by all places, B · T. Divide by the number of real words, "
            "or short sentences make the loss look small.",
            {"/ real.sum()": "/ real.numel()"},
        ),
        Mistake(
            "padding's smoothing counted",
            "You left padding out of the first part of the loss only. Its even part still counts: leave out both.",
            {
                "losses = -(1 - smoothing) * right - smoothing * even": "losses = -(1 - smoothing) * right",
                "(losses * real).sum() / real.sum()":
                "(losses * real).sum() / real.sum() - smoothing * even.mean()",
            },
        ),
        Mistake(
            "mean of the sentences' means",
            "You averaged each sentence, then the sentences. Then a word counts more in a short sentence. Take one "
            "mean over all real words of the batch.",
            {"(losses * real).sum() / real.sum()": "((losses * real).sum(1) / real.sum(1)).mean()"},
        ),
        Mistake(
            "summed over the words",
            "You returned the sum. Wanted is the mean over the real words: nats a word, whatever the batch.",
            {" / real.sum()": ""},
        ),
        Mistake(
            "one loss each word",
            "You returned the loss of each place, (B, T). Training needs one number: the mean over the real words.",
            {"return (losses * real).sum() / real.sum()": "return losses * real"},
        ),
        Mistake(
            "no logarithm",
            "You weighted probabilities, not their logarithms: `log_softmax`, not `softmax`.",
            {"log_softmax": "softmax"},
        ),
        Mistake(
            "no softmax",
            "You used the logits as they are. They are scores, not log-probabilities: `log_softmax` first, over the "
            "vocabulary.",
            {"logits.log_softmax(dim=-1)": "logits"},
        ),
        Mistake(
            "softmax over the words",
            "You took the softmax over the places of the sentence. At each place the *vocabulary* shares the "
            "probability: last axis.",
            {"log_softmax(dim=-1)": "log_softmax(dim=1)"},
        ),
        Mistake(
            "softmax, then log",
            "You took the logarithm of a softmax. Where a model is sure of itself, the softmax is rounded to 0 and "
            "the logarithm is −∞. `log_softmax` does both in one, safely.",
            {"log_softmax(dim=-1)": "softmax(dim=-1).log()"},
        ),
        Mistake(
            "log-softmax twice",
            "You gave the loss probabilities and it took a softmax of them once more. Once is enough.",
            {"logits.log_softmax(dim=-1)": "logits.softmax(dim=-1).log_softmax(dim=-1)"},
        ),
        Mistake(
            "always a tenth",
            "You wrote 0.1 into the formula. Use the `smoothing` that comes as an argument.",
            {"(1 - smoothing) * right - smoothing * even": "0.9 * right - 0.1 * even"},
        ),
        Mistake(
            "padding is always 0",
            "You took 0 for padding. Compare with the `pad` that comes as an argument.",
            {"target != pad": "target != 0"},
        ),
        Mistake(
            "only padding counted",
            "You kept the padding and left out the words. `target != pad` is where the words are.",
            {"target != pad": "target == pad"},
        ),
    ],
)
