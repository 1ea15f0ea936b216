"""Lab 4, second part: the window around a centre, and the Gaussian within it."""

import torch

from misread.exercise import About, Exercise


def local_window_mask(centre, lengths, half_width, max_length):
    """True at the words at most half_width from the centre: (B,), (B,) -> (B, max_length) bool."""
    positions = torch.arange(max_length, device=centre.device)  # (Tk,)
    nearest = torch.minimum(centre.clamp(min=0), (lengths - 1).to(centre.dtype))[:, None]  # (B, 1)
    near = (positions - nearest).abs() <= half_width  # (B, Tk)
    return near & (positions < lengths[:, None])  # (B, Tk)


def _centres(draw):
    batch, width = draw.sizes(2)
    longest = 2 * width + 3
    lengths = draw.lengths(batch, longest)
    inside = draw.uniform(batch) * (lengths - 1)  # a centre between two positions
    yield inside, lengths, width, longest
    yield inside.round(), lengths, 1, longest + 2  # exactly on a position; no sentence fills its row
    ends = torch.tensor([0.0, 5.0, -2.5, 9.0, 1.5], dtype=torch.float64)  # at both ends, before and behind them
    yield ends, torch.tensor([6, 6, 4, 3, 2]), 2, 7
    yield torch.tensor([3.0, 0.5, 2.0], dtype=torch.float64), torch.tensor([5, 3, 1]), 1, 5
    yield torch.tensor([1.25], dtype=torch.float64), torch.tensor([4]), 1, 4
    yield torch.tensor([2.0, 2.0], dtype=torch.float64), torch.tensor([3, 6]), 2, 6
    beyond = torch.tensor([9.0, 1.0], dtype=torch.float64)  # the row's end is not the sentence's, nor the longest one's
    yield beyond, torch.tensor([5, 6]), 3, 7
    barely = torch.tensor([4.6, -0.6, 2.4], dtype=torch.float64)  # outside by less than one position; D is not whole
    yield barely, torch.tensor([5, 4, 6]), 1.5, 6
    aside = torch.tensor([2.0**-30, -(2.0**-30)], dtype=torch.float64)  # less than float32 can tell: one edge is out
    yield 2 + aside, torch.tensor([5, 5]), 1, 5


LOCAL_WINDOW_MASK = Exercise(
    local_window_mask,
    cases=_centres,
    gradients=False,
    about=About(points=2, minutes=14, difficulty=2, read_again="A window in the source"),
)

must = LOCAL_WINDOW_MASK.properties
must(
    "padding is closed",
    lambda result, centre, lengths, half_width, max_length: (
        not result.bool()[torch.arange(max_length) >= lengths[:, None]].any()
    ),
).says("""
    Positions from `lengths` on are padding, and no window may contain them.""")
must("no window is empty", lambda result, *args: result.bool().any(-1).all()).says("""
    Each sentence must have at least one position to attend to. A centre outside the sentence counts as its nearest
    word.""")
must(
    "nothing further than D",
    lambda result, centre, lengths, half_width, max_length: (
        not (result.bool() & ~local_window_mask(centre, lengths, half_width, max_length)).any()
    ),
).says("""
    A position further than `half_width` from the centre lies outside the window.""")
must(
    "everything within D",
    lambda result, centre, lengths, half_width, max_length: (
        not (~result.bool() & local_window_mask(centre, lengths, half_width, max_length)).any()
    ),
).says("""
    Each word of the sentence at a distance of at most `half_width` from the centre is open, on both sides.""")

wrong = LOCAL_WINDOW_MASK.mistakes
wrong(
    "empty windows", {"torch.minimum(centre.clamp(min=0), (lengths - 1).to(centre.dtype))[:, None]": "centre[:, None]"}
).says("""
    Where the centre lies outside the sentence, your window is too small, or even empty, and an empty row of a mask has
    no weights. A centre before the first word counts as 0, and one behind the last word as `lengths − 1`.""")
wrong("centre cut down", {"[:, None]  # (B, 1)": ".floor()[:, None]  # (B, 1)"}).says("""
    You cut off the decimals of the centre, perhaps by `.long()` or `int`. It is a real number: with D = 1, the window
    around 1.75 contains the positions from 0.75 to 2.75, which are 1 and 2.""")
