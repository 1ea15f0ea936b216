"""Lab 3, last part: a mask from lengths, and how sharp attention is."""

import torch

from misread.exercise import About, Exercise


def padding_mask(lengths, max_length):
    """True at real words: lengths (B,) -> bool (B, max_length)."""
    positions = torch.arange(max_length, device=lengths.device)  # (T,)
    return positions < lengths[:, None]  # (T,) < (B, 1) -> (B, T)


def _lengths(draw):
    batch, longest = draw.sizes(2, low=3)
    yield draw.lengths(batch, longest), longest
    yield draw.lengths(batch, longest), longest + 2  # no sentence fills its row
    some = torch.cat([draw.lengths(3, 4), torch.zeros(1, dtype=torch.long)])  # always an empty sentence
    yield some[draw.order(4)], 4
    yield draw.integers(2, 5, 1), 5  # one sentence
    yield torch.tensor([1, 0, 1]), 1  # one position


PADDING_MASK = Exercise(
    padding_mask,
    cases=_lengths,
    about=About(points=1, minutes=8, difficulty=1, read_again="Masks: positions that must not be attended to"),
)

must = PADDING_MASK.properties
must("as many True as words", lambda result, lengths, max_length: (result.sum(1) == lengths).all()).says("""
    Each row of the mask must have as many True as the sentence has words.""")

wrong = PADDING_MASK.mistakes
wrong("the padding is True", {"positions <": "positions >="}).says("""
    You marked the padding with True. In this book True means that a position *may be attended to*, so the real words
    are True.""")
wrong("one position too many", {"positions <": "positions <="}).says("""
    You compared with ≤. Positions count from 0, so n words stand at the positions 0 to n − 1, and the comparison is
    `position < n`.""")
wrong("lengths not a column", {"lengths[:, None]": "lengths"}).says("""
    You compared positions (max_length,) with lengths (B,), which pairs position i with sentence i. Every position
    must be compared with every length, so make a column of the lengths: `lengths[:, None]`, (B, 1).""")
SLICED = """
mask = torch.ones(len(lengths), max_length, dtype=torch.bool)
for row, n in zip(mask, lengths.tolist()):
    row[-(max_length - n):] = False
return mask"""
wrong("a slice from −0", SLICED).says("""
    You closed the last max_length − n positions with a slice such as `[-(max_length - n):]`. For a full row this is
    `[-0:]`, which is the whole row, because −0 is 0. Use `[n:]`, which counts from the front.""")
wrong("width of the longest sentence", {"arange(max_length": "arange(int(lengths.max())"}).says("""
    Your mask is as wide as the longest sentence. It must have `max_length` columns, or it does not fit the
    batch.""")


def attention_entropy(weights):
    """Entropy of each query's weights, in nats: (B, Tq, Tk) -> (B, Tq)."""
    logs = weights.where(weights > 0, 1.0).log()  # (B, Tq, Tk); log 1 = 0 stands in for 0 · log 0
    return -(weights * logs).sum(-1)  # (B, Tq)


def _rows_of_weights(draw):
    batch, queries, keys = draw.sizes(3)
    yield (draw.normal(batch, queries, keys).softmax(-1),)
    mask = draw.mask(batch, queries, keys, empty_rows=False)
    yield ((3 * draw.normal(batch, queries, keys)).masked_fill(~mask, float("-inf")).softmax(-1),)
    yield (draw.normal(2, 2, 3).softmax(-1) * torch.tensor([[1.0], [0.0]]),)  # a query that attends to nothing
    yield (torch.eye(3, dtype=torch.float64).expand(2, 3, 3).contiguous(),)  # sure of itself: entropy 0
    yield (draw.normal(3, 3, 3).softmax(-1),)
    yield (draw.normal(1, 2, 3).softmax(-1),)  # an axis of length 1 stays an axis
    yield (draw.normal(2, 1, 3).softmax(-1),)
    small = torch.tensor([0.0, -18.0, 0.0, -14.0], dtype=torch.float64)  # weights near 1e-8 count
    yield ((draw.normal(2, 3, 4) + small).softmax(-1),)


