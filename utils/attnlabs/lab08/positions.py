"""Lab 8: sinusoids for positions, and adding them to word vectors."""

import torch

from misread.exercise import About, Exercise, Mistakes


def sinusoidal_positions(length, dim):
    """Sine on even, cosine on odd features: -> (T, D)."""
    steps = torch.arange(length, dtype=torch.float64)[:, None]  # (T, 1)
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)  # (D/2,): 0, 2, 4, …
    turned = steps / 10000 ** (pairs / dim)  # (T, D/2), radians
    return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)  # (T, D/2, 2) -> (T, D)


def in_double(result, *args):
    """Single and double precision are equally right where no input has a dtype to follow."""
    single = isinstance(result, torch.Tensor) and result.dtype == torch.float32
    return result.double() if single else result


def _sizes(draw):
    length, pairs = draw.sizes(2, low=3)
    yield 3, 4
    yield length, 2 * pairs
    yield 4, 4
    yield 1, 6  # one position: (1, D)
    yield 5, 2  # one pair
    yield 20 + draw.integer(0, 20), 8 + 2 * draw.integer(0, 5)
    if draw.number == 1:
        yield 200, 4  # longer than a table that was made beforehand


def _own_speeds(result, length, dim):
    speeds = 10000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)
    return length == 1 or torch.allclose(result[1, 0::2], speeds.sin().to(result), rtol=1e-2, atol=1e-6)


SINUSOIDAL_POSITIONS = Exercise(
    sinusoidal_positions,
    cases=_sizes,
    tolerance=1e-5,
    canonical=in_double,
    about=About(points=3, minutes=16, difficulty=3, read_again="Positions added to the word vectors"),
)

must = SINUSOIDAL_POSITIONS.properties
must(
    "position 0 is 0, 1, 0, 1, …",
    lambda result, length, dim: (result[0, 0::2].abs() < 1e-6).all() and (result[0, 1::2] > 1 - 1e-6).all(),
).says("""
    At position 0 every angle is 0, so its row must be sin 0 = 0, cos 0 = 1, 0, 1, and so on. Yours is another row.""")
must(
    "the first pair turns one radian per position",
    lambda result, length, dim: ((result[:, 0] - torch.arange(length).double().sin()).abs() < 1e-5).all(),
).says("""
    The first two features of position t must be sin t and cos t, because the exponent of the first pair is 0.""")
must(
    "later pairs turn slower",
    lambda result, length, dim: (result[1:2, 0::2].diff() < 0).all() and (result[1:2, 0::2] > 0).all(),
).says("""
    Each pair must turn *more slowly* than the one before it, so that at position 1 the sines get smaller from pair to
    pair. Divide by 10000^(2i/D), or put a minus into the exponent.""")
must(
    "sine and cosine of one angle",
    lambda result, length, dim: ((result[:, 0::2] ** 2 + result[:, 1::2] ** 2 - 1).abs() < 1e-4).all(),
).says("""
    Features 2i and 2i + 1 are sine and cosine of *the same* angle, so their squares must sum to 1. In your result they
    don't.""")

must("each pair has its own speed", _own_speeds).says("""
    From one position to the next, pair i must turn by 1 / 10000^(2i/D). The first pair is right, but a later one turns
    by another angle: look at the number 10000 and at the exponent.""")

wrong = WRONG_ANGLES = Mistakes()  # the angles of sinusoidal_positions and of relative_shift
wrong("no parentheses round the exponent", {"(pairs / dim)": "pairs / dim"}).says("""
    You wrote … / 10000 ** 2i / D without parentheses, which Python reads as (… / 10000^(2i)) / D. The whole
    fraction 2i / D is the exponent: 10000 ** (… / dim).""")
wrong("the 2 counted twice", {"(pairs / dim)": "(2 * pairs / dim)"}).says("""
    Your exponents are 4i / D, either because you doubled numbers that are 0, 2, 4, … already, or because you
    divided them by D/2. Pair i has the exponent 2i / D.""")
