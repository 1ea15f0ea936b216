"""Lab 19: rotary positions whose base is a choice, as a file says it."""

import torch

from misread.exercise import About, Exercise


def rotary_with_base(x, positions, base):
    """Turn neighbouring pairs of features by their positions: (..., T, D), (T,), a number -> (..., T, D)."""
    dim = x.shape[-1]
    pairs = torch.arange(0, dim, 2, device=x.device).to(x.dtype)  # (D/2,): 0, 2, 4, …
    angles = positions[:, None] / base ** (pairs / dim)  # (T, 1) / (D/2,) -> (T, D/2), radians
    cos, sin = angles.cos(), angles.sin()  # (T, D/2) each
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, D/2) each
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., T, D/2, 2) -> (..., T, D)


def _queries(draw):
    batch, heads, length, pairs = draw.sizes(4)
    start = draw.integer(1, 4)
    yield draw.normal(batch, heads, length, 2 * pairs), torch.arange(length) + start, 100.0
    if draw.compact:
        yield draw.normal(1, 4), torch.tensor([2]), 9.0
    yield draw.normal(1, 4), torch.tensor([1]), 100.0  # one position, no axis in front
    yield draw.normal(2, 3, 4), torch.tensor([4, 0, 7]), 10000.0  # in no order, with gaps
    yield draw.normal(3, 8), torch.tensor([0, 1, 2]), 100000.0
    yield draw.normal(2, 2, 2), torch.tensor([3, 4]), 50.0  # one pair, whatever the base
    yield draw.normal(1, 5, 6), torch.arange(5), 20.0  # from the first position on
    yield draw.normal(4, 4, 4, 4), torch.arange(4) + 2, 30.0  # axes of one size
    yield draw.normal(2, 8), torch.tensor([900, 8191]), 500000.0  # far into a text
    yield draw.normal(1, 4), torch.tensor([20011]), 500000.0  # farther than the tables of most programs reach
    yield draw.normal(2, 6), torch.tensor([0, 0]), 10.0  # nothing is turned


ROTARY_WITH_BASE = Exercise(
    rotary_with_base,
    cases=_queries,
    about=About(points=3, minutes=18, difficulty=3, read_again="Five settings make our decoder that of SmolLM2"),
)


def _lengths(x):
    return x.unflatten(-1, (-1, 2)).norm(dim=-1)  # (..., T, D/2)


must = ROTARY_WITH_BASE.properties
must(
    "a rotation keeps the length of each pair", lambda result, x, *args: torch.allclose(_lengths(result), _lengths(x))
).says("""
    A rotation keeps the length of each pair of features (2i, 2i + 1), and in your result some lengths differ.
    This happens when other features are paired, when a sign or a factor of the two sums is another one, and when
    the second sum is computed from a feature that was turned already.""")
must(
    "position 0 turns nothing",
    lambda result, x, positions, base: torch.allclose(result[..., positions == 0, :], x[..., positions == 0, :]),
).says("""
    At position 0 every angle is 0, so its vector must come back unchanged.""")


def _all_digits(result, x, positions, base):
    right = rotary_with_base(x, positions, base)
    error, rounding = (result - right).abs().max(), 2e-7 * (1 + positions.abs().max())
    return torch.allclose(result, right, rtol=1e-9, atol=1e-9) or error > rounding * (1 + x.abs().max())


must("angles with all digits of x", _all_digits).says("""
    Your result differs from the right one by as much as angles in single precision do, so something on the way to
    the angles has fewer digits than `x`. The usual cause is torch.arange(0, D, 2) / D, which has single precision
    whatever the dtype of `x`: make the arange with dtype=x.dtype, and convert nothing to float32.""")

_STACK = "torch.stack(turned, dim=-1).flatten(-2)"
_EXPONENT = "(pairs / dim)"
_TURNED = "[even * cos - odd * sin, even * sin + odd * cos]"
_HALVES = {"x[..., 0::2], x[..., 1::2]": "x.chunk(2, dim=-1)", _STACK: "torch.cat(turned, dim=-1)"}

wrong = ROTARY_WITH_BASE.mistakes
wrong("the base ignored", {"/ base **": "/ 10000 **"}).says("""
    You used 10000 whatever the base is. This number is an argument now, because models for longer texts use a
    larger one: SmolLM2 has 100000.""")
wrong("turned the other way", {_TURNED: "[even * cos + odd * sin, odd * cos - even * sin]"}).says("""
    You turned every pair in the opposite direction. A positive angle takes (1, 0) to (cos, sin), so the second
    feature gets even · sin + odd · cos.""")
wrong("features of the two halves paired", _HALVES).says("""
    You paired feature i with feature i + D/2, as transformers does. Here, in the paper and in GGUF files
    neighbours are a pair: features 2i and 2i + 1. A file's weights belong to one of the two orders.""")
wrong("halves paired, the base ignored", _HALVES | {"/ base **": "/ 10000 **"}).says("""
    You paired feature i with feature i + D/2, and you used 10000 whatever the base is. Neighbours are a pair
    here, features 2i and 2i + 1, and the base is an argument.""")
