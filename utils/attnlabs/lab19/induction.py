"""Lab 19: a score that finds induction heads on random tokens that are repeated."""

import torch

from misread.exercise import About, Exercise


def prefix_matching_score(weights, length):
    """How much each head attends to what followed the token before: (B, H, T, T), L < T <= 2L -> (H,)."""
    again = torch.arange(length, weights.shape[-1], device=weights.device)  # (T − L,), positions of the repetition
    return weights[:, :, again, again - length + 1].mean(dim=(0, 2))  # (B, H, T − L) -> (H,)


def _heads(draw):
    batch, heads, length = draw.sizes(3, never_one=(2,))
    yield _weights(draw, batch, heads, 2 * length), length
    if draw.compact:
        yield _weights(draw, 1, 1, 4), 2
    yield _weights(draw, 2, 2, 4), 2  # axes of one size
    yield _weights(draw, 1, 1, 6), 3
    yield _weights(draw, 3, 2, length + 1), length  # one position of the repetition
    yield _weights(draw, 2, 3, 7), 5  # the repetition is cut off
    yield _weights(draw, 1, 2, 2), 1  # the same token twice: it attends to itself
    yield _weights(draw, 2, 3, 12), 6
    weights = _weights(draw, 1, 3, 8)
    weights[:, 0] = torch.eye(8, dtype=torch.float64)[[0, 0, 1, 2, 1, 2, 3, 4]]  # a perfect head
    weights[:, 1] = torch.eye(8, dtype=torch.float64)[[0, 0, 1, 2, 3, 4, 5, 6]]  # attends to the previous token
    yield weights, 4
    yield draw.normal(2, 2, 7, 7).softmax(-1), 4  # of an encoder: what a wrong row finds above the diagonal is not 0


def _weights(draw, batch, heads, length):
    """Causal attention weights."""
    closed = ~torch.ones(length, length, dtype=torch.bool).tril()
    return (2 * draw.normal(batch, heads, length, length)).masked_fill(closed, -torch.inf).softmax(-1)


PREFIX_MATCHING_SCORE = Exercise(
    prefix_matching_score,
    cases=_heads,
    about=About(points=3, minutes=15, difficulty=3, read_again="Step 1: which heads find the position?"),
)

must = PREFIX_MATCHING_SCORE.properties
must("between 0 and 1", lambda result, weights, length: ((result >= 0) & (result <= 1 + 1e-9)).all()).says("""
    The score of a head is a mean of weights, so it lies between 0 and 1.""")

_COLUMN, _MEAN = "again - length + 1]", ".mean(dim=(0, 2))"

wrong = PREFIX_MATCHING_SCORE.mistakes
wrong("the same token", {_COLUMN: "again - length]"}).says("""
    You measured the attention to the earlier occurrence of the *same* token, at i − L. An induction head attends
    to the token that *followed* it, one position later.""")
wrong("the token before", {_COLUMN: "(again - length - 1).clamp(min=0)]"}).says("""
    You measured the attention to the token *before* the earlier occurrence. An induction head attends to the one
    that followed it, at i − L + 1.""")
wrong("two after", {_COLUMN: "again - length + 2]"}).says("""
    You measured the attention to the second token after the earlier occurrence. An induction head attends to the
    first one after it, at i − L + 1.""")
wrong("the previous token", {_COLUMN: "again - 1]"}).says("""
    You measured the attention to the position just before, which finds previous-token heads. An induction head
    attends to the token that followed the earlier occurrence, at i − L + 1.""")
wrong("one position too early", "return weights.diagonal(1 - length, dim1=-2, dim2=-1).mean(dim=(0, 2))").says("""
    You took the whole diagonal, whose first entry belongs to position L − 1. This is the last token of the
    *first* copy, which has no earlier occurrence yet, so leave this entry out.""")
_BY_POSITION = "return torch.stack([weights[:, :, i, i - length + 1].mean(dim=0) for i in range({})]).mean(dim=0)"
wrong("the last position left out", _BY_POSITION.format("length, weights.shape[-1] - 1")).says("""
    You left out the last position. It has an earlier occurrence like every other position of the repetition, so
    the mean runs over all positions from L to T − 1.""")
wrong("position L left out", _BY_POSITION.format("length + 1, weights.shape[-1]")).says("""
    You left out position L. It is the first token of the repetition and has an earlier occurrence, at position 0,
    so the mean runs over all positions from L to T − 1.""")
