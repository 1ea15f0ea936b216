"""Lab 12: longer text. First, a softmax whose scores arrive in blocks."""

import math

import torch

from misread.exercise import About

from .frugal import OnePass


def online_softmax_sum(score_blocks, value_blocks):
    """softmax(scores) @ values in one pass: blocks (B, Tq, K) and (B, K, Dv) -> (B, Tq, Dv)."""
    largest, total, summed = -math.inf, 0.0, 0.0
    for scores, values in zip(score_blocks, value_blocks, strict=True):
        higher = scores.amax(dim=-1, keepdim=True).clamp(min=largest)  # (B, Tq, 1)
        shrink = (largest - higher).exp()  # (B, Tq, 1)
        parts = (scores - higher).exp()  # (B, Tq, K)
        total = total * shrink + parts.sum(dim=-1, keepdim=True)  # (B, Tq, 1)
        summed = summed * shrink + parts @ values  # (B, Tq, Dv)
        largest = higher
    return summed / total


def _blocks(draw):
    batch, queries, dim = draw.sizes(3)

    def cut(*sizes, move=0.0, closed=False):
        scores = draw.normal(batch, queries, sum(sizes))
        if closed:
            scores[..., sizes[0] :] = scores[..., sizes[0] :].masked_fill(
                draw.mask(batch, queries, sum(sizes[1:])).logical_not(), -torch.inf
            )
        values = draw.normal(batch, sum(sizes), dim)
        return (scores + move).split(sizes, dim=-1), values.split(sizes, dim=1)

    if draw.compact:
        yield cut(1, 1)
        yield cut(2, 1)
    yield cut(2, 3, 1)
    yield cut(3, 1, 2, 4, 2)
    yield cut(3)  # one block: an ordinary softmax
    yield cut(2, 2, 2, 2, closed=True)  # rows that may not attend to any later block
    yield cut(2, 3, 2, move=1000.0)  # exp(1000) is no number
    yield cut(2, 3, 2, move=1000.0 * torch.arange(queries)[:, None])  # each row its own maximum
    steep = torch.tensor([0.0] * 2 + [900.0] * 3 + [-900.0] * 2)  # the maximum grows late, and by a great step
    yield cut(2, 3, 2, move=steep.double())
    yield cut(2, 3, 2, move=-1000.0)
    yield cut(2, 3, 2, move=-2e4)  # below what is sometimes written for minus infinity
    yield cut(2, 2, 2, move=-1000.0, closed=True)
    uneven = torch.tensor([0.0, 0.0, 900.0, 0.0, 0.0, -900.0, 0.0])  # far apart within a block
    yield cut(2, 3, 2, move=uneven.double())
    if draw.number < 1:  # so many blocks that it stands out if all of them are kept
        yield draw.normal(1, 2, 600).split(20, dim=-1), draw.normal(1, 600, 1).split(20, dim=1)


ONLINE_SOFTMAX_SUM = OnePass(
    online_softmax_sum,
    cases=_blocks,
    gradients=False,
    about=About(points=4, minutes=25, difficulty=4, read_again="A softmax that reads its scores in blocks"),
)

must = ONLINE_SOFTMAX_SUM.properties
must(
    "between the smallest and the largest value",
    lambda result, scores, values: (
        (result <= torch.cat(values, 1).amax(1, keepdim=True) + 1e-9)
        & (result >= torch.cat(values, 1).amin(1, keepdim=True) - 1e-9)
    ).all(),
).says("""
    A context is a weighted mean, so each feature lies between the smallest and the largest of the values.""")

BY_MAXIMUM = """
largest, total, context = -math.inf, 0.0, 0.0
for scores, values in zip(score_blocks, value_blocks):
    top = scores.amax(dim=-1, keepdim=True)
    higher = top.clamp(min=largest)
    shrink, weight = (largest - higher).exp(), (top - higher).exp()
    total, context = total * shrink + weight, context * shrink + weight * (scores.softmax(dim=-1).nan_to_num() @ values)
    largest = higher
return context / total"""
_OWN = "(scores - scores.amax(dim=-1, keepdim=True)).exp().nan_to_num()"
_TOTAL, _SUMMED = "total * shrink +", "summed * shrink +"