wrong(
    "the padding is True", {"return near": "return ~(near", "lengths[:, None])  # (B, Tk)": "lengths[:, None]))"}
).says("""
    Your mask is True where attention is forbidden. In this book True means that a position *may be attended to*.""")
wrong("centre rounded up", {"[:, None]  # (B, 1)": ".ceil()[:, None]  # (B, 1)"}).says("""
    You rounded the centre up. It is a real number: with D = 1, the window around 1.25 contains the positions from 0.25
    to 2.25, which are 1 and 2.""")
wrong("centre moved to the length", {"(lengths - 1).to": "lengths.to"}).says("""
    You moved a centre that lies behind the sentence to `lengths`, which is the first position of padding. Positions are
    counted from 0, so the last word is at `lengths − 1`.""")
wrong(
    "moved into the shortest sentence",
    {"(lengths - 1).to(centre.dtype)": "torch.full_like(centre, int(lengths.min()) - 1)"},
).says("""
    You moved all centres to the last word of the *shortest* sentence. Each centre stays in its own sentence:
    `lengths − 1` has one entry for each.""")
wrong(
    "moved into the longest sentence",
    {"(lengths - 1).to(centre.dtype)": "torch.full_like(centre, int(lengths.max()) - 1)"},
).says("""
    You moved all centres to the last word of the *longest* sentence, which is padding in the others. Each centre stays
    in its own sentence: `lengths − 1` has one entry for each.""")
wrong("a centre before the first word", {"centre.clamp(min=0)": "centre"}).says("""
    You do not move a centre that lies before the first word. It counts as 0, so that the window reaches up to position
    D.""")
wrong(
    "a centre behind the last word",
    {"torch.minimum(centre.clamp(min=0), (lengths - 1).to(centre.dtype))": "centre.clamp(min=0)"},
).says("""
    In your function a centre behind the last word stays behind it, so that its window is too small, or even empty. It
    counts as the last word of its own sentence, `lengths − 1`.""")
wrong("centre in single precision", {"centre.clamp(min=0)": "centre.float().clamp(min=0)"}).says("""
    You rounded the centre to float32, so that a position which is barely outside the window counts as its edge. Keep
    the centre's own dtype.""")
wrong("edges not in the window", {"<= half_width": "< half_width"}).says("""
    You left out positions at a distance of exactly D. Both edges belong to the window [p − D, p + D]: compare with
    `<= half_width`.""")
_NEAR = "(positions - nearest).abs() <= half_width"
wrong(
    "right edge not in the window", {_NEAR: "(positions >= nearest - half_width) & (positions < nearest + half_width)"}
).says("""
    You left out a position that is exactly p + D, perhaps because a slice or a range ends before its end. Both edges
    belong to the window [p − D, p + D].""")
wrong(
    "left edge not in the window", {_NEAR: "(positions > nearest - half_width) & (positions <= nearest + half_width)"}
).says("""
    You left out a position that is exactly p − D. Both edges belong to the window [p − D, p + D].""")
_SLICE = """
    mask = torch.zeros(len(centre), max_length, dtype=torch.bool, device=centre.device)
    for row, p, length in zip(mask, centre.tolist(), lengths.tolist(), strict=True):
        p = min(max(p, 0.0), length - 1)
        row[{} : min(length, {})] = True
    return mask"""
wrong(
    "a slice that begins before 0", _SLICE.format("math.ceil(p - half_width)", "math.floor(p + half_width) + 1")
).says("""
    Where the window begins before position 0, your slice begins at a negative number, which torch counts from the end
    of the row. Begin at `max(0, …)`.""")
wrong(
    "a slice that ends too early", _SLICE.format("max(0, math.ceil(p - half_width))", "math.floor(p + half_width)")
).says("""
    Your window lacks its last position, because a slice or a range leaves out its end. Add 1 to the end.""")
wrong("half width cut to a whole number", {"<= half_width": "<= int(half_width)"}).says("""
    You cut the decimals of `half_width` off. D is a real number, as the centre is: with D = 1.5, the window around 2.4
    is [0.9, 3.9].""")