wrong("one angle for all pairs", {"(pairs / dim)": "(pairs // dim)"}).says("""
    Your exponents are all 0, so that every pair turns by the same angle. Either the exponent is missing, or `//` has
    rounded each 2i / D down to 0. Pair i has its own speed, with the exponent 2i / D: divide with `/`.""")
wrong("only the first pair turns", {"(pairs / dim)": "pairs"}).says("""
    Only your first pair turns, and the others stay (nearly) at the angle 0. Either you wrote the others without an
    angle, or the exponent is 2i without / D, and 10000^(2i) is so large that nothing is left of the angle. Pair i turns
    by 1 / 10000^(2i/D) per position.""")
wrong("angles rounded down", {" / 10000": " // 10000"}).says("""
    You rounded the angles down to whole numbers, with `//`. The slow pairs then stand still for many positions and jump
    afterwards. An angle is a fraction: divide with `/`.""")
wrong("the last exponent is 1", {"(pairs / dim)": "(pairs / max(dim - 2, 1))"}).says("""
    Your exponents run up to exactly 1, as 2i / (D − 2), because you divided by one pair less (or used `linspace`), as
    some programs do. In the paper the exponent of pair i is 2i / D, so that the last one stays below 1.""")
wrong("the 2 forgotten", {"(pairs / dim)": "(pairs / 2 / dim)"}).says("""
    Your exponent for pair i is i / D, so that the exponents never exceed one half. It must be 2i / D, with which
    the last pair turns nearly 10000 times more slowly than the first if there are many pairs.""")
wrong("1000 for 10000", {"10000": "1000"}).says("""
    You used the number 1000, which has one zero too few. The paper's number is 10000.""")
wrong("multiplied, not divided", {" / 10000": " * 10000"}).says("""
    You multiplied by 10000^(2i/D). Later pairs must turn *more slowly*, so divide by it, or put a minus into the
    exponent.""")

wrong = SINUSOIDAL_POSITIONS.mistakes
wrong += WRONG_ANGLES
_ALTERNATING = "torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)"
wrong(
    "another angle for each feature",
    "turned = torch.arange(length)[:, None] / 10000 ** (torch.arange(dim) / dim)\n"
    "return torch.where(torch.arange(dim) % 2 == 0, turned.sin(), turned.cos())",
).says("""
    You gave every feature an angle of its own, t / 10000^(feature / D). A sine and its cosine share one angle, so
    features 2i and 2i + 1 both have the exponent 2i / D. Only then is a shift of the position a rotation.""")
wrong(
    "steps longer than one", {"torch.arange(length, dtype=torch.float64)": "torch.linspace(0, length, length)"}
).says("""
    Your positions are not 0, 1, 2, …, but a little farther apart, as those of linspace(0, length, length), which ends
    *at* `length`. The last position is length − 1: use `arange`.""")
wrong(
    "angles repeated as a whole",
    "turned = (torch.arange(length)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)).repeat(1, 2)\n"
    "return torch.where(torch.arange(dim) % 2 == 0, turned.sin(), turned.cos())",
).says("""
    You repeated the row of angles as a whole (`repeat` or `cat`), so that features 2i and 2i + 1 have different angles.
    Neighbours share one angle: repeat each angle twice in a row (`repeat_interleave`), or stack sines and cosines.""")
wrong("cosines on the even features", {"[turned.sin(), turned.cos()]": "[turned.cos(), turned.sin()]"}).says("""
    You put the cosines on the even features and the sines on the odd ones. The sine comes first in each pair: feature
    2i is the sine and feature 2i + 1 the cosine.""")
wrong("sines first, then cosines", {_ALTERNATING: "torch.cat([turned.sin(), turned.cos()], dim=-1)"}).says("""
    You put all sines into the first half and all cosines into the second half, as some programs do. Here they
    alternate: sine on even and cosine on odd features.""")
wrong(
    "stacked in front and reshaped", {_ALTERNATING: "torch.stack([turned.sin(), turned.cos()]).reshape(length, dim)"}
).says("""
    You stacked sines and cosines along a new *first* axis, (2, T, D/2), and `reshape` then fills each row with numbers
    of several positions. Stack along a new last axis, `dim=-1`, and then join the last two: (T, D/2, 2) to (T, D).""")