def _at_the_scores(gradients, weights):
    """What gets through a softmax: nothing at a weight of 0, and nothing of a number that all positions share."""
    mean = (weights * gradients[0]).sum(-1, keepdim=True)
    return [weights * (gradients[0] - mean)]


ATTENTION_ENTROPY = Exercise(
    attention_entropy,
    cases=_rows_of_weights,
    tolerance=1e-8,  # 1e-9 added before the logarithm may pass, as 1e-12 does
    canonical_gradients=_at_the_scores,
    about=About(points=2, minutes=14, difficulty=2, read_again="Temperature: how sharp the choice is"),
)

must = ATTENTION_ENTROPY.properties
must("all on one position: 0", lambda result, weights: (result[(weights == 1).any(-1)].abs() < 1e-8).all()).says("""
    If one position has all the weight, the entropy is −1 · log 1 = 0, because a weight of 0 adds nothing.""")
must("not negative", lambda result, weights: (result >= -1e-9).all()).says("""
    An entropy is never below 0, and it is 0 if one position has all the weight.""")
must(
    "at most log Tk", lambda result, weights: (result <= torch.tensor(weights.shape[-1]).double().log() + 1e-9).all()
).says("""
    In nats an entropy is at most log Tk, which it reaches if all weights are equal. (With log2 it would be measured in
    bits, and larger.)""")

wrong = ATTENTION_ENTROPY.mistakes
wrong("summed over the queries", {".sum(-1)": ".sum(1)"}).says("""
    You summed over the queries (axis 1). Each query has an entropy of its own, the sum over its keys, which are the
    last axis.""")
wrong(
    "rows of zeros divided by their sum",
    {"    logs": "    weights = weights / weights.sum(-1, keepdim=True)\n    logs"},
).says("""
    You divided the weights by their sum. They are normalised already, and a query that may attend to nothing has only
    zeros, so your division is 0 / 0. Use the weights as they are.""")
wrong("0 · log 0", "return -(weights * weights.log()).sum(-1)").says("""
    For a weight of 0 you computed 0 · (−∞), which is NaN. In an entropy 0 · log 0 counts as 0, so replace these
    weights by 1 *before* the logarithm.""")
wrong("logarithms not weighted", {"(weights * logs)": "(logs)"}).says("""
    You summed the logarithms without the weights. Each −log α must be multiplied by its own weight α.""")
for power in range(3, 9):
    wrong(f"1e-{power} added", f"return -(weights * (weights + 1e-{power}).log()).sum(-1)").says(f"""
        You added about 1e-{power} before the logarithm, which changes the result by about as much for each position.
        Replace each 0 by 1 before the logarithm instead, or add no more than 1e-12.""")
for power in range(3, 7):
    wrong(f"1e-{power} as a floor", f"return -(weights * weights.clamp_min(1e-{power}).log()).sum(-1)").says(f"""
        You replaced the weights below about 1e-{power} before the logarithm, which changes the result where weights are
        that small. Replace only the zeros, by 1, or by a number no larger than 1e-12.""")
wrong("log_softmax of the weights", "return -(weights * weights.log_softmax(-1)).sum(-1)").says("""
    You used `log_softmax`, which takes a softmax first. The weights come from one already, so take only the logarithm,
    with each 0 replaced by 1.""")
wrong("no finite gradient at 0", "return -torch.where(weights > 0, weights * weights.log(), 0.0).sum(-1)").says("""
    Your entropies are right, but where a weight is 0 the gradient is infinite or NaN. `torch.where` or `nan_to_num`
    *after* the logarithm does not help, nor do `xlogy` and `entr`, because the gradient still passes the logarithm of
    0. Replace each 0 by 1 *before* it.""")
