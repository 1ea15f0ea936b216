"""Lab 11: the nucleus, the smallest set of tokens whose probabilities reach p."""

import torch

from misread.exercise import About, Exercise


def top_p_filter(logits, p):
    """Logits of the smallest set of tokens whose probabilities sum to at least p, −inf elsewhere: (B, V) -> (B, V)."""
    ordered, words = logits.softmax(-1).sort(-1, descending=True)  # (B, V) each
    before = ordered.cumsum(-1) - ordered  # (B, V): what the more probable tokens hold already
    drop = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, words, before >= p)
    return logits.masked_fill(drop, float("-inf"))


def _next_words(draw):
    if draw.compact:  # only to be shown
        for share in ([0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.2, 0.1, 0.7]):
            yield torch.tensor([share], dtype=torch.float64).log().mul(10).round() / 10, 0.65
        return
    batch, words = draw.sizes(2, low=3)
    for p in (0.5, 0.75, 0.9, draw.integer(2, 9) / 10 + 0.03):
        yield 1.5 * draw.normal(batch, words), p
    yield draw.normal(1, words + 4), 0.6  # one row
    yield draw.normal(3, 3), 0.8  # square
    yield 3 + draw.normal(batch, words), 1e-6  # one token is always left
    yield 500 * draw.normal(batch, words), 0.9  # sure: exp of them is infinite, and one token has nearly everything
    logits = draw.normal(2, words + 1)
    logits[:, draw.integer(0, words + 1)] = -torch.inf  # a token that is ruled out already
    yield logits, 0.7
    yield logits[:1] / 2, 0.999  # all the others


def _kept(result):
    return result > -torch.inf


def _reaches(result, logits, p):
    return ((logits.softmax(-1) * _kept(result)).sum(-1) >= p - 1e-9).all()


def _smallest(result, logits, p):
    """Without its least probable token, no set reaches p."""
    shares = logits.softmax(-1)
    least = shares.where(_kept(result), torch.inf).amin(-1)
    return ((shares * _kept(result)).sum(-1) - least <= p + 1e-9).all()


TOP_P_FILTER = Exercise(
    top_p_filter,
    cases=_next_words,
    about=About(points=3, minutes=18, difficulty=3, read_again=("10_decoding", "Why cut off the tail?")),
)

must = TOP_P_FILTER.properties
must("one token at least", lambda result, logits, p: _kept(result).any(-1).all()).says("""
    In every row at least one token must be left, the most probable one. In your result some row has none.""")
must(
    "the most probable token stays",
    lambda result, logits, p: _kept(result).gather(-1, logits.argmax(-1, keepdim=True)).all(),
).says("""
    The most probable token of each row belongs to every nucleus, and you dropped it somewhere.""")
must(
    "what stays is unchanged", lambda result, logits, p: torch.equal(result[_kept(result)], logits[_kept(result)])
).says("""
    The logits of the tokens that stay must be returned as they are, and the others must be −∞.""")
must("the set reaches p", _reaches).says("""
    The probabilities of the tokens that you kept must sum to at least p in each row. The token with which the sum
    reaches p stays.""")
must("the smallest set", _smallest).says("""
    You kept more tokens than are needed. Without the least probable of them, the sum must be below p.""")

_DROP = "torch.zeros_like(logits, dtype=torch.bool).scatter(-1, words, before >= p)"
_INF = 'float("-inf")'

wrong = TOP_P_FILTER.mistakes
wrong("the token that reaches p dropped", {"before >= p": "ordered.cumsum(-1) > p"}).says("""
    You dropped the token with which the sum reaches p. The tokens that are left then have less than p together,
    and where one token alone has more, none is left. Compare the sum *before* each token.""")
_BUT_ONE = "(ordered.cumsum(-1) > p) & (torch.arange(logits.shape[-1]) > 0)"
wrong("the token that reaches p dropped, except the first", {"before >= p": _BUT_ONE}).says("""
    You kept at least one token, but where several are needed you dropped the one with which the sum reaches p. The
    tokens that are left must have at least p together, so compare the sum *before* each token.""")
_ONE_MORE = "before - torch.cat([0 * ordered[..., :1], ordered[..., :-1]], -1) >= p"
wrong(
    "the first one not spared", {"before >= p": "torch.cat([ordered[:, :1], ordered.cumsum(-1)[:, :-1]], -1) > p"}
).says("""
    You moved the comparison by one position, which keeps the token with which the sum reaches p, but where the first
    token alone has p it is dropped. Before the first token stands nothing, so it always stays.""")
