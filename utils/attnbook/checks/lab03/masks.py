"""Lab 3, last part: a mask from lengths, and how sharp attention is."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Mistake, Property


def padding_mask(lengths, max_length):
    places = torch.arange(max_length, device=lengths.device)  # (T,)
    return places < lengths[:, None]  # (T,) < (B, 1) -> (B, T)


def _lengths(draw):
    batch, longest = draw.sizes(2, low=3)
    yield draw.lengths(batch, longest), longest
    yield draw.lengths(batch, longest), longest + 2  # no sentence fills its row
    some = torch.cat([draw.lengths(3, 4), torch.zeros(1, dtype=torch.long)])  # always an empty sentence
    yield some[draw.order(4)], 4
    yield draw.integers(2, 5, 1), 5  # one sentence
    yield torch.tensor([1, 0, 1]), 1  # one place


PADDING_MASK = Exercise(
    padding_mask,
    cases=_lengths,
    properties=[
        Property(
            "as many True as words",
            "Each row must have as many True as the sentence has words.",
            lambda result, lengths, max_length: (result.sum(1) == lengths).all(),
        )
    ],
)

wrong = PADDING_MASK.mistakes
wrong("the padding is True", {"places <": "places >="}).says("""
    You marked the padding. In this book True means *may attend*: the real words are True.""")
wrong("one place too many", {"places <": "places <="}).says("""
    You used ≤. Places count from 0, so a sentence of n words fills places 0 to n − 1: place < n.""")
wrong("one place too few", {"lengths[:, None]": "lengths[:, None] - 1"}).says("""
    The last word of each sentence is closed in your mask. It fills place n − 1, and that is < n.""")
wrong("padding on the left", {"places < lengths[:, None]": "places >= max_length - lengths[:, None]"}).says("""
    You put the words at the end of the row. Batches here are padded on the right: words first.""")
wrong("batch and places swapped", {"places < lengths[:, None]": "places[:, None] < lengths"}).says("""
    Your mask is (T, B). A row belongs to a sentence: (B, T).""")
wrong("numbers, not truth values", {"places < lengths[:, None]": "(places < lengths[:, None]).double()"}).says("""
    Your mask holds numbers. A mask is boolean: a comparison gives it for nothing, and ~mask then means *not*.""")
wrong(
    "a slice from −0",
    "mask = torch.ones(len(lengths), max_length, dtype=torch.bool)\n"
    "for row, n in zip(mask, lengths.tolist()):\n    row[-(max_length - n):] = False\nreturn mask",
).says("""
    You closed the last max_length − n places with a slice such as [-(max_length - n):]. For a full row that is [-0:],
    and −0 is 0: the whole row. Count from the front, [n:], or compare.""")
wrong("width of the longest sentence", {"arange(max_length": "arange(int(lengths.max())"}).says("""
    Your mask is as wide as the longest sentence. It must have `max_length` columns, or it won't fit the batch.""")
wrong("only the last word", {"places < lengths[:, None]": "places == lengths[:, None] - 1"}).says("""
    You marked one place of each sentence. All its words may be attended to: place < length.""")


def attention_entropy(weights):
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
    """What gets through a softmax: nothing at a weight of 0, and nothing of a number that all places share."""
    mean = (weights * gradients[0]).sum(-1, keepdim=True)
    return [weights * (gradients[0] - mean)]


def _added(power):
    """A small number 10^−power before the logarithm, large enough to show."""
    return Mistake(
        f"1e-{power} added",
        f"You added 1e-{power} (or so) before the logarithm, and the result is off by about as much for each place. "
        "Put a 1 in the place of each 0 instead, or add no more than 1e-12.",
        f"return -(weights * (weights + 1e-{power}).log()).sum(-1)",
    )


ATTENTION_ENTROPY = Exercise(
    attention_entropy,
    cases=_rows_of_weights,
    tolerance=1e-8,  # 1e-9 added before the logarithm may pass, as 1e-12 does
    canonical_gradients=_at_the_scores,
    properties=[
        Property(
            "all on one place: 0",
            "When all attention lies on one place the entropy is −1 · log 1 = 0; the other places, with weight 0, "
            "add nothing.",
            lambda result, weights: (result[(weights == 1).any(-1)].abs() < 1e-8).all(),
        ),
        Property(
            "not negative",
            "An entropy is never below 0: it is 0 when all attention lies on one place.",
            lambda result, weights: (result >= -1e-9).all(),
        ),
        Property(
            "at most log Tk",
            "In nats an entropy is at most log Tk, with the natural logarithm, when all places get the same. (log2 "
            "would count bits, which are more.)",
            lambda result, weights: (result <= torch.tensor(weights.shape[-1]).double().log() + 1e-9).all(),
        ),
    ],
)

