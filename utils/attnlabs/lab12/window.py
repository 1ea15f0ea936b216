"""Lab 12: attention in a window whose memory grows with the length, and not with its square."""

import torch
import torch.nn.functional as F

from misread.exercise import About

from .frugal import Frugal


def window_attention(query, key, value, radius):
    """Attention to positions at most radius away: (B, T, D), (B, T, D), (B, T, Dv) -> (B, T, Dv)."""
    length = query.shape[1]
    around = torch.arange(length, device=query.device)[:, None] + torch.arange(
        -radius, radius + 1, device=query.device
    )  # (T, W)
    inside = (around >= 0) & (around < length)  # (T, W)
    near = around.clamp(0, length - 1)  # (T, W)
    scores = (query[:, :, None] * key[:, near]).sum(dim=-1) / query.shape[-1] ** 0.5  # (B, T, W)
    weights = scores.masked_fill(~inside, -torch.inf).softmax(dim=-1)  # (B, T, W)
    return (weights[..., None] * value[:, near]).sum(dim=2)  # (B, T, W, Dv) -> (B, T, Dv)


def _sequences(draw):
    batch, length, dim, values = draw.sizes(4)

    def drawn(batch, length, dim, values, radius):
        return (
            draw.normal(batch, length, dim),
            draw.normal(batch, length, dim),
            draw.normal(batch, length, values),
            radius,
        )

    if draw.compact:
        yield drawn(1, 3, 1, 1, 1)
        yield drawn(2, 3, 2, 1, 1)
    yield drawn(batch, length + 4, dim, values, 1)
    yield drawn(batch, length + 5, dim, values, 2)
    yield drawn(2, 4, 3, 2, 0)  # each position attends to itself only
    yield drawn(2, 3, 2, 4, 5)  # the window is larger than the sequence
    yield drawn(3, 9, 4, 2, 3)
    yield drawn(2, 1, 3, 2, 1)  # one word
    query, *others = drawn(2, 5, 3, 2, 1)
    yield 1000 * query, *others  # large scores: exp alone overflows
    query, key, *others = drawn(2, 4, 3, 2, 1)
    yield -1e5 * (1 + query.abs()), 1 + key.abs(), *others  # all far below 0: what is outside may not score higher
    if draw.number == 0:
        yield drawn(2, 150, 2, 3, 1)  # so long that T × T numbers are noticed
    if draw.number == 1:
        yield drawn(1, LONG, 2, 3, 1)  # and T numbers for each of T positions, although they are gone soon


def _most(query, key, value, radius):
    batch, length = query.shape[:2]
    return 4 * batch * (length + 2 * radius) * (2 * radius + 1) * max(query.shape[-1], value.shape[-1])


def _made(query, key, value, radius):
    batch, length = query.shape[:2]
    return (3 * batch * length**2, EVERY_KEY) if length >= LONG else None


LONG = 300
EVERY_KEY = (
    "by this line, your tensors held several numbers for each pair of positions, one after the other; compute only the "
    "scores inside of the window, also where you go through the positions in a loop"
)
EXCESS = (
    "a tensor in this line holds more numbers than a window needs, for instance because it grows with T × T; "
    "window attention needs T × (2 · radius + 1) scores, and no more"
)

WINDOW_ATTENTION = Frugal(
    window_attention,
    cases=_sequences,
    most=_most,
    excess=EXCESS,
    made=_made,
    tolerance=1e-6,  # √D as a tensor is float32
    about=About(points=3, minutes=20, difficulty=3, read_again="Attending to fewer positions"),
)

must = WINDOW_ATTENTION.properties
must(
    "a mean of the values in the window",
    lambda result, query, key, value, radius: (
        (result <= -_lowest(-value, radius) + 1e-9) & (result >= _lowest(value, radius) - 1e-9)
    ).all(),
).says("""
    A context is a weighted mean of the values in the window, so it lies between the smallest and the largest of
    them.""")


def _lowest(value, radius):
    """The smallest value within each window, `(B, T, Dv)`."""
    return -F.max_pool1d(-value.mT, 2 * radius + 1, stride=1, padding=radius).mT if radius else value


_CLOSED, _SCALE = "scores.masked_fill(~inside, -torch.inf).softmax(dim=-1)", " / query.shape[-1] ** 0.5"
_WINDOW = "-radius, radius + 1,"

wrong = WINDOW_ATTENTION.mistakes
FULL = """
allowed = (torch.arange(query.shape[1])[:, None] - torch.arange(query.shape[1])).abs() <= radius
scores = query @ key.mT / query.shape[-1] ** 0.5
return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1) @ value"""
wrong("T × T scores", FULL).says("""
    One of your tensors has a number for each pair of positions: the scores of all pairs, or a mask or a table of
    differences for them. The values are right, but the memory grows with T × T. Compare each query only with the 2 ·
    radius + 1 keys in its window.""")
ROW_BY_ROW = """
contexts = []
for i in range(query.shape[1]):
    scores = query[:, i : i + 1] @ key.mT / query.shape[-1] ** 0.5
    far = (torch.arange(key.shape[1]) - i).abs() > radius
    contexts.append(scores.masked_fill(far, -torch.inf).softmax(dim=-1) @ value)
return torch.cat(contexts, dim=1)"""
wrong("all keys, query by query", ROW_BY_ROW).says("""
    In each step of your loop one query meets all keys, and a mask excludes most of them. The values are right, and no
    tensor is large, but the time still grows with T × T. Cut the keys and values of the window out first, from max(i −
    radius, 0) to i + radius.""")