wrong(
    "0 and −∞ for a mask",
    {"return near": "return torch.where(near", "lengths[:, None])  # (B, Tk)": "lengths[:, None]), 0.0, -torch.inf)"},
).says("""
    You returned numbers to be added to scores, 0 and −∞. The mask is boolean: True means that a position may be
    attended to, so return the condition itself.""")
wrong("half of the half width", {"<= half_width": "<= half_width / 2"}).says("""
    You halved `half_width`. It is the half width already: the window reaches from p − D to p + D.""")
wrong("one position of padding", {"positions < lengths": "positions <= lengths"}).says("""
    You open the first position behind a sentence, which is padding. Positions are counted from 0, so the last word is
    at `lengths − 1`: compare with `positions < lengths[:, None]`.""")
wrong("positions counted from 1", {"(positions - nearest)": "(positions + 1 - nearest)"}).says("""
    You counted the positions from 1 when you compared them with the centre, so that your window stands one position too
    far left. The first position is 0, as the centre is counted.""")
wrong("distance without abs", {"(positions - nearest).abs()": "(positions - nearest)"}).says("""
    Left of the centre your difference is negative, so that it is always at most D, and the window is open down to the
    first word. A distance has no sign: take `.abs()`.""")
wrong("last word left out", {"(positions < lengths[:, None])": "(positions < lengths[:, None] - 1)"}).says("""
    You never open the last word of a sentence. It is at position `lengths − 1`, so compare with
    `positions < lengths[:, None]`.""")
wrong("or for and", {"near & (": "near | ("}).says("""
    You combined the two conditions by |, so that each word of the sentence is open, near or far. Both must hold at
    once: combine them by &.""")
wrong(
    "behind the row's end only", {"(lengths - 1).to(centre.dtype)": "torch.full_like(centre, max_length - 1)"}
).says("""
    You moved a centre that lies too far right to the end of the *row*, which may be padding. It belongs on the last
    word of its own sentence, `lengths − 1`.""")


def gaussian_window(centre, half_width, max_length):
    """exp(−(s − p)² / 2σ²) with σ = D / 2: (B,) -> (B, max_length)."""
    positions = torch.arange(max_length, device=centre.device)  # (Tk,)
    sigma = half_width / 2
    return torch.exp(-((positions - centre[:, None]) ** 2) / (2 * sigma**2))  # (B, Tk)


def _gaussians(draw):
    batch, width = draw.sizes(2)
    yield draw.uniform(batch) * 4, width, 5
    yield draw.uniform(3) * 5, 3, 6
    yield draw.uniform(2) * 2, 2.5, 3
    yield draw.uniform(1) * 2, 3, 4
    yield draw.uniform(3) * 3, 1, 3
    yield torch.tensor([0.0, 2.0], dtype=torch.float64), 4, 3  # on a position
    yield torch.tensor([-0.7, 5.5], dtype=torch.float64), 3, 5  # before the first position, and behind the last one


GAUSSIAN_WINDOW = Exercise(
    gaussian_window,
    cases=_gaussians,
    about=About(points=3, minutes=12, difficulty=3, read_again="By hand, on six words"),
)

must = GAUSSIAN_WINDOW.properties
must("at most 1", lambda result, *args: ((result <= 1 + 1e-9) & (result >= 0)).all()).says("""
    The Gaussian is 1 at the centre and smaller everywhere else.""")
must(
    "the values of the formula",
    lambda result, centre, half_width, max_length: torch.allclose(
        result, gaussian_window(centre, half_width, max_length), atol=0.02
    ),
).says("""
    Compare some values: the Gaussian is 1 at the centre, exp(−0.5) = 0.61 at a distance of D / 2, exp(−2) = 0.135 at D,
    and exp(−4.5) = 0.011 at 3D / 2.""")

wrong = GAUSSIAN_WINDOW.mistakes
wrong("σ is the half width", {"half_width / 2": "half_width"}).says("""
    You took the half width D as σ. In the paper σ = D / 2, so that the Gaussian has fallen to exp(−2) = 0.135 at the
    edge of the window.""")
wrong("positions counted from 1", {"arange(max_length,": "arange(1, max_length + 1,"}).says("""
    You counted the positions from 1. The first position is 0, as the centre is counted.""")