wrong("the sums rolled", {"before >= p": "ordered.cumsum(-1).roll(1, -1) >= p"}).says("""
    You moved the sums by `roll`, which brings the last one, 1, to the front, so that the most probable token is always
    dropped. Before the first token stands nothing: the sum there is 0.""")
wrong("one token too many", {"before >= p": _ONE_MORE}).says("""
    You kept one token more than is needed. Wanted is the *smallest* set that reaches p, so the token with which
    the sum reaches p is the last one.""")
wrong("not brought back", {_DROP: "before >= p"}).says("""
    Your mask is in the order of the *sorted* tokens, but you applied it to the logits in their own order. Bring it
    back with `scatter` along the indices that `sort` returned.""")
wrong("not sorted", {_DROP: "logits.softmax(-1).cumsum(-1) - logits.softmax(-1) >= p"}).says("""
    You took the running sum in the order of the vocabulary. The nucleus takes the most probable tokens first, so sort
    the probabilities in descending order before you sum.""")
wrong("not sorted, and the token that reaches p dropped", {_DROP: "logits.softmax(-1).cumsum(-1) > p"}).says("""
    You took the running sum in the order of the vocabulary, so sort in descending order first. Also compare the sum
    *before* each token, because the one with which the sum reaches p stays.""")
_GATHERED = "torch.gather(logits.sort(-1)[0].flip(-1).masked_fill(before >= p, -torch.inf), -1, (-logits).argsort(-1))"
wrong("sorted logits brought back by gather", {'logits.masked_fill(drop, float("-inf"))': _GATHERED}).says("""
    You used `gather` with the indices of `sort` on the sorted logits, which permutes them once more. The way back is
    `scatter`: entry i of the sorted logits belongs to token indices[i].""")
wrong("gather instead of scatter", {_DROP: "(before >= p).gather(-1, words)"}).says("""
    You used `gather` with the indices of `sort`, which permutes the mask once more instead of undoing the sorting.
    The way back is `scatter`: entry i of the sorted mask belongs to token indices[i].""")
wrong(
    "returned in sorted order",
    {"return logits.masked_fill(drop,": "return logits.sort(-1, descending=True).values.masked_fill(before >= p,"},
).says("""
    You returned the logits in sorted order. Column v must still belong to token v, because the next step draws the
    number of a token.""")
wrong("the least probable first", {"descending=True": "descending=False"}).says("""
    You sorted from the least probable token on, so that you kept the tail and dropped the most probable tokens.
    Sort with descending=True.""")
wrong("exp not divided by its sum", {"logits.softmax(-1).sort": "logits.exp().sort"}).says("""
    You took `exp` of the logits without dividing by their sum in each row, so that your numbers are no probabilities.
    The running sum must be one of probabilities: apply the softmax first.""")
wrong("no softmax", {"logits.softmax(-1).sort": "logits.sort"}).says("""
    You summed the logits. p is a probability, so the running sum must be one of probabilities: apply the softmax
    first.""")
wrong("softmax over the batch", {"softmax(-1)": "softmax(0)"}).says("""
    Your softmax runs over the rows. The probabilities of the V tokens must sum to 1 in each row, so it runs over
    the last axis.""")
wrong("only the most probable token", {"before >= p": "before > 0"}).says("""
    You kept only the most probable token of each row, whatever p is. The nucleus goes on until the probabilities of its
    tokens sum to p.""")
wrong("each token compared with p", {"before >= p": "ordered < p"}).says("""
    You kept the tokens whose own probability is at least p. The nucleus is a *set* whose probabilities reach p
    together, so compare running sums.""")
wrong(
    "each token compared with p, the first kept",
    {"before >= p": "(ordered < p) & (torch.arange(logits.shape[-1]) > 0)"},
).says("""
    You kept the tokens whose own probability is at least p, and at least the first one. The nucleus is a *set*
    whose probabilities reach p together, so compare running sums.""")
wrong("each token compared with 1 − p, perhaps none kept", {"before >= p": "ordered < 1 - p"}).says("""
    You kept the tokens whose own probability is at least 1 − p, and in some row there is none. The nucleus is a *set*
    whose probabilities reach p together, so compare running sums.""")