wrong = ONLINE_SOFTMAX_SUM.mistakes
wrong("nothing rescaled", {_TOTAL: "total +", _SUMMED: "summed +"}).says("""
    You added the parts of each block to the sums as they were. The earlier parts were computed with a smaller maximum,
    so both sums must be multiplied by exp(old maximum − new maximum) before the new block is added.""")
wrong("the total not rescaled", {_TOTAL: "total +"}).says("""
    You rescaled the sum of the values and not the total. Both were computed with the old maximum, so both must be
    multiplied by exp(old maximum − new maximum).""")
wrong(
    "rescaled with the new parts",
    {
        "total * shrink + parts.sum(dim=-1, keepdim=True)": "(total + parts.sum(dim=-1, keepdim=True)) * shrink",
        "summed * shrink + parts @ values": "(summed + parts @ values) * shrink",
        "(largest - higher).exp()": "1.0 if isinstance(total, float) else (largest - higher).exp()",
    },
).says("""
    You added the new parts first and rescaled the sums afterwards. The new parts are measured from the new maximum
    already, so only what was summed before is multiplied by exp(old maximum − new maximum).""")
wrong("the summed values not rescaled", {_SUMMED: "summed +"}).says("""
    You rescaled the total and not the sum of the values. Both were computed with the old maximum, so both must be
    multiplied by exp(old maximum − new maximum).""")
wrong(
    "rescaled the wrong way round", {"(largest - higher).exp()": "(higher - largest).nan_to_num(posinf=0.0).exp()"}
).says("""
    You rescaled by exp(new maximum − old maximum), which makes the earlier parts larger. They were measured from a
    smaller maximum, so they must shrink: exp(old maximum − new maximum).""")
wrong(
    "a softmax per block, then the mean",
    """
contexts = [scores.softmax(dim=-1) @ values for scores, values in zip(score_blocks, value_blocks)]
return sum(contexts) / len(contexts)""",
).says("""
    You took a softmax within each block and then the mean of the contexts, so every block counts the same. A block
    with larger scores must count more: keep the sums of exp(score), and divide once at the end.""")
wrong(
    "a softmax per block, then the sum",
    """
return sum(scores.softmax(dim=-1) @ values for scores, values in zip(score_blocks, value_blocks))""",
).says("""
    You took a softmax within each block and added the contexts, so the weights of a row sum to the number of blocks.
    Keep the sums of exp(score) over all blocks, and divide once at the end.""")
wrong("not divided by the total", {"summed / total": "summed"}).says("""
    You returned the sum of exp(score − maximum) · value without dividing it. A softmax divides by the total of
    exp(score − maximum), so divide once, after the last block.""")
wrong(
    "no maximum subtracted",
    {"scores.amax(dim=-1, keepdim=True).clamp(min=largest)": "torch.zeros_like(scores[..., :1])", "-math.inf": "0.0"},
).says("""
    You computed exp(score) without subtracting a maximum. For large scores exp overflows to infinity, and for very
    negative ones all parts become 0, so subtract the largest score seen so far.""")
wrong(
    "one maximum for all rows",
    {"scores.amax(dim=-1, keepdim=True).clamp(min=largest)": "scores.amax().clamp(min=largest)"},
).says("""
    You subtracted one maximum from all rows. A row whose scores are much smaller then has only zeros after exp, so
    each row needs a maximum of its own: amax(dim=-1, keepdim=True).""")
wrong("the maximum of the block only", {".clamp(min=largest)": ""}).says("""
    You replaced the maximum by that of the new block, even where it is smaller. Then the rescaling can overflow, so
    keep the larger of the old and the new maximum, for each row.""")
