"""Lab 8: sinusoids for positions, and adding them to word vectors."""

from __future__ import annotations

import torch

from ..engine.exercise import Exercise, Property


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
            lambda result, length, dim: (result[0, 0::2].abs() < 1e-6).all() and (result[0, 1::2] - 1 < 1e-6).all(),
        ),
        Property(
            "the first pair turns one radian a place",
            "The first two features of place t must be sin t and cos t: the exponent of the first pair is 0.",
            lambda result, length, dim: torch.allclose(
                result[:, 0].double(), torch.arange(length).double().sin(), atol=1e-5
            ),
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

wrong = SINUSOIDAL_POSITIONS.mistakes
wrong("no parentheses round the exponent", {"(pairs / dim)": "pairs / dim"}).says("""
    You wrote t / 10000 ** 2i / D without parentheses, which reads (t / 10000^(2i)) / D. The whole fraction 2i / D is
    the exponent: 10000 ** (… / dim).""")
wrong(
    "pairs overlap",
    "table = torch.zeros(length, dim, dtype=torch.float64)\nfor i in range(dim // 2):\n"
    "    angle = torch.arange(length, dtype=torch.float64) / 10000 ** (2 * i / dim)\n"
    "    table[:, i], table[:, i + 1] = angle.sin(), angle.cos()\nreturn table",
).says("""
    You wrote pair i at features i and i + 1, so each pair overwrites half of the one before. Pair i begins at 2i: its
    sine is feature 2i, its cosine feature 2i + 1.""")
wrong("no cosines", {"turned.cos()": "0 * turned"}).says("""
    You filled the even features with sines and left the odd ones at 0. They hold the cosines of the same angles: with
    a sine alone two different angles can look the same.""")
wrong(
    "another angle for each feature",
    "turned = torch.arange(length)[:, None] / 10000 ** (torch.arange(dim) / dim)\n"
    "return torch.where(torch.arange(dim) % 2 == 0, turned.sin(), turned.cos())",
).says("""
    You gave every feature an angle of its own, t / 10000^(feature / D). A sine and its cosine share one: features 2i
    and 2i + 1 both have the exponent 2i / D. Only then is moving on a rotation.""")
wrong(
    "sines first, then cosines",
    {"torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(1)": "torch.cat([turned.sin(), turned.cos()], dim=-1)"},
).says("""
    You put all sines into the first half and all cosines into the second. Some programs do; here they alternate: sine
    on even, cosine on odd features.""")
wrong("sine and cosine swapped", {"[turned.sin(), turned.cos()]": "[turned.cos(), turned.sin()]"}).says("""
    You put the cosine on the even features. Feature 0 is a sine: place 0 has the row 0, 1, 0, 1, …""")
wrong("the 2 counted twice", {"(pairs / dim)": "(2 * pairs / dim)"}).says("""
    Your exponents are 4i / D and run up to nearly 2: you doubled numbers that go 0, 2, 4, … already, or divided them
    by D/2. Pair i has the exponent 2i / D.""")
wrong("the 2 forgotten", {"(pairs / dim)": "(pairs / 2 / dim)"}).says("""
    Your exponents are i / D for pair i, so they stop at one half. It is 2i / D: the slowest pair shall turn nearly
    10000 times slower than the first.""")
wrong("whole numbers divided", {"(pairs / dim)": "(pairs // dim)"}).says("""
    You divided the exponents with //, which leaves 0: every pair turns as fast as the first. Divide with /.""")
wrong("count from 1", {"torch.arange(length, dtype": "torch.arange(1, length + 1, dtype"}).says("""
    Your first row is place 1. Places count from 0 in this book, and place 0 has the row 0, 1, 0, 1, …""")
wrong("multiplied, not divided", {"places / 10000": "places * 10000"}).says("""
    You multiplied by 10000^(2i/D). Later pairs must turn *slower*: divide, or put a minus into the exponent.""")
wrong("1000 for 10000", {"10000": "1000"}).says("""
    You took 1000. The paper's number is 10000, with four zeros.""")
wrong("sines only", {"turned.cos()": "turned.sin()"}).says("""
    All your features are sines. Odd features are cosines: with a sine alone two different angles can look the same.""")
wrong("places along the columns", {".flatten(1)": ".flatten(1).T"}).says("""
    Your result is (D, T). A row belongs to a place: (T, D).""")
wrong("an axis for the batch", {".flatten(1)": ".flatten(1)[None]"}).says("""
    Your result is (1, T, D). All sentences share the same positions: (T, D), and broadcasting does the rest.""")
wrong("turns, not radians", {"places / 10000": "2 * math.pi * places / 10000"}).says("""
    You multiplied the angles by 2π. The formula has no π: the first pair turns by one *radian* a place.""")
wrong("places divided by the length", {"places / 10000": "places / length / 10000"}).says("""
    You divided the places by the length. Then the same place looks different in a longer sentence. A place is 0, 1,
    2, …""")
wrong("down to 10000 exactly", {"(pairs / dim)": "(pairs / (dim - 2))"}).says("""
    You let the last pair be exactly 10000 times slower, by dividing by the number of pairs − 1. The formula divides
    2i by D. (With one pair yours is 0 / 0, too.)""")
wrong("not interleaved", {"dim=-1).flatten(1)": "dim=1).reshape(dim, length).T"}).says("""
    You stacked sine and cosine but joined them the wrong way round: all sines of a row come first. Stack along a
    *last* axis, so that flatten takes them in turn.""")