wrong("halves paired, the other way", _HALVES | {_TURNED: "[even * cos + odd * sin, odd * cos - even * sin]"}).says("""
    You paired feature i with feature i + D/2, and you turned the pairs in the opposite direction. Neighbours are
    a pair here, features 2i and 2i + 1, and a positive angle takes (1, 0) to (cos, sin).""")
wrong("angles repeated as a whole", "\n".join([
    "dim = x.shape[-1]",
    "angles = positions[:, None] / base ** (torch.arange(0, dim, 2).to(x) / dim)",
    "angles = angles.repeat(1, 2)",
    "swapped = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)",
    "return x * angles.cos() + swapped * angles.sin()",
])).says("""
    You paired the right features, but your angles come in the order θ0, θ1, …, θ0, θ1, …, as `repeat` or `cat`
    make them, so the two features of a pair turn by different angles. Neighbours have the same angle: θ0, θ0, θ1,
    θ1, …, which repeat_interleave(2, dim=-1) makes.""")  # fmt: skip
wrong("angles of neighbours for pairs of halves", "\n".join([
    "dim = x.shape[-1]",
    "angles = positions[:, None] / base ** (torch.arange(0, dim, 2).to(x) / dim)",
    "angles = angles.repeat_interleave(2, dim=-1)",
    "swapped = torch.cat([-x[..., dim // 2 :], x[..., : dim // 2]], dim=-1)",
    "return x * angles.cos() + swapped * angles.sin()",
])).says("""
    Your angles belong to pairs of neighbours, θ0, θ0, θ1, θ1, …, but you exchanged the two *halves* of the
    features, which pairs feature i with feature i + D/2. Neighbours are a pair here: exchange the features 2i and
    2i + 1, with a minus in front of the second one.""")  # fmt: skip
wrong("not interleaved again", {_STACK: "torch.cat(turned, dim=-1)"}).says("""
    You turned the right pairs, and then put all first features of the pairs before all second ones. Each feature
    must return to where it was: stack along a new last axis, and join the last two axes.""")
wrong("stacked in front and reshaped", {_STACK: "torch.stack(turned).reshape(x.shape)"}).says("""
    You stacked the two results along a new first axis, and `reshape` then mixes positions and features. Stack
    along a new *last* axis, `dim=-1`, and join the last two axes with `flatten(-2)`.""")
wrong("no parentheses round the exponent", {_EXPONENT: "pairs / dim"}).says("""
    You wrote … / base ** 2i / D without parentheses, which Python reads as (… / base^(2i)) / D. The whole
    fraction 2i / D is the exponent.""")
wrong("the power divided by D", {"base ** (pairs / dim)": "(base ** pairs / dim)"}).says("""
    You computed base^(2i) first and divided the power by D, because `**` binds more strongly than `/`. The
    whole fraction 2i / D is the exponent: base ** (pairs / D).""")
wrong(
    "the second feature made of the new first one",
    {_TURNED: "[even := even * cos - odd * sin, even * sin + odd * cos]"},
).says("""
    You computed the second feature of a pair from a first one that was turned already, because you had written
    the new first feature over the old one. A slice such as x[..., 0::2] is a view, so writing into the tensor
    changes the slice as well. Compute both new features from the old ones.""")
wrong("the first feature made of the new second one", {
    _TURNED: "[odd := even * sin + odd * cos, even * cos - odd * sin][::-1]"
}).says("""
    You computed the first feature of a pair from a second one that was turned already, because you had written
    the new second feature over the old one. Compute both new features from the old ones.""")  # fmt: skip
wrong("first and second feature exchanged", {_TURNED: "[even * sin + odd * cos, even * cos - odd * sin]"}).says("""
    You exchanged the two new features of each pair. The first one is even · cos − odd · sin, and the second one
    even · sin + odd · cos.""")
wrong("the length instead of the number of features", {_EXPONENT: "(pairs / x.shape[-2])"}).says("""
    You divided by T, the number of positions. The exponent is 2i / D, where D is the number of features: the
    size of the last axis of `x`.""")
wrong("the logarithm of base 10", {"base ** (pairs / dim)": "(pairs / dim * math.log10(base)).exp()"}).says("""
    You combined `exp` with the logarithm of base 10. Both belong together: exp(a · log(base)) with the natural
    logarithm, math.log, is base to the power a.""")
wrong("positions relative to the first", {"positions[:, None]": "(positions - positions[0])[:, None]"}).says("""
    You counted the positions from the first one of `positions`. The angle belongs to the position itself: with a
    cache the only token that is read may stand at position 57, and its angle is not 0.""")
wrong("angles along the first axis", {
    "angles.cos()": "angles.cos().view(len(angles), *[1] * (x.dim() - 2), -1)",
    "angles.sin()": "angles.sin().view(len(angles), *[1] * (x.dim() - 2), -1)",
}).says("""
    You put the angles of the positions along the first axis of `x`. The positions lie along the last axis but
    one, whatever stands in front: angles of the shape (T, D/2) broadcast there by themselves.""")  # fmt: skip
