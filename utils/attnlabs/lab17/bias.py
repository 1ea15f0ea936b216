"""Lab 17: a penalty on distance that is a straight line, known at every distance before training."""

import torch

from misread.exercise import About, Exercise


def relative_bias(query_length, key_length, slopes):
    """A penalty that grows with the distance, one slope per head: (H,) -> (H, Tq, Tk)."""
    queries = torch.arange(query_length, device=slopes.device)  # (Tq,)
    keys = torch.arange(key_length, device=slopes.device)  # (Tk,)
    distance = (queries[:, None] - keys).abs()  # (Tq, Tk)
    return -slopes[:, None, None] * distance  # (H, 1, 1) * (Tq, Tk) -> (H, Tq, Tk)


def _sizes(draw):
    if draw.compact:
        yield 2, 3, torch.tensor([1.0, 0.5], dtype=torch.float64)
        yield 3, 2, torch.tensor([1.0, 0.5], dtype=torch.float64)
        yield 1, 12, torch.tensor([1.0], dtype=torch.float64)
        yield 1, 20, torch.tensor([1.0], dtype=torch.float64)
    queries, keys, heads = draw.sizes(3)
    yield queries, keys, draw.uniform(heads, low=0.1, high=2.0)
    yield keys + 2, queries, draw.uniform(heads, low=0.1, high=2.0)
    yield 4, 4, draw.uniform(4, low=0.1, high=2.0)  # all sizes the same
    yield 1, 5, draw.uniform(2, low=0.1, high=2.0)  # one query: the first word that a decoder writes
    yield 5, 1, draw.uniform(2, low=0.1, high=2.0)
    yield 2, 3, 0.1 * draw.integers(1, 20, 1).double()  # one head
    yield 12, 9, 2.0 ** -(8.0 * torch.arange(1, 4, dtype=torch.float64) / 3)  # slopes as ALiBi has them
    yield 2, 4, torch.zeros(3, dtype=torch.float64)  # no penalty yet
    yield 3, 2, torch.tensor([0.0, 0.5, 0.0], dtype=torch.float64)  # some heads have none
    yield *((2, 300) if draw.number % 2 else (300, 2)), 0.1 * draw.integers(1, 20, 1).double()  # far away


RELATIVE_BIAS = Exercise(
    relative_bias,
    cases=_sizes,
    about=About(points=2, minutes=10, difficulty=2, read_again=("08_heads_positions", "Linear bias")),
)

must = RELATIVE_BIAS.properties
must(
    "0 where both stand at the same position",
    lambda result, Tq, Tk, slopes: not result.diagonal(dim1=-2, dim2=-1).any(),
).says("""
    Where query and key stand at the same position, the distance and the bias are 0.""")
must("never positive", lambda result, *args: (result <= 0).all()).says("""
    A bias is a penalty: it lowers the score, and is never above 0.""")
must(
    "the same to the left and to the right",
    lambda result, Tq, Tk, slopes: torch.equal(
        result[:, : min(Tq, Tk), : min(Tq, Tk)], result[:, : min(Tq, Tk), : min(Tq, Tk)].mT
    ),
).says("""
    A key two positions before the query has the same bias as one two positions after it.""")
must(
    "a straight line",
    lambda result, Tq, Tk, slopes: torch.allclose(
        torch.cat([result[:, 0, 1:], result[:, 1:, 0]], 1).to(slopes),
        -slopes[:, None] * torch.cat([torch.arange(1, Tk), torch.arange(1, Tq)]),
    ),
).says("""
    Each further position lowers the score by the slope again, however far away the key is.""")

_DISTANCE, _SLOPES = "(queries[:, None] - keys).abs()", "slopes[:, None, None]"

wrong = RELATIVE_BIAS.mistakes
wrong("distance with its sign", {".abs()": ""}).says("""
    You left the sign in the distance, so keys on one side of the query are rewarded for being far away. The distance is
    |i − j|: abs().""")
wrong("distance with the opposite sign", {_DISTANCE: "(keys - queries[:, None])"}).says("""
    You left the sign in the distance, j − i, so that keys before the query are rewarded for being far away. The
    distance is |i − j|: abs().""")
