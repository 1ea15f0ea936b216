"""Lab 13: sharpening, so that a focus that moves does not spread."""

import torch

from misread.exercise import About, Exercise


def sharpen(weights, gamma):
    """Raise to the power gamma and normalise: (B, N), (B, 1) -> (B, N)."""
    powers = (weights / weights.amax(dim=-1, keepdim=True)) ** gamma  # (B, N); the largest is 1, whatever γ is
    return powers / powers.sum(dim=-1, keepdim=True)  # (B, N)


def _weights_and_powers(draw):
    batch, rows = draw.sizes(2, low=3)
    for B, N in ((batch, rows), (3, 3), (1, rows), (batch, 1), (2, 40)):
        yield draw.normal(B, N).softmax(-1), draw.uniform(B, 1, low=1.3, high=6.0)
    spread = draw.uniform(2, rows, low=0.1)
    yield spread, draw.uniform(2, 1, low=1.5, high=3.0)  # do not sum to 1
    yield draw.normal(2, 4).softmax(-1), torch.ones(2, 1, dtype=torch.float64)  # γ = 1 changes nothing
    sparse = draw.uniform(2, 4, low=0.2)
    sparse[:, draw.order(4)[:2]] = 0.0
    sparse = sparse / sparse.sum(-1, keepdim=True)
    yield sparse, draw.uniform(2, 1, low=2.0, high=5.0)
    yield sparse, torch.ones(2, 1, dtype=torch.float64)
    yield draw.normal(2, 4).softmax(-1), draw.uniform(2, 1, low=2000.0, high=4000.0)  # 0.4 to this power is 0
    yield (0.002 * draw.normal(2, 4)).softmax(-1), draw.uniform(2, 1, low=2000.0, high=4000.0)  # a γ that is needed
    yield (9 * draw.normal(2, 40)).softmax(-1), draw.uniform(2, 1, low=1.0, high=1.1)  # small is not 0
    yield _with_small_ones(draw), draw.uniform(2, 1, low=1.01, high=1.1)
    yield 1e-5 * sparse, draw.uniform(2, 1, low=1.01, high=1.1)
    yield 1e-5 * _with_small_ones(draw), draw.uniform(2, 1, low=1.01, high=1.1)
    if draw.number == 1:
        yield torch.full((2, 128), 1 / 128, dtype=torch.float64), draw.uniform(2, 1, low=200.0, high=300.0)
        yield draw.normal(2, 20).softmax(-1).float(), draw.uniform(2, 1, low=100.0, high=200.0).float()
        yield sparse.float(), draw.uniform(2, 1, low=2.0, high=5.0).float()
        yield sparse.float(), draw.uniform(2, 1, low=300.0, high=500.0).float()


def _with_small_ones(draw):
    weights = torch.ones(2, 4, dtype=torch.float64)
    weights[:, 1:] = draw.uniform(2, 3, low=5e-5, high=9e-5) * torch.tensor([1.0, 1.0, 80.0])
    return weights / weights.sum(-1, keepdim=True)


def _away_from_zero(gradients, weights, gamma):
    """By the logarithm of a weight: 0 may count as the smallest number there is, and the slope is then another."""
    if weights.dtype == torch.float32:  # too few digits to compare; NaN is seen even so
        return [None, None]
    return [gradients[0] * weights, gradients[1]]


SHARPEN = Exercise(
    sharpen,
    cases=_weights_and_powers,
    canonical_gradients=_away_from_zero,
    tolerance=1e-5,
    about=About(points=2, minutes=14, difficulty=2, read_again="Step 4: sharpening"),
)

must = SHARPEN.properties
must("some weight is left", lambda result, *args: (result.amax(-1) > 0).all()).says("""
    A row of your result is 0 throughout. For a large γ the computer rounds all its powers to 0, and then no guard in
    the division helps. Divide each row of weights by its largest weight before the power; this changes no result.""")
must("each row sums to one", lambda result, *args: ((result.sum(-1) - 1).abs() < 1e-4).all()).says("""
    The weights must sum to 1 over the rows of each memory again. Divide each row of powers by its own sum: `sum` and
    `amax` keep the axis that this division needs only with keepdim=True.""")