_AT_LEAST = "(ordered < 1 - p) & (torch.arange(logits.shape[-1]) > 0)"
wrong("each token compared with 1 − p", {"before >= p": _AT_LEAST}).says("""
    You kept the tokens whose own probability is at least 1 − p. The nucleus is a *set* whose probabilities reach p
    together, however small each of them is, so compare running sums.""")
_RANK = "torch.arange(logits.shape[-1]).expand_as(ordered)"
wrong("a share of the tokens", {"before >= p": f"{_RANK} >= max(1, round(p * logits.shape[-1]))"}).says("""
    You kept the share p of the tokens by their *number*. The nucleus holds the share p of the *probability*, so it
    is small where the model is sure: compare the running sum of the probabilities with p.""")
wrong("a share of the tokens, rounded down", {"before >= p": f"{_RANK} >= max(1, int(p * logits.shape[-1]))"}).says("""
    You kept p · V tokens, rounded down, in every row. The nucleus holds the share p of the *probability*, not of the
    tokens: compare the running sum of the probabilities with p.""")
wrong("a share of the tokens, rounded up", {"before >= p": f"{_RANK} >= p * logits.shape[-1]"}).says("""
    You kept p · V tokens, rounded up, in every row. The nucleus holds the share p of the *probability*, not of the
    tokens: compare the running sum of the probabilities with p.""")
wrong("each token compared with the most probable one", {"before >= p": "ordered < p * ordered[:, :1]"}).says("""
    You compared each probability with p times the largest one. The nucleus is a *set* whose probabilities reach p
    together, so compare running sums.""")
_FLAT = """
ordered, tokens = logits.flatten().softmax(0).sort(descending=True)
drop = torch.zeros(logits.numel(), dtype=torch.bool).scatter(0, tokens, ordered.cumsum(0) - ordered >= p)
return logits.masked_fill(drop.view_as(logits), float("-inf"))"""
wrong("one nucleus for the whole batch", _FLAT).says("""
    You took one softmax over the whole batch, so that some rows lose all their tokens. Each row has its own
    distribution and its own nucleus: sort and sum along the last axis.""")
wrong("the tail kept", {"before >= p": "before < p"}).says("""
    You dropped the nucleus and kept all other tokens. −∞ belongs to the less probable tokens after the one with
    which the sum reaches p.""")
wrong("0 instead of minus infinity", {_INF: "0.0"}).says("""
    You set the logits of dropped tokens to 0, but exp(0) is 1, so that they can still be drawn. Their logits must
    be −∞.""")
wrong("a large number instead of minus infinity", {_INF: "-1e9"}).says("""
    You filled with a large negative number. Logits that are themselves large and negative could then lie below the
    dropped ones and be drawn less often than those, so use float('-inf').""")
wrong(
    "NaN from 0 times infinity", {'logits.masked_fill(drop, float("-inf"))': 'logits + drop * float("-inf")'}
).says("""
    You multiplied a mask by −∞. 0 · ∞ is not a number, so the logits of the tokens that stay became NaN. Use
    `masked_fill` or `torch.where`.""")
wrong("log probabilities returned", {"return logits.": "return logits.log_softmax(-1)."}).says("""
    You returned the logarithms of the probabilities for the tokens that stay. Their logits must be returned as they
    were given: use `masked_fill` on `logits`.""")
wrong("probabilities returned", {"return logits.": "return logits.softmax(-1)."}).says("""
    You returned probabilities with −∞ among them. Return the logits of the tokens that stay as they are, so that a
    softmax afterwards shares the probability among them.""")
wrong(
    "probabilities and zeros", {'logits.masked_fill(drop, float("-inf"))': "logits.softmax(-1).masked_fill(drop, 0)"}
).says("""
    You returned the probabilities, with 0 for the tokens that were dropped. Wanted are the logits as they are, and
    −∞ for the dropped ones, so that a softmax afterwards shares the probability among the others.""")
wrong(
    "a distribution returned",
    {'return logits.masked_fill(drop, float("-inf"))': 'return logits.masked_fill(drop, float("-inf")).softmax(-1)'},
).says("""
    You applied the softmax at the end already and returned probabilities. Wanted are logits, −∞ for the tokens
    that were dropped, so that the result can be used wherever logits can.""")
