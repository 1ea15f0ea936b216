"""Lab 9, sixth part: the loss that the Transformer is trained with."""

from __future__ import annotations

from ..engine.exercise import Exercise, Property


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
            "positive",
            "The loss is the mean of negative logarithms of probabilities, so it is never below 0.",
            lambda result, *args: result >= 0,
        ),
        Property(
            "no smoothing, no change",
            "With smoothing 0 it must be the ordinary loss: the mean of −log p(right word) over the real words.",
            lambda result, logits, target, smoothing, pad: (
                smoothing > 0 or abs(result - label_smoothing_loss(logits, target, 0.0, pad)) < 1e-6
            ),
        ),
    ],
)

wrong = LABEL_SMOOTHING_LOSS.mistakes
wrong("no smoothing", {"-(1 - smoothing) * right - smoothing * even": "-right"}).says("""
    You computed the ordinary loss: smoothing does not show. A part of the target's probability, `smoothing`, is
    spread evenly over all V words.""")
wrong("even part forgotten", {" - smoothing * even": ""}).says("""
    You gave the right word 1 − smoothing but spread nothing over the vocabulary. What you took away must go
    somewhere: the target's probabilities sum to 1.""")
wrong("nothing taken from the right word", {"-(1 - smoothing) * right": "-right"}).says("""
    You added the even part but left the right word its whole probability 1. The target's probabilities must sum to 1:
    multiply the right word's part by 1 − smoothing.""")
wrong("even part with the wrong sign", {"right - smoothing * even": "right + smoothing * even"}).says("""
    You added smoothing · mean log p. Both parts are *minus* logarithms: −(1 − ε) log p(right) − ε · mean log p.""")
wrong("V − 1 shares over V words", {"even = logs.mean(dim=-1)": "even = logs.sum(-1) / (logs.shape[-1] - 1)"}).says("""
    You gave each word, the right one too, smoothing / (V − 1): the target sums to more than 1. Spread over the
    *whole* vocabulary, and each word gets smoothing / V.""")
wrong(
    "spread over the others", {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right) / (logs.shape[-1] - 1)"}
).says("""
    You shared `smoothing` among the V − 1 *other* words. torch and the paper's source (Szegedy and others) spread it
    over the whole vocabulary, the right word included: each gets smoothing / V.""")
wrong("right word left out", {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right) / logs.shape[-1]"}).says("""
    You gave smoothing / V to each *other* word and 1 − smoothing to the right one: that sums to less than 1. The
    right word gets its share of the even part too.""")
wrong(
    "spread without padding's word",
    {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - logs[..., pad]) / (logs.shape[-1] - 1)"},
).says("""
    You left the padding symbol out of the vocabulary when you spread the even part (and divided by V − 1). torch's
    loss spreads over all V words, padding's too.""")
wrong(
    "spread over V − 2",
    {"even = logs.mean(dim=-1)": "even = (logs.sum(-1) - right - logs[..., pad]) / (logs.shape[-1] - 2)"},
).says("""
    You shared `smoothing` among all words but the right one and padding, as a well-known tutorial does. The loss
    wanted here is torch's: evenly over the whole vocabulary, V words.""")
wrong("summed over the vocabulary", {"logs.mean(dim=-1)": "logs.sum(dim=-1)"}).says("""
    You summed the even part over the vocabulary: each word got `smoothing` instead of smoothing / V. Take the mean.""")
wrong(
    "Kullback–Leibler divergence",
    {
        "losses = -": "share = smoothing / logs.shape[-1]\n"
        "    top = 1 - smoothing + share\n"
        "    rest = math.log(share) * share if share else 0.0\n"
        "    losses = top * math.log(top) + (logs.shape[-1] - 1) * rest - "
    },
).says("""
    You computed the divergence from the smoothed target, as `kl_div` does. It has the same gradient, but is smaller
    by the target's own entropy. Wanted is torch's loss: −Σ q log p, without q log q.""")
wrong(
    "parts swapped", {"(1 - smoothing) * right - smoothing * even": "smoothing * right - (1 - smoothing) * even"}
).says("""
    You gave the right word `smoothing` and spread 1 − smoothing. It is the other way round: with smoothing 0 the loss
    must be the ordinary one.""")
wrong("sign forgotten", {"-(1 - smoothing) * right - smoothing": "(1 - smoothing) * right + smoothing"}).says("""
    Your loss is negative: logarithms of probabilities are. Put a minus in front.""")
wrong("padding counted", {"(losses * real).sum() / real.sum()": "losses.mean()"}).says("""
    You took the mean over all places. Padding is no word: leave it out of the sum *and* of the count.""")
wrong("divided by all places", {"/ real.sum()": "/ real.numel()"}).says("""
    You left padding out of the sum, but divided by all places, B · T. Divide by the number of real words, or short
    sentences make the loss look small.""")
wrong(
    "padding's smoothing counted",
    {
        "losses = -(1 - smoothing) * right - smoothing * even": "losses = -(1 - smoothing) * right",
        "(losses * real).sum() / real.sum()": "(losses * real).sum() / real.sum() - smoothing * even.mean()",
    },
).says("""
    You left padding out of the first part of the loss only. Its even part still counts: leave out both.""")
wrong(
    "mean of the sentences' means",
    {"(losses * real).sum() / real.sum()": "((losses * real).sum(1) / real.sum(1)).mean()"},
).says("""
    You averaged each sentence, then the sentences. Then a word counts more in a short sentence. Take one mean over
    all real words of the batch.""")
wrong("summed over the words", {" / real.sum()": ""}).says("""
    You returned the sum. Wanted is the mean over the real words: nats a word, whatever the batch.""")
wrong("one loss each word", {"return (losses * real).sum() / real.sum()": "return losses * real"}).says("""
    You returned the loss of each place, (B, T). Training needs one number: the mean over the real words.""")
wrong("no logarithm", {"log_softmax": "softmax"}).says("""
    You weighted probabilities, not their logarithms: `log_softmax`, not `softmax`.""")
wrong("no softmax", {"logits.log_softmax(dim=-1)": "logits"}).says("""
    You used the logits as they are. They are scores, not log-probabilities: `log_softmax` first, over the vocabulary.""")
wrong("softmax over the words", {"log_softmax(dim=-1)": "log_softmax(dim=1)"}).says("""
    You took the softmax over the places of the sentence. At each place the *vocabulary* shares the probability: last
    axis.""")
wrong("softmax, then log", {"log_softmax(dim=-1)": "softmax(dim=-1).log()"}).says("""
    You took the logarithm of a softmax. Where a model is sure of itself, the softmax is rounded to 0 and the
    logarithm is −∞. `log_softmax` does both in one, safely.""")
wrong("log-softmax twice", {"logits.log_softmax(dim=-1)": "logits.softmax(dim=-1).log_softmax(dim=-1)"}).says("""
    You gave the loss probabilities and it took a softmax of them once more. Once is enough.""")
wrong("always a tenth", {"(1 - smoothing) * right - smoothing * even": "0.9 * right - 0.1 * even"}).says("""
    You wrote 0.1 into the formula. Use the `smoothing` that comes as an argument.""")
wrong("padding is always 0", {"target != pad": "target != 0"}).says("""
    You took 0 for padding. Compare with the `pad` that comes as an argument.""")
wrong("only padding counted", {"target != pad": "target == pad"}).says("""
    You kept the padding and left out the words. `target != pad` is where the words are.""")
