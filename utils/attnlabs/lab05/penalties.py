"""Lab 5, third part: what a search adds to the log-probability of a sentence (Wu et al. 2016, equation 14)."""

import torch

from misread.exercise import About, Exercise


def length_penalty(tokens, bos, pad, alpha):
    """((5 + |Y|) / 6)^α of each sentence, its end symbol counted: (N, T) -> (N,)."""
    length = ((tokens != bos) & (tokens != pad)).sum(-1)  # (N,), the end symbol is counted
    return ((5 + length) / 6) ** alpha  # (N,)


def _candidates(draw):
    for count, longest, (pad, bos, eos), alpha in (
        (draw.integer(3, 6), draw.integer(6, 9), (0, 1, 2), 1.0),
        (4, 5, (2, 0, 1), 0.6),
        (3, 3, (0, 3, 1), 2.0),
        (2, 4, (1, 2, 0), 0.0),
        (1, 4, (0, 1, 2), 0.2),
    ):
        words = draw.integers(0, longest - 1, count)  # what a sentence has besides its end
        words[count // 2] = (
            longest - 2
        )  # it fills its row, and is neither the first nor the last, where there are three
        words[0] = 0 if count > 1 else 1
        words[-1] = 1 if count > 2 else longest - 2
        tokens = draw.integers(4, 9, count, longest)
        position = torch.arange(longest)
        tokens[:, 0] = bos
        tokens = tokens.where(position != words[:, None] + 1, eos)
        tokens = tokens.where(position <= words[:, None] + 1, pad)
        yield tokens, bos, pad, alpha
        if longest > 4:
            tokens = tokens.clone()
            tokens[count // 2, -1] = 7  # cut off before its end symbol
            yield tokens, bos, pad, alpha
    yield torch.tensor([[1], [1]]), 1, 0, 1.0  # nothing but the begin


def _as_double(result, *args):
    return result.double() if isinstance(result, torch.Tensor) else result


def _grows(result, tokens, bos, pad, alpha):
    order = ((tokens != bos) & (tokens != pad)).sum(-1).argsort(stable=True)
    return (result[order].diff() >= -1e-9).all()


LENGTH_PENALTY = Exercise(
    length_penalty,
    cases=_candidates,
    gradients=False,
    canonical=_as_double,
    tolerance=1e-6,  # whole numbers to a power are float32
    about=About(points=2, minutes=11, difficulty=2, read_again="Length and coverage: what the search adds"),
)

must = LENGTH_PENALTY.properties
must("alpha 0 is no penalty", lambda result, tokens, bos, pad, alpha: alpha != 0 or (result == 1).all()).says("""
    With alpha = 0 every penalty is 1, so that dividing by it changes nothing.""")
must(
    "one word has penalty 1",
    lambda result, tokens, bos, pad, alpha: torch.allclose(
        result[((tokens != bos) & (tokens != pad)).sum(-1) == 1], result.new_ones(())
    ),
).says("""
    A sentence of one word has the penalty ((5 + 1) / 6)^α = 1. In an empty sentence, the end symbol is this word.""")
must("longer sentences, larger penalties", _grows).says("""
    The penalty grows with the number of words. The log-probability, which is negative, is divided by it, so that long
    sentences are no longer at a disadvantage.""")

wrong = LENGTH_PENALTY.mistakes
COUNT = "((tokens != bos) & (tokens != pad))"
wrong("bos counted", {COUNT: "(tokens != pad)"}).says("""
    You counted the begin symbol. The decoder is given it and does not choose it, so it has no log-probability and
    is not a word of the sentence.""")
wrong("padding counted", {COUNT: "(tokens != bos)"}).says("""
    You counted the padding, so that all sentences seem equally long. The sentence ends with its end symbol, and
    what follows has no log-probability.""")
wrong("all columns counted", {f"{COUNT}.sum(-1)": "torch.full_like(tokens[:, 0], tokens.shape[1])"}).says("""
    You counted all columns of the matrix. Count the words of each sentence, without `bos` and without padding. (Every
    entry is either not `bos` or not `pad`: join the two conditions with `&`, the *and*, instead of `|`.)""")
wrong("bos and padding counted, words not", {COUNT: "((tokens == bos) | (tokens == pad))"}).says("""
    You counted the begin symbol and the padding. The words are the entries that are neither of them, so compare with
    `!=` instead of `==`.""")
wrong("last column not counted", {COUNT: "((tokens != bos) & (tokens != pad))[:, :-1]"}).says("""
    You left out the last column of the matrix. In a row without padding a word or the end symbol stands there, which
    the decoder has chosen.""")
wrong("the last sentence's length for all", {"sum(-1)": "sum(-1)[-1:].expand(len(tokens))"}).says("""
    All your penalties are that of the last sentence. Each row has a length of its own: in a loop over the rows, keep a
    penalty for each.""")
wrong("the first sentence's length for all", {"sum(-1)": "sum(-1)[:1].expand(len(tokens))"}).says("""
    All your penalties are that of the first sentence. Each row has a length of its own.""")
wrong("the count goes on in the next row", {"sum(-1)": "sum(-1).cumsum(0)"}).says("""
    Your count is not set back to 0 at the beginning of a row, so each sentence has the words of those before it, too.
    Each row has a length of its own.""")
wrong("end symbol not counted", {"sum(-1)": "sum(-1) - 1"}).says("""
    You counted one word too few, the end symbol. The decoder chooses it and pays its log-probability like that of
    any word, so it is counted.""")
wrong("words of the whole batch", {"sum(-1)": "sum().expand(len(tokens))"}).says("""
    You counted the words of all sentences together. Each row is a sentence with a length of its own, so the sum
    runs over the last axis.""")
wrong("divided by the length", {"((5 + length) / 6) ** alpha": "length**alpha"}).says("""
    Your penalty is length^α. GNMT's is ((5 + length) / 6)^α, which grows more slowly for short sentences: from one
    word to two it is 7/6, and not 2.""")
wrong("6 not raised to alpha", {"((5 + length) / 6) ** alpha": "(5 + length) ** alpha / 6"}).says("""
    You raised only 5 + length to the power α. The formula is (5 + |Y|)^α / (5 + 1)^α, so that the 6 is raised to it
    as well.""")
wrong("5 + length not raised to alpha", {"((5 + length) / 6) ** alpha": "(5 + length) / 6**alpha"}).says("""
    You raised only the 6 to the power α. The formula is (5 + |Y|)^α / (5 + 1)^α; in Python, `**` comes before `/`, so
    the quotient needs brackets of its own.""")
wrong("only the length divided by 6", {"((5 + length) / 6)": "(5 + length / 6)"}).says("""
    You divided only the length by 6, because `/` comes before `+`. Put the sum 5 + |Y| into brackets.""")
wrong("5 added to the power", {"((5 + length) / 6) ** alpha": "5 + (length / 6) ** alpha"}).says("""
    You added 5 at the end. It is added to the length before the power is taken: ((5 + |Y|) / 6)^α.""")
wrong("1 added, not 5", {"(5 + length)": "(1 + length)"}).says("""
    You added 1 to the length. The numerator is 5 + |Y|, and 5 + 1 stands in the denominator only, so that a sentence of
    one word has the penalty 1.""")
wrong("times alpha", {"** alpha": "* alpha"}).says("""
    You multiplied by α. It is an exponent: with α = 0 the penalty must be 1 for every sentence, and not 0.""")


def coverage_penalty(weights, written, mask, beta, least=1e-6):
    """β · Σ_i log(min(Σ_j p_ij, 1)) of each sentence: (B, T, Tk), (B, T), (B, Tk) -> (B,)."""
    received = (weights * written[..., None]).sum(1)  # (B, Tk), the sum over the words that were written
    covered = received.clamp(least, 1.0).log()  # (B, Tk), at most 0
    return beta * (covered * mask).sum(-1)  # (B,)


def _attentions(draw):
    batch, words, keys = draw.sizes(3)
    for b, t, k, beta in ((batch, words, keys, 1.0), (3, 4, 4, 0.2), (2, 3, 5, 0.5), (1, 3, 2, 1.0), (2, 2, 2, 2.0)):
        mask = torch.arange(k) < draw.lengths(b, k)[:, None]
        written = torch.arange(t) < draw.lengths(b, t)[:, None]
        scores = 2 * draw.normal(b, t, k)
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
        yield weights, written, mask, beta
        if t > 2 and b > 1:
            missed = weights.clone()
            missed[:, :, 0] = 0.0  # no weight for a real word; the rest need not sum to 1
            yield missed, written, mask, beta
            yield missed, written, mask, beta, 0.01
    weights, written, mask = draw.normal(3, 2, 4).softmax(-1), torch.ones(3, 2) > 0, torch.ones(3, 4) > 0
    written[0] = False  # a sentence in which nothing was written,
    mask[1], weights[1] = False, 0.0  # and one that has no source
    yield weights, written, mask, 0.5


COVERAGE_PENALTY = Exercise(
    coverage_penalty,
    cases=_attentions,
    gradients=False,
    about=About(points=3, minutes=18, difficulty=3, read_again="Length and coverage: what the search adds"),
)

must = COVERAGE_PENALTY.properties
must("never above zero", lambda result, *args: (result <= 1e-9).all()).says("""
    The penalty is never above 0, because a word that received more than 1 counts like a word that received exactly
    1.""")
must("finite", lambda result, *args: result.isfinite().all()).says("""
    A word that received nothing counts as if it had received `least`, so that no penalty is infinite.""")
must("every real word once", lambda result, *args: torch.allclose(result, coverage_penalty(*args), atol=1e-9)).says("""
    Each real source word adds log(min(…, 1)) of what it has received from the target words that were written, and
    nothing else has any influence. The sum is multiplied by beta.""")

wrong = COVERAGE_PENALTY.mistakes
wrong("log of zero", {"clamp(least, 1.0)": "clamp(max=1.0)"}).says("""
    A source word that received no weight at all makes your penalty infinite (or NaN, where it is multiplied by a
    mask). It counts as if it had received `least`: otherwise two sentences that both miss a word could not be
    compared.""")
wrong("forgotten words left out", {"covered * mask": "covered * (mask & (received > 0))"}).says("""
    You left out source words that received nothing, as if they were padding. They are the words that this penalty is
    for: each counts as if it had received `least`.""")
wrong(
    "only zeros replaced", {"received.clamp(least, 1.0)": "received.where(received != 0, least).clamp(max=1.0)"}
).says("""
    You replaced only those sums that are exactly 0. Every sum below `least` is replaced by it, because a softmax hardly
    ever gives exactly 0.""")
wrong("limited after the log", {"clamp(least, 1.0).log()": "clamp(max=1.0).log().clamp(min=least)"}).says("""
    You limited the *logarithm* to `least`, although the logarithm of a number up to 1 is never above 0. The limit is
    for the sum, before the logarithm is taken.""")
wrong("no logarithm", {".log()": ""}).says("""
    You added the sums themselves, without their logarithms. The logarithm is 0 for a word that received 1 or more, and
    far below 0 for one that was left out.""")
wrong("beta left out", {"beta * ": ""}).says("""
    You did not multiply by `beta`, which says how much a word that was left out weighs beside the log-probability.""")
wrong("source padding counted", {"covered * mask": "covered"}).says("""
    You counted source positions that are padding. They receive no weight, rightly, so that each of them would cost
    as much as a forgotten word.""")
wrong("target padding counted", {"weights * written[..., None]": "weights"}).says("""
    You added the weights of rows behind the end of the target sentence. Only words that were written cover
    anything.""")
wrong("no upper limit", {"clamp(least, 1.0)": "clamp(min=least)"}).says("""
    Your sums are not limited to 1. (A minimum taken of each single weight does nothing, because no weight is above
    1.) A word that received 2 would be rewarded with log 2, and could pay for a forgotten one: limit the sum.""")
wrong(
    "each weight raised to least", {"(weights *": "(weights.clamp(min=least) *", "(least, 1.0)": "(max=1.0)"}
).says("""
    You raised each single *weight* to `least`. It is the limit of a sum: where no target word was written, your sum is
    still 0, and elsewhere each row adds a little.""")
RAISED = {
    "(weights * written[..., None])": "(weights * written[..., None]).clamp(min=least)",
    "(least, 1.0)": "(max=1.0)",
}
wrong("each row adds least", RAISED).says("""
    You raised each single weight to `least`, so each target word adds at least this much, even one that was not
    written. `least` is the limit of the sum.""")
wrong(
    "log before the sum",
    {
        "(weights * written[..., None]).sum(1)": "(weights.clamp(least).log() * written[..., None]).sum(1)",
        "received.clamp(least, 1.0).log()": "received",
    },
).says("""
    You took the logarithm of each single weight. First add what a source word has received from all target words,
    and then take the logarithm of the sum.""")
wrong(
    "log after the sum",
    {
        "received.clamp(least, 1.0).log()": "received.clamp(least, 1.0)",
        "(covered * mask).sum(-1)": "(covered * mask).sum(-1).log()",
    },
).says("""
    You took the logarithm at the end, of the sum over the source words. Each source word has a logarithm of its
    own, so that a single forgotten word is expensive.""")
wrong("summed over the source", "return beta * (weights.sum(-1).clamp(least, 1.0).log() * written).sum(-1)").says("""
    You added the weights of each *target* word, which always gives 1. The coverage of a source word is the sum over
    the target words, which are axis 1.""")
