"""Lab 3, last part: a mask from lengths, and how sharp attention is."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


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
wrong("padding on the left", {"places < lengths[:, None]": "places >= max_length - lengths[:, None]"}).says("""
    You put the words at the end of the row. Batches here are padded on the right: words first.""")
SLICED = """
mask = torch.ones(len(lengths), max_length, dtype=torch.bool)
for row, n in zip(mask, lengths.tolist()):
    row[-(max_length - n):] = False
return mask"""
wrong("a slice from −0", SLICED).says("""
    You closed the last max_length − n places with a slice such as [-(max_length - n):]. For a full row that is [-0:],
    and −0 is 0: the whole row. Count from the front, [n:], or compare.""")
wrong("width of the longest sentence", {"arange(max_length": "arange(int(lengths.max())"}).says("""
    Your mask is as wide as the longest sentence. It must have `max_length` columns, or it won't fit the batch.""")


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


ATTENTION_ENTROPY = Exercise(
    attention_entropy,
    cases=_rows_of_weights,
    tolerance=1e-8,  # 1e-9 added before the logarithm may pass, as 1e-12 does
    canonical_gradients=_at_the_scores,
    properties=[
        Property(
            "all on one place: 0",
            "When all attention lies on one place the entropy is −1 · log 1 = 0; a place with weight 0 adds nothing.",
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
wrong("logarithms not weighted", {"(weights * logs)": "(logs)"}).says("""
    You summed the logarithms without the weights in front. Each surprise −log w counts with its weight w.""")
for power in range(4, 9):
    wrong(f"1e-{power} added", f"return -(weights * (weights + 1e-{power}).log()).sum(-1)").says(f"""
        You added 1e-{power} (or so) before the logarithm, and the result is off by about as much for each place. Put a
        1 in the place of each 0 instead, or add no more than 1e-12.""")
wrong("no finite gradient at 0", "return -torch.where(weights > 0, weights * weights.log(), 0.0).sum(-1)").says("""
    Your entropies are right, but where a weight is 0 the gradient is infinite or NaN: a torch.where or nan_to_num
    *after* the logarithm comes too late for the way back, and xlogy and entr don't help there. Put a 1 in the place
    of each 0 *before* it.""")
