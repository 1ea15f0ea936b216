"""Lab 9, sixth part: the loss that the Transformer is trained with."""

from misread.exercise import About, Exercise


def label_smoothing_loss(logits, target, smoothing, pad):
    """Mean smoothed loss over the real words: (B, T, V), (B, T) -> a number."""
    logs = logits.log_softmax(dim=-1)  # (B, T, V)
    right = logs.gather(-1, target[:, :, None])[:, :, 0]  # (B, T): log-probability of the right word
    even = logs.mean(dim=-1)  # (B, T): of all words, each with 1 / V
    losses = -(1 - smoothing) * right - smoothing * even  # (B, T)
    real = target != pad  # (B, T)
    return (losses * real).sum() / real.sum()


def _sentences(draw):
    batch, length, words = draw.sizes(3, low=3, never_one={2})  # the only word would be the padding
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
    about=About(points=3, minutes=15, difficulty=3, read_again="What it is trained to do"),
)

must = LABEL_SMOOTHING_LOSS.properties
must("positive", lambda result, *args: result >= 0).says("""
    The loss is a mean of negative logarithms of probabilities, so it can never be below 0.""")
must(
    "no smoothing, no change",
    lambda result, logits, target, smoothing, pad: (
        smoothing > 0 or abs(result - label_smoothing_loss(logits, target, 0.0, pad)) < 1e-6
    ),
).says("""
    With smoothing 0 the result must be the ordinary loss, which is the mean of −log p(right word) over the real words.
    Yours is another number.""")

_EVEN, _MEAN = "even = logs.mean(dim=-1)", "(losses * real).sum() / real.sum()"
_DIVERGENCE = """\
share = smoothing / logs.shape[-1]
    top = 1 - smoothing + share
    rest = math.log(share) * share if share else 0.0
    losses = top * math.log(top) + (logs.shape[-1] - 1) * rest - """

wrong = LABEL_SMOOTHING_LOSS.mistakes
wrong("axis of gather kept", {"[:, :, None])[:, :, 0]": "[:, :, None])"}).says("""
    After `gather` your log-probabilities of the right words have the shape (B, T, 1), and beside (B, T) they broadcast
    to (B, T, T). Take the last axis away: `[:, :, 0]`.""")
wrong("indexed with the whole target", {"logs.gather(-1, target[:, :, None])[:, :, 0]": "logs[:, :, target]"}).says("""
    `logs[:, :, target]` takes *all* words of the batch at each position, so that its shape is (B, T, B, T). Each
    position needs its own word only, which `gather` picks.""")
wrong("even part forgotten", {" - smoothing * even": ""}).says("""
    You gave the right word the probability 1 − smoothing, but spread nothing over the vocabulary. The wanted
    probabilities must sum to 1, so the part that was taken away must be given to all words evenly.""")
wrong("nothing taken from the right word", {"-(1 - smoothing) * right": "-right"}).says("""
    You added the even part, but the right word still has its whole probability of 1. The wanted probabilities
    must sum to 1, so multiply the right word's part by 1 − smoothing.""")
wrong("spread over the others", {_EVEN: "even = (logs.sum(-1) - right) / (logs.shape[-1] - 1)"}).says("""
    You shared `smoothing` among the V − 1 *other* words. torch and the paper's source (Szegedy and others) spread
    it over the whole vocabulary including the right word, so that each word gets smoothing / V.""")
wrong("spread over V − 2", {_EVEN: "even = (logs.sum(-1) - right - logs[..., pad]) / (logs.shape[-1] - 2)"}).says("""
    You shared `smoothing` among all words except the right one and padding, as a well-known tutorial does. The
    loss that is wanted here is torch's, which spreads it evenly over all V words.""")
wrong(
    "padding left out of the vocabulary", {_EVEN: "even = (logs.sum(-1) - logs[..., pad]) / (logs.shape[-1] - 1)"}
).says("""
    You shared `smoothing` among all words except padding. The loss that is wanted here is torch's, which spreads it
    evenly over all V words: padding is left out of the *positions*, not of the vocabulary.""")
wrong("Kullback–Leibler divergence", {"losses = -": _DIVERGENCE}).says("""
    You computed the divergence from the wanted distribution q, as `kl_div` does. It has the same gradient, but is
    smaller by the entropy of q. Wanted is torch's loss, −Σ q log p.""")
wrong("divided by all positions", {"/ real.sum()": "/ real.numel()"}).says("""
    You left padding out of the sum, but divided by the number of all positions, B · T. Divide by the number of
    real words, because otherwise padding makes the loss look smaller than it is.""")
wrong("padding's smoothing counted", {" - smoothing * even": "", _MEAN: _MEAN + " - smoothing * even.mean()"}).says("""
    You left padding out of the right word's part only, while the even part still counts it. Leave padding out of
    both.""")