wrong = ATTENTION_ENTROPY.mistakes
wrong("0 · log 0", "return -(weights * weights.log()).sum(-1)").says("""
    A weight of 0 gave 0 · (−∞) = NaN. In an entropy 0 · log 0 counts as 0: leave those places out *before* the
    logarithm.""")
wrong("sign forgotten", {"return -(": "return ("}).says("""
    Your entropy is negative: logarithms of numbers below 1 are. Put a minus in front.""")
wrong("in bits", {".log()": ".log2()"}).says("""
    You took the logarithm to base 2: that gives bits. The book measures in nats, the natural logarithm.""")
wrong("in bits, and 0 · log 0", "return -(weights * weights.log2()).sum(-1)").says("""
    You took the logarithm to base 2, which gives bits: nats need the natural logarithm, log. And a weight of 0 gave 0
    · (−∞) = NaN: deal with the zeros before the logarithm.""")
wrong("exp of the entropy", {"-(weights * logs).sum(-1)": "(-(weights * logs).sum(-1)).exp()"}).says("""
    You returned exp(H), the number of places that attention is spread over, as it were. The entropy in nats is H
    itself: 0 when all lies on one place.""")
wrong("summed over the queries", {".sum(-1)": ".sum(1)"}).says("""
    You summed over the queries. Each query has an entropy of its own, over its keys: sum over the last axis.""")
wrong("averaged over the keys", {".sum(-1)": ".mean(-1)"}).says("""
    You took the mean over the keys. An entropy is the sum; the weights in it make it an average already.""")
wrong("one number for all", {".sum(-1)": ".sum(-1).mean()"}).says("""
    You returned one number for the whole batch. Wanted is one for each query: (B, Tq).""")
wrong("logarithms not weighted", {"(weights * logs)": "(logs)"}).says("""
    You summed the logarithms without the weights in front. Each surprise −log w counts with its weight w.""")
wrong("softmax once more", "weights = weights.softmax(-1)\nreturn -(weights * weights.log()).sum(-1)").says("""
    You took a softmax of the weights. They are normalised already; a second one makes them nearly equal.""")
wrong += (_added(power) for power in range(4, 9))
wrong("not weighted, small number added", "return -(weights + 1e-9).log().sum(-1)").says("""
    You summed the logarithms without the weights in front. Each surprise −log w counts with its weight: −w · log w.
    (The small number that you added for the zeros is then not needed so badly.)""")
wrong(
    "divided by log Tk, and 0 · log 0", "return -(weights * weights.log()).sum(-1) / math.log(weights.shape[-1])"
).says("""
    You divided by log Tk: a useful number between 0 and 1, but not the entropy in nats. And a weight of 0 gave NaN:
    deal with the zeros before the logarithm.""")
wrong("divided by log Tk", {".sum(-1)": ".sum(-1) / math.log(weights.shape[-1])"}).says("""
    You divided by log Tk, so that 1 means *even*. That is a useful number, but not the entropy in nats.""")
wrong("no finite gradient at 0", "return -torch.where(weights > 0, weights * weights.log(), 0.0).sum(-1)").says("""
    Your entropies are right, but where a weight is 0 the gradient is infinite or NaN, and one masked place would
    spoil a training. A torch.where or nan_to_num *after* the logarithm comes too late for the way back, and xlogy and
    entr don't help there. Put a 1 in the place of each 0 *before* it.""")
wrong("weights cut off", {"(weights * logs)": "(weights.detach() * logs)"}).says("""
    Your entropies are right, but the gradient is not: the weights in front of the logarithm were cut off (detach,
    no_grad, .data). What is left of the slope is the same everywhere, and says nothing.""")
wrong(
    "normalised once more", {"    logs =": "    weights = weights / weights.sum(-1, keepdim=True)\n    logs ="}
).says("""
    You divided the weights by their sum, which is 1 already, or 0 for a query that attends to nothing: that is 0/0.
    By the convention such a query has entropy 0.""")