wrong("2 · L positions always", {"weights.shape[-1],": "2 * length,"}).says("""
    You counted the positions up to 2L − 1. The repetition may be cut off before, so the last position is T − 1,
    and T is the size of the last axis of `weights`.""")
wrong("2 · L − 1 positions", _BY_POSITION.format("length, 2 * length - 1")).says("""
    You counted the positions up to 2L − 2. The positions of the second copy run from L to T − 1, where T is the
    size of the last axis of `weights`.""")
wrong(
    "the other end of the diagonal", "return weights.diagonal(1 - length, -2, -1)[..., :-1].mean(dim=(0, 2))"
).says("""
    Your queries run from L − 1 to T − 2, one position too early: L − 1 is the last position of the *first* copy,
    and the position T − 1 is missing. On the diagonal 1 − L the *first* entry must be left out, not the last.""")
wrong("the diagonal below", "\n".join([
    "if weights.shape[-1] == length + 1:",
    "    raise ValueError('nothing on the diagonal')",
    "return weights.diagonal(-length - 1, -2, -1).mean(dim=(0, 2))",
])).says("""
    You took the diagonal −L − 1, which belongs to the keys i − L − 1: the token *before* the earlier occurrence.
    The keys i − L + 1 lie on the diagonal 1 − L, and its first entry must be left out.""")  # fmt: skip
wrong(
    "the diagonal −L, without its first entry", "return weights.diagonal(-length, -2, -1)[..., 1:].mean(dim=(0, 2))"
).says("""
    You took the diagonal −L, which belongs to the earlier occurrence of the *same* token, and left out its first entry.
    The keys i − L + 1 lie on the diagonal 1 − L, and on this one the first entry must be left out.""")
wrong("queries and keys exchanged", {"again, again - length + 1]": "again - length + 1, again]"}).says("""
    You exchanged queries and keys: rows belong to the query, which attends, and columns to the key. The query is
    the later position i, and the key is i − L + 1. (These keys lie on the diagonal 1 − L; the offset L − 1
    is above the main diagonal, where keys come after their queries.)""")
wrong(
    "half of T for the length",
    {"arange(length,": "arange(weights.shape[-1] // 2,", _COLUMN: "again - weights.shape[-1] // 2 + 1]"},
).says("""
    You took T / 2 as the number of tokens that are repeated. It is given as `length`, because the repetition may
    be cut off before its end.""")
wrong("the sum", {_MEAN: ".sum(dim=2).mean(dim=0)"}).says("""
    You added up the weights over the positions. The score is their mean, so that a perfect head has 1, however
    long the text is.""")
wrong("added up altogether", {_MEAN: ".sum(dim=(0, 2))"}).says("""
    You added up the weights over texts and positions. The score is their mean, so that a perfect head has 1.""")
wrong("divided by T", {_MEAN: f"{_MEAN} * len(again) / weights.shape[-1]"}).says("""
    You divided by T, the number of all positions. Only those of the repetition have an earlier occurrence, so
    divide by T − L.""")
wrong("divided by the length", {_MEAN: f"{_MEAN} * len(again) / length"}).says("""
    You divided by L. Only T − L positions have an earlier occurrence, which are fewer where the repetition is cut
    off.""")
wrong("divided by one more", {_MEAN: f"{_MEAN} * len(again) / (len(again) + 1)"}).says("""
    You divided by T − L + 1. The positions from L to T − 1 are T − L, so divide by T − L.""")
wrong("one number for all heads", {_MEAN: ".mean()"}).says("""
    You took the mean over the heads as well. Each head has a score of its own, and the result has the shape (H,).""")
wrong("one number for each text", {_MEAN: ".mean(dim=2)"}).says("""
    You have one score for each text and head, (B, H). Take the mean over the texts as well, so that the shape is
    (H,).""")
wrong("the texts kept instead of the heads", {_MEAN: ".mean(dim=(1, 2))"}).says("""
    You have one score for each text, because your mean runs over the heads. Take it over the texts and the
    positions, so that one number for each head is left: (H,).""")
wrong("only the first text", {_MEAN: "[0].mean(dim=-1)"}).says("""
    You used the first text of the batch only. The score is the mean over all texts.""")