wrong("no penalty for earlier keys", {_DISTANCE: "(keys - queries[:, None]).clamp(min=0)"}).says("""
    Your bias is 0 for all keys before the query. In cross-attention the keys on both sides are visible, and both are
    penalised: |i − j|.""")
wrong("no penalty for later keys", {".abs()": ".clamp(min=0)"}).says("""
    Your bias is 0 for all keys after the query, as in a decoder that cannot see them anyway. In cross-attention the
    keys on both sides are visible: |i − j|.""")
LATER = "masked_fill(keys > queries[:, None], {})"
CLOSED = {f"-{_SLOPES} * distance": f"(-{_SLOPES} * distance).{LATER.format('-torch.inf')}"}
wrong("later keys closed", CLOSED).says("""
    You also closed the keys after the query. That is the causal mask's task; a bias only lowers scores, the same on
    both sides.""")
CLOSED_BY_NUMBER = {f"-{_SLOPES} * distance": f"(-{_SLOPES} * distance).{LATER.format('-1e9')}"}
wrong("later keys closed by −1e9", CLOSED_BY_NUMBER).says("""
    You also closed the keys after the query, with a large negative number. That is the causal mask's task; a bias only
    lowers scores, the same on both sides.""")
wrong("slopes along the keys", {_SLOPES: "slopes"}).says("""
    You multiplied the distances (Tq, Tk) by the slopes (H,) as they are, so the slopes would lie along the keys. Give
    them two more axes, slopes[:, None, None]: then the result is (H, Tq, Tk).""")
wrong("slopes along the queries", {_SLOPES: "slopes[:, None]"}).says("""
    Your slopes have one more axis, (H, 1), so they would lie along the queries. They need two, slopes[:, None, None]:
    then the result is (H, Tq, Tk).""")
OWN_SLOPES = """
slopes = 2.0 ** (-8.0 * torch.arange(1, len(slopes) + 1) / len(slopes))
return -slopes[:, None, None] * (torch.arange(query_length)[:, None] - torch.arange(key_length)).abs()"""
wrong("slopes computed, not given", OWN_SLOPES).says("""
    You computed the slopes from the number of heads, as Press et al. do, and left the argument unused. Here `slopes`
    are given, because they may be learned.""")
wrong(
    "divided by the slope", {"-slopes[:, None, None] * distance": "-distance / slopes[:, None, None].clamp(min=1e-300)"}
).says("""
    You divided the distance by the slope. A slope says how much the score falls per position: multiply.""")
ALIGNED_AT_THE_END = {"arange(query_length,": "arange(key_length - query_length, key_length,"}
wrong("the last query at the last key", ALIGNED_AT_THE_END).says("""
    You let the *last* query stand at the position of the last key. Here queries and keys are two sequences, and both
    count from 0.""")
wrong(
    "distance as a share of the length", {_DISTANCE: "(queries[:, None] / query_length - keys / key_length).abs()"}
).says("""
    You divided the positions by the lengths. Then one step to the side means less in a longer sequence than in
    training, which is what a relative bias is to avoid: count positions.""")
wrong("starts at 1", {".abs()": ".abs() + 1"}).says("""
    Your bias is −slope at distance 0. Where query and key stand at the same position it is 0.""")
OWN_PARAMETER = {_SLOPES: "nn.Parameter(slopes)[:, None, None]"}
wrong("a parameter of its own", OWN_PARAMETER).says("""
    The numbers are right, but no gradient arrives at `slopes`, because each call makes new numbers from them that can
    learn (`nn.Parameter`, `requires_grad_()`), and these are forgotten afterwards. Take the slopes as they are: what
    can learn is decided by the model that passes them.""")
wrong("the slopes' absolute value", {"-slopes[": "-slopes.abs()["}).says("""
    The numbers are right, but where a slope is 0 no gradient arrives at it: `abs` and `relu` have none there, so that a
    head without a penalty could never learn one. Take the slopes as they are.""")