wrong("no 2 in the denominator", {"(2 * sigma**2)": "sigma**2"}).says("""
    You divided by σ². A Gaussian has 2σ² in the denominator.""")
wrong("2 inside the square", {"(2 * sigma**2)": "(2 * sigma) ** 2"}).says("""
    You divided by D², which is (2σ)² = 4σ². The denominator is 2σ², so only σ is squared: D² / 2.""")
wrong("σ is twice the half width", {"half_width / 2": "half_width * 2"}).says("""
    You took 2D as σ. In the paper σ = D / 2, so that the Gaussian has fallen to exp(−2) = 0.135 at the edge of the
    window.""")
wrong("centre of the Gaussian cut down", {"centre[:, None]": "centre.trunc()[:, None]"}).says("""
    You cut off the decimals of the centre, perhaps by `.long()` or `int`. It is a real number, and between two
    positions the Gaussian is 1 at neither of them.""")
wrong("centre moved into the row", {"centre[:, None]": "centre.clamp(0, max_length - 1)[:, None]"}).says("""
    You moved a centre that lies outside the row to its nearest position. The formula has no such limit: moving the
    centre is the task of `local_window_mask`.""")
wrong(
    "divided by its maximum",
    {"    return torch.exp": "    g = torch.exp", "# (B, Tk)": "# (B, Tk)\n    return g / g.amax(-1, keepdim=True)"},
).says("""
    You divided by the largest value of each row. The Gaussian is 1 at the centre, and smaller at each position if the
    centre lies between two of them.""")
wrong("σ not squared", {"sigma**2": "sigma"}).says("""
    You divided by 2σ. The denominator is 2σ², with σ squared.""")
wrong("distance not squared", {"((positions - centre[:, None]) ** 2)": "(positions - centre[:, None]).abs()"}).says("""
    You did not square the distance, so that your curve has a peak with an edge. A Gaussian falls with the *square* of
    the distance.""")
wrong(
    "made to sum to one",
    {"    return torch.exp": "    g = torch.exp", "# (B, Tk)": "# (B, Tk)\n    return g / g.sum(-1, keepdim=True)"},
).says("""
    You normalised the Gaussian, so that it sums to 1. In the paper it is a factor that is 1 at the centre, and it
    multiplies weights that already sum to 1.""")
wrong("the density", {"torch.exp(": "1 / (sigma * (2 * math.pi) ** 0.5) * torch.exp("}).says("""
    You computed the *density* of a normal distribution, whose height depends on σ. Here the Gaussian is 1 at the
    centre, so leave out the factor 1 / (σ√(2π)).""")
wrong("multiplied by σ²", {" / (2 * sigma**2)": " / 2 * sigma**2"}).says("""
    You divided by 2 and then multiplied by σ²: Python computes `a / 2 * b` from the left to the right. The denominator
    needs brackets, `/ (2 * sigma**2)`.""")
wrong("σ cut to a whole number", {"half_width / 2": "half_width // 2"}).says("""
    You computed σ with //, which cuts off the decimals: 3 // 2 is 1. The standard deviation is D / 2, which is 1.5
    for D = 3.""")
wrong("distance with its sign", {"((positions - centre[:, None]) ** 2)": "(positions - centre[:, None])"}).says("""
    You did not square the distance, so that your curve grows to the left of the centre. The square makes both sides
    equal.""")
wrong(
    "cut at the window",
    {
        "    return torch.exp": "    g = torch.exp",
        "# (B, Tk)": "# (B, Tk)\n    return g * ((positions - centre[:, None]).abs() <= half_width)",
    },
).says("""
    You set the Gaussian to 0 outside the window. Masking is not its task here: it has a value, even if a small one, at
    each position of the row.""")
wrong("sign missing", {"exp(-((": "exp((("}).says("""
    Your curve grows with the distance. The exponent is negative: −(s − p)² / 2σ².""")
wrong("centre without gradient", {"centre[:, None]": "centre.detach()[:, None]"}).says("""
    Your values are right, but no gradient reaches the centre. The Gaussian is the only part through which the network
    learns where to put its window, because the window's edges have no gradient.""")