wrong("64 features, whatever D is", {_EXPONENT: "(pairs / 64)"}).says("""
    You divided by 64, the number of features of a head in SmolLM2. The exponent is 2i / D, where D is the size of
    the last axis of `x`.""")
wrong("the 2 counted twice", {_EXPONENT: "(2 * pairs / dim)"}).says("""
    Your exponents are 4i / D, because the 2 was counted twice. Pair i has the exponent 2i / D.""")
wrong("the 2 forgotten", {_EXPONENT: "(pairs / 2 / dim)"}).says("""
    Your exponent for pair i is i / D. It must be 2i / D, where D is the number of features and i counts pairs.""")
wrong("the last exponent is 1", {_EXPONENT: "(pairs / max(dim - 2, 1))"}).says("""
    Your exponents run up to exactly 1, because you divided by D − 2 (or used `linspace`). Pair i has the exponent
    2i / D, so the last one stays below 1.""")
wrong("one angle for all pairs", {_EXPONENT: "(pairs // dim)"}).says("""
    Every pair turns by the same angle in your result. Pair i turns by position / base^(2i/D), so later pairs turn
    more slowly.""")
wrong("multiplied, not divided", {"/ base **": "* base **"}).says("""
    You multiplied by base^(2i/D). Later pairs must turn *more slowly*, so divide by it.""")
wrong("positions counted anew", {"positions[:, None]": "torch.arange(len(positions)).to(x)[:, None]"}).says("""
    You counted the positions 0, 1, 2, … yourself. They are an argument, because with a cache the next token
    stands at position 57, for example, although it is the only one that is read.""")
wrong("positions counted on from the first one", {
    "positions[:, None]": "(positions[0] + torch.arange(len(positions)))[:, None]"
}).says("""
    You took the first position and counted on from it. The positions need not follow one another, and they come
    in any order: use all of `positions`.""")  # fmt: skip
wrong("positions counted from 1", {"positions[:, None]": "(positions[:, None] + 1)"}).says("""
    You turned every vector one position too far. Position 0 has the angle 0, so nothing is added to the
    positions.""")
wrong("sine and cosine exchanged", {"angles.cos(), angles.sin()": "angles.sin(), angles.cos()"}).says("""
    You exchanged sine and cosine. At angle 0 a rotation changes nothing, so the factor of `even` in the first
    result is the cosine, which is 1 there.""")
wrong("both signs positive", {"even * cos - odd * sin": "even * cos + odd * sin"}).says("""
    Both of your sums have a plus, so this is no rotation. The first feature of a pair becomes even · cos − odd ·
    sin.""")
wrong("added, not turned", "\n".join([
    "pairs = torch.arange(0, x.shape[-1], 2).to(x)",
    "angles = positions[:, None] / base ** (pairs / x.shape[-1])",
    "return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)",
])).says("""
    You added sines and cosines to the features, as the sinusoidal positions of Chapter 8 do. Rotary positions
    *turn* each pair: they multiply, and add nothing.""")  # fmt: skip
wrong("angles in single precision", {".to(x.dtype)": ".float()"}).says("""
    Your angles are computed in float32, although `x` has more digits: torch.arange(0, D, 2) / D has float32,
    whatever the dtype of `x`. Make the arange with dtype=x.dtype, because far positions need all digits of an
    angle.""")
wrong("halves paired, written as neighbours", {"x[..., 0::2], x[..., 1::2]": "x.chunk(2, dim=-1)"}).says("""
    You paired feature i with feature i + D/2, and put the two results side by side. Neighbours are a pair: take
    the features 0, 2, 4, … and 1, 3, 5, …, which are x[..., 0::2] and x[..., 1::2].""")
wrong(
    "an angle of 2π for each position", {"positions[:, None] /": "2 * torch.pi * positions[:, None].to(x.dtype) /"}
).says("""
    You multiplied the angles by 2π, as if they were counted in turns. They are radians already: the first pair turns
    by one radian per position.""")
wrong("degrees", {"positions[:, None] /": "positions[:, None].to(x.dtype) * torch.pi / 180 /"}).says("""
    You converted the angles from degrees. They are radians already: the first pair turns by one radian per
    position.""")
wrong("pairs from 1", {_EXPONENT: "((pairs + 2) / dim)"}).says("""
    Your exponents begin with 2 / D, as if the pairs were counted from 1. Pair 0 has the exponent 0 and turns by
    one radian per position.""")
wrong("slowest pair in front", {_EXPONENT: "((dim - 2 - pairs) / dim)"}).says("""
    In your result the first pair turns most slowly. It turns fastest, by one radian per position, and the
    exponent 2i / D grows with the number of the pair.""")
wrong(
    "only the first pair", {_STACK: "torch.cat([torch.stack(turned, dim=-1).flatten(-2)[..., :2], x[..., 2:]], dim=-1)"}
).says("""
    You turned the first pair only. Every pair turns, each with its own angle.""")