wrong("mean of the sentences' means", {_MEAN: "((losses * real).sum(1) / real.sum(1)).mean()"}).says("""
    You averaged each sentence first, and then the sentences, so that a word counts more in a short sentence. Take
    one mean over all real words of the batch.""")
wrong("summed over the words", {" / real.sum()": ""}).says("""
    You returned the sum over the real words. Wanted is their mean, in nats per word, so that the loss doesn't
    depend on the size of the batch.""")
wrong("no logarithm", {"log_softmax": "softmax"}).says("""
    You averaged probabilities instead of their logarithms. Use `log_softmax` instead of `softmax`.""")
wrong(
    "right word's part of the even share forgotten", {_EVEN: "even = (logs.sum(-1) - right) / logs.shape[-1]"}
).says("""
    You gave the right word 1 − smoothing, and each other word smoothing / V, so that the wanted probabilities sum to
    less than 1. The right word gets its share of the even part as well: 1 − smoothing + smoothing / V.""")
_MORE = {"-(1 - smoothing) * right": "-(1 - smoothing + smoothing / logs.shape[-1]) * right"}
wrong("right word's part of the even share counted twice", _MORE).says("""
    You gave the right word 1 − smoothing + smoothing / V, and then counted it again in the mean over all words. The
    mean holds its smoothing / V already, so its own part is 1 − smoothing.""")
wrong("spread over V − 1, the right word too", {_EVEN: "even = logs.sum(-1) / (logs.shape[-1] - 1)"}).says("""
    You gave each of the V words smoothing / (V − 1), so that the wanted probabilities sum to more than 1. Each of them
    gets smoothing / V.""")
_ANNOTATED = """
V = logits.shape[-1]
q = torch.full_like(logits, smoothing / (V - 2)).scatter(-1, target[:, :, None], 1 - smoothing)
q[..., pad] = 0
q = q * (target != pad)[:, :, None]
return F.kl_div(logits.log_softmax(-1), q, reduction="sum") / (target != pad).sum()
"""
wrong("spread over V − 2, and a divergence", _ANNOTATED).says("""
    You shared `smoothing` among all words except the right one and padding, and took the divergence, as a well-known
    tutorial does. Wanted is torch's loss, −Σ q log p, in which q spreads it evenly over all V words.""")
wrong("mean of the logits", {_EVEN: "even = logits.mean(dim=-1)"}).says("""
    The even part of your loss is the mean of the logits. It must be the mean of the *log-probabilities*, which
    `log_softmax` makes from them.""")
wrong("logarithm of the mean", {_EVEN: "even = logs.exp().mean(dim=-1).log()"}).says("""
    The even part of your loss is the logarithm of the mean probability, which is always log(1 / V). Take the mean of
    the logarithms instead.""")
wrong("even part without a logarithm", {_EVEN: "even = logs.exp().mean(dim=-1)"}).says("""
    The even part of your loss is the mean of the probabilities, which is always 1 / V. It must be the mean of their
    logarithms.""")
_INSIDE = "losses = -((1 - smoothing) * right.exp() + smoothing / logs.shape[-1]).log()"
wrong(
    "probabilities smoothed before the logarithm", {"losses = -(1 - smoothing) * right - smoothing * even": _INSIDE}
).says("""
    You smoothed the model's probability of the right word and took its logarithm. It is the *wanted* distribution q
    that is smoothed: take the logarithms first, and then their mean with the weights q.""")
wrong("divided by the number of sentences", {"/ real.sum()": "/ len(target)"}).says("""
    You divided the sum over the real words by the number of sentences. Divide by the number of real words, so that the
    loss is a mean per word.""")
wrong("divided by the number of positions in a sentence", {"/ real.sum()": "/ target.shape[1]"}).says("""
    You divided the sum over the real words by T. Divide by the number of real words in the batch, so that the loss is a
    mean per word.""")
wrong("padding kept, words left out", {"target != pad": "target == pad"}).says("""
    You averaged over the positions that *are* padding. The loss counts the real words: `target != pad`.""")
_SHIFTED = "F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), "
wrong("shifted once more", f"return {_SHIFTED}ignore_index=pad, label_smoothing=smoothing)").says("""
    You compared each position with the *next* word of the target. The decoder's input was shifted already, so that the
    logits at a position belong to the target at the same position.""")
for power in (8, 9, 10, 12):
    wrong(f"1e-{power} added", {"logits.log_softmax(dim=-1)": f"(logits.softmax(-1) + 1e-{power}).log()"}).says(f"""
        You added 1e-{power} to the probabilities before the logarithm (or did not let them fall below it). Where the
        model is very sure, probabilities are far smaller than that, and your loss is too small. Use `log_softmax`,
        which computes the logarithms from the logits and needs no such number.""")