BLOCKS = """
size = 2 * radius + 1
parts = zip(query.split(size, 1), key.split(size, 1), value.split(size, 1))
return torch.cat([(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v for q, k, v in parts], dim=1)"""
SLICED = """
near = [slice(i - radius, i + radius + 1) for i in range(query.shape[1])]
scores = [query[:, i : i + 1] @ key[:, at].mT / query.shape[-1] ** 0.5 for i, at in enumerate(near)]
return torch.cat([one.softmax(-1) @ value[:, at] for one, at in zip(scores, near)], dim=1)"""
wrong("slices that begin below 0", SLICED).says("""
    Near the beginning your slice starts at a negative number, i − radius, which counts from the end, so it holds
    nothing or other words. Start at max(i − radius, 0).""")
wrong("blocks instead of windows", BLOCKS).says("""
    You cut the text into blocks of 2 · radius + 1 words, and each word attends to its own block. Here each
    position has a window of its own, from i − radius to i + radius.""")
PADDED = """
keys = F.pad(key, (0, 0, radius, radius)).unfold(1, 2 * radius + 1, 1)
values = F.pad(value, (0, 0, radius, radius)).unfold(1, 2 * radius + 1, 1)
weights = (torch.einsum("btd,btdw->btw", query, keys) / query.shape[-1] ** 0.5).softmax(dim=-1)
return torch.einsum("btw,btdw->btd", weights, values)"""
wrong("attention to the padding", PADDED).says("""
    At both ends of the sequence your windows reach beyond it, and the zeros that stand there receive attention. A
    key of zeros has the score 0, and a score of 0 does not exclude a position: set these scores to −inf before the
    softmax.""")
wrong("the ends repeated", {_CLOSED: "scores.softmax(dim=-1)"}).says("""
    At both ends of the sequence you replaced positions that do not exist by the first or the last one, so that one
    key counts several times. Set their scores to −inf before the softmax.""")
wrong("a score of 0 beyond the ends", {"-torch.inf": "0.0"}).says("""
    You gave positions beyond the ends the score 0. This does not exclude them, because exp(0) = 1: their score must be
    −inf before the softmax.""")
wrong("the mask the wrong way round", {"~inside": "inside"}).says("""
    You masked the positions inside the text and kept those beyond its ends. Give −inf to those that do not exist.""")
wrong("masked at the beginning only", {"(around >= 0) & (around < length)": "around >= 0"}).says("""
    You masked what lies before the first position, and not what lies after the last one. At the end of the text the
    window has positions that do not exist, too: those from T on.""")
wrong("masked at the end only", {"(around >= 0) & (around < length)": "around < length"}).says("""
    You masked what lies after the last position, and not what lies before the first one. At the beginning of the text
    the window has positions that do not exist, too: those below 0.""")
wrong(
    "the window goes round", {"around.clamp(0, length - 1)": "around % length", _CLOSED: "scores.softmax(dim=-1)"}
).says("""
    Your window continues at the other end of the sequence, as negative indices and `roll` do. Positions before the
    first and after the last do not exist, so mask them with −inf.""")
wrong("weights set to zero after the softmax", {_CLOSED: "scores.softmax(dim=-1) * inside"}).says("""
    You set the weights beyond the ends to 0 after the softmax, so the others no longer sum to 1. Mask these
    positions before the softmax, by a score of −inf.""")
wrong("not scaled", {_SCALE: ""}).says("""
    Your scores are not divided by √D. This is scaled dot-product attention as in Chapter 9, only in a window:
    divide by the root of the number of features of the query.""")
wrong("scaled by D", {"** 0.5": ""}).says("""
    You divided the scores by D, and not by its root. Scaled dot-product attention divides by √D, because the
    scores' standard deviation grows with √D.""")
wrong("scaled by the window", {"query.shape[-1] ** 0.5": "(2 * radius + 1) ** 0.5"}).says("""
    You divided the scores by the root of the window's size. The scale belongs to the features that a dot product
    adds up, so divide by √D, whatever the window is.""")
wrong("one position too few at each side", {_WINDOW: "-max(radius - 1, 0), max(radius, 1),"}).says("""
    Your window ends one position too early at both sides. Positions at a distance of exactly `radius` belong to
    it, so it has 2 · radius + 1 of them.""")
wrong("only at the left", {_WINDOW: "-radius, 1,"}).says("""
    Your window has only the query's own position and those before it. Here it reaches to both sides: |i − j| ≤
    radius.""")
wrong("only at the right", {_WINDOW: "0, radius + 1,"}).says("""
    Your window has only the query's own position and those after it. Here it reaches to both sides: |i − j| ≤
    radius.""")
wrong("the last one forgotten", {_WINDOW: "-radius, max(radius, 1),"}).says("""
    Your window ends one position too early at the right, as a `range` or a slice does when its end is i + radius.
    It must reach to i + radius inclusive, so the end is i + radius + 1.""")
wrong("softmax over the positions", {".softmax(dim=-1)": ".softmax(dim=1)"}).says("""
    Your softmax runs over the queries. Each query must spread one unit of attention over the keys in its window,
    which is the last axis of the scores (B, T, 2 · radius + 1).""")
wrong("scaled by the length", {"query.shape[-1] ** 0.5": "query.shape[1] ** 0.5"}).says("""
    You divided the scores by √T, the root of the number of words. The scale belongs to the features that a dot
    product adds up, so divide by √D, the root of the size of the last axis.""")
wrong("scaled by the value's features", {"query.shape[-1] ** 0.5": "value.shape[-1] ** 0.5"}).says("""
    You divided the scores by √Dv, the root of the number of the values' features. The dot product adds up the
    features of query and key, so divide by √D.""")