must(
    "zero stays zero",
    lambda result, weights, gamma: (result[weights == 0] < (1e-12 if weights.dtype == torch.float64 else 1e-5)).all(),
).says("""
    A row of the memory that had no weight must not get any by sharpening. Before the power, is a number added to the
    weights or subtracted from them, or are they kept above a number (`clamp_min`) that is not small enough?""")
must(
    "γ = 1 changes nothing",
    lambda result, weights, gamma: (gamma > 1).any() or torch.allclose(result, weights, atol=1e-6),
).says("""
    With γ = 1, weights that sum to 1 must come out as they went in. Before the power all weights of a row may be
    multiplied or divided by the same number, which the division by the sum removes again, but nothing may be added or
    subtracted.""")
must(
    "the order stays",
    lambda result, weights, gamma: (
        result.gather(1, weights.argmax(-1, keepdim=True))[:, 0] >= result.amax(-1) - 1e-5
    ).all(),
).says("""
    The row with the largest weight must still have the largest weight after sharpening.""")

_LARGEST = "weights.amax(dim=-1, keepdim=True)"

wrong = SHARPEN.mistakes
wrong("not normalised again", "return weights**gamma").says("""
    You raised the weights to the power γ, but you did not divide by the sum of the powers. The weights then sum to
    less than 1, and at each step more of them is lost.""")
wrong("power after normalising", "return (weights / weights.sum(dim=-1, keepdim=True)) ** gamma").says("""
    You divided by the sum of the weights first and took the power afterwards, so that the powers do not sum to 1. Take
    the power first, and divide by the sum of the powers at the end.""")
wrong("all powers round to 0", "powers = weights**gamma\nreturn powers / powers.sum(dim=-1, keepdim=True)").says("""
    For a large γ the computer rounds all your powers to 0, and 0 / 0 is NaN. Divide each row of weights by its largest
    weight before the power. The largest is then 1 to any power, and the result is the same.""")
wrong("divided by the largest of all", {_LARGEST: "weights.max()"}).says("""
    You divided by the largest weight of the whole batch. In the other sequences all powers can still round to 0, and
    0 / 0 is NaN. Each sequence needs its own largest weight: amax(dim=-1, keepdim=True).""")
wrong("multiplied by γ", {"** gamma": "* gamma"}).says("""
    γ has no effect in your result, which is the weights divided by their sum. If you multiplied the weights by γ, the
    division removes it again. Raise them to the power γ instead.""")
wrong("weights as they came in", "return weights.clone()").says("""
    You gave back the weights as they came in. Raise them to the power γ, and divide by the sum of the powers.""")
wrong("γ without its last axis", {"** gamma": "** gamma[:, 0]"}).says("""
    You raised weights (B, N) to a γ of shape (B,). PyTorch aligns shapes from the right, so γ runs along the rows of
    the memory. Keep γ in its shape (B, 1), so that each sequence has one γ for all its rows.""")
wrong("powers too large", {_LARGEST: "weights.mean(dim=-1, keepdim=True)"}).says("""
    You brought the weights to another size, but some of them are still above 1. For a large γ their power is infinite,
    and ∞ / ∞ is NaN. Divide each row of weights by its *largest* weight: then no power is above 1, and one of them is
    1.""")
wrong("softmax of γ times the weights", "return (gamma * weights).softmax(dim=-1)").says("""
    You computed softmax(γ · w), which treats the weights as if they were scores. A normalised power of the weights
    would be softmax(γ · log w).""")
wrong("one more than γ", {"** gamma": "** (1 + gamma)"}).says("""
    You raised the weights to the power γ + 1. γ is already at least 1 when it comes in, so use it as it is: with γ = 1
    nothing may change.""")
wrong("log of zero", "return (gamma * weights.log()).softmax(dim=-1)").says("""
    Your weights are right, but where a weight is 0 its logarithm is −∞ and its gradient is NaN. Keep the weights above
    the smallest number of their type with `clamp_min(torch.finfo(weights.dtype).tiny)`, or use no logarithm.""")
