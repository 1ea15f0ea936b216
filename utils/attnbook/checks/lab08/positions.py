"""Lab 8: sinusoids for positions, and adding them to word vectors."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Mistakes, Property


def sinusoidal_positions(length, dim):
    places = torch.arange(length, dtype=torch.float64)[:, None]  # (T, 1)
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)  # (D/2,): 0, 2, 4, …
    turned = places / 10000 ** (pairs / dim)  # (T, D/2), radians
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
    yield 1, 6  # one place: (1, D)
    yield 5, 2  # one pair
    yield 20 + draw.integer(0, 20), 8 + 2 * draw.integer(0, 5)
    if draw.number == 1:
        yield 200, 4  # longer than a table that was made beforehand


SINUSOIDAL_POSITIONS = Exercise(
    sinusoidal_positions,
    cases=_sizes,
    tolerance=1e-5,
    canonical=in_double,
    properties=[
        Property(
            "place 0 is 0, 1, 0, 1, …",
            "At place 0 every angle is 0: its row must be sin 0 = 0, cos 0 = 1, 0, 1, …",
            lambda result, length, dim: (result[0, 0::2].abs() < 1e-6).all() and (result[0, 1::2] > 1 - 1e-6).all(),
        ),
        Property(
            "the first pair turns one radian a place",
            "The first two features of place t must be sin t and cos t: the exponent of the first pair is 0.",
            lambda result, length, dim: ((result[:, 0] - torch.arange(length).double().sin()).abs() < 1e-5).all(),
        ),
        Property(
            "later pairs turn slower",
            "Each pair must turn *slower* than the one before it: at place 1 the sines get smaller from pair to pair. "
            "Divide by 10000^(2i/D), or put a minus into the exponent.",
            lambda result, length, dim: (result[1:2, 0::2].diff() < 0).all() and (result[1:2, 0::2] > 0).all(),
        ),
        Property(
            "sine and cosine of one angle",
            "Features 2i and 2i + 1 are sine and cosine of *the same* angle, so their squares must sum to 1.",
            lambda result, length, dim: ((result[:, 0::2] ** 2 + result[:, 1::2] ** 2 - 1).abs() < 1e-4).all(),
        ),
    ],
)

wrong = WRONG_ANGLES = Mistakes()  # the angles of sinusoidal_positions and of relative_shift
wrong("no parentheses round the exponent", {"(pairs / dim)": "pairs / dim"}).says("""
    You wrote … / 10000 ** 2i / D without parentheses, which reads (… / 10000^(2i)) / D. The whole fraction 2i / D is
    the exponent: 10000 ** (… / dim).""")
wrong("the 2 counted twice", {"(pairs / dim)": "(2 * pairs / dim)"}).says("""
    Your exponents are 4i / D: you doubled numbers that go 0, 2, 4, … already, or divided them by D/2. Pair i has the
    exponent 2i / D.""")
wrong("the 2 forgotten", {"(pairs / dim)": "(pairs / 2 / dim)"}).says("""
    Your exponents are i / D for pair i, so they stop at one half. It is 2i / D: the slowest pair turns nearly 10000
    times slower than the first.""")
wrong("1000 for 10000", {"10000": "1000"}).says("""
    You took 1000. The paper's number is 10000, with four zeros.""")
wrong("multiplied, not divided", {" / 10000": " * 10000"}).says("""
    You multiplied by 10000^(2i/D). Later pairs must turn *slower*: divide, or put a minus into the exponent.""")

wrong = SINUSOIDAL_POSITIONS.mistakes
wrong += WRONG_ANGLES
_ALTERNATING = "torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)"
wrong(
    "another angle for each feature",
    "turned = torch.arange(length)[:, None] / 10000 ** (torch.arange(dim) / dim)\n"
    "return torch.where(torch.arange(dim) % 2 == 0, turned.sin(), turned.cos())",
).says("""
    You gave every feature an angle of its own, t / 10000^(feature / D). A sine and its cosine share one: features 2i
    and 2i + 1 both have the exponent 2i / D. Only then is moving on a rotation.""")
wrong("sines first, then cosines", {_ALTERNATING: "torch.cat([turned.sin(), turned.cos()], dim=-1)"}).says("""
    You put all sines into the first half and all cosines into the second. Some programs do; here they alternate: sine
    on even, cosine on odd features.""")
wrong("sine and cosine swapped", {"[turned.sin(), turned.cos()]": "[turned.cos(), turned.sin()]"}).says("""
    You put the cosine on the even features. Feature 0 is a sine: position 0 has the row 0, 1, 0, 1, …""")