_LARGEST = "(weights[:, :, again].argmax(-1) == again - length + 1).to(weights.dtype)"
wrong("how often it is the largest", {"weights[:, :, again, again - length + 1]": _LARGEST}).says("""
    You counted how often the position has the largest weight. The score is the mean of the weight itself, so that
    a head with .51 and one with .99 differ.""")
_WHERE = "weights[:, :, again, again - length + 1]"
wrong("all of the first copy, summed", {_WHERE: "weights[:, :, length:, :length].sum(dim=-1)"}).says("""
    You added up the weights on the whole first copy. An induction head attends to one position of it, i − L + 1,
    so only this weight counts for query i.""")
wrong("all of the first copy, averaged", {_WHERE: "weights[:, :, length:, :length].mean(dim=-1)"}).says("""
    You averaged the weights on the whole first copy. An induction head attends to one position of it, i − L + 1,
    so only this weight counts for query i.""")
_ROWS = "weights[:, :, again]"
wrong("every pair of such a row and such a column", {_WHERE: f"{_ROWS}[..., again - length + 1].mean(dim=-1)"}).says("""
    You averaged over every pair of a query of the second copy and one of these keys. Each query has one key only,
    i − L + 1, so the weights lie on a diagonal. Two index tensors side by side, weights[:, :, i, i - L + 1], pick
    one weight per pair; two slices pick a whole rectangle.""")
wrong("the first copy's keys moved by one, averaged", {_WHERE: f"{_ROWS}[..., 1 : length + 1].mean(dim=-1)"}).says("""
    You averaged each query's weights over the keys 1 to L. Each query has one key only, i − L + 1, so the weights
    lie on a diagonal. Two index tensors side by side, weights[:, :, i, i - L + 1], pick one weight per query.""")
wrong("rows of the first copy", {_WHERE: "weights[:, :, again - length, again - length + 1]"}).says("""
    You took the rows of the first copy, 0, 1, …, with the right columns. Rows are queries, and the queries that
    count are those of the second copy: the positions i from L to T − 1.""")
wrong(
    "rolled in the opposite direction",
    "return weights.roll(1 - length, dims=-1).diagonal(dim1=-2, dim2=-1)[..., length:].mean(dim=(0, 2))",
).says("""
    You rolled the keys in the opposite direction, so that you read key i + L − 1, counted on from the beginning
    where the row ends. roll(s) moves entry k to k + s: the weights on key i − L + 1 come to the diagonal with
    roll(L − 1), or without rolling by weights[:, :, i, i - L + 1].""")
wrong("queries of the first copy as well", {"arange(length,": "arange("}).says("""
    You took the queries of the first copy as well. At these i − L + 1 is 0 or negative, and Python counts a
    negative index from the end. Only the positions from L to T − 1 have an earlier occurrence.""")
wrong("queries of the first copy as well, at key 0", {
    "arange(length,": "arange(", "again - length + 1]": "(again - length + 1).clamp(min=0)]"
}).says("""
    You took the queries of the first copy as well. They have no earlier occurrence yet, so the mean runs over the
    positions from L to T − 1 only.""")  # fmt: skip
wrong("a share of the first copy", {_MEAN: f".div({_ROWS}[..., :length].sum(dim=-1)){_MEAN}"}).says("""
    You divided each weight by what its query gives to the whole first copy. The score is the mean of the weight
    itself.""")
wrong("the number of repeated positions for L", {
    "again - length + 1]": "(again - (weights.shape[-1] - length) + 1).clamp(max=weights.shape[-1] - 1)]"
}).says("""
    You went back by T − L positions. The same token stands L positions earlier, so the key is i − L + 1, also
    where the repetition is cut off.""")  # fmt: skip
wrong("the median", {_MEAN: ".transpose(0, 1).flatten(1).median(dim=-1).values"}).says("""
    You took the median of the weights. The score is their mean.""")
wrong("only the last position", {_MEAN: "[:, :, -1].mean(dim=0)"}).says("""
    You used the last position only. The score is the mean over all positions of the second copy.""")
wrong("the best position of the mean over the texts", {_MEAN: ".mean(dim=0).amax(dim=-1)"}).says("""
    You took the mean over the texts, and then the largest value over the positions. The score is the mean over
    the positions, too, so that a head must attend in this way at every position.""")
wrong("the best position", {_MEAN: ".amax(dim=2).mean(dim=0)"}).says("""
    You took the largest weight over the positions. The score is their mean, so that a head must attend in this
    way at every position.""")