wrong("new parts from the block's own maximum", {"(scores - higher).exp()": _OWN}).says("""
    You measured the new parts from the maximum of their own block, and the sums from the largest score so far. All
    parts of a row need one maximum, so subtract the larger one of the two from the block's scores as well.""")
wrong("a softmax per block, weighted by its maximum", BY_MAXIMUM).says("""
    You took a softmax within each block and weighted it by exp(its maximum). A block's weight is the sum of its
    exp(score − maximum), in which all of its scores count, so keep these totals, and divide once at the end.""")
wrong("the smallest score subtracted", {"amax": "amin"}).says("""
    You subtracted the smallest score of a block, so exp overflows where another score is much larger. Subtract the
    largest score so far: then no part is above 1.""")
wrong("the maximum begins at 0", {"-math.inf": "0.0"}).says("""
    Your maximum begins at 0, so it stays 0 where all scores are negative. If they are very negative, all parts are
    rounded to 0, and 0 / 0 is NaN. Begin with −∞, so that the first block sets the maximum.""")
wrong("only the last block", {_TOTAL: "", _SUMMED: ""}).says("""
    Your result depends on the last block only, because each block overwrites the sums. Add the new parts to the
    rescaled sums of the blocks before.""")
wrong(
    "all blocks collected",
    """
scores, values = torch.cat(list(score_blocks), dim=-1), torch.cat(list(value_blocks), dim=1)
return scores.softmax(dim=-1) @ values""",
).says("""
    You collected all blocks before you computed the softmax, which is what this exercise is to avoid. Use each block
    when it comes, and keep three things per row: a maximum, a total and a sum of values.""")
wrong(
    "all blocks joined",
    """
scores = values = None
for new_scores, new_values in zip(score_blocks, value_blocks):
    scores = new_scores if scores is None else torch.cat([scores, new_scores], dim=-1)
    values = new_values if values is None else torch.cat([values, new_values], dim=1)
return scores.softmax(dim=-1) @ values""",
).says("""
    The values are right, but you keep the numbers of all blocks, joined or as copies, so that all scores exist at
    once. Keep three things per row, whose size does not grow with the number of blocks: a maximum, a total and a sum
    of values.""")
wrong(
    "two passes",
    """
largest = None
for scores in score_blocks:
    top = scores.amax(dim=-1, keepdim=True)
    largest = top if largest is None else torch.maximum(largest, top)
total, summed = 0.0, 0.0
for scores, values in zip(score_blocks, value_blocks):
    parts = (scores - largest).exp()
    total, summed = total + parts.sum(dim=-1, keepdim=True), summed + parts @ values
return summed / total""",
).says("""
    You went through the scores twice, first for the maximum and then for the sums. The blocks come only once, so
    update maximum, total and sum together, and rescale the sums when the maximum grows.""")
wrong("writes into the blocks", {"(scores - higher)": "scores.sub_(higher)"}).says("""
    Your function writes into a block of scores, which belongs to the caller. Build new numbers from it: `scores -
    maximum` in place of `scores -= maximum` or `sub_`.""")
wrong("the maximum not kept", {"largest = higher": "pass"}).says("""
    You computed the new maximum and did not keep it, so the next block compares itself with the old one. Store the new
    maximum at the end of the loop's body.""")
wrong("only the first block", {"        largest = higher\n    return": "        return"}).says("""
    Your function returns after the first block, because `return` stands inside the loop. Take it out of the loop, so
    that it is reached after the last block.""")
DIVIDED = {"summed * shrink + parts @ values": "(summed * shrink + parts @ values) / total", "summed / total": "summed"}
wrong("divided in each block", DIVIDED).says("""
    You divided by the total in every block, so the sum of the earlier blocks is divided several times. Keep the sum
    undivided, and divide it once, after the last block.""")
